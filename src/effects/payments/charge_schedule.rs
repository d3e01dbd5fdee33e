//! Creates a recurring charge from an earlier charge's method and customer (gateway-api, POST
//! /v1/charges/{chargeId}/schedule).
//!
//! The body has no room for a mark, so one such effect of a merchant is open at a time. A lost
//! answer is settled by the list above the newest recurring charge of the baseline: exactly one
//! that carries no mark and matches the request. If the service has no list, or shows anything
//! else, the resource goes on hold.

use serde_json::Value;

use crate::api::call::Call;
use crate::api::recurring::actions::ScheduleCharge;
use crate::api::recurring::charge::ListRecurring;
use crate::base::fault_injection;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::evidence::first_item;
use crate::effects::core::expect;
use crate::effects::core::row::{
    Baseline, EffectRow, Isolation, LookupResult, RemoteAnswer, RemoteQuery, accept_any,
};
use crate::effects::merchants::survey::mark_of;
use crate::effects::recurring::create;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Creates a recurring charge from an earlier charge; `currency` is that of its amount. The
/// description is not sent: a later change sets it.
pub fn schedule_charge(
    mut obligation: EffectContext,
    charge: &RemoteId,
    body: Value,
    currency: &str,
) -> Effect {
    if let Some(spec) = obligation.applied.spec.as_object_mut() {
        spec.remove("description");
    }
    let field = |name: &str| body.get(name).cloned().unwrap_or_default();
    let (amount, schedule) = (field("amount"), field("schedule"));
    obligation
        .effect::<ScheduleCharge>(ROW.name, &[charge.as_str()], body)
        .targeting(charge)
        .expecting("amount", amount)
        .expecting("currency", currency)
        .expecting("schedule", schedule)
}

/// Reads the newest recurring charge before sending: everything above it is new.
fn newest(_: &Effect) -> Vec<RemoteQuery> {
    vec![RemoteQuery::one(Call::to::<ListRecurring>(&[]).query("page", 1).query("page_size", 1))]
}

fn queries(_: &Intent) -> Vec<RemoteQuery> {
    vec![RemoteQuery::list(Call::to::<ListRecurring>(&[]))]
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let unknown = |why: &str| LookupResult::Inconclusive(why.to_owned());
    let (Some(RemoteAnswer::Items(items)), Some(newest)) =
        (answers.first(), intent.baseline.pointer("/results/0"))
    else {
        return unknown("this service lists no recurring charges, and this one carries no mark");
    };
    let before = newest.get("id").filter(|id| !id.is_null());
    let at = before.map(|id| items.iter().position(|item| item.get("id") == Some(id)));
    let newer = match at {
        None => items.as_slice(),
        Some(Some(at)) => items.get(..at).unwrap_or_default(),
        Some(None) => {
            return unknown("the newest recurring charge of before is gone from the list");
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
        _ => unknown("there are new recurring charges without a mark, and none is surely this one"),
    }
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("charge.schedule", Isolation::PerMerchant, queries, judge, create::learn)
        .with_baseline(Baseline {
            queries: newest,
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
