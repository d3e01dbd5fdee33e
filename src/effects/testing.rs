//! Fixtures that the tests of the effects share: an intent as the engine writes it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::register::{Answer, Finding, Search};
use super::{Doubt, effect_row};
use crate::api::{Auth, Host, Method};
use crate::base::hash::{SourceId, sha256};
use crate::base::id::{IntentId, Key, Mode, RemoteId};
use crate::model::intent::{Cause, Intent, StoredBody, StoredRequest};
use crate::model::manifest::{Deletion, OnDoubt};
use crate::model::observed::Applied;
use crate::model::service_problem::ServiceProblem;

/// Returns an intent of this effect for one recurring charge, with the expected answer and the
/// baseline before sending.
pub(super) fn intent(effect: &str, expect: &Value, baseline: Value) -> Intent {
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
        applied: Applied {
            spec: json!({}),
            digest: sha256(b""),
            generation: 0,
            deletion: Deletion::Orphan,
        },
        baseline,
        about: Value::Null,
        on_doubt: OnDoubt::Hold,
        cause: Cause::default(),
        at: chrono::DateTime::UNIX_EPOCH,
        stake: crate::model::stake::Stake::default(),
    }
}

/// Returns an obligation of that merchant.
pub(crate) fn obligation() -> super::Obligation {
    let Intent { key, merchant, mode, source_id, applied, on_doubt, .. } =
        intent("recurring.create", &json!({}), Value::Null);
    super::Obligation {
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
pub(super) fn items(list: &Value) -> Answer {
    Answer::Items(list.as_array().unwrap().clone())
}

/// Returns the answer of a service without such a path.
pub(super) fn no_path() -> Answer {
    Answer::Missing(ServiceProblem::shown("resource_not_found", "Resource not found"))
}

/// Judges the answers by the effect's row, and renders the result as a word and its detail.
pub(super) fn judged(intent: &Intent, answers: &[Answer]) -> String {
    let search: Search = match effect_row(&intent.effect).unwrap().doubt {
        Doubt::Search(search) => search,
        Doubt::Resend { .. } | Doubt::Notice | Doubt::Ends { .. } | Doubt::Unprovable => {
            panic!("it is not looked for")
        }
    };
    assert_eq!((search.queries)(intent).len(), answers.len());
    match (search.judge)(intent, answers) {
        Finding::Happened(reply) => format!("happened {}", reply["id"].as_str().unwrap()),
        Finding::Refused(problem) => format!("refused {}", problem.code()),
        Finding::Absent => "absent".to_owned(),
        Finding::Unseen { newest, why } => format!("unseen until {newest:?}: {why}"),
        Finding::Overwritten(_) => "overwritten".to_owned(),
        Finding::Unknown(why) => format!("unknown: {why}"),
    }
}
