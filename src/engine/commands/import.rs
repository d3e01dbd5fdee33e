//! Import: takes over an object that exists at the service. The engine reads the object, compares
//! it with the document, and records it. Nothing is sent that changes anything.
//!
//! Only one object of a merchant is imported at a time, so two documents cannot take the same one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::base::secret::Secret;
use crate::effects::core::row::RemoteQuery;
use crate::engine::commands::decision::Decision;
use crate::engine::commands::import_ready::ReadyImport;
use crate::engine::handles::shared::{EngineError, EngineResult};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::engine::readers::read::{self, ObjectAnswer};
use crate::engine::view::EngineView;
use crate::kinds::remote::import_check::{ImportCandidate, ImportComparison, assume_unseen};
use crate::kinds::remote::readback::{ReadBack, WireForm};
use crate::model::record::Record;
use crate::model::state::drift::{AdoptRequest, Adoption, AdoptionReport, AdoptionStatus};
use crate::model::state::observed::{AppliedSpec, FactSource, Observation};

impl EngineView<'_> {
    /// Decides about an import: checks if the object can be imported, and records it if asked to.
    pub(crate) fn import(&self, asked: AdoptRequest, actor: String) -> Decision {
        let ready = match self.ready_to_adopt(asked, actor) {
            Ok(ready) => ready,
            Err(told) => return Decision::answer(Reply::Imported(told)),
        };
        let keys = BTreeSet::from([ready.asked.key.clone(), ready.wallet.merchant.clone()]);
        let result = TaskResult::BookkeepingDone(keys.clone());
        let task = async move {
            let told = ready.run().await?;
            Ok((result, Reply::Imported(Box::new(told))))
        };
        Decision::run(task).locking(keys)
    }
}

impl ReadyImport {
    async fn run(&self) -> EngineResult<AdoptionReport> {
        let Some(back) = (self.wanted.row.read_back)(&self.wanted.manifest.spec) else {
            return self.import_unverified().await;
        };
        let query = RemoteQuery::one((back.one)(&self.asked.id));
        let shown = read::object(&self.shared, query, &self.wallet).await;
        match read::or_reason(shown)? {
            Err(why) => Ok(self.report(AdoptionStatus::Unreachable, why)),
            Ok(ObjectAnswer::Object(item)) => self.compare_object(back, &item).await,
            Ok(ObjectAnswer::NotShown) => self.import_unverified().await,
            Ok(ObjectAnswer::Gone) => {
                let (id, merchant) = (&self.asked.id, self.wallet.merchant.short());
                let why = format!("{merchant} has no such object at the service: {id}");
                Ok(self.report(AdoptionStatus::Unknown, why))
            }
        }
    }

    async fn compare_object(
        &self,
        back: &'static ReadBack,
        item: &Value,
    ) -> EngineResult<AdoptionReport> {
        let told = |stands, why: String| Ok(self.report(stands, why));
        if item.get("id").and_then(Value::as_str) != Some(self.asked.id.as_str()) {
            return told(AdoptionStatus::Refused, "the service returned another object".to_owned());
        }
        if let Some(why) = (back.ended_reason)(item) {
            let why = format!("{why}: there is nothing left to manage");
            return told(AdoptionStatus::Refused, why);
        }
        let Some(said) = &self.wanted.assumed.applied else {
            return Err(EngineError::Bug("a document without a spec to apply".to_owned()));
        };
        let number = self.document_number(back);
        let candidate = ImportCandidate {
            read_back: back,
            fields: self.wanted.row.fields,
            key: &self.shared.settings.planning.digest_key,
            assumed: said,
            checks: &self.expects,
            number: number.as_ref(),
            item,
        };
        let met = candidate.compare();
        if !met.immutable.is_empty() {
            let why = format!(
                "the object differs from the document in fields that cannot change: {}",
                met.immutable.join(", ")
            );
            let told = self.report(AdoptionStatus::Refused, why);
            return Ok(AdoptionReport { changes: met.changes, ..told });
        }
        self.write(met, true).await
    }

    /// Returns the document's number, if it resolves: it distinguishes one card from another.
    fn document_number(&self, back: &ReadBack) -> Option<Secret> {
        let spec = &self.wanted.manifest.spec;
        let masked = back.fields.iter().filter(|shown| shown.form == WireForm::Fingerprint);
        let mut sources =
            masked.filter_map(|shown| spec.pointer(&format!("/{}", shown.path.replace('.', "/"))));
        let source = sources.find(|one| one.is_object())?;
        match source.get("literal").and_then(Value::as_str) {
            Some(open) => Some(Secret::from(open.to_owned())),
            None => self.shared.secrets.resolve(source, &self.asked.key).ok(),
        }
    }

    /// Handles an object that the service cannot show: it is imported only if a person insists.
    async fn import_unverified(&self) -> EngineResult<AdoptionReport> {
        let Some((applied, believed)) = assume_unseen(&self.wanted.assumed) else {
            return Err(EngineError::Bug("a document without a spec to apply".to_owned()));
        };
        if !self.asked.unverified {
            let kind = &self.asked.key.kind;
            let why = format!(
                "the service does not show a {kind} by its id, so its existence, its owner and its \
                content cannot be verified"
            );
            let told = self.report(AdoptionStatus::Unverified, why);
            return Ok(AdoptionReport { unverified_fields: believed, ..told });
        }
        let nothing = ImportComparison {
            applied,
            changes: Vec::new(),
            immutable: Vec::new(),
            unverified: believed,
            facts: self.wanted.assumed.facts.clone(),
            mark: None,
        };
        self.write(nothing, false).await
    }

    /// Records the import, unless that was not asked for or the same is known already.
    async fn write(&self, met: ImportComparison, verified: bool) -> EngineResult<AdoptionReport> {
        let (key, id) = (&self.asked.key, &self.asked.id);
        let known = self.shared.facts.observed_state(key)?;
        let before = known.as_ref().filter(|known| known.exists && known.on_hold.is_none());
        let before = before.and_then(|known| known.applied.as_ref());
        let same = |before: &AppliedSpec| before.spec == met.applied.spec || !verified;
        let (stands, message) = if before.is_some_and(same) {
            let why = format!("{id} is already managed by this document; nothing was recorded");
            (AdoptionStatus::AlreadyAdopted, why)
        } else if self.asked.write {
            self.shared.write(Vec::new(), vec![self.record(&met, verified)]).await?;
            tracing::info!(%key, %id, actor = self.actor, verified, "taken over");
            (AdoptionStatus::Adopted, format!("{id} is now managed by this document"))
        } else {
            (AdoptionStatus::Adoptable, format!("{id} can be taken over by this document"))
        };
        let told = self.report(stands, message);
        Ok(AdoptionReport { changes: met.changes, unverified_fields: met.unverified, ..told })
    }

    fn record(&self, met: &ImportComparison, verified: bool) -> Record {
        let place = &self.wanted.manifest.place;
        let keys = (&self.asked.key, &self.wallet.merchant);
        let fact = Observation {
            remote_id: Some(self.asked.id.clone()),
            exists: Some(true),
            applied: Some(met.applied.clone()),
            ..self.shared.observation(keys, FactSource::Operator, met.facts.clone())
        };
        Record::Adopted(Box::new(Adoption {
            fact,
            mark: met.mark.clone(),
            verified,
            actor: self.actor.clone(),
            place: Some((place.file.to_string(), place.line)),
            commit: self.commit.clone(),
        }))
    }
}

#[cfg(test)]
mod tests;
