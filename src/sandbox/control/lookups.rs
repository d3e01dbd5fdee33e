//! Stored objects and requests, for people and checkers.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::log;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::state::lists::{ObjectKind, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// The word of a path and that of the keys behind it.
const KINDS: [(&str, &str); 12] = [
    ("contacts", "contact"),
    ("contact_hashes", "contact-hash"),
    ("files", "file"),
    ("invoices", "invoice"),
    ("cards", "card"),
    ("banks", "bank"),
    ("recurring_charges", "recurring"),
    ("occurrences", "occurrence"),
    ("applications", "application"),
    ("transactions", "transaction"),
    ("events", "event"),
    ("tokens", "token"),
];

/// Lists every object of a kind in order of creation, with merchant and mode, one object a line.
pub(super) fn objects(cx: &ChangeUnit<'_>, kind: &str) -> Result<SandboxAnswer, SandboxRefusal> {
    let known = KINDS.iter().find(|(path, _)| *path == kind);
    let (_, word) = known.ok_or_else(SandboxRefusal::no_path)?;
    let of_kind = ObjectKind { word, name: word };
    let merchants = cx.merchants()?.into_iter().map(|merchant| (merchant.id, merchant.name));
    let names: BTreeMap<String, String> = merchants.collect();
    let all = cx.all::<Map<String, Value>, Value>(of_kind)?.into_iter();
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
pub(super) fn requests(
    cx: &ChangeUnit<'_>,
    query: &BTreeMap<String, Vec<String>>,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let limit = query.get("limit").and_then(|values| values.first());
    let limit = limit.and_then(|text| text.parse::<usize>().ok()).unwrap_or(usize::MAX);
    let all = cx.scan("request/", None, usize::MAX)?;
    let skipped = all.len().saturating_sub(limit);
    let requests: Vec<Value> = all.into_iter().skip(skipped).map(|(_, value)| value).collect();
    SandboxAnswer::json(&json!({ "total": log::total(cx)?, "requests": requests }))
}
