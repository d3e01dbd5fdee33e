//! Import: takes over an object that exists at the service. The engine reads the object, compares
//! it with the document, and records it. Nothing is sent that changes anything.
//!
//! Only one object of a merchant is imported at a time, so two documents cannot take the same one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::effects::core::row::{RemoteAnswer, RemoteQuery};
use crate::engine::commands::decision::Decision;
use crate::engine::commands::import_ready::ReadyImport;
use crate::engine::handles::access::CredentialError;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::engine::readers::read;
use crate::engine::readers::read::ReadFailure;
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
        let (shared, result) = (self.shared.clone(), TaskResult::BookkeepingDone(keys.clone()));
        let task = async move {
            let told = run_import(&shared, &ready).await?;
            Ok((result, Reply::Imported(Box::new(told))))
        };
        Decision::run(task).locking(keys)
    }
}

enum ImportObject {
    Object(&'static ReadBack, Value),
    /// No evidence: the service has no such path, or none is known.
    NotShown,
}

async fn run_import(
    shared: &EngineShared,
    ready: &ReadyImport,
) -> Result<AdoptionReport, EngineError> {
    let shown = match read_object(shared, ready).await {
        Ok(shown) => shown,
        Err(ReadFailure::Access(CredentialError::Engine(error))) => return Err(error),
        Err(ReadFailure::Access(CredentialError::Secret(error))) => {
            return Ok(ready.report(AdoptionStatus::Unreachable, error.message));
        }
        Err(ReadFailure::Read(error)) => {
            return Ok(ready.report(AdoptionStatus::Unreachable, error.to_string()));
        }
    };
    match shown {
        Some(ImportObject::Object(back, item)) => compare_object(shared, ready, back, &item).await,
        Some(ImportObject::NotShown) => import_unverified(shared, ready).await,
        None => {
            let id = &ready.asked.id;
            let merchant = ready.wallet.merchant.short();
            let why = format!("{merchant} has no such object at the service: {id}");
            Ok(ready.report(AdoptionStatus::Unknown, why))
        }
    }
}

/// Reads the object; `None`: the service answers that there is none.
async fn read_object(
    shared: &EngineShared,
    ready: &ReadyImport,
) -> Result<Option<ImportObject>, ReadFailure> {
    let Some(back) = (ready.wanted.row.read_back)(&ready.wanted.manifest.spec) else {
        return Ok(Some(ImportObject::NotShown));
    };
    let query = RemoteQuery::one((back.one)(&ready.asked.id));
    let answers = read::answers(shared, &[query], &ready.wallet).await?;
    Ok(match answers.into_iter().next() {
        Some(RemoteAnswer::Body(item)) => Some(ImportObject::Object(back, item)),
        Some(answer @ RemoteAnswer::Missing(_)) if !answer.is_unknown_path() => None,
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => {
            Some(ImportObject::NotShown)
        }
    })
}

async fn compare_object(
    shared: &EngineShared,
    ready: &ReadyImport,
    back: &'static ReadBack,
    item: &Value,
) -> Result<AdoptionReport, EngineError> {
    let told = |stands, why: String| Ok(ready.report(stands, why));
    if item.get("id").and_then(Value::as_str) != Some(ready.asked.id.as_str()) {
        return told(AdoptionStatus::Refused, "the service returned another object".to_owned());
    }
    if let Some(why) = (back.ended_reason)(item) {
        return told(AdoptionStatus::Refused, format!("{why}: there is nothing left to manage"));
    }
    let Some(said) = &ready.wanted.assumed.applied else {
        return Err(EngineError::Bug("a document without a spec to apply".to_owned()));
    };
    let number = document_number(shared, back, &ready.asked.key, &ready.wanted.manifest.spec);
    let meeting = ImportCandidate {
        read_back: back,
        fields: ready.wanted.row.fields,
        key: &shared.settings.planning.digest_key,
        assumed: said,
        checks: &ready.expects,
        number: number.as_ref(),
        item,
    };
    let met = meeting.compare();
    if !met.immutable.is_empty() {
        let why = format!(
            "the object differs from the document in fields that cannot change: {}",
            met.immutable.join(", ")
        );
        let told = ready.report(AdoptionStatus::Refused, why);
        return Ok(AdoptionReport { changes: met.changes, ..told });
    }
    write_import(shared, ready, met, true).await
}

/// Returns the number that the document names, if it can be resolved: it distinguishes one card
/// from another.
fn document_number(
    shared: &EngineShared,
    back: &ReadBack,
    key: &Key,
    spec: &Value,
) -> Option<Secret> {
    let masked = back.fields.iter().filter(|shown| shown.form == WireForm::Fingerprint);
    let mut sources = masked.filter_map(|shown| {
        spec.pointer(&format!("/{}", shown.path.replace('.', "/"))).filter(|one| one.is_object())
    });
    let source = sources.next()?;
    match source.get("literal").and_then(Value::as_str) {
        Some(open) => Some(Secret::from(open.to_owned())),
        None => shared.secrets.resolve(source, key).ok(),
    }
}

/// Handles an object that the service cannot show: it is imported only if a person insists.
async fn import_unverified(
    shared: &EngineShared,
    ready: &ReadyImport,
) -> Result<AdoptionReport, EngineError> {
    let Some((applied, believed)) = assume_unseen(&ready.wanted.assumed) else {
        return Err(EngineError::Bug("a document without a spec to apply".to_owned()));
    };
    let nothing = ImportComparison {
        applied,
        changes: Vec::new(),
        immutable: Vec::new(),
        unverified: believed,
        facts: ready.wanted.assumed.facts.clone(),
        mark: None,
    };
    if !ready.asked.unverified {
        let kind = &ready.asked.key.kind;
        let why = format!(
            "the service does not show a {kind} by its id, so its existence, its owner and its \
            content cannot be verified"
        );
        return Ok(AdoptionReport {
            unverified_fields: nothing.unverified,
            ..ready.report(AdoptionStatus::Unverified, why)
        });
    }
    write_import(shared, ready, nothing, false).await
}

/// Records the import, unless that was not asked for or the same is known already.
async fn write_import(
    shared: &EngineShared,
    ready: &ReadyImport,
    met: ImportComparison,
    verified: bool,
) -> Result<AdoptionReport, EngineError> {
    let (key, id) = (&ready.asked.key, &ready.asked.id);
    let known = shared.facts.observed_state(key)?;
    let before = known.as_ref().filter(|known| known.exists && known.on_hold.is_none());
    let before = before.and_then(|known| known.applied.as_ref());
    let same = |before: &AppliedSpec| before.spec == met.applied.spec || !verified;
    let (stands, message) = if before.is_some_and(same) {
        (
            AdoptionStatus::AlreadyAdopted,
            format!("{id} is already managed by this document; nothing was recorded"),
        )
    } else if ready.asked.write {
        shared.write(Vec::new(), vec![record(shared, ready, &met, verified)]).await?;
        tracing::info!(%key, %id, actor = ready.actor, verified, "taken over");
        (AdoptionStatus::Adopted, format!("{id} is now managed by this document"))
    } else {
        (AdoptionStatus::Adoptable, format!("{id} can be taken over by this document"))
    };
    let told = ready.report(stands, message);
    Ok(AdoptionReport { changes: met.changes, unverified_fields: met.unverified, ..told })
}

fn record(
    shared: &EngineShared,
    ready: &ReadyImport,
    met: &ImportComparison,
    verified: bool,
) -> Record {
    let place = &ready.wanted.manifest.place;
    let fact = Observation {
        key: ready.asked.key.clone(),
        merchant: ready.wallet.merchant.clone(),
        at: shared.now(),
        source: FactSource::Operator,
        remote_id: Some(ready.asked.id.clone()),
        exists: Some(true),
        applied: Some(met.applied.clone()),
        facts: met.facts.clone(),
    };
    Record::Adopted(Box::new(Adoption {
        fact,
        mark: met.mark.clone(),
        verified,
        actor: ready.actor.clone(),
        place: Some((place.file.to_string(), place.line)),
        commit: ready.commit.clone(),
    }))
}
