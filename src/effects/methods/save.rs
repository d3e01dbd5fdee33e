//! Saves a card or bank account (gateway-api, POST /v1/cards, POST /v1/banks), with its mark in
//! `reference`. The source is a spec's details, a one-time token that a person has, or a token from
//! a payer's page.
//!
//! The lists can be filtered by reference, so a lookup settles a lost answer. A token that is sent
//! again cannot double: the service takes it once.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::method::{
    BankEndpoints, CardEndpoints, MethodEndpoints, MethodSource, PaymentMethodType, learn,
};
use crate::api::call::Call;
use crate::api::methods::one_time_token::TOKEN_LIFE_MINUTES;
use crate::effects::core::context::{EffectBuilder, EffectContext, put};
use crate::effects::core::row::{EffectRow, Isolation, LookupResult, RemoteAnswer, RemoteQuery};
use crate::model::intents::effect::{Effect, SingleUse};
use crate::model::intents::intent::Intent;
use crate::model::operator::token_attachment::{ATTACHED, SuppliedToken};

/// Saves the card or bank account of a spec.
pub fn save_method(obligation: EffectContext, source: MethodSource<'_>) -> Effect {
    match source.method_type {
        PaymentMethodType::Card => save::<CardEndpoints>(obligation, source),
        PaymentMethodType::Bank => save::<BankEndpoints>(obligation, source),
    }
}

fn save<S: MethodEndpoints>(obligation: EffectContext, source: MethodSource<'_>) -> Effect {
    let mark = json!(obligation.source_id.mark());
    let body = source.body(&obligation);
    let effect = obligation.effect::<S::Create>(S::SAVE, &[], body).with_sealed_body();
    source.expect_visible(effect.expecting("reference", mark))
}

/// Saves the method of a one-time token; the token is sealed with the body, and used up by this
/// effect.
pub fn save_token(
    obligation: EffectContext,
    sort: PaymentMethodType,
    token: &str,
    description: Option<&str>,
) -> Effect {
    match sort {
        PaymentMethodType::Card => {
            save_one_time_token::<CardEndpoints>(obligation, token, description)
        }
        PaymentMethodType::Bank => {
            save_one_time_token::<BankEndpoints>(obligation, token, description)
        }
    }
}

fn save_one_time_token<S: MethodEndpoints>(
    obligation: EffectContext,
    token: &str,
    description: Option<&str>,
) -> Effect {
    let mark = json!(obligation.source_id.mark());
    let mut body = json!({"type": S::WORD, "token_id": token, "reference": mark});
    if let Some(text) = description {
        put(&mut body, "description", text);
    }
    obligation
        .effect::<S::Create>(S::SAVE, &[], body)
        .with_sealed_body()
        .expecting("type", S::WORD)
        .expecting("reference", mark)
        .expecting("description", description)
}

/// Saves the method of a token that was supplied for this resource.
pub fn save_by_token(
    obligation: EffectContext,
    source: MethodSource<'_>,
    brought: &SuppliedToken,
) -> Effect {
    match source.method_type {
        PaymentMethodType::Card => by_token::<CardEndpoints>(obligation, source, brought),
        PaymentMethodType::Bank => by_token::<BankEndpoints>(obligation, source, brought),
    }
}

/// Returns until when a supplied token may be sent. Its life counts from before its arrival.
pub fn good_until(brought: &SuppliedToken) -> DateTime<Utc> {
    let life = TimeDelta::minutes(TOKEN_LIFE_MINUTES);
    brought.at.checked_add_signed(life).unwrap_or(brought.at)
}

/// Returns the single-use rule of an effect that uses such a token.
pub(crate) fn single_use(brought: &SuppliedToken) -> SingleUse {
    SingleUse {
        expires_at: good_until(brought),
        clearing_facts: json!({ATTACHED: null}),
        is_reusable: true,
    }
}

fn by_token<S: MethodEndpoints>(
    obligation: EffectContext,
    source: MethodSource<'_>,
    brought: &SuppliedToken,
) -> Effect {
    let mark = json!(obligation.source_id.mark());
    let mut body = json!({"token_id": {"$sealed": brought.sealed}, "reference": mark});
    if let Some(description) = source.description {
        put(&mut body, "description", description.clone());
    }
    let effect = obligation.effect::<S::Create>(S::SAVE, &[], body).with_sealed_body();
    let effect = effect.with_single_use(single_use(brought));
    effect.expecting("reference", mark).expecting("type", S::WORD)
}

fn queries<S: MethodEndpoints>(intent: &Intent) -> Vec<RemoteQuery> {
    vec![RemoteQuery::list(Call::to::<S::List>(&[]).query("reference", &intent.mark))]
}

fn judge<S: MethodEndpoints>(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let marked =
        |item: &&Value| item.get("reference").and_then(Value::as_str) == Some(intent.mark.as_str());
    let items = answers.first().map_or(&[][..], RemoteAnswer::items);
    let found: Vec<&Value> = items.iter().filter(marked).collect();
    match found.as_slice() {
        [] => LookupResult::NotFound,
        [one] => LookupResult::Applied((*one).clone()),
        more => {
            let text = format!("{} {}s carry the mark {}", more.len(), S::WORD, intent.mark);
            LookupResult::Inconclusive(text)
        }
    }
}

const fn row<S: MethodEndpoints>() -> EffectRow {
    EffectRow::looked_up(S::SAVE, Isolation::None, queries::<S>, judge::<S>, learn)
}

pub(crate) const CARD: EffectRow = row::<CardEndpoints>();
pub(crate) const BANK: EffectRow = row::<BankEndpoints>();
