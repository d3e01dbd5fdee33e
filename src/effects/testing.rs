//! Fixtures that the tests of the effects share: an intent as the engine writes it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::call::{Auth, Host, Method};
use crate::base::hash::{SourceId, sha256};
use crate::base::id::{IntentId, Key, Mode, RemoteId};
use crate::effects::core::row::{Lookup, LookupResult, LostReply, RemoteAnswer};
use crate::effects::register::effect_row;
use crate::model::intent::{Cause, Intent, StoredBody, StoredRequest};
use crate::model::manifest::{Deletion, OnDoubt};
use crate::model::outcome::ServiceProblem;
use crate::model::state::observed::AppliedSpec;

/// Returns an intent of this effect for one recurring charge, with the expected answer and the
/// baseline before sending.
pub(crate) fn intent(effect: &str, expect: &Value, baseline: Value) -> Intent {
    let key: Key = "RecurringCharge/default/it".parse().unwrap();
    let source_id = SourceId::new("acme", &key, 0);
    let expect = expect.as_object().unwrap().clone().into_iter().collect::<BTreeMap<_, _>>();
    Intent {
        id: IntentId::new(1),
        effect: effect.to_owned(),
        mark: source_id.mark(),
        key,
        merchant: "Merchant/default/acme".parse().unwrap(),
        mode: Mode::Test,
        target: Some(RemoteId::new("ch1").unwrap()),
        source_id,
        request: StoredRequest {
            endpoint: String::new(),
            method: Method::Post,
            host: Host::Base,
            path: String::new(),
            auth: Auth::SecretKey,
            account: None,
            web_url: None,
            body: StoredBody::None,
        },
        expect,
        applied: AppliedSpec {
            spec: json!({}),
            digest: sha256(b""),
            generation: 0,
            deletion: Deletion::Orphan,
        },
        baseline,
        subject: Value::Null,
        on_doubt: OnDoubt::Hold,
        cause: Cause::default(),
        at: chrono::DateTime::UNIX_EPOCH,
        exposure: crate::model::effect::Exposure::default(),
    }
}

/// Returns an obligation of that merchant.
pub(crate) fn obligation() -> super::core::context::EffectContext {
    let Intent { key, merchant, mode, source_id, applied, on_doubt, .. } =
        intent("recurring.create", &json!({}), Value::Null);
    super::core::context::EffectContext {
        key,
        merchant,
        mode,
        source_id,
        applied,
        on_doubt,
        account: None,
        web_url: None,
    }
}

/// Returns a list that was read to its end.
pub(crate) fn items(list: &Value) -> RemoteAnswer {
    RemoteAnswer::Items(list.as_array().unwrap().clone())
}

/// Returns the answer of a service without such a path.
pub(crate) fn no_path() -> RemoteAnswer {
    RemoteAnswer::Missing(ServiceProblem::from_code("resource_not_found", "Resource not found"))
}

/// Judges the answers by the effect's row, and renders the result as a word and its detail.
pub(crate) fn judged(intent: &Intent, answers: &[RemoteAnswer]) -> String {
    let search: Lookup = match effect_row(&intent.effect).unwrap().lost_reply {
        LostReply::Lookup(search) => search,
        LostReply::Retry { .. }
        | LostReply::AwaitWebhook
        | LostReply::RetryUntilGone { .. }
        | LostReply::Undecidable => {
            panic!("it is not looked for")
        }
    };
    assert_eq!((search.queries)(intent).len(), answers.len());
    match (search.judge)(intent, answers) {
        LookupResult::Applied(reply) => format!("happened {}", reply["id"].as_str().unwrap()),
        LookupResult::Refused(problem) => format!("refused {}", problem.code()),
        LookupResult::NotFound => "absent".to_owned(),
        LookupResult::NotVisibleYet { newest, why } => format!("unseen until {newest:?}: {why}"),
        LookupResult::Superseded(_) => "overwritten".to_owned(),
        LookupResult::Inconclusive(why) => format!("unknown: {why}"),
    }
}
