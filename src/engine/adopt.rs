//! Import: takes over an object that exists at the service. The engine reads the object, compares
//! it with the document, and records it. Nothing is sent that changes anything.
//!
//! Only one object of a merchant is imported at a time, so two documents cannot take the same one.

mod ready;

use std::collections::BTreeSet;

use serde_json::Value;
use tokio::sync::oneshot;

use super::Engine;
use super::access::NoAccess;
use super::question::Reply;
use super::read::{self, Unread};
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::effects::{Answer, Query};
use crate::kinds::adopting::{Meeting, Met, unseen};
use crate::kinds::readback::{Form, ReadBack};
use crate::model::adoption::{Adopted, Adopting, Adoption, Taken};
use crate::model::observed::{Applied, Observation, Source};
use crate::model::record::Record;
use ready::Ready;

impl Engine {
    /// Checks if an object can be imported, records it if asked to, and then answers.
    pub(super) fn import(&mut self, asked: Adopting, actor: String, reply: oneshot::Sender<Reply>) {
        let ready = match self.ready_to_adopt(asked, actor) {
            Ok(ready) => ready,
            Err(told) => return reply.send(Reply::Adopted(told)).unwrap_or_default(),
        };
        let keys = BTreeSet::from([ready.asked.key.clone(), ready.wallet.merchant.clone()]);
        self.busy.extend(keys.iter().cloned());
        self.queue.retain(|key| !keys.contains(key));
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match adopted(&shared, &ready).await {
                Ok(told) => Finished::Booked(keys).answering(Reply::Adopted(Box::new(told)), reply),
                Err(error) => Finished::Broken(error),
            }
        });
    }
}

/// The service's answer about an object.
enum Shown {
    /// The object.
    Item(&'static ReadBack, Value),
    /// No evidence: the service has no such path, or none is known.
    Nothing,
}

async fn adopted(shared: &Shared, ready: &Ready) -> Result<Adopted, EngineError> {
    let shown = match shown(shared, ready).await {
        Ok(shown) => shown,
        Err(Unread::Access(NoAccess::Engine(error))) => return Err(error),
        Err(Unread::Access(NoAccess::Secret(error))) => {
            return Ok(ready.told(Taken::Unreachable, error.message));
        }
        Err(Unread::Read(error)) => return Ok(ready.told(Taken::Unreachable, error.to_string())),
    };
    match shown {
        Some(Shown::Item(back, item)) => met(shared, ready, back, &item).await,
        Some(Shown::Nothing) => believed(shared, ready).await,
        None => {
            let id = &ready.asked.id;
            let merchant = ready.wallet.merchant.short();
            let why = format!("the service has no such object of {merchant} by the id {id}");
            Ok(ready.told(Taken::Unknown, why))
        }
    }
}

/// Reads the object; `None`: the service answers that there is none.
async fn shown(shared: &Shared, ready: &Ready) -> Result<Option<Shown>, Unread> {
    let Some(back) = (ready.wanted.row.read_back)(&ready.wanted.manifest.spec) else {
        return Ok(Some(Shown::Nothing));
    };
    let query = Query::one((back.one)(&ready.asked.id));
    let answers = read::answers(shared, &[query], &ready.wallet).await?;
    Ok(match answers.into_iter().next() {
        Some(Answer::Body(item)) => Some(Shown::Item(back, item)),
        Some(answer @ Answer::Missing(_)) if !answer.unknown_path() => None,
        Some(Answer::Missing(_) | Answer::Items(_)) | None => Some(Shown::Nothing),
    })
}

/// Compares the object with the document.
async fn met(
    shared: &Shared,
    ready: &Ready,
    back: &'static ReadBack,
    item: &Value,
) -> Result<Adopted, EngineError> {
    let told = |stands, why: String| Ok(ready.told(stands, why));
    if item.get("id").and_then(Value::as_str) != Some(ready.asked.id.as_str()) {
        return told(Taken::Refused, "the service answered with another object".to_owned());
    }
    if let Some(why) = (back.ended)(item) {
        return told(Taken::Refused, format!("{why}: there is nothing left to manage"));
    }
    let Some(said) = &ready.wanted.said.applied else {
        return Err(EngineError::Bug("a document says nothing of what it puts there".to_owned()));
    };
    let number = number(shared, back, &ready.asked.key, &ready.wanted.manifest.spec);
    let meeting = Meeting {
        back,
        fields: ready.wanted.row.fields,
        key: &shared.settings.planning.digest_key,
        said,
        expects: &ready.expects,
        number: number.as_ref(),
        item,
    };
    let met = meeting.compare();
    if !met.fixed.is_empty() {
        let why = format!(
            "the object is another one than the document says, in what can never change: {}",
            met.fixed.join(", ")
        );
        let told = ready.told(Taken::Refused, why);
        return Ok(Adopted { changes: met.changes, ..told });
    }
    settle(shared, ready, met, true).await
}

/// Returns the number that the document names, if it can be resolved: it distinguishes one card
/// from another.
fn number(shared: &Shared, back: &ReadBack, key: &Key, spec: &Value) -> Option<Secret> {
    let masked = back.fields.iter().filter(|shown| shown.form == Form::Fingerprint);
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
async fn believed(shared: &Shared, ready: &Ready) -> Result<Adopted, EngineError> {
    let Some((applied, believed)) = unseen(&ready.wanted.said) else {
        return Err(EngineError::Bug("a document says nothing of what it puts there".to_owned()));
    };
    let nothing = Met {
        applied,
        changes: Vec::new(),
        fixed: Vec::new(),
        believed,
        facts: ready.wanted.said.facts.clone(),
        mark: None,
    };
    if !ready.asked.unverified {
        let kind = &ready.asked.key.kind;
        let why = format!(
            "the service shows nothing of a {kind} by its id, so nothing of it can be verified: not that it is there, not \
             whose it is, not what it says"
        );
        return Ok(Adopted { believed: nothing.believed, ..ready.told(Taken::Unverified, why) });
    }
    settle(shared, ready, nothing, false).await
}

/// Records the import, unless that was not asked for or the same is known already.
async fn settle(
    shared: &Shared,
    ready: &Ready,
    met: Met,
    verified: bool,
) -> Result<Adopted, EngineError> {
    let (key, id) = (&ready.asked.key, &ready.asked.id);
    let known = shared.facts.observed(key)?;
    let before = known.as_ref().filter(|known| known.exists && known.held.is_none());
    let before = before.and_then(|known| known.applied.as_ref());
    let same = |before: &Applied| before.spec == met.applied.spec || !verified;
    let (stands, message) = if before.is_some_and(same) {
        (Taken::Already, format!("{id} is known as this already; nothing was written"))
    } else if ready.asked.write {
        shared.write(Vec::new(), vec![record(shared, ready, &met, verified)]).await?;
        tracing::info!(%key, %id, actor = ready.actor, verified, "taken over");
        (Taken::Adopted, format!("{id} is managed as this from now on"))
    } else {
        (Taken::Fits, format!("{id} can be taken over as this"))
    };
    let told = ready.told(stands, message);
    Ok(Adopted { changes: met.changes, believed: met.believed, ..told })
}

fn record(shared: &Shared, ready: &Ready, met: &Met, verified: bool) -> Record {
    let place = &ready.wanted.manifest.place;
    let fact = Observation {
        key: ready.asked.key.clone(),
        merchant: ready.wallet.merchant.clone(),
        at: shared.now(),
        source: Source::Operator,
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
