//! A card is saved (gateway-api, POST /v1/cards), its mark in `reference`.
//!
//! The list of cards can be filtered by reference, so a lost answer is settled by looking.

use serde_json::{Value, json};

use super::expect;
use super::put;
use super::register::{Absent, Answer, Doubt, EffectRow, Finding, Learned, Query, Search, nothing};
use super::{Obligation, Shaped};
use crate::api::Call;
use crate::api::card::{CreateCard, ListCards};
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// What a card is made of: the secret source of its number, and its open fields.
#[derive(Debug, Clone, Copy)]
pub struct CardSource<'a> {
    /// The canonical `source.card` of a spec.
    pub card: &'a Value,
    /// The spec's description.
    pub description: Option<&'a Value>,
}

/// Saves the card of a spec.
pub fn save_card(obligation: Obligation, source: CardSource<'_>) -> Effect {
    let mut body = source.card.clone();
    put(&mut body, "number", json!({"$secret": source.card.get("number")}));
    put(&mut body, "type", json!("card"));
    put(&mut body, "reference", json!(obligation.source_id.mark()));
    if let Some(description) = source.description {
        put(&mut body, "description", description.clone());
    }
    let month = source.card.get("exp_month").cloned().unwrap_or_default();
    let year = source.card.get("exp_year").cloned().unwrap_or_default();
    let mark = json!(obligation.source_id.mark());
    obligation
        .effect::<CreateCard>(ROW.name, &[], body)
        .sealed()
        .expecting("reference", mark)
        .expecting("exp_month", month)
        .expecting("exp_year", year)
}

/// The masked number's last four digits and the brand are all that is kept.
pub(super) fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let number = reply.get("number").and_then(Value::as_str).unwrap_or_default();
    let last4: String = number.chars().skip(number.chars().count().saturating_sub(4)).collect();
    let facts = json!({
        "last4": last4,
        "card_type": reply.get("card_type"),
        "exp_month": reply.get("exp_month"),
        "exp_year": reply.get("exp_year"),
        "fingerprint": reply.get("fingerprint"),
    });
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
}

fn queries(intent: &Intent) -> Vec<Query> {
    vec![Query::list(Call::to::<ListCards>(&[]).query("reference", &intent.mark))]
}

fn judge(intent: &Intent, answers: &[Answer]) -> Finding {
    let marked =
        |item: &&Value| item.get("reference").and_then(Value::as_str) == Some(intent.mark.as_str());
    let items = answers.first().map_or(&[][..], Answer::items);
    let found: Vec<&Value> = items.iter().filter(marked).collect();
    match found.as_slice() {
        [] => Finding::Absent,
        [card] => Finding::Happened((*card).clone()),
        more => Finding::Unknown(format!("{} cards carry the mark {}", more.len(), intent.mark)),
    }
}

pub(super) const ROW: EffectRow = EffectRow {
    name: "card.save",
    doubt: Doubt::Search(Search { queries, judge, absent: Absent::Again }),
    baseline: None,
    learn,
    proves: nothing,
};
