//! Sets a recurring charge's last day: that of its pending occurrence (gateway-api, PATCH
//! /v1/recurring/charges/{id}, `schedule.end`).
//!
//! If the service cannot cancel, this effect runs first, so that nothing new opens when the pending
//! occurrence is ignored after it. The change is absolute, and settled as any other change of a
//! charge.

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::change;
use crate::api::recurring::charge::PatchRecurring;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext, put};
use crate::effects::core::row::{EffectRow, Isolation, Learned};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Sets the last day of a recurring charge, also in the spec that it puts on the service.
pub fn end_recurring(mut obligation: EffectContext, charge: &RemoteId, end: NaiveDate) -> Effect {
    if let Some(schedule) = obligation.applied.spec.get_mut("schedule") {
        put(schedule, "end", json!(end));
    }
    let body = json!({"schedule": {"end": end}});
    let effect = obligation.effect::<PatchRecurring>(ROW.name, &[charge.as_str()], body);
    effect
        .targeting(charge)
        .expecting("id", charge.as_str())
        .expecting("schedule.end", json!(end))
        .with_subject(json!({ "end": end }))
}

/// Earlier reads are discarded.
#[expect(clippy::unnecessary_wraps, reason = "other effects' answers may be of no use")]
fn learn(intent: &Intent, _: &Value) -> Result<Learned, String> {
    let end = intent.subject.get("end");
    let facts = json!({"end": end, "looked": null});
    Ok(Learned { exists: true, facts, ..Learned::default() })
}

pub(crate) const ROW: EffectRow = EffectRow::looked_up(
    "recurring.end",
    Isolation::PerObject,
    change::queries,
    change::judge,
    learn,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::core::row::RemoteAnswer;
    use crate::effects::testing::{intent, judged, no_path};

    #[test]
    fn a_lost_answer_is_settled_by_the_charge_s_own_last_day() {
        let asked = json!({"id": "ch1", "schedule.end": "2030-02-01"});
        let check =
            |answer: RemoteAnswer| judged(&intent(ROW.name, &asked, Value::Null), &[answer]);
        let body = |end: &str| RemoteAnswer::Body(json!({"id": "ch1", "schedule": {"end": end}}));
        assert_eq!(check(body("2030-02-01")), "happened ch1");
        assert_eq!(check(body("2031-02-01")), "absent");
        assert_eq!(check(no_path()), "overwritten", "the next one says all of it again");
    }
}
