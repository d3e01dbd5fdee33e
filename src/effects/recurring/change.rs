//! Changes a recurring charge's amount, schedule, limits or description, and its method by a fresh
//! token (gateway-api, PATCH /v1/recurring/charges/{id}).
//!
//! The change is absolute. Some services cannot show the charge, so the result of a lost change is
//! unknown there. Once the request can no longer be in transit, the fields that it named become
//! unknown, and the next change sends all of them again. A token of a document's details is never
//! sent again: the next attempt has its own. A token from a payer's page is, since no other exists.
//! A token's replacement is only partly visible, so such a change counts as applied only if the
//! charge was modified since the read just before it.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::{GetRecurring, PatchRecurring};
use crate::base::id::RemoteId;
use crate::base::money::Currency;
use crate::effects::core::context::{EffectContext, copy_fields, set_field, set_optional};
use crate::effects::core::evidence::{judge_object, modified_time, shows_change};
use crate::effects::core::row::{
    Baseline, EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::effects::methods::save::{FreshToken, single_use};
use crate::effects::methods::{MethodSource, PaymentMethodType};
use crate::effects::recurring;
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::state::observed::Observed;
use crate::model::state::token_attachment::{ATTACHED, SuppliedToken};

/// Changes fields of a recurring charge. `text`, where given, is the new description.
pub fn change_recurring(
    cx: EffectContext,
    charge: &RemoteId,
    mut body: Value,
    text: Option<&str>,
) -> Effect {
    let description = text.map(|text| cx.source_id.mark().tag(text));
    set_optional(&mut body, "description", description);
    let asked = body.as_object().cloned().unwrap_or_default();
    let effect = cx.effect::<PatchRecurring>(ROW.name, &[charge.as_str()], body);
    let effect = effect.targeting(charge).expecting("id", charge.as_str());
    asked.into_iter().fold(effect, |effect, (field, value)| effect.expecting(&field, value))
}

/// Sets only these fields of a recurring charge; `currency` is that of its amounts.
pub fn set_recurring(
    cx: EffectContext,
    charge: &RemoteId,
    body: Value,
    currency: Option<&str>,
) -> Effect {
    let effect = change_recurring(cx, charge, body, None);
    let effect = effect.expecting("currency", currency).with_subject(json!({"currency": currency}));
    let mut effect = effect;
    // The service omits empty texts from its answers.
    effect.expect.retain(|field, text| field != "description" || *text != json!(""));
    // An answer shows the whole method, masked.
    let method = effect.expect.remove("method").unwrap_or_default();
    let parts = method.as_object().cloned().into_iter().flatten();
    parts.fold(effect, |effect, (name, part)| effect.expecting(&format!("method.{name}"), part))
}

/// Extends the change by a method replacement from a fresh token.
pub fn renew_recurring(mut effect: Effect, source: MethodSource<'_>, token: &FreshToken) -> Effect {
    set_field(&mut effect.request.body, "method", json!({"$sealed": token.sealed}));
    let effect = effect.with_sealed_body().with_single_use(token.single_use());
    source.expect_visible_at(
        "method.",
        effect.expecting("method.fingerprint", token.fingerprint.clone()),
    )
}

/// Extends the change by a token that was supplied for this charge. It must hold the saved method,
/// as far as that is visible.
pub fn change_recurring_by_intake(
    mut effect: Effect,
    sort: PaymentMethodType,
    saved: &Observed,
    brought: &SuppliedToken,
) -> Effect {
    set_field(&mut effect.request.body, "method", json!({"$sealed": brought.sealed}));
    let effect = effect
        .with_sealed_body()
        .with_single_use(single_use(brought))
        .with_subject(json!({ATTACHED: brought.digest}));
    effect
        .expecting("method.type", sort.word())
        .expecting("method.fingerprint", saved.fact("fingerprint").clone())
}

/// Reads when the charge was last modified, for a change that nothing else shows, and its currency,
/// which no change names.
fn before(effect: &Effect) -> Vec<RemoteQuery> {
    let asks = effect.sealed || named_currency(effect).is_some();
    if asks { vec![read(effect.target.as_ref())] } else { Vec::new() }
}

/// Returns the currency in which a person named an amount.
fn named_currency(effect: &Effect) -> Option<&str> {
    effect.subject.get("currency").and_then(Value::as_str)
}

fn keep(answers: &[RemoteAnswer]) -> Value {
    let mut kept = modified_time(answers);
    if let Some(RemoteAnswer::Body(charge)) = answers.first() {
        copy_fields(&mut kept, charge, &["currency"]);
    }
    kept
}

/// Refuses an amount in another currency than the charge's, which would be another amount.
fn refuse(effect: &Effect, kept: &Value) -> Option<String> {
    let named = named_currency(effect)?;
    let is = kept.get("currency").and_then(Value::as_str).filter(|is| *is != named)?;
    let known = is.parse::<Currency>();
    let is = known.map_or_else(|_| "another currency".to_owned(), |is| is.to_string());
    Some(format!("the recurring charge is in {is}, and the amount in {named}"))
}

fn read(target: Option<&RemoteId>) -> RemoteQuery {
    RemoteQuery::one(Call::to::<GetRecurring>(&[target.map_or("", RemoteId::as_str)]))
}

/// Stores the answer, and forgets a supplied token that was used.
fn learn(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let mut learned = recurring::learn(intent, reply)?;
    if intent.subject.get(ATTACHED).is_some() {
        set_field(&mut learned.facts, ATTACHED, Value::Null);
    }
    Ok(learned)
}

pub(crate) fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    vec![read(intent.target.as_ref())]
}

pub(crate) fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let why = "the service shows no recurring charge; the next change says all of it again";
    let no_path = LookupResult::Superseded(why.to_owned());
    // A removed charge cannot be changed: the next attempt gets that answer.
    let gone = LookupResult::NotFound;
    judge_object(answers, |charge| shows_change(intent, charge), gone, no_path)
}

pub(crate) const ROW: EffectRow = EffectRow::looked_up::<PatchRecurring>(
    "recurring.change",
    Isolation::PerObject,
    queries,
    judge,
    learn,
)
.with_baseline(Baseline { queries: before, keep, refuse });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::{intent, judged, no_path};

    #[test]
    fn what_nothing_shows_is_said_again_by_the_next_change() {
        let asked = json!({"id": "ch1", "amount": 700});
        let check =
            |answer: RemoteAnswer| judged(&intent(ROW.name, &asked, Value::Null), &[answer]);
        let shown = |amount: i64| RemoteAnswer::Body(json!({"id": "ch1", "amount": amount}));
        assert_eq!(check(shown(700)), "happened ch1");
        assert_eq!(check(shown(500)), "absent");
        assert_eq!(check(no_path()), "overwritten");
    }
}
