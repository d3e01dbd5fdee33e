//! Folds the values that scripts store, with their sizes.

use serde_json::Value;

use super::asked::EndedAction;
use crate::model::events::hook::{ActionRequest, HookRun};
use crate::model::events::hook_run::{
    ActionOutcome, ActionRequestId, ActionResult, HookRunRecord, PendingAction,
};
use crate::model::events::script_values::{ScriptValuesSize, sum};
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::hooks::{stored_size_key, stored_value_key};
use crate::store::read_model::model::{ReadModelError, read, write};

/// Verb and name of an addition that failed.
const ADD: &str = "kv_add";
const ADD_NAME: &str = "kv-add";

/// Stores the values of one run. Returns the additions that failed, since another run changed the
/// value's type meanwhile.
pub(super) fn store_values(
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
        size = put(batch, run, (key, &before, value), size)?;
    }
    for (key, added) in &run.added {
        let before = stored_value(index, batch, run, key)?;
        match sum(&before, added) {
            Some(value) => size = put(batch, run, (key, &before, &value), size)?,
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
fn put(
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
