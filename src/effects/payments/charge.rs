//! Creates a charge or a credit that a person or a hook requested (gateway-api, POST /v1/charges,
//! POST /v1/credits).
//!
//! No idempotency key guards it. The mark is in `reference`, which a server may ignore for credits.
//! The transactions that carry the mark settle a lost answer, else events do. A credit without a
//! mark is identified by its account, method and amount: so only one credit with the same three is
//! open at a time.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::transactions::{carries, learn, reference};
use crate::api::call::Call;
use crate::api::payments::actions::CreateCredit;
use crate::api::payments::transaction::{CreateCharge, SearchTransactions};
use crate::base::money::Money;
use crate::effects::core::context::{EffectBuilder, EffectContext, put};
use crate::effects::core::evidence::{
    NEWEST_EVENT, events_since, new_event_data, not_visible, text, was_looked_up_first,
};
use crate::effects::core::expect;
use crate::effects::core::row::{EffectRow, Isolation, LookupResult, RemoteAnswer, RemoteQuery};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::{Intent, StoredBody};
use crate::model::service::outcome::ServiceProblem;

/// Money that moves between an account and a payment method.
#[derive(Debug, Clone, Copy)]
pub struct TransactionRequest<'a> {
    pub amount: Money,
    /// Id of a saved method, or a one-time token.
    pub method: &'a str,
    /// The merchant's account; by default the primary one.
    pub account: Option<&'a str>,
    /// Text for the receipt; the mark follows it.
    pub reference_text: Option<&'a str>,
    /// Part of a charge that is a surcharge: the receipt shows it.
    pub surcharge: Option<Money>,
}

/// Takes money; `hold` only reserves it, for seven days.
pub fn charge(obligation: EffectContext, movement: &TransactionRequest<'_>, hold: bool) -> Effect {
    let (mut body, reference) = body(&obligation, movement);
    put(&mut body, "auto_capture", !hold);
    if let Some(surcharge) = movement.surcharge {
        put(&mut body, "surcharge_amount", surcharge.minor());
    }
    let effect = obligation.effect::<CreateCharge>(CHARGE.name, &[], body);
    expect_request(effect, movement, "CHARGE")
        .expecting("reference", reference)
        .expecting("auto_capture", !hold)
}

/// Pays money out without an earlier charge.
pub fn credit(obligation: EffectContext, movement: &TransactionRequest<'_>) -> Effect {
    let (body, _) = body(&obligation, movement);
    let alike = json!({"account": movement.account, "method": movement.method,
        "amount": movement.amount.minor(), "currency": movement.amount.currency()});
    let effect = obligation.effect::<CreateCredit>(CREDIT.name, &[], body).with_subject(alike);
    expect_request(effect, movement, "CREDIT")
}

/// Returns the body, and the reference in it.
fn body(obligation: &EffectContext, movement: &TransactionRequest<'_>) -> (Value, Value) {
    let reference = reference(&obligation.source_id.mark(), movement.reference_text);
    let mut body = json!({"amount": movement.amount.minor(), "method": movement.method,
        "currency": movement.amount.currency(), "reference": reference});
    if let Some(account) = movement.account {
        put(&mut body, "account_id", account);
    }
    (body, reference)
}

/// Adds the fields that every answer must repeat.
fn expect_request(effect: Effect, movement: &TransactionRequest<'_>, kind: &str) -> Effect {
    effect
        .expecting("type", kind)
        .expecting("amount", movement.amount.minor())
        .expecting("currency", movement.amount.currency().code())
        .expecting("account_id", movement.account)
}

fn queries(intent: &Intent) -> Vec<RemoteQuery> {
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
        return LookupResult::Inconclusive("the service was not asked".to_owned());
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
        _ if was_looked_up_first(intent) => LookupResult::Inconclusive(
            "credits of this amount carry no mark, and any of them may be an older one".to_owned(),
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
        let code = text(failed, "failure_code");
        return LookupResult::Refused(ServiceProblem::from_code(
            code,
            &format!("It was declined: {code}"),
        ));
    }
    match (news.first(), search) {
        (Some(one), _) => LookupResult::Inconclusive(format!(
            "{} was begun, and nothing tells how it ended",
            expect::render_id(one)
        )),
        (None, RemoteAnswer::Items(_)) => LookupResult::NotFound,
        (None, RemoteAnswer::Missing(_) | RemoteAnswer::Body(_)) => {
            not_visible(events, "this service lists no transactions, and no event reports this one")
        }
    }
}

pub(crate) const CHARGE: EffectRow =
    EffectRow::looked_up("charge.create", Isolation::None, queries, judge, learn)
        .with_baseline(NEWEST_EVENT);

pub(crate) const CREDIT: EffectRow =
    EffectRow::looked_up("credit.create", Isolation::PerContent, queries, judge_credit, learn)
        .with_baseline(NEWEST_EVENT);
