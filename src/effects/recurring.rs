//! Effects on recurring charges and their occurrences. Here a charge that repeats is created, from a saved method or from an earlier charge's method and
//! customer (gateway-api, POST /v1/recurring/charges, POST /v1/charges/{chargeId}/schedule).
//!
//! No idempotency key guards it. The mark is in the description and in `reference`. The list of
//! recurring charges settles a lost answer where the service has one, else events do; where the
//! service shows neither, the resource goes on hold. Absence in the events counts only on a service
//! that is known to report such creations.
//!
//! The body of a charge from an earlier one has no room for a mark, so one such effect of a
//! merchant is open at a time. It is settled by the list above the newest recurring charge of the
//! baseline: exactly one that carries no mark and matches the request. If the service has no list,
//! or shows anything else, the resource goes on hold.

pub mod change;
pub mod end;
pub mod first_charge;
pub mod occurrences;

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::{CreateRecurring, ListRecurring, ScheduleCharge};
use crate::base::fault_injection;
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectContext, copy_fields, set_field};
use crate::effects::core::evidence::{NEWEST_EVENT, events_since, first_item};
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{
    Baseline, EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery, accept_any,
};
use crate::effects::merchants::read::mark_of;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Event that reports a creation (service-facts, 72).
const CREATED: &str = "recurring_charge.created";

const EXPECTED_FIELDS: [&str; 7] = [
    "amount",
    "currency",
    "account_id",
    "max_occurrences",
    "max_amount",
    "description",
    "schedule",
];

/// Creates a recurring charge from its complete body, without description and reference.
pub fn create_recurring(cx: EffectContext, mut body: Value, description: &str) -> Effect {
    let mark = cx.source_id.mark();
    set_field(&mut body, "description", json!(mark.tag(description)));
    set_field(&mut body, "reference", json!(mark));
    let asked = body.clone();
    let effect = cx.effect::<CreateRecurring>(RECURRING_CREATE.name, &[], body);
    effect.expecting_fields(&asked, &EXPECTED_FIELDS)
}

/// Facts about the end of the previous charge, cleared by an answer about an active one.
pub(crate) const ENDING_FACTS: [&str; 5] = ["status", "next_payment", "ended", "end", "looked"];

/// Returns the stored fields of a recurring charge that the service shows.
pub fn recurring_facts(shown: &Value) -> Value {
    let mut facts = json!({});
    copy_fields(&mut facts, &Value::Null, &ENDING_FACTS);
    copy_fields(&mut facts, shown, &["status", "next_payment", "currency", "account_id", "amount"]);
    facts
}

pub(crate) fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    Learned::object(reply, recurring_facts(reply))
}

fn judge_creation(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let (Some(list), Some(events)) = (answers.first(), answers.get(1)) else {
        return LookupResult::not_asked();
    };
    let listed = list.items().iter().filter(|item| carries(item, &intent.mark));
    let created = events.items().iter().filter(|event| text(event, "type") == CREATED);
    let reported = created.filter_map(|event| event.get("data"));
    let mut found: Vec<&Value> =
        listed.chain(reported.filter(|data| carries(data, &intent.mark))).collect();
    found.dedup_by_key(|item| item.get("id"));
    match (found.as_slice(), list) {
        ([one], _) => LookupResult::Applied((*one).clone()),
        ([], RemoteAnswer::Items(_)) => LookupResult::NotFound,
        ([], RemoteAnswer::Missing(_) | RemoteAnswer::Body(_)) => LookupResult::inconclusive(
            "this service lists no recurring charges and reports none of their events",
        ),
        (more, _) => LookupResult::Inconclusive(format!(
            "{} recurring charges carry {}",
            more.len(),
            intent.mark
        )),
    }
}

/// Returns whether a recurring charge carries a mark in either of its two places.
pub(crate) fn carries(item: &Value, mark: &Mark) -> bool {
    text(item, "reference") == mark.as_str()
        || Mark::find_in(text(item, "description")).as_ref() == Some(mark)
}

pub(crate) const RECURRING_CREATE: EffectRow = EffectRow::looked_up::<CreateRecurring>(
    "recurring.create",
    Isolation::None,
    |intent| vec![RemoteQuery::list(Call::to::<ListRecurring>(&[])), events_since(intent)],
    judge_creation,
    learn,
)
.with_baseline(NEWEST_EVENT);

/// Creates a recurring charge from an earlier charge; `currency` is that of its amount. The
/// description is not sent: a later change sets it.
pub fn schedule_charge(
    mut cx: EffectContext,
    charge: &RemoteId,
    body: Value,
    currency: &str,
) -> Effect {
    if let Some(spec) = cx.applied.spec.as_object_mut() {
        spec.remove("description");
    }
    let asked = body.clone();
    cx.effect::<ScheduleCharge>(CHARGE_SCHEDULE.name, &[charge.as_str()], body)
        .targeting(charge)
        .expecting_fields(&asked, &["amount", "schedule"])
        .expecting("currency", currency)
}

fn judge_scheduled(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let (Some(RemoteAnswer::Items(items)), Some(newest)) =
        (answers.first(), intent.baseline.pointer("/results/0"))
    else {
        return LookupResult::inconclusive(
            "this service lists no recurring charges, and this one carries no mark",
        );
    };
    let before = newest.get("id").filter(|id| !id.is_null());
    let at = before.map(|id| items.iter().position(|item| item.get("id") == Some(id)));
    let newer = match at {
        None => items.as_slice(),
        Some(Some(at)) => items.get(..at).unwrap_or_default(),
        Some(None) => {
            return LookupResult::inconclusive(
                "the newest recurring charge of before is gone from the list",
            );
        }
    };
    let mut unmarked: Vec<&Value> = newer.iter().filter(|item| mark_of(item).is_none()).collect();
    if fault_injection::is_active("clone-counted-twice") {
        unmarked = items.iter().filter(|item| mark_of(item).is_none()).take(1).collect();
    }
    match unmarked.as_slice() {
        [] => LookupResult::NotFound,
        [one] if expect::mismatches(&intent.expect, one).is_empty() => {
            LookupResult::Applied((*one).clone())
        }
        _ => LookupResult::inconclusive(
            "there are new recurring charges without a mark, and none is surely this one",
        ),
    }
}

pub(crate) const CHARGE_SCHEDULE: EffectRow = EffectRow::looked_up::<ScheduleCharge>(
    "charge.schedule",
    Isolation::PerMerchant,
    |_| vec![RemoteQuery::list(Call::to::<ListRecurring>(&[]))],
    judge_scheduled,
    learn,
)
.with_baseline(Baseline {
    // The newest recurring charge: everything above it is new.
    queries: |_| {
        let list = Call::to::<ListRecurring>(&[]).query("page", 1).query("page_size", 1);
        vec![RemoteQuery::one(list)]
    },
    keep: |answers| first_item(answers.first()),
    refuse: accept_any,
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::effects::testing::{intent, items, judged, no_path};

    fn check(baseline: Value, answer: RemoteAnswer, expect: &str) {
        let this = intent("charge.schedule", &json!({"amount": 700}), baseline);
        let told = judged(&this, &[answer]);
        assert!(told.starts_with(expect), "{told}");
    }

    fn newest(id: &Value) -> Value {
        json!({"results": [{"id": id, "created": null}]})
    }

    #[test]
    fn the_one_new_unmarked_charge_that_is_as_asked_is_ours() {
        let mark = intent("charge.schedule", &json!({}), Value::Null).mark;
        let old = json!({"id": "r0", "amount": 700});
        let made = json!({"id": "r1", "amount": 700});
        let marked = json!({"id": "r2", "amount": 700, "description": mark.tag("Rent")});
        let before = || newest(&json!("r0"));
        check(before(), items(&json!([marked, made, old])), "happened r1");
        check(before(), items(&json!([marked, old])), "absent");
        check(newest(&Value::Null), items(&json!([])), "absent");
        check(newest(&Value::Null), items(&json!([made])), "happened r1");
        let other = json!({"id": "r3", "amount": 800});
        check(before(), items(&json!([other, old])), "unknown: there are new recurring charges");
        check(before(), items(&json!([other, made, old])), "unknown: there are new");
    }

    #[test]
    fn without_a_list_or_its_old_end_nothing_is_believed() {
        check(Value::Null, items(&json!([])), "unknown: this service lists no recurring charges");
        check(newest(&json!("r0")), no_path(), "unknown: this service lists no recurring charges");
        check(newest(&json!("r0")), items(&json!([])), "unknown: the newest recurring charge");
    }
}
