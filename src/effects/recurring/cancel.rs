//! Cancels a recurring charge (service-facts, 56 and 57): it stays listed, and collects no more.
//!
//! No document shows the path. A service without it answers 404 and names no object; then
//! `recurring.end` sets the charge's last day instead. A lost answer is settled by the charge
//! itself, or by its occurrences, which every service shows: without a pending occurrence the
//! charge collects nothing more.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::actions::CancelRecurring;
use crate::api::recurring::charge::GetRecurring;
use crate::api::recurring::occurrence::ListOccurrences;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::expect;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;
use crate::model::service::outcome::ServiceMessage;
use crate::model::state::observed::ServiceRefusal;

/// Cancels a recurring charge.
pub fn cancel_recurring(obligation: EffectContext, charge: &RemoteId) -> Effect {
    let effect = obligation.effect::<CancelRecurring>(ROW.name, &[charge.as_str()], Value::Null);
    effect.targeting(charge).expecting("id", charge.as_str())
}

/// Returns whether a refusal means that the service has no such path: a 404 that names no object.
pub fn has_no_path(refusal: &ServiceRefusal) -> bool {
    let names = |message: &ServiceMessage| message.context.is_some();
    refusal.status == 404 && !refusal.problem.messages.iter().any(names)
}

/// Earlier reads are discarded.
fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let status = reply.get("status").and_then(Value::as_str);
    if status.is_some_and(|status| !is_over(status)) {
        return Err(format!("it was cancelled, and is {}", expect::render_field(reply, "status")));
    }
    let facts = json!({
        "status": status, "next_payment": null, "looked": null, "ended": "it was cancelled",
    });
    Ok(Learned { exists: true, facts, ..Learned::default() })
}

/// Returns whether a recurring charge of this status collects no more.
pub(crate) fn is_over(status: &str) -> bool {
    matches!(status, "COMPLETED" | "DELETED")
}

/// Returns whether an occurrence may still be collected automatically.
pub(crate) fn may_be_collected(occurrence: &Value) -> bool {
    let status = occurrence.get("status").and_then(Value::as_str).unwrap_or_default();
    matches!(status, "PENDING" | "PAYING")
}

/// Reads the charge and its occurrences.
pub(crate) fn charge_and_occurrences(charge: &str) -> Vec<RemoteQuery> {
    let occurrences = Call::to::<ListOccurrences>(&[charge]);
    vec![RemoteQuery::one(Call::to::<GetRecurring>(&[charge])), RemoteQuery::list(occurrences)]
}

fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    charge_and_occurrences(intent.target.as_ref().map_or("", RemoteId::as_str))
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let [charge, occurrences] = answers else {
        return LookupResult::Inconclusive("the service was not asked".to_owned());
    };
    let id = intent.target.as_ref().map_or("", RemoteId::as_str);
    match (charge, occurrences) {
        (RemoteAnswer::Body(charge), _) => {
            let status = expect::text(charge, "status");
            if is_over(status) {
                LookupResult::Applied(charge.clone())
            } else {
                LookupResult::NotFound
            }
        }
        (missing, _) if !missing.is_unknown_path() => LookupResult::Applied(json!({ "id": id })),
        (_, RemoteAnswer::Items(items)) if items.iter().any(may_be_collected) => {
            LookupResult::NotFound
        }
        (_, RemoteAnswer::Items(items)) if !items.is_empty() => {
            LookupResult::Applied(json!({ "id": id }))
        }
        (_, RemoteAnswer::Items(_) | RemoteAnswer::Body(_) | RemoteAnswer::Missing(_)) => {
            LookupResult::Inconclusive(
                "the service shows neither the charge nor its occurrences".to_owned(),
            )
        }
    }
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("recurring.cancel", Isolation::PerObject, queries, judge, learn);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::problem::ProblemMessage;
    use crate::effects::testing::{intent, items, judged, no_path};
    use crate::model::service::outcome::ServiceProblem;

    fn check(answers: &[RemoteAnswer]) -> String {
        judged(&intent("recurring.cancel", &json!({"id": "ch1"}), Value::Null), answers)
    }

    #[test]
    fn a_lost_answer_is_settled_by_the_charge_or_else_by_what_may_still_fire() {
        let body = |status: &str| RemoteAnswer::Body(json!({"id": "ch1", "status": status}));
        let list = |status: &str| items(&json!([{"id": "o1", "status": status}]));
        assert_eq!(check(&[body("COMPLETED"), list("IGNORED")]), "happened ch1");
        assert_eq!(check(&[body("DELETED"), no_path()]), "happened ch1");
        assert_eq!(check(&[body("ACTIVE"), list("IGNORED")]), "absent");
        for fires in ["PENDING", "PAYING"] {
            assert_eq!(check(&[no_path(), list(fires)]), "absent", "{fires}");
        }
        assert_eq!(check(&[no_path(), list("PAID")]), "happened ch1");
        assert!(check(&[no_path(), no_path()]).starts_with("unknown"));
        assert!(check(&[no_path(), items(&json!([]))]).starts_with("unknown"));
    }

    #[test]
    fn an_answer_that_says_it_goes_on_is_no_answer_to_a_cancellation() {
        let intent = intent("recurring.cancel", &json!({}), Value::Null);
        assert!(learn(&intent, &json!({"id": "ch1", "status": "ACTIVE"})).is_err());
        let learned = learn(&intent, &json!({"id": "ch1", "status": "COMPLETED"})).unwrap();
        assert!(learned.exists, "it is over once it was read back");
        assert_eq!(learned.facts["ended"], "it was cancelled");
    }

    #[test]
    fn only_a_404_that_names_nothing_says_that_there_is_no_such_path() {
        let refusal = |status: u16, context: Option<&str>| ServiceRefusal {
            intent: crate::base::id::IntentId::new(1),
            digest: crate::base::hash::sha256(b""),
            status,
            problem: ServiceProblem::from_messages(vec![ProblemMessage {
                code: "resource_not_found".to_owned(),
                context: context.map(str::to_owned),
                ..ProblemMessage::default()
            }]),
            at: chrono::DateTime::UNIX_EPOCH,
        };
        assert!(has_no_path(&refusal(404, None)));
        assert!(!has_no_path(&refusal(404, Some("RecurringCharge[ch1]"))));
        assert!(!has_no_path(&refusal(422, None)));
    }
}
