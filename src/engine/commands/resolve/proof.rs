//! Reads the object of an id that a person gives for an intent, if the service can show it. Reads
//! only.

use serde_json::Value;

use crate::base::hash::Mark;
use crate::base::id::{Key, RemoteId};
use crate::effects::core::expect;
use crate::effects::core::row::{RemoteAnswer, RemoteQuery};
use crate::effects::merchants::survey::mark_of;
use crate::effects::payments::transaction_read::verifying_query;
use crate::engine::handles::access::{CredentialError, CredentialSource};
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::readers::read;
use crate::engine::readers::read::ReadFailure;
use crate::kinds::register;
use crate::model::intents::intent::Intent;

/// The service's answer about the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ObjectCheck {
    /// The object matches the request.
    Fits,
    /// The object is another one, or there is none, for this reason.
    Differs(String),
    /// The service cannot be asked, for this reason.
    Unreadable(String),
}

/// Reads the object of this id and compares it with the intent.
pub(super) async fn check_object(
    shared: &EngineShared,
    wallet: &CredentialSource,
    intent: &Intent,
    id: &RemoteId,
) -> Result<ObjectCheck, EngineError> {
    if let Some(other) = other_owner(shared, intent, id)? {
        return Ok(ObjectCheck::Differs(format!("{id} belongs to {}", other.short())));
    }
    let Some(ObjectRead { query, list, account }) = object_read(intent, id) else {
        return Ok(ObjectCheck::Unreadable(
            "the service does not show such an object by its id".to_owned(),
        ));
    };
    let wallet = CredentialSource { account, ..wallet.clone() };
    let answers = match read::answers(shared, &[query], &wallet).await {
        Ok(answers) => answers,
        Err(ReadFailure::Access(CredentialError::Engine(error))) => return Err(error),
        Err(ReadFailure::Access(CredentialError::Secret(error))) => {
            return Ok(ObjectCheck::Unreadable(error.message));
        }
        Err(ReadFailure::Read(error)) => return Ok(ObjectCheck::Unreadable(error.to_string())),
    };
    Ok(match answers.first() {
        Some(RemoteAnswer::Body(item)) => compare_with_intent(intent, id, item),
        Some(answer @ RemoteAnswer::Missing(_)) if !answer.is_unknown_path() => {
            let merchant = intent.merchant.short();
            ObjectCheck::Differs(format!("the service has no {id} among the {list} of {merchant}"))
        }
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => {
            ObjectCheck::Unreadable("the service does not show such objects".to_owned())
        }
    })
}

/// The read that shows an object.
struct ObjectRead {
    query: RemoteQuery,
    /// The name of the list that has such objects.
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
    Some(ObjectRead {
        query: RemoteQuery::one((back.one)(id)),
        list: back.list_name,
        account: None,
    })
}

/// Returns another resource that is known to be the object of this id.
fn other_owner(
    shared: &EngineShared,
    intent: &Intent,
    id: &RemoteId,
) -> Result<Option<Key>, EngineError> {
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
    let other = mark_in(item).filter(|mark| *mark != intent.mark && !is_target);
    if let Some(other) = other {
        return ObjectCheck::Differs(format!(
            "{id} carries the mark of another resource ({other})"
        ));
    }
    let differing = expect::mismatches(&intent.expect, item);
    if differing.is_empty() {
        ObjectCheck::Fits
    } else {
        ObjectCheck::Differs(format!("{id} differs from the request: {}", differing.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use std::collections::BTreeMap;

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
            let found = match compare_with_intent(&intent, &id, &item) {
                ObjectCheck::Fits => String::new(),
                ObjectCheck::Differs(why) | ObjectCheck::Unreadable(why) => why,
            };
            assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{item}: {found}");
        }
    }
}
