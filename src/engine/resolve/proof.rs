//! An id that a person gives for an intent is read at the service, where it can be. Reads only.

use serde_json::Value;

use crate::base::id::RemoteId;
use crate::effects::{Answer, Query, expect, mark_of};
use crate::engine::access::{NoAccess, Wallet};
use crate::engine::read::{self, Unread};
use crate::engine::shared::{EngineError, Shared};
use crate::kinds::register;
use crate::model::intent::Intent;

/// What the service says of the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// The object is what the intent asked for.
    Fits,
    /// The object is another one, or there is none: why.
    Differs(String),
    /// The service cannot be asked: why.
    Unreadable(String),
}

/// Reads the object of this id and holds it against the intent.
pub(super) async fn shown(
    shared: &Shared,
    wallet: &Wallet,
    intent: &Intent,
    id: &RemoteId,
) -> Result<Shown, EngineError> {
    let row = register::find(intent.key.kind.as_str());
    let Some(back) = row.and_then(|row| (row.read_back)(&intent.applied.spec)) else {
        return Ok(Shown::Unreadable("the service shows no such object by its id".to_owned()));
    };
    let wallet = Wallet { account: None, ..wallet.clone() };
    let answers = match read::answers(shared, &[Query::one((back.one)(id))], &wallet).await {
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
            let (list, merchant) = (back.list_name, intent.merchant.short());
            Shown::Differs(format!("the service has no {id} among the {list} of {merchant}"))
        }
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Shown::Unreadable("the service does not show such objects".to_owned())
        }
    })
}

/// Whether an object is what an intent asked for: its id, its mark, and what the answer had to say.
fn held_against(intent: &Intent, id: &RemoteId, item: &Value) -> Shown {
    if item.get("id").and_then(Value::as_str) != Some(id.as_str()) {
        return Shown::Differs("the service answered with another object".to_owned());
    }
    if let Some(other) = mark_of(item).filter(|mark| *mark != intent.mark) {
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
    use crate::base::id::{IntentId, Key, Mode};

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
        ] {
            let told = match held_against(&intent, &id, &item) {
                Shown::Fits => String::new(),
                Shown::Differs(why) | Shown::Unreadable(why) => why,
            };
            assert!(told.contains(why) && told.is_empty() == why.is_empty(), "{item}: {told}");
        }
    }
}
