//! Actions that move money, or decide on a payment: charges, credits, refunds, captures, and
//! recurring charges and their payments.

use chrono::NaiveDate;
use serde_json::{Value, json};

use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::base::schedule::{Day, IntervalUnit, Schedule};
use crate::effects::actions::{ActionEffect, action, decode, money_move, positive, without_money};
use crate::effects::core::context::EffectContext;
use crate::effects::payments::charge::{
    TransactionRequest, charge as charge_method, credit as credit_method,
};
use crate::effects::payments::refund::refund as refund_charge;
use crate::effects::payments::{self, CaptureTime};
use crate::effects::recurring::end::cancel_recurring;
use crate::effects::recurring::{occurrences, schedule_charge};
use crate::model::effect::{Effect, PER_OCCURRENCE};

/// Checks the amounts: the amount charged is the total, of which a surcharge is a part (gateway-api,
/// POST /v1/charges).
fn check_amounts(request: &TransactionRequest) -> Result<(), String> {
    let amount = positive(request.amount)?;
    let fits = |part: &Money| {
        part.currency() == amount.currency() && (1..amount.minor()).contains(&part.minor())
    };
    match request.surcharge.filter(|part| !fits(part)) {
        Some(part) => Err(format!(
            "the surcharge {part} is no part of the amount {amount}, which is the total"
        )),
        None => Ok(()),
    }
}

/// Builds the effect of a request, signed with the own key of the account that it names.
fn movement(
    new: EffectContext,
    request: &TransactionRequest,
    meaning: &'static str,
    effect: fn(EffectContext, &TransactionRequest) -> Effect,
) -> Result<ActionEffect, String> {
    check_amounts(request)?;
    let money = money_move(request.amount, new.mode, meaning);
    let new = EffectContext { account: request.account.clone(), ..new };
    Ok(ActionEffect { effect: effect(new, request), money })
}

pub(crate) fn charge(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let request: TransactionRequest = decode(fields)?;
    let meaning = if request.hold { "held" } else { "charged_now" };
    movement(new, &request, meaning, charge_method)
}

pub(crate) fn credit(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let request: TransactionRequest = decode(fields)?;
    if request.hold {
        return Err("a credit cannot be a hold".to_owned());
    }
    if request.surcharge.is_some() {
        return Err("a credit has no surcharge".to_owned());
    }
    movement(new, &request, "credited", credit_method)
}

action! {
    fn refund(new, RefundFields { charge: RemoteId, amount: Money, method: Option<String> }) {
        let money = money_move(positive(amount)?, new.mode, "refunded");
        let effect = refund_charge(new, &charge, amount, method.as_deref());
        Ok(ActionEffect { effect, money })
    }
}

action! {
    fn void(new, VoidFields { transaction: RemoteId, reference: Option<String> }) {
        Ok(without_money(payments::void(new, &transaction, reference.as_deref())))
    }
}

action! {
    fn capture(new, CaptureFields {
        charge: RemoteId,
        amount: Money,
        reference: Option<String>,
        #[serde(default)]
        next_run: bool,
    }) {
        let money = money_move(positive(amount)?, new.mode, "captured");
        let time = if next_run { CaptureTime::NextRun } else { CaptureTime::Immediate };
        let effect = payments::capture(new, &charge, amount, time, reference.as_deref());
        Ok(ActionEffect { effect, money })
    }
}

action! {
    fn sign(new, SignFields { transaction: RemoteId, mime_type: String, data: Value }) {
        Ok(without_money(payments::sign(new, &transaction, &mime_type, &data)))
    }
}

action! {
    fn pay(new, PayFields { recurring: RemoteId, occurrence: RemoteId, amount: Money }) {
        let money = money_move(positive(amount)?, new.mode, "charged_now");
        Ok(ActionEffect { effect: occurrences::pay(new, &recurring, &occurrence, amount), money })
    }
}

action! {
    fn ignore(new, IgnoreFields { recurring: RemoteId, occurrence: RemoteId }) {
        Ok(without_money(occurrences::ignore_occurrence(new, &recurring, &occurrence)))
    }
}

action! {
    fn cancel(new, CancelFields { recurring: RemoteId }) {
        Ok(without_money(cancel_recurring(new, &recurring)))
    }
}

action! {
    fn schedule(new, ScheduleFields {
        charge: RemoteId,
        amount: Money,
        start: NaiveDate,
        interval_unit: IntervalUnit,
        interval_delay: u32,
        end: Option<NaiveDate>,
        #[serde(default)]
        days: Vec<Day>,
    }) {
        let money = money_move(positive(amount)?, new.mode, PER_OCCURRENCE);
        let schedule = Schedule { start, interval_unit, interval_delay, end, days };
        let wrong = schedule.problems();
        if !wrong.is_empty() {
            let told = wrong.iter().map(|one| format!("{}: {}; {}", one.field, one.message, one.help));
            return Err(told.collect::<Vec<_>>().join("; "));
        }
        let body = json!({"amount": amount.minor(), "schedule": schedule});
        let effect = schedule_charge(new, &charge, body, amount.currency().code());
        Ok(ActionEffect { effect, money })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::obligation;

    fn usd(minor: i64) -> Value {
        json!({"minor": minor, "currency": "USD"})
    }

    #[test]
    fn a_recurring_charge_is_made_of_a_charge_and_its_money_counts() {
        let fields = json!({"charge": "ch1", "amount": usd(700), "start": "2031-01-31",
            "interval_unit": "MONTH", "interval_delay": 1});
        let ActionEffect { effect, money } = schedule(obligation(), &fields).unwrap();
        assert_eq!(effect.request.path, "/v1/charges/ch1/schedule");
        let schedule =
            json!({"start": "2031-01-31", "interval_unit": "MONTH", "interval_delay": 1});
        assert_eq!(effect.request.body, json!({"amount": 700, "schedule": schedule}));
        assert_eq!(effect.expect["currency"], "USD");
        assert_eq!((money.len(), money[0].meaning), (1, PER_OCCURRENCE));
    }

    #[test]
    fn everything_wrong_with_a_schedule_is_told_with_what_to_write() {
        let fields = json!({"charge": "ch1", "amount": usd(700), "start": "2031-01-31",
            "interval_unit": "MONTH", "interval_delay": 0, "end": "2030-01-01"});
        let told = schedule(obligation(), &fields).unwrap_err();
        assert!(told.contains("interval_delay: ") && told.contains("end: "), "{told}");
        let nothing = json!({"charge": "ch1", "amount": usd(0), "start": "2031-01-31",
            "interval_unit": "MONTH", "interval_delay": 1});
        assert!(schedule(obligation(), &nothing).unwrap_err().contains("not more than nothing"));
    }
}
