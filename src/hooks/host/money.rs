//! Host functions that move money, or stop money from moving. The fields are those of the actions
//! in [`crate::effects`].

use rhai::{Dynamic, Map};
use serde_json::Value;

use super::{Call, amount_in, fields, id_in, money_in};
use crate::base::money::Money;
use crate::hooks::session::Refused;

type Answer = Result<Dynamic, Refused>;

fn wired(money: Money) -> Option<Value> {
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
fn amount(call: &Call<'_>, of: fn(&Map) -> Result<Money, String>) -> Result<Money, String> {
    if let Some(amount) = call.option("amount") {
        return money_in(&amount);
    }
    let record = call.argument(0);
    let record = record.as_map_ref().map_err(|_| {
        "an id alone does not say how much: give the option `amount`, or the whole record"
            .to_owned()
    })?;
    of(&record)
}

/// Returns the remaining amount of a charge.
fn left(charge: &Map) -> Result<Money, String> {
    let whole = amount_in(charge)?;
    let refunded = charge.get("amount_refunded").and_then(|value| value.as_int().ok());
    let refunded = Money::new(refunded.unwrap_or_default(), whole.currency());
    let left = whole.checked_sub(refunded).map_err(|error| error.to_string())?;
    let some = left.minor() > 0;
    some.then_some(left).ok_or_else(|| "all of the charge was refunded already".to_owned())
}

pub(in crate::hooks) fn refund(call: &Call<'_>) -> Answer {
    let (charge, amount) = (id_in(&call.argument(0))?, amount(call, left)?);
    let fields = fields([("charge", Some(charge.into())), ("amount", wired(amount))]);
    call.wish("refund", Some(call.merchant()?), fields)
}

pub(in crate::hooks) fn void(call: &Call<'_>) -> Answer {
    let transaction = id_in(&call.argument(0))?;
    let reference = text(call.option_text("reference"));
    let fields = fields([("transaction", Some(transaction.into())), ("reference", reference)]);
    call.wish("void", Some(call.merchant()?), fields)
}

pub(in crate::hooks) fn capture(call: &Call<'_>) -> Answer {
    let (charge, amount) = (id_in(&call.argument(0))?, amount(call, amount_in)?);
    let fields = fields([
        ("charge", Some(charge.into())),
        ("amount", wired(amount)),
        ("reference", text(call.option_text("reference"))),
        ("next_run", call.option_truth("next_run").then_some(Value::Bool(true))),
    ]);
    call.wish("capture", Some(call.merchant()?), fields)
}

pub(in crate::hooks) fn charge(call: &Call<'_>) -> Answer {
    let hold = call.option_truth("hold").then_some(Value::Bool(true));
    moved(call, "charge", hold)
}

pub(in crate::hooks) fn credit(call: &Call<'_>) -> Answer {
    moved(call, "credit", None)
}

fn moved(call: &Call<'_>, verb: &str, hold: Option<Value>) -> Answer {
    let amount = money_in(&call.argument(1))?;
    let surcharge = call.option("surcharge").map(|part| money_in(&part)).transpose()?;
    let fields = fields([
        ("amount", wired(amount)),
        ("method", Some(call.text(0).into())),
        ("account", text(call.option_text("account"))),
        ("reference", text(call.option_text("reference"))),
        ("hold", hold),
        ("surcharge", surcharge.and_then(wired)),
    ]);
    call.wish(verb, Some(call.merchant()?), fields)
}

/// Returns the recurring charge of an occurrence.
fn recurring(call: &Call<'_>) -> Result<String, String> {
    if let Some(recurring) = call.option("recurring") {
        return id_in(&recurring);
    }
    let occurrence = call.argument(0);
    let named =
        occurrence.as_map_ref().ok().and_then(|map| map.get("recurring_charge_id").cloned());
    named.map(|id| id.to_string()).ok_or_else(|| {
        "an id alone does not say of which recurring charge it is: give the option `recurring`"
            .to_owned()
    })
}

pub(in crate::hooks) fn pay(call: &Call<'_>) -> Answer {
    let (occurrence, amount) = (id_in(&call.argument(0))?, amount(call, amount_in)?);
    let fields = fields([
        ("recurring", Some(recurring(call)?.into())),
        ("occurrence", Some(occurrence.into())),
        ("amount", wired(amount)),
    ]);
    call.wish("pay", Some(call.merchant()?), fields)
}

pub(in crate::hooks) fn ignore(call: &Call<'_>) -> Answer {
    let occurrence = id_in(&call.argument(0))?;
    let recurring = recurring(call)?;
    let fields =
        fields([("recurring", Some(recurring.into())), ("occurrence", Some(occurrence.into()))]);
    call.wish("ignore", Some(call.merchant()?), fields)
}

pub(in crate::hooks) fn cancel(call: &Call<'_>) -> Answer {
    let recurring = id_in(&call.argument(0))?;
    call.wish("cancel", Some(call.merchant()?), fields([("recurring", Some(recurring.into()))]))
}
