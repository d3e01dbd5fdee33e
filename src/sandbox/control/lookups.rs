//! Stored objects, served requests and fault rules, for people and checkers.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::order::ControlOrder;
use crate::sandbox::answer::{SandboxAnswer, SandboxRefusal};
use crate::sandbox::server::{LockedState, Sandbox};
use crate::sandbox::state::faults::{FAULTS, FaultRule};
use crate::sandbox::state::lists::{ObjectKind, Stored};
use crate::sandbox::state::logs;
use crate::sandbox::state::store::ChangeUnit;

/// The word of a path and the kind of object behind it.
const KINDS: [(&str, ObjectKind); 12] = [
    ("contacts", ObjectKind::CONTACT),
    ("contact_hashes", ObjectKind::CONTACT_HASH),
    ("files", ObjectKind::FILE),
    ("invoices", ObjectKind::INVOICE),
    ("cards", ObjectKind::CARD),
    ("banks", ObjectKind::BANK),
    ("recurring_charges", ObjectKind::RECURRING_CHARGE),
    ("occurrences", ObjectKind::OCCURRENCE),
    ("applications", ObjectKind::APPLICATION),
    ("transactions", ObjectKind::TRANSACTION),
    ("events", ObjectKind::EVENT),
    ("tokens", ObjectKind::TOKEN),
];

/// Lists every object of a kind in order of creation, with merchant and mode, one object a line.
pub(crate) fn objects(cx: &ChangeUnit<'_>, kind: &str) -> Result<SandboxAnswer, SandboxRefusal> {
    let known = KINDS.iter().find(|(path, _)| *path == kind);
    let (_, kind) = known.ok_or_else(SandboxRefusal::no_path)?;
    let merchants = cx.merchants()?.into_iter().map(|merchant| (merchant.id, merchant.name));
    let names: BTreeMap<String, String> = merchants.collect();
    let all = cx.all::<Map<String, Value>, Value>(*kind)?.into_iter();
    let lines: Vec<Value> = all.map(|kept| line(kept, &names)).collect();
    Ok(SandboxAnswer::lines(&lines))
}

fn line(kept: Stored<Map<String, Value>, Value>, names: &BTreeMap<String, String>) -> Value {
    let mut object = kept.object;
    object.insert("merchant".to_owned(), json!(names.get(&kept.owner.merchant)));
    object.insert("mode".to_owned(), json!(kept.owner.mode));
    Value::Object(object)
}

/// Lists the last `limit` requests to the service, and the total number.
pub(crate) fn requests(
    cx: &ChangeUnit<'_>,
    query: &BTreeMap<String, Vec<String>>,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let limit = query.get("limit").and_then(|values| values.first());
    let limit = limit.and_then(|text| text.parse::<usize>().ok()).unwrap_or(usize::MAX);
    let all = cx.scan("request/", None, usize::MAX)?;
    let skipped = all.len().saturating_sub(limit);
    let requests: Vec<Value> = all.into_iter().skip(skipped).map(|(_, value)| value).collect();
    SandboxAnswer::json(&json!({ "total": logs::requests_total(cx)?, "requests": requests }))
}

/// Lists the fault rules with their counts.
pub(crate) fn faults(sandbox: &Sandbox) -> Result<SandboxAnswer, SandboxRefusal> {
    let live = sandbox.lock();
    let shown: Vec<Value> = live.faults.iter().map(FaultRule::show).collect();
    SandboxAnswer::json(&json!({ "faults": shown }))
}

pub(crate) fn add_fault(
    live: &mut LockedState,
    cx: &mut ChangeUnit<'_>,
    order: &ControlOrder,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let fault = FaultRule::read(cx.fresh_gateway_id(), order.value())?;
    let id = fault.id.clone();
    live.faults.push(fault);
    cx.put(FAULTS, &live.faults)?;
    SandboxAnswer::json(&json!({ "id": id }))
}

/// Removes one fault rule, or all.
pub(crate) fn remove_faults(
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
