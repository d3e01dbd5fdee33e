//! Parts that the effects on transactions share: the stored fields of a transaction, and the reads
//! that settle its changes (gateway-api, Transaction; service-facts, 43, 44).

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::payments::actions::ListHolds;
use crate::api::payments::transaction::GetTransaction;
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::effects::core::context::put;
use crate::effects::core::evidence::{
    events_since, first_item, new_event_data, newest_event, not_visible, text,
};
use crate::effects::core::expect;
use crate::effects::core::row::{
    Baseline, Learned, LookupResult, RemoteAnswer, RemoteQuery, accept_any,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;
use crate::model::service::outcome::ServiceProblem;

/// Stored fields of an answer: no method, no name, no address.
const STORED_FIELDS: [&str; 14] = [
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
pub(crate) fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let facts = transaction_facts(reply);
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
}

/// Returns the stored fields of a transaction that the service shows.
pub fn transaction_facts(shown: &Value) -> Value {
    let mut facts = json!({});
    for field in STORED_FIELDS {
        put(&mut facts, field, shown.get(field).cloned().unwrap_or_default());
    }
    facts
}

/// Returns a reference with the mark: the requester's text, then the mark.
pub(crate) fn reference(mark: &Mark, words: Option<&str>) -> Value {
    json!(mark.tag(words.unwrap_or_default()))
}

/// Returns whether a text of the service carries the mark.
pub(crate) fn carries(item: &Value, field: &str, mark: &Mark) -> bool {
    Mark::find_in(text(item, field)).as_ref() == Some(mark)
}

/// Reads the target, where the service shows single transactions.
pub(crate) fn transaction_query(target: Option<&RemoteId>) -> RemoteQuery {
    RemoteQuery::one(Call::to::<GetTransaction>(&[target.map_or("", RemoteId::as_str)]))
}

/// Baseline before a change of a transaction: the newest event, and the transaction itself.
pub(crate) const TRANSACTION_BASELINE: Baseline = Baseline {
    queries: |effect: &Effect| vec![newest_event(), transaction_query(effect.target.as_ref())],
    keep: |answers| {
        let mut before = first_item(answers.first());
        if let (Value::Null, Some(RemoteAnswer::Body(_))) = (&before, answers.get(1)) {
            before = json!({});
        }
        if let Some(RemoteAnswer::Body(one)) = answers.get(1) {
            put(&mut before, "target", compared_fields(one));
        }
        before
    },
    refuse: accept_any,
};

/// Returns the fields of a transaction for later comparison.
fn compared_fields(one: &Value) -> Value {
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
pub(crate) fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    let holds = RemoteQuery::list(Call::to::<ListHolds>(&[]));
    vec![transaction_query(intent.target.as_ref()), events_since(intent), holds]
}

/// Meaning of a transaction's state for a change of it.
pub(crate) enum StatusMeaning {
    Applied,
    /// It did not happen, and still can.
    Possible,
    /// It did not happen, and no longer can.
    Impossible,
}

/// Judges a change of a transaction by the current state of that transaction.
pub(crate) fn judge(
    intent: &Intent,
    answers: &[RemoteAnswer],
    meaning: fn(&Value) -> StatusMeaning,
) -> LookupResult {
    let [now, events, holds] = answers else {
        return LookupResult::Inconclusive("the service was not asked".to_owned());
    };
    match now {
        RemoteAnswer::Body(one) => judge_transaction(one, meaning),
        RemoteAnswer::Missing(_) if now.is_unknown_path() => {
            by_events(intent, events, holds, meaning)
        }
        RemoteAnswer::Missing(_) | RemoteAnswer::Items(_) => {
            LookupResult::Inconclusive("the transaction cannot be found any more".to_owned())
        }
    }
}

fn judge_transaction(one: &Value, meaning: fn(&Value) -> StatusMeaning) -> LookupResult {
    match meaning(one) {
        StatusMeaning::Applied => LookupResult::Applied(one.clone()),
        StatusMeaning::Possible => LookupResult::NotFound,
        StatusMeaning::Impossible => {
            let said = format!("The transaction is {} by now", expect::render_field(one, "status"));
            LookupResult::Refused(ServiceProblem::from_code(WRONG_STATUS, &said))
        }
    }
}

/// Judges by events, where the service shows no single transactions: the events since the baseline,
/// and whether the transaction is still a hold.
fn by_events(
    intent: &Intent,
    events: &RemoteAnswer,
    holds: &RemoteAnswer,
    meaning: fn(&Value) -> StatusMeaning,
) -> LookupResult {
    let Some(target) = &intent.target else {
        return LookupResult::Inconclusive("the intent names no transaction".to_owned());
    };
    let about = |one: &&&Value| text(one, "id") == target.as_str();
    let told = new_event_data(intent, events, "transaction.");
    let decided = told
        .iter()
        .rev()
        .filter(about)
        .find(|one| !matches!(meaning(one), StatusMeaning::Possible));
    match decided {
        Some(one) => judge_transaction(one, meaning),
        None if holds.items().iter().any(|one| text(one, "id") == target.as_str()) => {
            LookupResult::NotFound
        }
        None => {
            not_visible(events, "this service shows no single transaction, and no event reports it")
        }
    }
}
