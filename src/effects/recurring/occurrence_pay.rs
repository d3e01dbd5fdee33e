//! Pays an occurrence of a recurring charge early, or retries it (gateway-api, Occurrences, pay).
//!
//! The service shows every occurrence with its attempts, on both surfaces: reading the occurrence
//! settles a lost answer.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::occurrence::{GetOccurrence, PayOccurrence};
use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::evidence::text;
use crate::effects::core::expect;
use crate::effects::core::row::{
    Baseline, EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;
use crate::model::service::outcome::ServiceProblem;

/// Pays an occurrence; `amount` is its expected amount.
pub fn pay(
    obligation: EffectContext,
    recurring: &RemoteId,
    occurrence: &RemoteId,
    amount: Money,
) -> Effect {
    let path = [recurring.as_str(), occurrence.as_str()];
    obligation
        .effect::<PayOccurrence>(ROW.name, &path, Value::Null)
        .targeting(occurrence)
        .with_subject(json!({"recurring": recurring}))
        .expecting("id", occurrence.as_str())
        .expecting("amount", amount.minor())
        .expecting("status", "PAID")
}

fn read(recurring: &Value, occurrence: Option<&RemoteId>) -> RemoteQuery {
    let recurring = recurring.get("recurring").and_then(Value::as_str).unwrap_or_default();
    let occurrence = occurrence.map_or("", RemoteId::as_str);
    RemoteQuery::one(Call::to::<GetOccurrence>(&[recurring, occurrence]))
}

fn before(effect: &Effect) -> Vec<RemoteQuery> {
    vec![read(&effect.subject, effect.target.as_ref())]
}

fn keep(answers: &[RemoteAnswer]) -> Value {
    let Some(RemoteAnswer::Body(now)) = answers.first() else { return Value::Null };
    json!({"status": now.get("status"), "attempts": now.get("attempts"), "amount": now.get("amount")})
}

/// Refuses an occurrence that is paid already, or has another amount.
fn refuse(effect: &Effect, before: &Value) -> Option<String> {
    let (now, asked) = (before.get("amount")?, effect.expect.get("amount")?);
    if now != asked {
        return Some(format!(
            "the occurrence's amount is {}, not {asked}, in minor units",
            expect::render_value(now)
        ));
    }
    (text(before, "status") == "PAID").then(|| "the occurrence is paid already".to_owned())
}

fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    vec![read(&intent.subject, intent.target.as_ref())]
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let Some(RemoteAnswer::Body(now)) = answers.first() else {
        return LookupResult::Inconclusive("the occurrence cannot be found any more".to_owned());
    };
    let attempts = |one: &Value| one.get("attempts").and_then(Value::as_i64);
    match (text(now, "status"), attempts(&intent.baseline), attempts(now)) {
        ("PAID", _, _) => LookupResult::Applied(now.clone()),
        ("PAYING", _, _) => LookupResult::Inconclusive("the occurrence is being paid".to_owned()),
        (_, Some(before), Some(after)) if before == after => LookupResult::NotFound,
        // No baseline was read, and no payment was ever attempted.
        (_, None, Some(0)) => LookupResult::NotFound,
        (_, Some(_), Some(_)) => LookupResult::Refused(decline_problem(now)),
        _ => LookupResult::Inconclusive("the occurrence does not tell its attempts".to_owned()),
    }
}

/// Returns the reason why the last attempt failed.
fn decline_problem(now: &Value) -> ServiceProblem {
    let last = now.get("transactions").and_then(Value::as_array).and_then(|all| all.last());
    let code = last.map_or("", |last| text(last, "failure_code"));
    ServiceProblem::from_code(code, &format!("The payment was declined: {code}"))
}

fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let last = reply.get("transactions").and_then(Value::as_array).and_then(|all| all.last());
    let facts = json!({
        "status": reply.get("status"),
        "amount": reply.get("amount"),
        "attempts": reply.get("attempts"),
        "due_date": reply.get("due_date"),
        "recurring_charge_id": reply.get("recurring_charge_id"),
        "transaction": last.and_then(|last| last.get("id")),
    });
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("occurrence.pay", Isolation::PerObject, queries, judge, learn)
        .with_baseline(Baseline { queries: before, keep, refuse });
