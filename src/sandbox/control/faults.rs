//! `/_sandbox/faults`: lists, adds and removes fault rules.

use serde_json::{Value, json};

use crate::sandbox::answer::Answer;
use crate::sandbox::fault::Fault;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::{FAULTS, Live, Sandbox};

pub(super) fn list(sandbox: &Sandbox) -> Result<Answer, Refusal> {
    let live = sandbox.lock();
    let shown: Vec<Value> = live.faults.iter().map(Fault::show).collect();
    Answer::json(&json!({ "faults": shown }))
}

pub(super) fn add(live: &mut Live, cx: &mut Cx<'_>, order: &Value) -> Result<Answer, Refusal> {
    let fault = Fault::read(cx.id(), order)?;
    let id = fault.id.clone();
    live.faults.push(fault);
    cx.put(FAULTS, &live.faults)?;
    Answer::json(&json!({ "id": id }))
}

/// Removes one fault rule, or all.
pub(super) fn remove(
    live: &mut Live,
    cx: &mut Cx<'_>,
    id: Option<&str>,
) -> Result<Answer, Refusal> {
    if let Some(id) = id
        && !live.faults.iter().any(|fault| fault.id == id)
    {
        return Err(Refusal::missing("Fault", id));
    }
    live.faults.retain(|fault| id.is_some_and(|id| fault.id != id));
    cx.put(FAULTS, &live.faults)?;
    Answer::json(&json!({}))
}
