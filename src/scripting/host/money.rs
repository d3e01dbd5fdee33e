//! Host functions that move money, or stop money from moving. The fields are those of the actions
//! in [`crate::effects::core::context`].

use rhai::Map;
use serde_json::Value;

use super::argument_type::ArgumentType;
use super::call::{
    Argument, COMMON, CallResult, HostCall, HostFn, HostOption, action, argument, object_id,
    option, parse_money, record_amount,
};
use crate::base::money::Money;
use crate::policy::ScriptPower;

const MERCHANT: &[HostOption] =
    &[option("merchant", ArgumentType::Merchant, "a merchant other than the event's")];

const AMOUNT: &[HostOption] = &[option(
    "amount",
    ArgumentType::Amount,
    "the amount; by default that of the map, so an id alone needs it",
)];

const REFERENCE: &[HostOption] =
    &[option("reference", ArgumentType::Text, "a text for the record")];

const RECURRING: &[HostOption] = &[option(
    "recurring",
    ArgumentType::Object,
    "its recurring charge; required if the occurrence is an id",
)];

const MOVEMENT: &[HostOption] = &[option(
    "account",
    ArgumentType::Text,
    "the merchant's account; the service chooses one by default",
)];

const CHARGE: &[Argument] = &[argument("charge", ArgumentType::Object)];
const MOVEMENT_ARGUMENTS: &[Argument] =
    &[argument("method", ArgumentType::Text), argument("amount", ArgumentType::Amount)];
const OCCURRENCE: &[Argument] = &[argument("occurrence", ArgumentType::Object)];

pub(crate) static ROWS: &[HostFn] = &[
    action(
        "refund",
        CHARGE,
        &[AMOUNT, MERCHANT, COMMON],
        refund,
        "Refunds a charge: the rest of it, or a part.",
    )
    .with_right(ScriptPower::Refund),
    action(
        "void",
        &[argument("transaction", ArgumentType::Object)],
        &[REFERENCE, MERCHANT, COMMON],
        void,
        "Voids a transaction before it is settled.",
    )
    .with_right(ScriptPower::Refund),
    action(
        "capture",
        CHARGE,
        &[
            AMOUNT,
            REFERENCE,
            &[option(
                "next_run",
                ArgumentType::Boolean,
                "capture with the next daily run instead of at once",
            )],
            MERCHANT,
            COMMON,
        ],
        capture,
        "Captures a hold.",
    )
    .with_right(ScriptPower::Charge),
    action(
        "charge",
        MOVEMENT_ARGUMENTS,
        &[
            MOVEMENT,
            REFERENCE,
            &[
                option("hold", ArgumentType::Boolean, "only reserve the money; for cards only"),
                option(
                    "surcharge",
                    ArgumentType::Amount,
                    "the part of the amount that is a surcharge; the receipt shows it",
                ),
            ],
            MERCHANT,
            COMMON,
        ],
        |call| {
            let hold = call.option_flag("hold").then_some(Value::Bool(true));
            request_movement(call, hold)
        },
        "Charges a saved method: the name of its document, or its id.",
    )
    .with_right(ScriptPower::Charge),
    action(
        "credit",
        MOVEMENT_ARGUMENTS,
        &[MOVEMENT, REFERENCE, MERCHANT, COMMON],
        |call| request_movement(call, None),
        "Pays money out to a saved method, without a charge.",
    )
    .with_right(ScriptPower::Credit),
    HostFn {
        journal_name: Some("pay"),
        ..action(
            "pay_occurrence",
            OCCURRENCE,
            &[AMOUNT, RECURRING, MERCHANT, COMMON],
            pay_occurrence,
            "Pays an occurrence of a recurring charge early, or retries it.",
        )
    }
    .with_right(ScriptPower::Charge),
    action(
        "skip_occurrence",
        OCCURRENCE,
        &[RECURRING, MERCHANT, COMMON],
        skip_occurrence,
        "Removes an occurrence of a recurring charge from the collection.",
    )
    .renamed("ignore_occurrence", Some("ignore")),
    action(
        "cancel_recurring",
        &[argument("recurring", ArgumentType::Object)],
        &[MERCHANT, COMMON],
        |call| {
            call.request_at_merchant([("recurring", Some(object_id(&call.argument(0))?.into()))])
        },
        "Ends a recurring charge.",
    )
    .renamed("cancel", Some("cancel")),
];

fn money_json(money: Money) -> Option<Value> {
    serde_json::to_value(money).ok()
}

/// Returns the option `amount`, or the amount of the first argument; an error if there is neither.
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

fn remaining_amount(charge: &Map) -> Result<Money, String> {
    let whole = record_amount(charge)?;
    let refunded = charge.get("amount_refunded").and_then(|value| value.as_int().ok());
    let refunded = Money::new(refunded.unwrap_or_default(), whole.currency());
    let left = whole.checked_sub(refunded).map_err(|error| error.to_string())?;
    let some = left.minor() > 0;
    some.then_some(left).ok_or_else(|| "all of the charge was refunded already".to_owned())
}

fn refund(call: &HostCall<'_>) -> CallResult {
    let (charge, amount) =
        (object_id(&call.argument(0))?, requested_amount(call, remaining_amount)?);
    call.request_at_merchant([("charge", Some(charge.into())), ("amount", money_json(amount))])
}

fn void(call: &HostCall<'_>) -> CallResult {
    let transaction = object_id(&call.argument(0))?;
    let reference = call.option_text("reference").map(Value::from);
    call.request_at_merchant([("transaction", Some(transaction.into())), ("reference", reference)])
}

fn capture(call: &HostCall<'_>) -> CallResult {
    let (charge, amount) = (object_id(&call.argument(0))?, requested_amount(call, record_amount)?);
    call.request_at_merchant([
        ("charge", Some(charge.into())),
        ("amount", money_json(amount)),
        ("reference", call.option_text("reference").map(Value::from)),
        ("next_run", call.option_flag("next_run").then_some(Value::Bool(true))),
    ])
}

fn request_movement(call: &HostCall<'_>, hold: Option<Value>) -> CallResult {
    let amount = parse_money(&call.argument(1))?;
    let surcharge = call.option("surcharge").map(|part| parse_money(&part)).transpose()?;
    call.request_at_merchant([
        ("amount", money_json(amount)),
        ("method", Some(call.text(0).into())),
        ("account", call.option_text("account").map(Value::from)),
        ("reference", call.option_text("reference").map(Value::from)),
        ("hold", hold),
        ("surcharge", surcharge.and_then(money_json)),
    ])
}

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

fn pay_occurrence(call: &HostCall<'_>) -> CallResult {
    let (occurrence, amount) =
        (object_id(&call.argument(0))?, requested_amount(call, record_amount)?);
    call.request_at_merchant([
        ("recurring", Some(recurring_charge_id(call)?.into())),
        ("occurrence", Some(occurrence.into())),
        ("amount", money_json(amount)),
    ])
}

fn skip_occurrence(call: &HostCall<'_>) -> CallResult {
    let occurrence = object_id(&call.argument(0))?;
    let recurring = recurring_charge_id(call)?;
    call.request_at_merchant([
        ("recurring", Some(recurring.into())),
        ("occurrence", Some(occurrence.into())),
    ])
}
