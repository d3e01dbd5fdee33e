//! `/_sandbox/faults`: lists, adds and removes fault rules.

use serde_json::{Value, json};

use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::fault::FaultRule;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::server::{FAULTS, LockedState, Sandbox};
use crate::sandbox::state::store::ChangeUnit;

pub(super) fn list(sandbox: &Sandbox) -> Result<SandboxAnswer, SandboxRefusal> {
    let live = sandbox.lock();
    let shown: Vec<Value> = live.faults.iter().map(FaultRule::show).collect();
    SandboxAnswer::json(&json!({ "faults": shown }))
}

pub(super) fn add(
    live: &mut LockedState,
    cx: &mut ChangeUnit<'_>,
    order: &Value,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let fault = FaultRule::read(cx.fresh_gateway_id(), order)?;
    let id = fault.id.clone();
    live.faults.push(fault);
    cx.put(FAULTS, &live.faults)?;
    SandboxAnswer::json(&json!({ "id": id }))
}

/// Removes one fault rule, or all.
pub(super) fn remove(
    live: &mut LockedState,
    cx: &mut ChangeUnit<'_>,
    id: Option<&str>,
) -> Result<SandboxAnswer, SandboxRefusal> {
    if let Some(id) = id
        && !live.faults.iter().any(|fault| fault.id == id)
    {
        return Err(SandboxRefusal::not_found("Fault", id));
    }
    live.faults.retain(|fault| id.is_some_and(|id| fault.id != id));
    cx.put(FAULTS, &live.faults)?;
    SandboxAnswer::json(&json!({}))
}
