//! A saved card's description changes (gateway-api, PATCH /v1/cards/{cardId}).
//!
//! The card can be read, and the change is absolute: a lost answer is settled by looking.

use serde_json::{Value, json};

use super::register::{Absent, Answer, Doubt, EffectRow, Finding, Query, Search, nothing};
use super::{Obligation, Shaped, card_save, expect};
use crate::api::Call;
use crate::api::card::{GetCard, PatchCard};
use crate::base::id::RemoteId;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Sets the description of a saved card; none becomes empty.
pub fn change_card(obligation: Obligation, card: &RemoteId, description: Option<&Value>) -> Effect {
    let description = description.cloned().unwrap_or_else(|| json!(""));
    let mark = json!(obligation.source_id.mark());
    let body = json!({"description": description, "reference": mark});
    let asked = if description == json!("") { Value::Null } else { description };
    obligation
        .effect::<PatchCard>(ROW.name, &[card.as_str()], body)
        .on(card)
        .expecting("id", card.as_str())
        .expecting("description", asked)
        .expecting("reference", mark)
}

/// Reads the card that the intent changes.
pub(super) fn read_card(intent: &Intent) -> Vec<Query> {
    let target = intent.target.as_ref().map_or("", RemoteId::as_str);
    vec![Query::one(Call::to::<GetCard>(&[target]))]
}

fn judge(intent: &Intent, answers: &[Answer]) -> Finding {
    match answers.first() {
        Some(Answer::Body(card)) if expect::mismatches(&intent.expect, card).is_empty() => {
            Finding::Happened(card.clone())
        }
        Some(Answer::Body(_)) => Finding::Absent,
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Finding::Unknown("the card cannot be read back".to_owned())
        }
    }
}

pub(super) const ROW: EffectRow = EffectRow {
    name: "card.change",
    doubt: Doubt::Search(Search { queries: read_card, judge, absent: Absent::Again }),
    baseline: None,
    learn: card_save::learn,
    proves: nothing,
};
