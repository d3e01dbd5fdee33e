//! A saved card is removed (gateway-api, DELETE /v1/cards/{cardId}): its id can no longer pay.
//!
//! A card that cannot be found is gone, whoever removed it.

use serde_json::{Value, json};

use super::card_change::read_card;
use super::register::{Absent, Answer, Doubt, EffectRow, Finding, Learned, Proved, Search};
use super::{Obligation, Shaped};
use crate::api::Problem;
use crate::api::card::DeleteCard;
use crate::base::id::RemoteId;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Removes a saved card.
pub fn delete_card(obligation: Obligation, card: &RemoteId) -> Effect {
    obligation.effect::<DeleteCard>(ROW.name, &[card.as_str()], Value::Null).on(card)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every effect's answer may be none; this one's cannot"
)]
fn learn(_: &Intent, _: &Value) -> Result<Learned, String> {
    Ok(Learned { exists: false, facts: json!({}), ..Learned::default() })
}

fn judge(_: &Intent, answers: &[Answer]) -> Finding {
    match answers.first() {
        Some(answer @ Answer::Missing(_)) if !answer.unknown_path() => {
            Finding::Happened(Value::Null)
        }
        Some(Answer::Body(_)) => Finding::Absent,
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Finding::Unknown("the card cannot be read back".to_owned())
        }
    }
}

/// A refusal because the card is not there means that it is gone.
fn gone(problem: &Problem) -> Option<Proved> {
    let unknown = problem.code() == "resource_not_found"
        && problem.messages.iter().any(|message| message.context.is_some());
    unknown.then_some(Proved::Gone)
}

pub(super) const ROW: EffectRow = EffectRow {
    name: "card.delete",
    doubt: Doubt::Search(Search { queries: read_card, judge, absent: Absent::Again }),
    baseline: None,
    learn,
    proves: gone,
};
