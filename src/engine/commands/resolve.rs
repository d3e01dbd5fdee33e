//! Manual settlement of an intent that nothing else can settle. The object of an id that a person gives
//! is read first, if the service can show it.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::hash::Mark;
use crate::base::id::{Key, RemoteId};
use crate::effects::core::expect;
use crate::effects::core::row::RemoteQuery;
use crate::effects::merchants::read::mark_of;
use crate::effects::register::verifying_query;
use crate::engine::commands::decision::{Decision, DecisionResult};
use crate::engine::executor::progress::{self, Attempt};
use crate::engine::executor::request::row_of;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::actions::{ManualResolution, ResolveIntent, ResolveResult};
use crate::engine::protocol::intents::unsettled_reason;
use crate::engine::protocol::query::Reply;
use crate::engine::readers::read::{self, ObjectAnswer};
use crate::engine::view::EngineView;
use crate::kinds::register;
use crate::model::intent::{EffectProof, Intent, IntentProgress, OpenIntent};
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation};

async fn run_resolution(
    shared: &EngineShared,
    open: Arc<OpenIntent>,
    wallet: CredentialSource,
    resolving: ResolveIntent,
) -> DecisionResult {
    let key = open.intent.key.clone();
    if let Some(told) = check_given_id(shared, &open, &wallet, &resolving.said).await? {
        return Ok((TaskResult::Changed(key), Reply::Resolved(told)));
    }
    let finished = write_resolution(shared, &open, &wallet, resolving).await?;
    let told = match shared.facts.open_intent(&key)? {
        None => ResolveResult::Settled(key),
        Some(open) => {
            let why = unsettled_reason(&open.state).unwrap_or("in flight");
            ResolveResult::Unsettled(key, why.to_owned())
        }
    };
    Ok((finished, Reply::Resolved(told)))
}

/// Returns the reason why a person's id is not accepted, if it is not.
async fn check_given_id(
    shared: &EngineShared,
    open: &OpenIntent,
    wallet: &CredentialSource,
    said: &ManualResolution,
) -> EngineResult<Option<ResolveResult>> {
    let ManualResolution::Done(id) = said else { return Ok(None) };
    let key = open.intent.key.clone();
    Ok(match check_object(shared, wallet, &open.intent, id).await? {
        ObjectCheck::Fits => None,
        ObjectCheck::Differs(why) => Some(ResolveResult::Differs(key, why)),
        ObjectCheck::Unreadable(why) => Some(ResolveResult::Unverified(key, why)),
    })
}

async fn write_resolution(
    shared: &EngineShared,
    open: &OpenIntent,
    wallet: &CredentialSource,
    resolving: ResolveIntent,
) -> EngineResult<TaskResult> {
    let ResolveIntent { id, said, actor } = resolving;
    let at = shared.now();
    let word = Record::Resolved { intent: id, at, actor: actor.clone(), decision: said.word() };
    let key = open.intent.key.clone();
    tracing::info!(%key, intent = %id, actor, said = said.word(), "resolved");
    let progress = match said {
        ManualResolution::Done(remote_id) | ManualResolution::Unverified(remote_id) => {
            let observation = Box::new(observation(shared, open, remote_id)?);
            IntentProgress::Done { observation, proof: EffectProof::Person }
        }
        ManualResolution::NotDone => {
            IntentProgress::NotSent { reason: format!("{actor} said that it did not happen") }
        }
        ManualResolution::Retry => {
            let reason = format!("{actor} asked to settle it once more");
            let progress = IntentProgress::Doubt { reason, unsent: false };
            let doubt = Record::Progress { intent: id, at, progress };
            shared.write(Vec::new(), vec![word, doubt]).await?;
            let (row, intent) = (row_of(&open.intent.effect)?, &open.intent);
            // The permitted number of sends applies once more at a person's request.
            return Attempt { shared, row, intent, wallet }.settle(1).await;
        }
    };
    let (before, told) = (shared.facts.observed_state(&key)?, progress.clone());
    let progress = Record::Progress { intent: id, at, progress };
    shared.write(Vec::new(), vec![word, progress]).await?;
    progress::report_effect(shared, &open.intent, before.as_ref(), &told);
    Ok(TaskResult::Changed(key))
}

/// Builds the observation of an object whose id a person gave: it exists as requested.
fn observation(
    shared: &EngineShared,
    open: &OpenIntent,
    remote_id: RemoteId,
) -> EngineResult<Observation> {
    let intent = &open.intent;
    let row = row_of(&intent.effect)?;
    let learned = (row.learn)(intent, &expect::expected_answer(&intent.expect, &remote_id));
    // An effect that ends an object implies that, whatever the answer; any other leaves an object.
    let (exists, mut facts) =
        learned.map_or((true, json!({})), |learned| (learned.exists, learned.facts));
    let known = shared.facts.observed_state(&intent.key)?.and_then(|known| known.remote_id.clone());
    if let Some(facts) = facts.as_object_mut().filter(|_| known.as_ref() == Some(&remote_id)) {
        // Facts that an answer gave about this very object stay known.
        facts.retain(|_, fact| !fact.is_null());
    }
    let keys = (&intent.key, &intent.merchant);
    Ok(Observation {
        remote_id: Some(remote_id),
        exists: Some(exists),
        applied: Some(intent.applied.clone()),
        ..shared.observation(keys, FactSource::Operator, facts)
    })
}

impl EngineView<'_> {
    pub(crate) fn resolve(&self, resolving: ResolveIntent) -> Decision {
        let mut open = self.known_state.open_intents();
        let Some(open) = open.find(|open| open.intent.id == resolving.id).cloned() else {
            return Decision::answer(Reply::Resolved(ResolveResult::Unknown));
        };
        let key = open.intent.key.clone();
        if self.scheduler.busy.contains(&key) {
            return Decision::answer(Reply::Resolved(ResolveResult::Busy(key)));
        }
        let wallet = self.known_state.credential_source(&open.intent.merchant);
        let wallet = wallet.with_account(open.intent.request.account.clone());
        let (shared, settled) = (self.shared.clone(), open.clone());
        let task = async move { run_resolution(&shared, settled, wallet, resolving).await };
        Decision::run(task).settling(open)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ObjectCheck {
    Fits,
    /// The object is another one, or there is none, for this reason.
    Differs(String),
    /// The service cannot be asked, for this reason.
    Unreadable(String),
}

/// Reads the object of this id and compares it with the intent.
pub(crate) async fn check_object(
    shared: &EngineShared,
    wallet: &CredentialSource,
    intent: &Intent,
    id: &RemoteId,
) -> EngineResult<ObjectCheck> {
    if let Some(other) = other_owner(shared, intent, id)? {
        return Ok(ObjectCheck::Differs(format!("{id} belongs to {}", other.short())));
    }
    let Some(ObjectRead { query, list, account }) = object_read(intent, id) else {
        let why = "the service does not show such an object by its id".to_owned();
        return Ok(ObjectCheck::Unreadable(why));
    };
    let wallet = wallet.clone().with_account(account);
    Ok(match read::or_reason(read::object(shared, query, &wallet).await)? {
        Err(why) => ObjectCheck::Unreadable(why),
        Ok(ObjectAnswer::Object(item)) => compare_with_intent(intent, id, &item),
        Ok(ObjectAnswer::Gone) => {
            let merchant = intent.merchant.short();
            ObjectCheck::Differs(format!("the service has no {id} among the {list} of {merchant}"))
        }
        Ok(ObjectAnswer::NotShown) => {
            ObjectCheck::Unreadable("the service does not show such objects".to_owned())
        }
    })
}

struct ObjectRead {
    query: RemoteQuery,
    list: &'static str,
    /// The account whose key reads it, if that is not the merchant's own.
    account: Option<String>,
}

/// Returns the read of an object of this id; `None` if the service has no such read.
fn object_read(intent: &Intent, id: &RemoteId) -> Option<ObjectRead> {
    if let Some(query) = verifying_query(&intent.effect, id) {
        let account = intent.request.account.clone();
        return Some(ObjectRead { query, list: "transactions", account });
    }
    let row = register::find(intent.key.kind.as_str())?;
    let back = (row.read_back)(&intent.applied.spec)?;
    let query = RemoteQuery::one((back.one)(id));
    Some(ObjectRead { query, list: back.list_name, account: None })
}

/// Returns another resource that is known to be the object of this id.
fn other_owner(shared: &EngineShared, intent: &Intent, id: &RemoteId) -> EngineResult<Option<Key>> {
    if intent.target.as_ref() == Some(id) {
        return Ok(None);
    }
    let own = shared.facts.names(&intent.key)?;
    for (key, _) in shared.facts.resources_of_id(id.as_str())? {
        let known = shared.facts.observed_state(&key)?.and_then(|known| known.remote_id);
        if known.as_ref() == Some(id) && !own.contains(&key) {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// Returns the mark of an object; a transaction's mark follows its reference, or is in its data.
fn mark_in(item: &Value) -> Option<Mark> {
    let text = |place: &str| item.pointer(place).and_then(Value::as_str).unwrap_or_default();
    let behind = || Mark::find_in(text("/reference"));
    mark_of(item).or_else(behind).or_else(|| Mark::parse(text("/data/reckon")))
}

/// Compares an object with an intent: its id, its mark, and the expected values of the answer.
fn compare_with_intent(intent: &Intent, id: &RemoteId, item: &Value) -> ObjectCheck {
    if item.get("status").and_then(Value::as_str) == Some("FAILED") {
        return ObjectCheck::Differs(format!("{id} failed and moved nothing"));
    }
    if item.get("id").and_then(Value::as_str) != Some(id.as_str()) {
        return ObjectCheck::Differs("the service returned another object".to_owned());
    }
    // A changed object carries the mark of its creator.
    let is_target = intent.target.as_ref() == Some(id);
    if let Some(other) = mark_in(item).filter(|mark| *mark != intent.mark && !is_target) {
        let why = format!("{id} carries the mark of another resource ({other})");
        return ObjectCheck::Differs(why);
    }
    let differing = expect::mismatches(&intent.expect, item);
    if differing.is_empty() {
        ObjectCheck::Fits
    } else {
        ObjectCheck::Differs(format!("{id} differs from the request: {}", differing.join("; ")))
    }
}

#[cfg(test)]
mod tests;
