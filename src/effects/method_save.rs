//! Saves a card or bank account (gateway-api, POST /v1/cards, POST /v1/banks), with its mark in
//! `reference`. The source is a spec's details, a one-time token that a person has, or a token from
//! a payer's page.
//!
//! The lists can be filtered by reference, so a lookup settles a lost answer. A token that is sent
//! again cannot double: the service takes it once.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::method::{Banks, Cards, MethodSort, MethodSource, Sort, learn};
use super::register::{Absent, Answer, Doubt, EffectRow, Finding, Lane, Query, Search, nothing};
use super::{Obligation, Shaped, put};
use crate::api::Call;
use crate::api::one_time_token::TOKEN_LIFE_MINUTES;
use crate::model::attachment::{ATTACHED, Brought};
use crate::model::effect::{Effect, Once};
use crate::model::intent::Intent;

/// Saves the card or bank account of a spec.
pub fn save_method(obligation: Obligation, source: MethodSource<'_>) -> Effect {
    match source.sort {
        MethodSort::Card => save::<Cards>(obligation, source),
        MethodSort::Bank => save::<Banks>(obligation, source),
    }
}

fn save<S: Sort>(obligation: Obligation, source: MethodSource<'_>) -> Effect {
    let mark = json!(obligation.source_id.mark());
    let body = source.body(&obligation);
    let effect = obligation.effect::<S::Create>(S::SAVE, &[], body).sealed();
    source.asked(effect.expecting("reference", mark))
}

/// Saves the method of a one-time token; the token is sealed with the body, and used up by this
/// effect.
pub fn save_token(
    obligation: Obligation,
    sort: MethodSort,
    token: &str,
    description: Option<&str>,
) -> Effect {
    match sort {
        MethodSort::Card => save_of::<Cards>(obligation, token, description),
        MethodSort::Bank => save_of::<Banks>(obligation, token, description),
    }
}

fn save_of<S: Sort>(obligation: Obligation, token: &str, description: Option<&str>) -> Effect {
    let mark = json!(obligation.source_id.mark());
    let mut body = json!({"type": S::WORD, "token_id": token, "reference": mark});
    if let Some(text) = description {
        put(&mut body, "description", text);
    }
    obligation
        .effect::<S::Create>(S::SAVE, &[], body)
        .sealed()
        .expecting("type", S::WORD)
        .expecting("reference", mark)
        .expecting("description", description)
}

/// Saves the method of a token that was supplied for this resource.
pub fn save_by_token(
    obligation: Obligation,
    source: MethodSource<'_>,
    brought: &Brought,
) -> Effect {
    match source.sort {
        MethodSort::Card => by_token::<Cards>(obligation, source, brought),
        MethodSort::Bank => by_token::<Banks>(obligation, source, brought),
    }
}

/// Returns until when a supplied token may be sent. Its life counts from before its arrival.
pub fn good_until(brought: &Brought) -> DateTime<Utc> {
    let life = TimeDelta::minutes(TOKEN_LIFE_MINUTES);
    brought.at.checked_add_signed(life).unwrap_or(brought.at)
}

/// Returns the single-use rule of an effect that uses such a token.
pub(super) fn once(brought: &Brought) -> Once {
    Once { until: good_until(brought), spent: json!({ATTACHED: null}), again: true }
}

fn by_token<S: Sort>(
    obligation: Obligation,
    source: MethodSource<'_>,
    brought: &Brought,
) -> Effect {
    let mark = json!(obligation.source_id.mark());
    let mut body = json!({"token_id": {"$sealed": brought.sealed}, "reference": mark});
    if let Some(description) = source.description {
        put(&mut body, "description", description.clone());
    }
    let effect = obligation.effect::<S::Create>(S::SAVE, &[], body).sealed();
    let effect = effect.using(once(brought));
    effect.expecting("reference", mark).expecting("type", S::WORD)
}

fn queries<S: Sort>(intent: &Intent) -> Vec<Query> {
    vec![Query::list(Call::to::<S::List>(&[]).query("reference", &intent.mark))]
}

fn judge<S: Sort>(intent: &Intent, answers: &[Answer]) -> Finding {
    let marked =
        |item: &&Value| item.get("reference").and_then(Value::as_str) == Some(intent.mark.as_str());
    let items = answers.first().map_or(&[][..], Answer::items);
    let found: Vec<&Value> = items.iter().filter(marked).collect();
    match found.as_slice() {
        [] => Finding::Absent,
        [one] => Finding::Happened((*one).clone()),
        more => {
            let text = format!("{} {}s carry the mark {}", more.len(), S::WORD, intent.mark);
            Finding::Unknown(text)
        }
    }
}

const fn row<S: Sort>() -> EffectRow {
    let search = Search { queries: queries::<S>, judge: judge::<S>, absent: Absent::Again };
    EffectRow {
        name: S::SAVE,
        doubt: Doubt::Search(search),
        baseline: None,
        lane: Lane::Own,
        learn,
        proves: nothing,
    }
}

pub(super) const CARD: EffectRow = row::<Cards>();
pub(super) const BANK: EffectRow = row::<Banks>();
