//! Host functions that move money, or stop money from moving. The fields are those of the actions
//! in [`crate::effects::core::context`].

use rhai::{Dynamic, Map};
use serde_json::Value;

use super::{HostCall, fields, object_id, parse_money, record_amount};
use crate::base::money::Money;
use crate::scripting::run::session::HostError;

type MoneyCallResult = Result<Dynamic, HostError>;

fn money_json(money: Money) -> Option<Value> {
    serde_json::to_value(money).ok()
}

fn text(text: Option<String>) -> Option<Value> {
    text.map(Value::String)
}

/// Returns the option `amount`, or the amount of the first argument.
///
/// # Errors
///
/// Neither names an amount.
fn requested_amount(
    call: &HostCall<'_>,
    of: fn(&Map) -> Result<Money, String>,
) -> Result<Money, String> {
    if let Some(amount) = call.option("amount") {
        return parse_money(&amount);
    }
    let record = call.argument(0);
    let record = record.as_map_ref().map_err(|_| {
        "an id alone does not say how much: give the option `amount`, or the whole record"
            .to_owned()
    })?;
    of(&record)
}

/// Returns the remaining amount of a charge.
fn remaining_amount(charge: &Map) -> Result<Money, String> {
    let whole = record_amount(charge)?;
    let refunded = charge.get("amount_refunded").and_then(|value| value.as_int().ok());
    let refunded = Money::new(refunded.unwrap_or_default(), whole.currency());
    let left = whole.checked_sub(refunded).map_err(|error| error.to_string())?;
    let some = left.minor() > 0;
    some.then_some(left).ok_or_else(|| "all of the charge was refunded already".to_owned())
}

pub(crate) fn refund(call: &HostCall<'_>) -> MoneyCallResult {
    let (charge, amount) =
        (object_id(&call.argument(0))?, requested_amount(call, remaining_amount)?);
    let fields = fields([("charge", Some(charge.into())), ("amount", money_json(amount))]);
    call.request("refund", Some(call.merchant()?), fields)
}

pub(crate) fn void(call: &HostCall<'_>) -> MoneyCallResult {
    let transaction = object_id(&call.argument(0))?;
    let reference = text(call.option_text("reference"));
    let fields = fields([("transaction", Some(transaction.into())), ("reference", reference)]);
    call.request("void", Some(call.merchant()?), fields)
}

pub(crate) fn capture(call: &HostCall<'_>) -> MoneyCallResult {
    let (charge, amount) = (object_id(&call.argument(0))?, requested_amount(call, record_amount)?);
    let fields = fields([
        ("charge", Some(charge.into())),
        ("amount", money_json(amount)),
        ("reference", text(call.option_text("reference"))),
        ("next_run", call.option_flag("next_run").then_some(Value::Bool(true))),
    ]);
    call.request("capture", Some(call.merchant()?), fields)
}

pub(crate) fn charge(call: &HostCall<'_>) -> MoneyCallResult {
    let hold = call.option_flag("hold").then_some(Value::Bool(true));
    request_movement(call, "charge", hold)
}

pub(crate) fn credit(call: &HostCall<'_>) -> MoneyCallResult {
    request_movement(call, "credit", None)
}

fn request_movement(call: &HostCall<'_>, verb: &str, hold: Option<Value>) -> MoneyCallResult {
    let amount = parse_money(&call.argument(1))?;
    let surcharge = call.option("surcharge").map(|part| parse_money(&part)).transpose()?;
    let fields = fields([
        ("amount", money_json(amount)),
        ("method", Some(call.text(0).into())),
        ("account", text(call.option_text("account"))),
        ("reference", text(call.option_text("reference"))),
        ("hold", hold),
        ("surcharge", surcharge.and_then(money_json)),
    ]);
    call.request(verb, Some(call.merchant()?), fields)
}

/// Returns the recurring charge of an occurrence.
fn recurring_charge_id(call: &HostCall<'_>) -> Result<String, String> {
    if let Some(recurring) = call.option("recurring") {
        return object_id(&recurring);
    }
    let occurrence = call.argument(0);
    let named =
        occurrence.as_map_ref().ok().and_then(|map| map.get("recurring_charge_id").cloned());
    named.map(|id| id.to_string()).ok_or_else(|| {
        "an id alone does not say of which recurring charge it is: give the option `recurring`"
            .to_owned()
    })
}

pub(crate) fn pay(call: &HostCall<'_>) -> MoneyCallResult {
    let (occurrence, amount) =
        (object_id(&call.argument(0))?, requested_amount(call, record_amount)?);
    let fields = fields([
        ("recurring", Some(recurring_charge_id(call)?.into())),
        ("occurrence", Some(occurrence.into())),
        ("amount", money_json(amount)),
    ]);
    call.request("pay", Some(call.merchant()?), fields)
}

pub(crate) fn ignore(call: &HostCall<'_>) -> MoneyCallResult {
    let occurrence = object_id(&call.argument(0))?;
    let recurring = recurring_charge_id(call)?;
    let fields =
        fields([("recurring", Some(recurring.into())), ("occurrence", Some(occurrence.into()))]);
    call.request("ignore", Some(call.merchant()?), fields)
}

pub(crate) fn cancel(call: &HostCall<'_>) -> MoneyCallResult {
    let recurring = object_id(&call.argument(0))?;
    call.request("cancel", Some(call.merchant()?), fields([("recurring", Some(recurring.into()))]))
}
