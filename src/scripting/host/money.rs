//! Host functions that move money, or stop money from moving. A row names the arguments and options
//! of its function; [`request`] makes the fields of the action from them, by their names and types.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::argument_type::ArgumentType;
use super::call::{
    Argument, COMMON, CallResult, HostCall, HostFn, HostOption, action, argument, object_id,
    option, parse_money, record_amount, text_of,
};
use crate::base::money::Money;
use crate::effects::register::action_row;
use crate::policy::ScriptPower;

const MERCHANT: &[HostOption] =
    &[option("merchant", ArgumentType::Merchant, "a merchant other than the event's")];

const AMOUNT: HostOption = option(
    "amount",
    ArgumentType::Amount,
    "the amount; by default that of the map, so an id alone needs it",
);

const WHOLE: &[HostOption] = &[AMOUNT.with_default(|call| amount(call, record_amount))];
const REST: &[HostOption] = &[AMOUNT.with_default(|call| amount(call, remaining_amount))];

const REFERENCE: &[HostOption] =
    &[option("reference", ArgumentType::Text, "a text for the record")];

const RECURRING: &[HostOption] = &[option(
    "recurring",
    ArgumentType::Object,
    "its recurring charge; required if the occurrence is an id",
)
.with_default(recurring_charge)];

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
        &[REST, MERCHANT, COMMON],
        request,
        "Refunds a charge: the rest of it, or a part.",
    )
    .with_right(ScriptPower::Refund),
    action(
        "void",
        &[argument("transaction", ArgumentType::Object)],
        &[REFERENCE, MERCHANT, COMMON],
        request,
        "Voids a transaction before it is settled.",
    )
    .with_right(ScriptPower::Refund),
    action(
        "capture",
        CHARGE,
        &[
            WHOLE,
            REFERENCE,
            &[option(
                "next_run",
                ArgumentType::Boolean,
                "capture with the next daily run instead of at once",
            )],
            MERCHANT,
            COMMON,
        ],
        request,
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
        request,
        "Charges a saved method: the name of its document, or its id.",
    )
    .with_right(ScriptPower::Charge),
    action(
        "credit",
        MOVEMENT_ARGUMENTS,
        &[MOVEMENT, REFERENCE, MERCHANT, COMMON],
        request,
        "Pays money out to a saved method, without a charge.",
    )
    .with_right(ScriptPower::Credit),
    HostFn {
        journal_name: Some("pay"),
        ..action(
            "pay_occurrence",
            OCCURRENCE,
            &[WHOLE, RECURRING, MERCHANT, COMMON],
            request,
            "Pays an occurrence of a recurring charge early, or retries it.",
        )
    }
    .with_right(ScriptPower::Charge),
    action(
        "skip_occurrence",
        OCCURRENCE,
        &[RECURRING, MERCHANT, COMMON],
        request,
        "Removes an occurrence of a recurring charge from the collection.",
    )
    .renamed("ignore_occurrence", Some("ignore")),
    action(
        "cancel_recurring",
        &[argument("recurring", ArgumentType::Object)],
        &[MERCHANT, COMMON],
        request,
        "Ends a recurring charge.",
    )
    .renamed("cancel", Some("cancel")),
];

/// Requests the action of a function, with the fields that the call names and their defaults.
fn request(call: &HostCall<'_>) -> CallResult {
    let action = action_row(call.verb()).ok_or_else(|| "no such action".to_owned())?;
    // The first problem is the one of the first argument; the journal has the action's own order.
    let mut given = BTreeMap::new();
    for name in call.names().filter(|name| action.fields.contains(name)) {
        given.extend(field(call, name)?.map(|value| (name, value)));
    }
    let taken = |name: &&'static str| Some(((*name).to_owned(), given.remove(name)?));
    let fields: Map<String, Value> = action.fields.iter().filter_map(taken).collect();
    call.request(Some(call.merchant()?), Value::Object(fields))
}

/// Returns the value of a field; `None` if the call does not name it and it has no default.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other type is written as text")]
fn field(call: &HostCall<'_>, name: &str) -> Result<Option<Value>, String> {
    let Some((value, value_type)) = call.named(name) else {
        return call.default(name).map(|default| default(call)).transpose();
    };
    Ok(match value_type {
        ArgumentType::Amount => Some(json!(parse_money(&value)?)),
        ArgumentType::Object => Some(object_id(&value)?.into()),
        ArgumentType::Boolean => value.as_bool().ok().filter(|set| *set).map(Value::Bool),
        _ => Some(text_of(&value).into()),
    })
}

/// Returns the amount of the call's record; an error if the call names only an id.
fn amount(
    call: &HostCall<'_>,
    of: fn(&rhai::Map) -> Result<Money, String>,
) -> Result<Value, String> {
    let record = call.argument(0);
    let record = record.as_map_ref().map_err(|_| {
        "an id alone does not say how much: give the option `amount`, or the whole record"
            .to_owned()
    })?;
    Ok(json!(of(&record)?))
}

fn remaining_amount(charge: &rhai::Map) -> Result<Money, String> {
    let whole = record_amount(charge)?;
    let refunded = charge.get("amount_refunded").and_then(|value| value.as_int().ok());
    let refunded = Money::new(refunded.unwrap_or_default(), whole.currency());
    let left = whole.checked_sub(refunded).map_err(|error| error.to_string())?;
    let some = left.minor() > 0;
    some.then_some(left).ok_or_else(|| "all of the charge was refunded already".to_owned())
}

fn recurring_charge(call: &HostCall<'_>) -> Result<Value, String> {
    let occurrence = call.argument(0);
    let named =
        occurrence.as_map_ref().ok().and_then(|map| map.get("recurring_charge_id").cloned());
    named.map(|id| id.to_string().into()).ok_or_else(|| {
        "an id alone does not say of which recurring charge it is: give the option `recurring`"
            .to_owned()
    })
}
