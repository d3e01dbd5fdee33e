//! Deletes a recurring charge that no document manages (service-facts, 56 and 57; not in the two
//! documents): it collects no more, and leaves the list.
//!
//! The charge itself settles a lost answer: it is marked as deleted, or not found. A charge cannot
//! be deleted twice, so one that still exists, or that the service shows nowhere, is deleted once
//! more.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::actions::DeleteRecurring;
use crate::api::recurring::charge::GetRecurring;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::expect;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Status of a deleted recurring charge.
const DELETED: &str = "DELETED";

/// Deletes a recurring charge.
pub fn delete_recurring(obligation: EffectContext, charge: &RemoteId) -> Effect {
    let effect = obligation.effect::<DeleteRecurring>(ROW.name, &[charge.as_str()], Value::Null);
    effect.targeting(charge).expecting("id", charge.as_str())
}

/// Only a command deletes a charge, and is then done.
fn learn(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let status = reply.get("status").and_then(Value::as_str);
    if status.is_some_and(|status| status != DELETED) {
        return Err(format!("it was deleted, and is {}", expect::render_field(reply, "status")));
    }
    let remote_id = intent.target.clone();
    Ok(Learned { remote_id, exists: true, facts: json!({"status": DELETED}), ..Learned::default() })
}

fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    let id = intent.target.as_ref().map_or("", RemoteId::as_str);
    vec![RemoteQuery::one(Call::to::<GetRecurring>(&[id]))]
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    match answers.first() {
        Some(RemoteAnswer::Body(charge)) if expect::text(charge, "status") == DELETED => {
            LookupResult::Applied(charge.clone())
        }
        Some(answer @ RemoteAnswer::Missing(_)) if !answer.is_unknown_path() => {
            LookupResult::Applied(json!({ "id": intent.target }))
        }
        Some(RemoteAnswer::Body(_) | RemoteAnswer::Missing(_)) => LookupResult::NotFound,
        Some(RemoteAnswer::Items(_)) | None => {
            LookupResult::Inconclusive("the service was not asked".to_owned())
        }
    }
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("recurring.delete", Isolation::PerObject, queries, judge, learn);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::problem::ProblemMessage;
    use crate::effects::testing::{intent, judged, no_path, obligation};
    use crate::model::service::outcome::ServiceProblem;

    fn asked() -> Intent {
        intent(ROW.name, &json!({"id": "ch1"}), Value::Null)
    }

    #[test]
    fn a_lost_answer_is_settled_by_the_charge_and_one_that_stands_is_deleted_again() {
        let check = |answer: RemoteAnswer| judged(&asked(), &[answer]);
        let body = |status: &str| RemoteAnswer::Body(json!({"id": "ch1", "status": status}));
        assert_eq!(check(body("DELETED")), "happened ch1");
        for stands in ["ACTIVE", "COMPLETED"] {
            assert_eq!(check(body(stands)), "absent", "{stands}");
        }
        let gone =
            ProblemMessage::new("resource_not_found", "gone").with_context("RecurringCharge[ch1]");
        let gone = RemoteAnswer::Missing(ServiceProblem::from_messages(vec![gone]));
        assert_eq!(check(gone), "happened ch1");
        assert_eq!(check(no_path()), "absent", "the next try gets the same answer");
        assert!(check(RemoteAnswer::Items(Vec::new())).starts_with("unknown"));
    }

    #[test]
    fn an_answer_that_says_it_goes_on_is_no_answer_to_a_deletion() {
        assert!(learn(&asked(), &json!({"id": "ch1", "status": "ACTIVE"})).is_err());
        for answer in [json!({"id": "ch1", "status": "DELETED"}), json!({"id": "ch1"})] {
            let learned = learn(&asked(), &answer).unwrap();
            assert!(learned.exists, "the command is done");
            assert_eq!(learned.remote_id.unwrap().as_str(), "ch1");
        }
        assert_eq!(delete_recurring(obligation(), &"ch1".parse().unwrap()).counts.deletes, 1);
    }
}
