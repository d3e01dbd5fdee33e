//! Folds the results of hook runs: action requests, and the values that scripts store. One name
//! beneath an event is one action, whichever script requests it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::fault_injection;
use crate::base::hash::Digest;
use crate::base::id::Name;
use crate::model::effect::Action;
use crate::model::events::hook::{ActionRequest, HookRun, NotificationCounts};
use crate::model::events::hook_run::{
    ActionOutcome, ActionRequestId, ActionResult, HookRunRecord, PendingAction, Scheduled,
};
use crate::model::events::scripts::{ScriptValuesSize, sum};
use crate::store::index::ordered::{Batch, Index};
use crate::store::projection::events::is_unprovable;
use crate::store::projection::{events, ledger};
use crate::store::read_model::hooks::{
    at_most_key, depth_key, request_key, result_key, schedule_key, stored_size_key,
    stored_value_key,
};
use crate::store::read_model::model::{ReadModelError, read, write};

/// An action that ended when it was requested: the request, and its result.
pub(crate) type EndedAction = (PendingAction, ActionResult);

/// The result of an action with the digest of its request: the fields of [`ActionResult`], and one more.
#[derive(Debug, Serialize, Deserialize)]
struct StoredResult {
    id: ActionRequestId,
    fate: ActionOutcome,
    message: String,
    at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Digest>,
}

/// Writes the result of an action.
pub(crate) fn write_result(
    batch: &mut Batch,
    granted: &ActionResult,
    content: Option<Digest>,
) -> Result<(), ReadModelError> {
    let ActionResult { id, outcome: fate, message, at } = granted.clone();
    let settled = StoredResult { id, fate, message, at, content };
    write(batch, &result_key(&granted.id), &settled)
}

/// The action requests of one run.
#[derive(Default)]
pub(crate) struct RequestedActions {
    /// The number of new actions that wait.
    pub(crate) new: u64,
    /// Actions that ended at once.
    pub(crate) ended: Vec<EndedAction>,
}

/// Folds the action requests of one run; `before` counts those of the event's other runs before it.
pub(crate) fn fold_requests(
    index: &dyn Index,
    batch: &mut Batch,
    (ran, run): (&HookRunRecord, &HookRun),
    doubted: bool,
    before: usize,
) -> Result<RequestedActions, ReadModelError> {
    let mut asked = RequestedActions::default();
    for (nth, wish) in (before..).zip(&run.requests) {
        let pending = pending((ran, run), wish, doubted, nth);
        match find_request(index, batch, &pending.id)? {
            Some((content, script)) if !wish.requests_same(content) => {
                asked.ended.push(name_conflict(ran, pending, &script));
            }
            Some(_) => {}
            None if !count_within_bound(index, batch, &pending)? => {
                asked.ended.push(skip(batch, ran, pending)?);
            }
            None => {
                add_pending(batch, ran, &pending, doubted)?;
                asked.new = asked.new.saturating_add(1);
            }
        }
    }
    Ok(asked)
}

fn pending(
    (ran, run): (&HookRunRecord, &HookRun),
    wish: &ActionRequest,
    doubted: bool,
    nth: usize,
) -> PendingAction {
    let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
    let id = ActionRequestId { merchant, event, name: action_name(wish, nth) };
    let unsure = doubted && is_unprovable(run, wish);
    PendingAction {
        id,
        request: wish.clone(),
        script: run.script.clone(),
        maybe_done: unsure,
        at: ran.at,
    }
}

/// Returns an action's own name; a planted fault uses its ordinal instead.
fn action_name(wish: &ActionRequest, nth: usize) -> Name {
    let counted =
        format!("nth-{nth}").parse().ok().filter(|_| fault_injection::is_active("hook-by-ordinal"));
    counted.unwrap_or_else(|| wish.name.clone())
}

/// Returns the digest of an earlier request of the same name, and the script that made it as far as
/// it is known.
fn find_request(
    index: &dyn Index,
    batch: &Batch,
    id: &ActionRequestId,
) -> Result<Option<(Option<Digest>, String)>, ReadModelError> {
    if let Some(waiting) = read::<PendingAction>(index, batch, &request_key(id))? {
        return Ok(Some((waiting.request.content, format!("script `{}`", waiting.script))));
    }
    let settled: Option<StoredResult> = read(index, batch, &result_key(id))?;
    Ok(settled.map(|settled| (settled.content, "another script".to_owned())))
}

fn add_pending(
    batch: &mut Batch,
    ran: &HookRunRecord,
    pending: &PendingAction,
    doubted: bool,
) -> Result<(), ReadModelError> {
    if let (Some(merchant), Ok(name)) = (&pending.request.merchant, pending.id.action_name()) {
        let action = Action::key(merchant, &name);
        write(batch, &depth_key(&action), &ran.depth.saturating_add(1))?;
    }
    if doubted {
        events::mark_doubted(batch, pending);
    }
    let scheduled = Scheduled::of(pending);
    write(batch, &schedule_key(&scheduled), &scheduled)?;
    write(batch, &request_key(&pending.id), pending)
}

/// Counts a notification against its bound, and returns true if the bound allows it.
fn count_within_bound(
    index: &dyn Index,
    batch: &mut Batch,
    pending: &PendingAction,
) -> Result<bool, ReadModelError> {
    let Some(bound) = &pending.request.at_most else { return Ok(true) };
    let key = at_most_key(&pending.id.merchant, &pending.script, &bound.key);
    let mut counted: NotificationCounts = read(index, batch, &key)?.unwrap_or_default();
    let allowed = counted.allows(bound);
    write(batch, &key, &counted)?;
    Ok(allowed)
}

/// Records a notification as skipped, since its bound is reached.
fn skip(
    batch: &mut Batch,
    ran: &HookRunRecord,
    pending: PendingAction,
) -> Result<EndedAction, ReadModelError> {
    let message = "`at_most` allows no more within the span of this event".to_owned();
    let granted = ActionResult {
        id: pending.id.clone(),
        outcome: ActionOutcome::Skipped,
        message,
        at: ran.at,
    };
    write_result(batch, &granted, pending.request.content)?;
    Ok((pending, granted))
}

/// Returns the failure of an action whose name belongs to a different request.
fn name_conflict(ran: &HookRunRecord, pending: PendingAction, other: &str) -> EndedAction {
    let name = &pending.id.name;
    let message = format!(
        "{other} asked for something else as `{name}` for this event: give one of them another `name`"
    );
    let granted = ActionResult {
        id: pending.id.clone(),
        outcome: ActionOutcome::Invalid,
        message,
        at: ran.at,
    };
    (pending, granted)
}

/// Counts actions that ended at once, and lists the failed ones.
pub(crate) fn count_ended(
    index: &dyn Index,
    batch: &mut Batch,
    ended: Vec<EndedAction>,
) -> Result<(), ReadModelError> {
    for (pending, granted) in ended {
        ledger::count_result(index, batch, pending, &granted)?;
    }
    Ok(())
}

/// Verb and name of an addition that failed.
const ADD: &str = "kv_add";
const ADD_NAME: &str = "kv-add";

/// Stores the values of one run. Returns the additions that failed, since another run changed the
/// value's type meanwhile.
pub(crate) fn store_values(
    index: &dyn Index,
    batch: &mut Batch,
    (ran, run): (&HookRunRecord, &HookRun),
) -> Result<Vec<EndedAction>, ReadModelError> {
    let mut refused = Vec::new();
    if run.kept.is_empty() && run.added.is_empty() {
        return Ok(refused);
    }
    let size_key = stored_size_key(&run.script);
    let mut size: ScriptValuesSize = read(index, batch, &size_key)?.unwrap_or_default();
    for (key, value) in &run.kept {
        let before = stored_value(index, batch, run, key)?;
        size = put_value(batch, run, (key, &before, value), size)?;
    }
    for (key, added) in &run.added {
        let before = stored_value(index, batch, run, key)?;
        match sum(&before, added) {
            Some(value) => size = put_value(batch, run, (key, &before, &value), size)?,
            None => refused.extend(type_conflict(ran, run, key)),
        }
    }
    write(batch, &size_key, &size)?;
    Ok(refused)
}

fn stored_value(
    index: &dyn Index,
    batch: &Batch,
    run: &HookRun,
    key: &str,
) -> Result<Value, ReadModelError> {
    Ok(read(index, batch, &stored_value_key(&run.script, key))?.unwrap_or_default())
}

/// Replaces a value; null removes the key.
fn put_value(
    batch: &mut Batch,
    run: &HookRun,
    (key, before, value): (&str, &Value, &Value),
    size: ScriptValuesSize,
) -> Result<ScriptValuesSize, ReadModelError> {
    let entry = stored_value_key(&run.script, key);
    if value.is_null() {
        batch.remove(entry);
    } else {
        write(batch, &entry, value)?;
    }
    Ok(size.without(ScriptValuesSize::of(key, before)).plus(ScriptValuesSize::of(key, value)))
}

fn type_conflict(ran: &HookRunRecord, run: &HookRun, key: &str) -> Option<EndedAction> {
    let (merchant, event, name) = (ran.merchant.clone(), ran.event.clone(), ADD_NAME.parse().ok()?);
    let id = ActionRequestId { merchant, event, name };
    let wish = ActionRequest {
        name: id.name.clone(),
        verb: ADD.to_owned(),
        merchant: None,
        fields: Value::Null,
        at: None,
        at_most: None,
        content: None,
    };
    let message =
        format!("the value of `{key}` has another type or currency by now: nothing was added");
    let granted =
        ActionResult { id: id.clone(), outcome: ActionOutcome::Invalid, message, at: ran.at };
    let pending = PendingAction {
        id,
        request: wish,
        script: run.script.clone(),
        maybe_done: false,
        at: ran.at,
    };
    Some((pending, granted))
}
