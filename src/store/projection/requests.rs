//! Folds the results of hook runs: action requests, and the values that scripts store. One name
//! beneath an event is one action, whichever script requests it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::fault_injection;
use crate::base::hash::Digest;
use crate::base::id::Name;
use crate::model::effect::Action;
use crate::model::events::hook::{ActionRequest, HookRun};
use crate::model::events::hook_run::{
    ActionOutcome, ActionRequestId, ActionResult, HookRunRecord, PendingAction, Scheduled,
};
use crate::model::events::scripts::{ScriptValuesSize, sum};
use crate::store::error::Folded;
use crate::store::projection::events::is_unprovable;
use crate::store::projection::{events, ledger};
use crate::store::read_model::hooks::{
    ACTION_REQUESTS, ACTION_RESULTS, HOOK_DEPTHS, HOOKS_AT_MOST, STORED_SIZES, STORED_VALUES,
    schedule_key,
};
use crate::store::read_model::model::{Changes, Entries};

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

pub(crate) fn write_result(
    changes: &mut Changes<'_>,
    granted: &ActionResult,
    content: Option<Digest>,
) -> Folded {
    let ActionResult { id, outcome: fate, message, at } = granted.clone();
    let settled = StoredResult { id, fate, message, at, content };
    Ok(changes.write(&ACTION_RESULTS.key(&granted.id), &settled)?)
}

#[derive(Default)]
pub(crate) struct RequestedActions {
    /// The number of new actions that wait.
    pub(crate) new: u64,
    pub(crate) ended: Vec<EndedAction>,
}

/// Folds the action requests of one run; `before` counts those of the event's other runs before it.
pub(crate) fn fold_requests(
    changes: &mut Changes<'_>,
    (ran, run): (&HookRunRecord, &HookRun),
    doubted: bool,
    before: usize,
) -> Folded<RequestedActions> {
    let mut asked = RequestedActions::default();
    for (nth, wish) in (before..).zip(&run.requests) {
        let pending = pending((ran, run), wish, doubted, nth);
        match find_request(changes, &pending.id)? {
            Some((content, script)) if !wish.requests_same(content) => {
                asked.ended.push(name_conflict(pending, &script));
            }
            Some(_) => {}
            None if !count_within_bound(changes, &pending)? => {
                asked.ended.push(skip(changes, pending)?);
            }
            None => {
                add_pending(changes, ran, &pending, doubted)?;
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
    let (script, maybe_done) = (run.script.clone(), doubted && is_unprovable(run, wish));
    PendingAction { id, request: wish.clone(), script, maybe_done, at: ran.at }
}

/// Returns an action's own name; a planted fault uses its ordinal instead.
fn action_name(wish: &ActionRequest, nth: usize) -> Name {
    let counted =
        format!("nth-{nth}").parse().ok().filter(|_| fault_injection::is_active("hook-by-ordinal"));
    counted.unwrap_or_else(|| wish.name.clone())
}

/// Returns the digest of an earlier request of the same name, and its script as far as it is known.
fn find_request(
    entries: &impl Entries,
    id: &ActionRequestId,
) -> Folded<Option<(Option<Digest>, String)>> {
    if let Some(waiting) = ACTION_REQUESTS.get(entries, id)? {
        return Ok(Some((waiting.request.content, format!("script `{}`", waiting.script))));
    }
    let settled: Option<StoredResult> = entries.read(&ACTION_RESULTS.key(id))?;
    Ok(settled.map(|settled| (settled.content, "another script".to_owned())))
}

fn add_pending(
    changes: &mut Changes<'_>,
    ran: &HookRunRecord,
    pending: &PendingAction,
    doubted: bool,
) -> Folded {
    if let (Some(merchant), Ok(name)) = (&pending.request.merchant, pending.id.action_name()) {
        HOOK_DEPTHS.put(changes, &Action::key(merchant, &name), &ran.depth.saturating_add(1))?;
    }
    if doubted {
        events::mark_doubted(changes, pending);
    }
    let scheduled = Scheduled::of(pending);
    changes.write(&schedule_key(&scheduled), &scheduled)?;
    Ok(ACTION_REQUESTS.put(changes, &pending.id, pending)?)
}

/// Counts a notification against its bound, and returns true if the bound allows it.
fn count_within_bound(changes: &mut Changes<'_>, pending: &PendingAction) -> Folded<bool> {
    let Some(bound) = &pending.request.at_most else { return Ok(true) };
    let key = ((&pending.id.merchant, pending.script.as_str()), bound.key.as_str());
    let mut counted = HOOKS_AT_MOST.get(changes, key)?.unwrap_or_default();
    let allowed = counted.allows(bound);
    HOOKS_AT_MOST.put(changes, key, &counted)?;
    Ok(allowed)
}

/// Records a notification as skipped, since its bound is reached.
fn skip(changes: &mut Changes<'_>, pending: PendingAction) -> Folded<EndedAction> {
    let message = "`at_most` allows no more within the span of this event".to_owned();
    let (pending, granted) = ended(pending, ActionOutcome::Skipped, message);
    write_result(changes, &granted, pending.request.content)?;
    Ok((pending, granted))
}

/// Ends an action at the time of its request.
fn ended(pending: PendingAction, outcome: ActionOutcome, message: String) -> EndedAction {
    let result = ActionResult { id: pending.id.clone(), outcome, message, at: pending.at };
    (pending, result)
}

/// Returns the failure of an action whose name belongs to a different request.
fn name_conflict(pending: PendingAction, other: &str) -> EndedAction {
    let name = &pending.id.name;
    let message = format!(
        "{other} asked for something else as `{name}` for this event: give one of them another `name`"
    );
    ended(pending, ActionOutcome::Invalid, message)
}

/// Counts actions that ended at once, and lists the failed ones.
pub(crate) fn count_ended(changes: &mut Changes<'_>, ended: Vec<EndedAction>) -> Folded {
    for (pending, granted) in ended {
        ledger::count_result(changes, pending, &granted)?;
    }
    Ok(())
}

/// Verb and name of an addition that failed.
const ADD: &str = "kv_add";
const ADD_NAME: &str = "kv-add";

/// Stores the values of one run. Returns the additions that failed: the value's type had changed.
pub(crate) fn store_values(
    changes: &mut Changes<'_>,
    (ran, run): (&HookRunRecord, &HookRun),
) -> Folded<Vec<EndedAction>> {
    let mut refused = Vec::new();
    if run.kept.is_empty() && run.added.is_empty() {
        return Ok(refused);
    }
    let mut size = STORED_SIZES.get(changes, &run.script)?.unwrap_or_default();
    for (key, value) in &run.kept {
        let before = STORED_VALUES.get(changes, (&run.script, key))?.unwrap_or_default();
        size = put_value(changes, run, (key, &before, value), size)?;
    }
    for (key, added) in &run.added {
        let before = STORED_VALUES.get(changes, (&run.script, key))?.unwrap_or_default();
        match sum(&before, added) {
            Some(value) => size = put_value(changes, run, (key, &before, &value), size)?,
            None => refused.extend(type_conflict(ran, run, key)),
        }
    }
    STORED_SIZES.put(changes, &run.script, &size)?;
    Ok(refused)
}

/// Replaces a value; null removes the key.
fn put_value(
    changes: &mut Changes<'_>,
    run: &HookRun,
    (key, before, value): (&str, &Value, &Value),
    size: ScriptValuesSize,
) -> Folded<ScriptValuesSize> {
    if value.is_null() {
        STORED_VALUES.remove(changes, (&run.script, key));
    } else {
        STORED_VALUES.put(changes, (&run.script, key), value)?;
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
    let (script, maybe_done) = (run.script.clone(), false);
    let pending = PendingAction { id, request: wish, script, maybe_done, at: ran.at };
    Some(ended(pending, ActionOutcome::Invalid, message))
}
