//! Reads the object of an id that a person gives for an intent, if the service can show it. Reads
//! only.

use serde_json::Value;

use crate::base::hash::Mark;
use crate::base::id::{Key, RemoteId};
use crate::effects::{Answer, Query, expect, mark_of, transaction_of};
use crate::engine::access::{NoAccess, Wallet};
use crate::engine::read::{self, Unread};
use crate::engine::shared::{EngineError, Shared};
use crate::kinds::register;
use crate::model::intent::Intent;

/// The service's answer about the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// The object matches the request.
    Fits,
    /// The object is another one, or there is none, for this reason.
    Differs(String),
    /// The service cannot be asked, for this reason.
    Unreadable(String),
}

/// Reads the object of this id and compares it with the intent.
pub(super) async fn shown(
    shared: &Shared,
    wallet: &Wallet,
    intent: &Intent,
    id: &RemoteId,
) -> Result<Shown, EngineError> {
    if let Some(other) = other(shared, intent, id)? {
        return Ok(Shown::Differs(format!("{id} belongs to {}", other.short())));
    }
    let Some(Reading { query, list, account }) = reading(intent, id) else {
        return Ok(Shown::Unreadable("the service shows no such object by its id".to_owned()));
    };
    let wallet = Wallet { account, ..wallet.clone() };
    let answers = match read::answers(shared, &[query], &wallet).await {
        Ok(answers) => answers,
        Err(Unread::Access(NoAccess::Engine(error))) => return Err(error),
        Err(Unread::Access(NoAccess::Secret(error))) => {
            return Ok(Shown::Unreadable(error.message));
        }
        Err(Unread::Read(error)) => return Ok(Shown::Unreadable(error.to_string())),
    };
    Ok(match answers.first() {
        Some(Answer::Body(item)) => held_against(intent, id, item),
        Some(answer @ Answer::Missing(_)) if !answer.unknown_path() => {
            let merchant = intent.merchant.short();
            Shown::Differs(format!("the service has no {id} among the {list} of {merchant}"))
        }
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Shown::Unreadable("the service does not show such objects".to_owned())
        }
    })
}

/// The read that shows an object.
struct Reading {
    query: Query,
    /// The name of the list that has such objects.
    list: &'static str,
    /// The account whose key reads it, if that is not the merchant's own.
    account: Option<String>,
}

/// Returns the read of an object of this id; `None` if the service has no such read.
fn reading(intent: &Intent, id: &RemoteId) -> Option<Reading> {
    if let Some(query) = transaction_of(&intent.effect, id) {
        let account = intent.request.account.clone();
        return Some(Reading { query, list: "transactions", account });
    }
    let row = register::find(intent.key.kind.as_str())?;
    let back = (row.read_back)(&intent.applied.spec)?;
    Some(Reading { query: Query::one((back.one)(id)), list: back.list_name, account: None })
}

/// Returns another resource that is known to be the object of this id.
fn other(shared: &Shared, intent: &Intent, id: &RemoteId) -> Result<Option<Key>, EngineError> {
    if intent.target.as_ref() == Some(id) {
        return Ok(None);
    }
    let own = shared.facts.names(&intent.key)?;
    for (key, _) in shared.facts.remote(id.as_str())? {
        let known = shared.facts.observed(&key)?.and_then(|known| known.remote_id);
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
fn held_against(intent: &Intent, id: &RemoteId, item: &Value) -> Shown {
    if item.get("status").and_then(Value::as_str) == Some("FAILED") {
        return Shown::Differs(format!("{id} failed: it moved nothing"));
    }
    if item.get("id").and_then(Value::as_str) != Some(id.as_str()) {
        return Shown::Differs("the service answered with another object".to_owned());
    }
    // A changed object carries the mark of its creator.
    let is_target = intent.target.as_ref() == Some(id);
    let other = mark_in(item).filter(|mark| *mark != intent.mark && !is_target);
    if let Some(other) = other {
        return Shown::Differs(format!("{id} carries the mark of another resource ({other})"));
    }
    let differing = expect::mismatches(&intent.expect, item);
    if differing.is_empty() {
        Shown::Fits
    } else {
        Shown::Differs(format!("{id} is not what was asked for: {}", differing.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::base::hash::{SourceId, sha256};
    use crate::base::id::{IntentId, Mode};

    fn intent() -> Intent {
        let key: Key = "SavedMethod/jane".parse().unwrap();
        let source_id = SourceId::new("acme", &key, 0);
        let said = json!({
            "id": IntentId::new(1), "effect": "vault.save", "key": key,
            "merchant": "Merchant/default/acme", "mode": Mode::Test, "target": null,
            "mark": source_id.mark(), "source_id": source_id,
            "request": {"endpoint": "", "method": "POST", "host": "base", "path": "", "auth": "none", "body": "none"},
            "expect": BTreeMap::from([("amount", 2000)]), "baseline": null, "on_doubt": "hold",
            "applied": {"spec": {}, "digest": sha256(b""), "generation": 0, "deletion": "orphan"},
            "cause": {"file": null, "line": null, "commit": null}, "at": "2026-11-22T23:59:59Z",
        });
        serde_json::from_value(said).unwrap()
    }

    /// Closes M13: an id is no proof by itself.
    #[test]
    fn an_object_fits_by_its_id_its_mark_and_its_amount_and_not_otherwise() {
        let (intent, id) = (intent(), "c1".parse().unwrap());
        let mark = intent.mark.to_string();
        let other = "rkabcdefghijklmnopqrstuvwxya";
        for (item, why) in [
            (json!({"id": "c1", "amount": 2000, "reference": mark}), ""),
            (json!({"id": "c1", "amount": 2000}), ""),
            (json!({"id": "c2", "amount": 2000}), "another object"),
            (json!({"id": "c1", "amount": 2000, "reference": other}), "mark of another"),
            (json!({"id": "c1", "amount": 200, "reference": mark}), "asked 2000, answered 200"),
            (json!({"id": "c1", "amount": 2000, "reference": format!("Rent [{mark}]")}), ""),
            (json!({"id": "c1", "reference": format!("Rent [{other}]")}), "mark of another"),
            (json!({"id": "c1", "data": {"reckon": other}}), "mark of another"),
            (json!({"id": "c1", "amount": 2000, "status": "FAILED"}), "moved nothing"),
        ] {
            let told = match held_against(&intent, &id, &item) {
                Shown::Fits => String::new(),
                Shown::Differs(why) | Shown::Unreadable(why) => why,
            };
            assert!(told.contains(why) && told.is_empty() == why.is_empty(), "{item}: {told}");
        }
    }
}
