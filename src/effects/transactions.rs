//! Parts that the effects on transactions share: the stored fields of a transaction, and the reads
//! that settle its changes (gateway-api, Transaction; service-facts, 43, 44).

use serde_json::{Value, json};

use super::evidence::{events_since, kept, newest, news, text, unseen};
use super::register::{Answer, Baseline, Finding, Learned, Query, fits};
use super::{expect, put};
use crate::api::Call;
use crate::api::transaction::GetTransaction;
use crate::api::transaction::actions::ListHolds;
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::service_problem::ServiceProblem;

/// Stored fields of an answer: no method, no name, no address.
const KEPT: [&str; 14] = [
    "type",
    "status",
    "amount",
    "currency",
    "account_id",
    "auto_capture",
    "amount_refunded",
    "authorization_code",
    "charge_id",
    "completion_timestamp",
    "failure_code",
    "signature_id",
    "recurring_charge_id",
    "recurring_charge_occurrence_id",
];
/// Code of a change that does not fit the status (service-facts, part 2).
const WRONG_STATUS: &str = "not_valid_for_transaction_status";

/// Stores the transaction that an answer shows.
pub(super) fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let facts = transaction_facts(reply);
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
}

/// Returns the stored fields of a transaction that the service shows.
pub fn transaction_facts(shown: &Value) -> Value {
    let mut facts = json!({});
    for field in KEPT {
        put(&mut facts, field, shown.get(field).cloned().unwrap_or_default());
    }
    facts
}

/// Returns a reference with the mark: the requester's text, then the mark.
pub(super) fn reference(mark: &Mark, words: Option<&str>) -> Value {
    json!(mark.tag(words.unwrap_or_default()))
}

/// Returns whether a text of the service carries the mark.
pub(super) fn carries(item: &Value, field: &str, mark: &Mark) -> bool {
    Mark::find_in(text(item, field)).as_ref() == Some(mark)
}

/// Reads the target, where the service shows single transactions.
pub(super) fn target(target: Option<&RemoteId>) -> Query {
    Query::one(Call::to::<GetTransaction>(&[target.map_or("", RemoteId::as_str)]))
}

/// Baseline before a change of a transaction: the newest event, and the transaction itself.
pub(super) const BEFORE: Baseline = Baseline {
    queries: |effect: &Effect| vec![newest(), target(effect.target.as_ref())],
    keep: |answers| {
        let mut before = kept(answers.first());
        if let (Value::Null, Some(Answer::Body(_))) = (&before, answers.get(1)) {
            before = json!({});
        }
        if let Some(Answer::Body(one)) = answers.get(1) {
            put(&mut before, "target", seen(one));
        }
        before
    },
    refuse: fits,
};

/// Returns the fields of a transaction for later comparison.
fn seen(one: &Value) -> Value {
    let refunds = one.get("refunds").and_then(Value::as_array).into_iter().flatten();
    let refunds: Vec<&Value> = refunds.filter_map(|refund| refund.get("id")).collect();
    let mut seen = json!({"refunds": refunds});
    for field in ["status", "amount", "currency", "amount_refunded", "signature_id"] {
        put(&mut seen, field, one.get(field).cloned().unwrap_or_default());
    }
    seen
}

/// Reads that settle a change of a transaction: the transaction, the events since the baseline, the
/// holds.
pub(super) fn queries(intent: &Intent) -> Vec<Query> {
    let holds = Query::list(Call::to::<ListHolds>(&[]));
    vec![target(intent.target.as_ref()), events_since(intent), holds]
}

/// Meaning of a transaction's state for a change of it.
pub(super) enum Meaning {
    Happened,
    /// It did not happen, and still can.
    Open,
    /// It did not happen, and no longer can.
    Over,
}

/// Judges a change of a transaction by the current state of that transaction.
pub(super) fn judge(
    intent: &Intent,
    answers: &[Answer],
    meaning: fn(&Value) -> Meaning,
) -> Finding {
    let [now, events, holds] = answers else {
        return Finding::Unknown("the service was not asked".to_owned());
    };
    match now {
        Answer::Body(one) => judged(one, meaning),
        Answer::Missing(_) if now.unknown_path() => by_events(intent, events, holds, meaning),
        Answer::Missing(_) | Answer::Items(_) => {
            Finding::Unknown("the transaction cannot be found any more".to_owned())
        }
    }
}

fn judged(one: &Value, meaning: fn(&Value) -> Meaning) -> Finding {
    match meaning(one) {
        Meaning::Happened => Finding::Happened(one.clone()),
        Meaning::Open => Finding::Absent,
        Meaning::Over => {
            let said = format!("The transaction is {} by now", expect::field_said(one, "status"));
            Finding::Refused(ServiceProblem::shown(WRONG_STATUS, &said))
        }
    }
}

/// Judges by events, where the service shows no single transactions: the events since the baseline,
/// and whether the transaction is still a hold.
fn by_events(
    intent: &Intent,
    events: &Answer,
    holds: &Answer,
    meaning: fn(&Value) -> Meaning,
) -> Finding {
    let Some(target) = &intent.target else {
        return Finding::Unknown("the intent names no transaction".to_owned());
    };
    let about = |one: &&&Value| text(one, "id") == target.as_str();
    let told = news(intent, events, "transaction.");
    let decided =
        told.iter().rev().filter(about).find(|one| !matches!(meaning(one), Meaning::Open));
    match decided {
        Some(one) => judged(one, meaning),
        None if holds.items().iter().any(|one| text(one, "id") == target.as_str()) => {
            Finding::Absent
        }
        None => unseen(events, "this service shows no single transaction, and no event reports it"),
    }
}
