//! A recurring charge's amount, schedule, limits or description change (gateway-api, PATCH
//! /v1/recurring/charges/{id}).
//!
//! The change is absolute, so once nothing of the first try can be on its way any more, the same
//! bytes sent again end in the same state, also on a service that cannot show the charge.

use serde_json::{Value, json};

use super::put;
use super::register::{Absent, Answer, Doubt, EffectRow, Finding, Query, Search, nothing};
use super::{Obligation, Shaped, expect, recurring_create};
use crate::api::Call;
use crate::api::recurring::{GetRecurring, PatchRecurring};
use crate::base::id::RemoteId;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Changes fields of a recurring charge. `text`, where given, is the new description.
pub fn change_recurring(
    obligation: Obligation,
    charge: &RemoteId,
    mut body: Value,
    text: Option<&str>,
) -> Effect {
    if let Some(text) = text {
        put(&mut body, "description", json!(obligation.source_id.mark().tag(text)));
    }
    let asked = body.as_object().cloned().unwrap_or_default();
    let effect = obligation.effect::<PatchRecurring>(ROW.name, &[charge.as_str()], body);
    let effect = effect.on(charge).expecting("id", charge.as_str());
    asked.into_iter().fold(effect, |effect, (field, value)| effect.expecting(&field, value))
}

fn queries(intent: &Intent) -> Vec<Query> {
    let target = intent.target.as_ref().map_or("", RemoteId::as_str);
    vec![Query::one(Call::to::<GetRecurring>(&[target]))]
}

fn judge(intent: &Intent, answers: &[Answer]) -> Finding {
    match answers.first() {
        Some(Answer::Body(charge)) if expect::mismatches(&intent.expect, charge).is_empty() => {
            Finding::Happened(charge.clone())
        }
        Some(Answer::Body(_)) => Finding::Absent,
        Some(answer @ Answer::Missing(_)) if answer.unknown_path() => Finding::Absent,
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Finding::Unknown("the recurring charge cannot be found any more".to_owned())
        }
    }
}

pub(super) const ROW: EffectRow = EffectRow {
    name: "recurring.change",
    doubt: Doubt::Search(Search { queries, judge, absent: Absent::Again }),
    baseline: None,
    learn: recurring_create::learn,
    proves: nothing,
};
