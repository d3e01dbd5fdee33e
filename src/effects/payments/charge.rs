//! Creates a charge or a credit that a person or a hook requested, and reads the surcharge that a
//! merchant adds to a payment (gateway-api, POST /v1/charges, POST /v1/credits, GET
//! /bank-accounts/{bank_account_id}/surcharge).
//!
//! No idempotency key guards it. The mark is in `reference`, which a server may ignore for credits.
//! The transactions that carry the mark settle a lost answer, else events do. A credit without a
//! mark is identified by its account, method and amount: so only one credit with the same three is
//! open at a time. The service computes a surcharge's total, reckon never does.

use std::collections::BTreeMap;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::transaction::{CreateCharge, GetSurcharge, SearchTransactions};
use crate::api::transaction_action::CreateCredit;
use crate::base::money::Money;
use crate::effects::core::context::{EffectContext, set_field, set_optional};
use crate::effects::core::evidence::{
    NEWEST_EVENT, declined, events_since, new_event_data, not_visible, was_looked_up_first,
};
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, ReadingCx, ReadingError, ReadingRow, RemoteAnswer,
    RemoteQuery,
};
use crate::effects::payments::{carries, learn, reference};
use crate::model::effect::Effect;
use crate::model::intent::{Intent, StoredBody};

/// Money that moves between an account and a payment method. Also the arguments of `gateway charge`:
/// their comments are help texts.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[command(about = "Take money by a saved method; with --hold only reserve it, for seven days")]
#[serde(deny_unknown_fields)]
pub struct TransactionRequest {
    /// The amount, with its currency: "125.00 USD".
    #[arg(long)]
    pub amount: Money,
    /// A saved method: the NAME of its document, or its id on the service; or a one-time token.
    #[arg(long, value_name = "NAME|ID")]
    pub method: String,
    /// The merchant's account; the service chooses one by default.
    #[arg(long, value_name = "ID")]
    pub account: Option<String>,
    /// A text for the receipt.
    #[arg(long, value_name = "TEXT")]
    pub reference: Option<String>,
    /// Only reserve the money; cards alone.
    #[arg(long)]
    #[serde(default)]
    pub hold: bool,
    /// The part of the amount that is a surcharge, with its currency; the receipt shows it.
    #[arg(long, value_name = "AMOUNT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surcharge: Option<Money>,
}

/// Takes money, or reserves it.
pub fn charge(cx: EffectContext, movement: &TransactionRequest) -> Effect {
    let (mut body, reference) = body(&cx, movement);
    set_field(&mut body, "auto_capture", !movement.hold);
    set_optional(&mut body, "surcharge_amount", movement.surcharge.map(Money::minor));
    let effect = cx.effect::<CreateCharge>(CHARGE.name, &[], body);
    expect_request(effect, movement, "CHARGE")
        .expecting("reference", reference)
        .expecting("auto_capture", !movement.hold)
}

/// Pays money out without an earlier charge.
pub fn credit(cx: EffectContext, movement: &TransactionRequest) -> Effect {
    let (body, _) = body(&cx, movement);
    let alike = json!({"account": movement.account, "method": movement.method,
        "amount": movement.amount.minor(), "currency": movement.amount.currency()});
    let effect = cx.effect::<CreateCredit>(CREDIT.name, &[], body).with_subject(alike);
    expect_request(effect, movement, "CREDIT")
}

/// Returns the body, and the reference in it.
fn body(cx: &EffectContext, movement: &TransactionRequest) -> (Value, Value) {
    let reference = reference(&cx.source_id.mark(), movement.reference.as_deref());
    let mut body = json!({"amount": movement.amount.minor(), "method": movement.method,
        "currency": movement.amount.currency(), "reference": reference});
    set_optional(&mut body, "account_id", movement.account.as_deref());
    (body, reference)
}

fn expect_request(effect: Effect, movement: &TransactionRequest, kind: &str) -> Effect {
    effect
        .expecting("type", kind)
        .expecting("amount", movement.amount.minor())
        .expecting("currency", movement.amount.currency().code())
        .expecting("account_id", movement.account.as_deref())
}

fn charge_queries(intent: &Intent) -> Vec<RemoteQuery> {
    // A search matches a prefix, so it gets the complete text that was sent.
    let body: Value = match &intent.request.body {
        StoredBody::Plain(text) => serde_json::from_str(text).unwrap_or_default(),
        StoredBody::None | StoredBody::Sealed { .. } => Value::Null,
    };
    let wanted = format!("reference:{}", text(&body, "reference"));
    let search = Call::to::<SearchTransactions>(&[]).query("qf", wanted);
    vec![RemoteQuery::list(search), events_since(intent)]
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let [search, events] = answers else {
        return LookupResult::not_asked();
    };
    let marked = |one: &&Value| carries(one, "reference", &intent.mark);
    let told = new_event_data(intent, events, "transaction.");
    let shown = search.items().iter().chain(told.iter().copied()).filter(marked);
    match succeeded(shown).as_slice() {
        [one] => LookupResult::Applied((*one).clone()),
        [] => {
            judge_unsuccessful(search, events, &told.into_iter().filter(marked).collect::<Vec<_>>())
        }
        more => {
            LookupResult::Inconclusive(format!("{} transactions carry {}", more.len(), intent.mark))
        }
    }
}

/// Judges a credit. Where the service drops its reference, the one new matching credit is ours.
fn judge_credit(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let found = judge(intent, answers);
    let (LookupResult::NotFound | LookupResult::NotVisibleYet { .. }, Some(events)) =
        (&found, answers.get(1))
    else {
        return found;
    };
    let alike = new_event_data(intent, events, "transaction.").into_iter().filter(|one| {
        one.get("reference").is_none() && expect::mismatches(&intent.expect, one).is_empty()
    });
    let alike: Vec<&Value> = alike.collect();
    match succeeded(alike.iter().copied()).as_slice() {
        [] if alike.is_empty() => found,
        // After a restore, each match may belong to another action from before.
        _ if was_looked_up_first(intent) => LookupResult::inconclusive(
            "credits of this amount carry no mark, and any of them may be an older one",
        ),
        [] => judge_unsuccessful(&RemoteAnswer::Items(Vec::new()), events, &alike),
        [one] if same_method(intent, one) => LookupResult::Applied((*one).clone()),
        more => LookupResult::Inconclusive(format!(
            "{} new credits of this amount carry no mark, and none is surely this one",
            more.len()
        )),
    }
}

/// Returns whether a credit shows the requested method, as far as it names one.
fn same_method(intent: &Intent, credit: &Value) -> bool {
    let shown = credit.pointer("/method/id").and_then(Value::as_str);
    shown.is_none_or(|shown| intent.subject.get("method").and_then(Value::as_str) == Some(shown))
}

/// Returns each transaction that succeeded, once.
fn succeeded<'a>(shown: impl Iterator<Item = &'a Value>) -> Vec<&'a Value> {
    let stands = |one: &&Value| !matches!(text(one, "status"), "PENDING" | "FAILED");
    let by_id: BTreeMap<&str, &Value> =
        shown.filter(stands).map(|one| (text(one, "id"), one)).collect();
    by_id.into_values().collect()
}

/// Judges an effect of which no transaction succeeded: declined, absent, or undecidable. A decline
/// from before the baseline belongs to an earlier attempt.
fn judge_unsuccessful(
    search: &RemoteAnswer,
    events: &RemoteAnswer,
    news: &[&Value],
) -> LookupResult {
    if let Some(failed) = news.iter().find(|one| text(one, "status") == "FAILED") {
        return declined(failed, "It was declined");
    }
    match (news.first(), search) {
        (Some(one), _) => LookupResult::Inconclusive(format!(
            "{} was begun; its result is not known",
            expect::render_id(one)
        )),
        (None, RemoteAnswer::Items(_)) => LookupResult::NotFound,
        (None, RemoteAnswer::Missing(_) | RemoteAnswer::Body(_)) => {
            not_visible(events, "this service lists no transactions, and no event reports this one")
        }
    }
}

pub(crate) const CHARGE: EffectRow = EffectRow::looked_up::<CreateCharge>(
    "charge.create",
    Isolation::None,
    charge_queries,
    judge,
    learn,
)
.with_baseline(NEWEST_EVENT);

pub(crate) const CREDIT: EffectRow = EffectRow::looked_up::<CreateCredit>(
    "credit.create",
    Isolation::PerContent,
    charge_queries,
    judge_credit,
    learn,
)
.with_baseline(NEWEST_EVENT);

/// Reading of a surcharge, about `{bank_account, type, amount}`.
pub const SURCHARGE: &str = "charge.surcharge";

pub(crate) const SURCHARGE_ROW: ReadingRow = ReadingRow {
    name: SURCHARGE,
    queries: |about| {
        let call = Call::to::<GetSurcharge>(&[text(about, "bank_account")]);
        vec![RemoteQuery::one(call.query("amount", whole(about, "amount")))]
    },
    learn: learn_surcharge,
};

/// Returns the fact `surcharge`: the question and its result. No entry of the type means that
/// nothing is added.
fn learn_surcharge(cx: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let Some(RemoteAnswer::Body(entries)) = answers.first() else {
        let why = "the service knows no surcharge of the bank account";
        return Err(ReadingError::RetryLater(why.to_owned()));
    };
    let wanted = text(cx.about, "type");
    let entries = entries.as_array().map_or(&[][..], Vec::as_slice);
    let entry = entries.iter().find(|entry| text(entry, "type") == wanted);
    let amount = whole(cx.about, "amount");
    let (surcharge, total) = match entry {
        Some(entry) => (whole(entry, "surcharge_amount"), whole(entry, "total_amount")),
        None => (0, amount),
    };
    if surcharge < 0 || amount.checked_add(surcharge) != Some(total) {
        return Err(ReadingError::RetryLater(format!(
            "the service answers a surcharge that does not add up: {amount} and {surcharge} are not {total}"
        )));
    }
    let fact = json!({"about": cx.about, "surcharge_amount": surcharge, "total_amount": total});
    let exists = cx.observed.is_some_and(|observed| observed.exists);
    Ok(Learned { exists, facts: json!({"surcharge": fact}), ..Learned::default() })
}

/// Returns a whole number; 0 if missing.
fn whole(item: &Value, field: &str) -> i64 {
    item.get(field).and_then(Value::as_i64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Key, Mode};

    fn read(entries: Value) -> Result<Value, ReadingError> {
        let key: Key = "RecurringCharge/default/it".parse().unwrap();
        let about = json!({"bank_account": "bank_1", "type": "card", "amount": 5000});
        let cx = ReadingCx {
            key: &key,
            mode: Mode::Test,
            generation: 0,
            observed: None,
            about: &about,
            knows_mark: &|_| true,
        };
        let learned = learn_surcharge(&cx, &[RemoteAnswer::Body(entries)])?;
        assert!(!learned.exists && learned.facts["surcharge"]["about"] == about);
        Ok(json!([
            learned.facts["surcharge"]["surcharge_amount"],
            learned.facts["surcharge"]["total_amount"]
        ]))
    }

    #[test]
    fn the_total_is_the_service_s_own_and_no_entry_adds_nothing() {
        let card = json!([{"type": "card", "surcharge_amount": 150, "total_amount": 5150}]);
        assert_eq!(read(card).unwrap(), json!([150, 5150]));
        for none in [json!([]), Value::Null, json!([{"type": "bank", "surcharge_amount": 9}])] {
            assert_eq!(read(none).unwrap(), json!([0, 5000]));
        }
    }

    #[test]
    fn a_surcharge_that_does_not_add_up_is_not_believed() {
        let wrong = json!([{"type": "card", "surcharge_amount": 150, "total_amount": 5100}]);
        assert!(matches!(read(wrong), Err(ReadingError::RetryLater(_))));
    }
}
