//! Effects that move money at once. Here are changes of a transaction: a hold is captured, a
//! transaction is voided or signed (gateway-api,
//! Transaction, POST …/capture, …/void, …/sign; service-facts, 43, 44). Refunds share the stored
//! fields and the reads that settle a change.
//!
//! A hold is captured once, at once or in the next daily run. A void is final; the service refuses
//! a second one, and a transaction that was captured meanwhile was not voided. Reading the
//! transaction settles a lost answer, else events and the list of holds do. A transaction takes one
//! signature, so sending it again cannot double it; a refusal of a later send settles it. The
//! strokes were drawn by a person and are secret.

pub mod charge;
pub mod refund;

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::transaction::GetTransaction;
use crate::api::transaction_action::{CaptureCharge, ListHolds, SignTransaction, VoidTransaction};
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::core::context::{EffectContext, copy_fields, set_field};
use crate::effects::core::evidence::{
    events_since, first_item, judge_object, new_event_data, newest_event, not_visible,
};
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{
    Baseline, EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery, accept_any,
};
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::outcome::ServiceProblem;

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
const COMPARED_FIELDS: [&str; 5] =
    ["status", "amount", "currency", "amount_refunded", "signature_id"];
/// Code of a change that does not fit the status (service-facts, part 2).
const WRONG_STATUS: &str = "not_valid_for_transaction_status";

pub(crate) fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    Learned::object(reply, transaction_facts(reply))
}

pub fn transaction_facts(shown: &Value) -> Value {
    let mut facts = json!({});
    copy_fields(&mut facts, shown, &STORED_FIELDS);
    facts
}

/// Returns a reference with the mark: the requester's text, then the mark.
pub(crate) fn reference(mark: &Mark, words: Option<&str>) -> Value {
    json!(mark.tag(words.unwrap_or_default()))
}

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
        let Some(RemoteAnswer::Body(one)) = answers.get(1) else { return before };
        if before.is_null() {
            before = json!({});
        }
        let refunds = one.get("refunds").and_then(Value::as_array).into_iter().flatten();
        let refunds: Vec<&Value> = refunds.filter_map(|refund| refund.get("id")).collect();
        let mut seen = json!({ "refunds": refunds });
        copy_fields(&mut seen, one, &COMPARED_FIELDS);
        set_field(&mut before, "target", seen);
        before
    },
    refuse: accept_any,
};

/// Reads that settle a change of a transaction: the transaction, the events since the baseline, the
/// holds.
pub(crate) fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    let holds = RemoteQuery::list(Call::to::<ListHolds>(&[]));
    vec![transaction_query(intent.target.as_ref()), events_since(intent), holds]
}

const NOT_FOUND: &str = "the transaction cannot be found any more";

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
        return LookupResult::not_asked();
    };
    match now {
        RemoteAnswer::Body(one) => judge_transaction(one, meaning),
        RemoteAnswer::Missing(_) if now.is_unknown_path() => {
            by_events(intent, events, holds, meaning)
        }
        RemoteAnswer::Missing(_) | RemoteAnswer::Items(_) => LookupResult::inconclusive(NOT_FOUND),
    }
}

fn judge_transaction(one: &Value, meaning: fn(&Value) -> StatusMeaning) -> LookupResult {
    match meaning(one) {
        StatusMeaning::Applied => LookupResult::Applied(one.clone()),
        StatusMeaning::Possible => LookupResult::NotFound,
        StatusMeaning::Impossible => {
            let said =
                format!("The transaction is already {}", expect::render_field(one, "status"));
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
        return LookupResult::inconclusive("the intent names no transaction");
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

/// Time at which a hold is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureTime {
    Immediate,
    /// In the next daily run (service-facts, 46).
    NextRun,
}

/// Captures a hold; `amount` must be the authorised one.
pub fn capture(
    cx: EffectContext,
    charge: &RemoteId,
    amount: Money,
    time: CaptureTime,
    words: Option<&str>,
) -> Effect {
    let reference = reference(&cx.source_id.mark(), words);
    let time = match time {
        CaptureTime::Immediate => "IMMEDIATE",
        CaptureTime::NextRun => "NEXT_AUTO_CAPTURE",
    };
    let body = json!({"amount": amount.minor(), "reference": reference, "capture_time": time});
    cx.effect::<CaptureCharge>(CHARGE_CAPTURE.name, &[charge.as_str()], body)
        .targeting(charge)
        .expecting("id", charge.as_str())
        .expecting("amount", amount.minor())
        .expecting("currency", amount.currency().code())
}

/// Refuses to send a capture of another amount than the authorised one.
fn refuse(effect: &Effect, before: &Value) -> Option<String> {
    let now = before.get("target")?;
    let differs = |field: &str| {
        let (now, asked) = (now.get(field)?, effect.expect.get(field)?);
        (!now.is_null() && now != asked)
            .then(|| format!("the charge's {field} is {}, not {asked}", expect::render_value(now)))
    };
    differs("amount").or_else(|| differs("currency"))
}

fn capture_meaning(now: &Value) -> StatusMeaning {
    let by_next_run = now.get("auto_capture") == Some(&Value::Bool(true));
    match text(now, "status") {
        "COMPLETED" => StatusMeaning::Applied,
        "VOIDED" | "FAILED" => StatusMeaning::Impossible,
        "AUTHORIZED" if by_next_run => StatusMeaning::Applied,
        _ => StatusMeaning::Possible,
    }
}

pub(crate) const CHARGE_CAPTURE: EffectRow = EffectRow::looked_up::<CaptureCharge>(
    "charge.capture",
    Isolation::PerObject,
    queries,
    |intent, answers| judge(intent, answers, capture_meaning),
    learn,
)
.with_baseline(Baseline { refuse, ..TRANSACTION_BASELINE });

pub fn void(cx: EffectContext, transaction: &RemoteId, words: Option<&str>) -> Effect {
    let body = json!({"reference": reference(&cx.source_id.mark(), words)});
    cx.effect::<VoidTransaction>(TRANSACTION_VOID.name, &[transaction.as_str()], body)
        .targeting(transaction)
        .expecting("id", transaction.as_str())
        .expecting("status", "VOIDED")
}

fn void_meaning(now: &Value) -> StatusMeaning {
    match text(now, "status") {
        "VOIDED" => StatusMeaning::Applied,
        "COMPLETED" | "FAILED" => StatusMeaning::Impossible,
        _ => StatusMeaning::Possible,
    }
}

pub(crate) const TRANSACTION_VOID: EffectRow = EffectRow::looked_up::<VoidTransaction>(
    "transaction.void",
    Isolation::PerObject,
    queries,
    |intent, answers| judge(intent, answers, void_meaning),
    learn,
)
.with_baseline(TRANSACTION_BASELINE);

/// Stores a signature of a transaction; `data` is the reference to its sealed or stored strokes,
/// never the strokes.
pub fn sign(cx: EffectContext, transaction: &RemoteId, mime_type: &str, data: &Value) -> Effect {
    let body = json!({"mime_type": mime_type, "data": data});
    cx.effect::<SignTransaction>(TRANSACTION_SIGN.name, &[transaction.as_str()], body)
        .targeting(transaction)
        .with_sealed_body()
}

fn judge_signature(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let signature = |one: &Value| one.get("signature_id").cloned().unwrap_or_default();
    let before = intent.baseline.get("target").map(signature).unwrap_or_default();
    let is_signed = |now: &Value| !signature(now).is_null() && signature(now) != before;
    judge_object(answers, is_signed, LookupResult::inconclusive(NOT_FOUND), LookupResult::NotFound)
}

pub(crate) const TRANSACTION_SIGN: EffectRow = EffectRow::looked_up::<SignTransaction>(
    "transaction.sign",
    Isolation::PerObject,
    |intent| vec![transaction_query(intent.target.as_ref())],
    judge_signature,
    learn,
)
.with_baseline(TRANSACTION_BASELINE);
