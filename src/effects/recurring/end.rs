//! Ends a recurring charge: cancels it, sets its last day, or deletes it if no document manages it
//! (service-facts, 56 and 57). A cancelled charge stays listed, a deleted one leaves the list;
//! neither collects more.
//!
//! No document shows the paths. A service without them answers 404 and names no object; then
//! `recurring.end` sets the charge's last day instead. A lost answer is settled by the charge
//! itself, or by its occurrences, which every service shows: without a pending occurrence the
//! charge collects nothing more. A charge cannot be deleted twice, so one that still exists, or
//! that the service shows nowhere, is deleted once more.

use chrono::NaiveDate;
use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::{
    CancelRecurring, DeleteRecurring, GetRecurring, ListOccurrences, PatchRecurring,
};
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectContext, set_field};
use crate::effects::core::evidence::judge_object;
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::effects::recurring::change;
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::outcome::ServiceMessage;
use crate::model::state::observed::ServiceRefusal;

pub fn cancel_recurring(cx: EffectContext, charge: &RemoteId) -> Effect {
    let effect =
        cx.effect::<CancelRecurring>(RECURRING_CANCEL.name, &[charge.as_str()], Value::Null);
    effect.targeting(charge).expecting("id", charge.as_str())
}

/// Returns whether a refusal means that the service has no such path: a 404 that names no object.
pub fn has_no_path(refusal: &ServiceRefusal) -> bool {
    let names = |message: &ServiceMessage| message.context.is_some();
    refusal.status == 404 && !refusal.problem.messages.iter().any(names)
}

/// Earlier reads are discarded.
fn learn_cancelled(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let status = reply.get("status").and_then(Value::as_str);
    if status.is_some_and(|status| !is_over(status)) {
        return Err(format!("it was cancelled, and is {}", expect::render_field(reply, "status")));
    }
    let facts = json!({
        "status": status, "next_payment": null, "looked": null, "ended": "it was cancelled",
    });
    Ok(Learned::existing(facts))
}

/// Returns whether a recurring charge of this status collects no more.
pub(crate) fn is_over(status: &str) -> bool {
    matches!(status, "COMPLETED" | "DELETED")
}

/// Returns whether an occurrence may still be collected automatically.
pub(crate) fn may_be_collected(occurrence: &Value) -> bool {
    matches!(text(occurrence, "status"), "PENDING" | "PAYING")
}

pub(crate) fn charge_and_occurrences(charge: &str) -> Vec<RemoteQuery> {
    let occurrences = Call::to::<ListOccurrences>(&[charge]);
    vec![RemoteQuery::one(Call::to::<GetRecurring>(&[charge])), RemoteQuery::list(occurrences)]
}

fn judge_cancel(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let [charge, occurrences] = answers else {
        return LookupResult::not_asked();
    };
    let id = intent.target.as_ref().map_or("", RemoteId::as_str);
    match (charge, occurrences) {
        (RemoteAnswer::Body(charge), _) if is_over(text(charge, "status")) => {
            LookupResult::Applied(charge.clone())
        }
        (RemoteAnswer::Body(_), _) => LookupResult::NotFound,
        (missing, _) if !missing.is_unknown_path() => LookupResult::Applied(json!({ "id": id })),
        (_, RemoteAnswer::Items(items)) if items.iter().any(may_be_collected) => {
            LookupResult::NotFound
        }
        (_, RemoteAnswer::Items(items)) if !items.is_empty() => {
            LookupResult::Applied(json!({ "id": id }))
        }
        (_, RemoteAnswer::Items(_) | RemoteAnswer::Body(_) | RemoteAnswer::Missing(_)) => {
            LookupResult::inconclusive("the service shows neither the charge nor its occurrences")
        }
    }
}

pub(crate) const RECURRING_CANCEL: EffectRow = EffectRow::looked_up::<CancelRecurring>(
    "recurring.cancel",
    Isolation::PerObject,
    |intent| charge_and_occurrences(intent.target.as_ref().map_or("", RemoteId::as_str)),
    judge_cancel,
    learn_cancelled,
);

/// Sets the last day of a recurring charge, also in the spec that it puts on the service.
pub fn end_recurring(mut cx: EffectContext, charge: &RemoteId, end: NaiveDate) -> Effect {
    if let Some(schedule) = cx.applied.spec.get_mut("schedule") {
        set_field(schedule, "end", json!(end));
    }
    let body = json!({"schedule": {"end": end}});
    let effect = cx.effect::<PatchRecurring>(RECURRING_END.name, &[charge.as_str()], body);
    effect
        .targeting(charge)
        .expecting("id", charge.as_str())
        .expecting("schedule.end", json!(end))
        .with_subject(json!({ "end": end }))
}

pub(crate) const RECURRING_END: EffectRow = EffectRow::looked_up::<PatchRecurring>(
    "recurring.end",
    Isolation::PerObject,
    change::queries,
    change::judge,
    // Earlier reads are discarded.
    |intent, _| Ok(Learned::existing(json!({"end": intent.subject.get("end"), "looked": null}))),
);

const DELETED: &str = "DELETED";

pub fn delete_recurring(cx: EffectContext, charge: &RemoteId) -> Effect {
    let effect =
        cx.effect::<DeleteRecurring>(RECURRING_DELETE.name, &[charge.as_str()], Value::Null);
    effect.targeting(charge).expecting("id", charge.as_str())
}

/// Only a command deletes a charge, and is then done.
fn learn_deleted(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let status = reply.get("status").and_then(Value::as_str);
    if status.is_some_and(|status| status != DELETED) {
        return Err(format!("it was deleted, and is {}", expect::render_field(reply, "status")));
    }
    let remote_id = intent.target.clone();
    Ok(Learned { remote_id, ..Learned::existing(json!({"status": DELETED})) })
}

fn judge_delete(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let is_deleted = |charge: &Value| text(charge, "status") == DELETED;
    let gone = LookupResult::Applied(json!({ "id": intent.target }));
    judge_object(answers, is_deleted, gone, LookupResult::NotFound)
}

pub(crate) const RECURRING_DELETE: EffectRow = EffectRow::looked_up::<DeleteRecurring>(
    "recurring.delete",
    Isolation::PerObject,
    change::queries,
    judge_delete,
    learn_deleted,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::rules::ProblemMessage;
    use crate::effects::core::row::RemoteAnswer;
    use crate::effects::testing::{intent, items, judged, no_path, obligation};
    use crate::model::outcome::ServiceProblem;

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
        assert!(learn_cancelled(&intent, &json!({"id": "ch1", "status": "ACTIVE"})).is_err());
        let learned =
            learn_cancelled(&intent, &json!({"id": "ch1", "status": "COMPLETED"})).unwrap();
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

    #[test]
    fn a_lost_answer_is_settled_by_the_charge_s_own_last_day() {
        let asked = json!({"id": "ch1", "schedule.end": "2030-02-01"});
        let check = |answer: RemoteAnswer| {
            judged(&intent(RECURRING_END.name, &asked, Value::Null), &[answer])
        };
        let body = |end: &str| RemoteAnswer::Body(json!({"id": "ch1", "schedule": {"end": end}}));
        assert_eq!(check(body("2030-02-01")), "happened ch1");
        assert_eq!(check(body("2031-02-01")), "absent");
        assert_eq!(check(no_path()), "overwritten", "the next one says all of it again");
    }

    fn asked() -> Intent {
        intent(RECURRING_DELETE.name, &json!({"id": "ch1"}), Value::Null)
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
        assert!(learn_deleted(&asked(), &json!({"id": "ch1", "status": "ACTIVE"})).is_err());
        for answer in [json!({"id": "ch1", "status": "DELETED"}), json!({"id": "ch1"})] {
            let learned = learn_deleted(&asked(), &answer).unwrap();
            assert!(learned.exists, "the command is done");
            assert_eq!(learned.remote_id.unwrap().as_str(), "ch1");
        }
        assert_eq!(delete_recurring(obligation(), &"ch1".parse().unwrap()).counts.deletes, 1);
    }
}
