//! Host functions that suspend a resource, resume it, or reconcile it at once.

use serde_json::Value;

use super::argument_type::ArgumentType;
use super::call::{
    Argument, COMMON, CallResult, HostCall, HostFn, HostOption, action, argument, fields, option,
    parse_moment,
};
use crate::base::clock::timestamp;
use crate::base::id::{Key, KeyError};
use crate::model::events::hook::{RECONCILE, RESUME, SUSPEND};

const KEY: &[Argument] = &[argument("resource", ArgumentType::Resource)];

pub(super) static ROWS: &[HostFn] = &[
    action(
        "hold",
        &[argument("resource", ArgumentType::Resource), argument("reason", ArgumentType::Text)],
        &[
            &[HostOption {
                former_name: Some("until"),
                ..option(
                    "ends",
                    ArgumentType::Moment,
                    "the end of the suspension; by default a person or a script ends it",
                )
            }],
            COMMON,
        ],
        suspend,
        "Suspends a resource, or everything of a merchant, as `reckon suspend` does.",
    ),
    action("release", KEY, &[COMMON], resume, "Resumes a resource, as `reckon resume` does."),
    action(
        "reconcile",
        KEY,
        &[COMMON],
        reconcile,
        "Plans a resource again at once, and does what is due.",
    ),
];

fn resource_key(call: &HostCall<'_>) -> Result<Value, String> {
    let key: Key = call.text(0).parse().map_err(|error: KeyError| error.to_string())?;
    Ok(Value::String(key.to_string()))
}

pub(crate) fn suspend(call: &HostCall<'_>) -> CallResult {
    let until = call.option("ends").map(|until| parse_moment(&until)).transpose()?;
    let until = until.map(|until| Value::String(timestamp(&until.0)));
    let fields = fields([
        ("key", Some(resource_key(call)?)),
        ("reason", Some(call.text(1).into())),
        ("until", until),
    ]);
    call.request(SUSPEND, call.session.merchant().cloned(), fields)
}

pub(crate) fn resume(call: &HostCall<'_>) -> CallResult {
    call.request(
        RESUME,
        call.session.merchant().cloned(),
        fields([("key", Some(resource_key(call)?))]),
    )
}

pub(crate) fn reconcile(call: &HostCall<'_>) -> CallResult {
    call.request(
        RECONCILE,
        call.session.merchant().cloned(),
        fields([("key", Some(resource_key(call)?))]),
    )
}
