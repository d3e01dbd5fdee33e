//! A saved card or bank is removed (gateway-api, DELETE /v1/cards/{cardId}, DELETE
//! /v1/banks/{bankId}): its id can no longer pay.
//!
//! One that cannot be found is gone, whoever removed it.

use serde_json::Value;

use super::method::{Banks, Cards, MethodSort, Sort, read_target};
use super::register::{
    Absent, Answer, Doubt, EffectRow, Finding, Lane, Learned, Proved, Query, Search,
};
use super::token_create::spent;
use super::{Obligation, Shaped};
use crate::api::Problem;
use crate::base::id::RemoteId;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Removes a saved method.
pub fn delete_method(obligation: Obligation, sort: MethodSort, target: &RemoteId) -> Effect {
    match sort {
        MethodSort::Card => delete::<Cards>(obligation, target),
        MethodSort::Bank => delete::<Banks>(obligation, target),
    }
}

fn delete<S: Sort>(obligation: Obligation, target: &RemoteId) -> Effect {
    obligation.effect::<S::Delete>(S::DELETE, &[target.as_str()], Value::Null).on(target)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every effect's answer may be none; this one's cannot"
)]
fn learn(_: &Intent, _: &Value) -> Result<Learned, String> {
    Ok(Learned { exists: false, facts: spent(), ..Learned::default() })
}

fn queries<S: Sort>(intent: &Intent) -> Vec<Query> {
    vec![read_target::<S>(intent.target.as_ref())]
}

fn judge<S: Sort>(_: &Intent, answers: &[Answer]) -> Finding {
    match answers.first() {
        Some(answer @ Answer::Missing(_)) if !answer.unknown_path() => {
            Finding::Happened(Value::Null)
        }
        Some(Answer::Body(_)) => Finding::Absent,
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Finding::Unknown(format!("the {} cannot be read back", S::WORD))
        }
    }
}

/// A refusal because the object is not there means that it is gone.
fn gone(problem: &Problem) -> Option<Proved> {
    let unknown = problem.code() == "resource_not_found"
        && problem.messages.iter().any(|message| message.context.is_some());
    unknown.then_some(Proved::Gone)
}

const fn row<S: Sort>() -> EffectRow {
    let search = Search { queries: queries::<S>, judge: judge::<S>, absent: Absent::Again };
    EffectRow {
        name: S::DELETE,
        doubt: Doubt::Search(search),
        baseline: None,
        lane: Lane::Own,
        learn,
        proves: gone,
    }
}

pub(super) const CARD: EffectRow = row::<Cards>();
pub(super) const BANK: EffectRow = row::<Banks>();
