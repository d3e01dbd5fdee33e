//! Actions that move money, or decide on a payment: charges, credits, refunds, captures, and
//! recurring charges and their payments.

use chrono::NaiveDate;
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::base::schedule::{Day, IntervalUnit, Schedule};
use crate::effects::actions::{
    ActionEffect, ActionRow, FieldInput, InputForm, action, decode, money_move, positive,
    without_money,
};
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

pub(crate) const CHARGE: ActionRow = ActionRow::new::<TransactionRequest>(
    "charge",
    &["amount", "method", "account", "reference", "hold", "surcharge"],
    charge,
);

fn charge(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let request: TransactionRequest = decode(fields)?;
    let meaning = if request.hold { "held" } else { "charged_now" };
    movement(new, &request, meaning, charge_method)
}

/// Pay money out to a saved method, without a charge.
#[derive(Args, Serialize)]
struct CreditArguments {
    /// The amount, with its currency: "125.00 USD".
    #[arg(long)]
    amount: Money,
    /// A saved method: the NAME of its document, or its id on the service; or a one-time token.
    #[arg(long, value_name = "NAME|ID")]
    method: String,
    /// The merchant's account; the service chooses one by default.
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// A text for the receipt.
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
    #[arg(skip)]
    hold: bool,
}

pub(crate) const CREDIT: ActionRow = ActionRow::new::<CreditArguments>(
    "credit",
    &["amount", "method", "account", "reference", "hold"],
    credit,
);

fn credit(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
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
    /// Give money of a charge back, all of it or a part.
    REFUND: "refund", fn refund(new, RefundFields {
        /// The charge.
        #[arg(value_name = "CHARGE")]
        charge: RemoteId,
        /// The amount to refund, with its currency: "125.00 USD".
        #[arg(long)]
        amount: Money,
        /// Another method of the same type to refund to, where the tenant allows it: the NAME of its
        /// document, or its id.
        #[arg(long, value_name = "NAME|ID")]
        #[serde(skip_serializing_if = "Option::is_none")]
        method: Option<String>,
    }) {
        let money = money_move(positive(amount)?, new.mode, "refunded");
        let effect = refund_charge(new, &charge, amount, method.as_deref());
        Ok(ActionEffect { effect, money })
    }
}

action! {
    /// Void a charge, refund or credit before it is settled.
    VOID: "void", fn void(new, VoidFields {
        /// The charge, refund or credit.
        #[arg(value_name = "TRANSACTION")]
        transaction: RemoteId,
        /// The reason, for the record.
        #[arg(long, value_name = "TEXT")]
        reference: Option<String>,
    }) {
        Ok(without_money(payments::void(new, &transaction, reference.as_deref())))
    }
}

action! {
    /// Capture a hold.
    CAPTURE: "capture", fn capture(new, CaptureFields {
        /// The hold.
        #[arg(value_name = "CHARGE")]
        charge: RemoteId,
        /// The amount that was authorised, with its currency; no other amount is captured.
        #[arg(long)]
        amount: Money,
        /// A text for the record.
        #[arg(long, value_name = "TEXT")]
        reference: Option<String>,
        /// Leave the capture to the next daily run.
        #[arg(long)]
        #[serde(default)]
        next_run: bool,
    }) {
        let money = money_move(positive(amount)?, new.mode, "captured");
        let time = if next_run { CaptureTime::NextRun } else { CaptureTime::Immediate };
        let effect = payments::capture(new, &charge, amount, time, reference.as_deref());
        Ok(ActionEffect { effect, money })
    }
}

const STROKES: FieldInput = FieldInput {
    field: "data",
    form: InputForm::Strokes,
    help: "The strokes: JSON with the arrays x and y; `-` reads standard input",
};

action! {
    /// Store a payer's signature of a transaction.
    SIGN: "sign".with_secret(&["data"]).with_input(STROKES), fn sign(new, SignFields {
        /// The transaction.
        #[arg(value_name = "TRANSACTION")]
        transaction: RemoteId,
        /// The format of the strokes.
        #[arg(long, default_value = "service/jsignature", value_name = "TYPE")]
        mime_type: String,
        #[arg(skip)]
        data: Value,
    }) {
        Ok(without_money(payments::sign(new, &transaction, &mime_type, &data)))
    }
}

action! {
    /// Pay an occurrence of a recurring charge early, or retry it.
    PAY: "pay", fn pay(new, PayFields {
        /// The recurring charge: its id on the service.
        #[arg(value_name = "RECURRING")]
        recurring: RemoteId,
        /// The occurrence: its id on the service.
        #[arg(value_name = "OCCURRENCE")]
        occurrence: RemoteId,
        /// The amount of the occurrence, with its currency; an occurrence of another amount is not
        /// paid.
        #[arg(long)]
        amount: Money,
    }) {
        let money = money_move(positive(amount)?, new.mode, "charged_now");
        Ok(ActionEffect { effect: occurrences::pay(new, &recurring, &occurrence, amount), money })
    }
}

action! {
    /// Take an occurrence of a recurring charge out of the collection.
    IGNORE: "ignore", fn ignore(new, IgnoreFields {
        /// The recurring charge: its id on the service.
        #[arg(value_name = "RECURRING")]
        recurring: RemoteId,
        /// The occurrence: its id on the service.
        #[arg(value_name = "OCCURRENCE")]
        occurrence: RemoteId,
    }) {
        Ok(without_money(occurrences::ignore_occurrence(new, &recurring, &occurrence)))
    }
}

action! {
    /// End a recurring charge, where the service allows it.
    CANCEL: "cancel", fn cancel(new, CancelFields {
        /// The recurring charge: its id on the service.
        #[arg(value_name = "RECURRING")]
        recurring: RemoteId,
    }) {
        Ok(without_money(cancel_recurring(new, &recurring)))
    }
}

action! {
    /// Make a recurring charge from an earlier charge: its payer goes on paying by the same method.
    SCHEDULE: "schedule", fn schedule(new, ScheduleFields {
        /// The earlier charge: its id on the service.
        #[arg(value_name = "CHARGE")]
        charge: RemoteId,
        /// The amount of each payment, with its currency: "125.00 USD".
        #[arg(long)]
        amount: Money,
        /// The first date that may be due, YYYY-MM-DD; not today.
        #[arg(long, value_name = "DATE")]
        start: NaiveDate,
        /// The unit of the schedule's step.
        #[arg(long = "every", value_name = "UNIT")]
        interval_unit: IntervalUnit,
        /// The number of units from one payment to the next.
        #[arg(long = "step", value_name = "N", default_value_t = 1)]
        interval_delay: u32,
        /// The last date that may be due, YYYY-MM-DD.
        #[arg(long, value_name = "DATE")]
        end: Option<NaiveDate>,
        /// Days within each week (1 is Monday) or month (LAST is its last one), with commas between;
        /// the day of the start by default.
        #[arg(long, value_name = "DAYS", value_delimiter = ',')]
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
