//! Host functions that suspend a resource, resume it, or reconcile it at once.

use serde_json::Value;

use super::argument_type::ArgumentType;
use super::call::{
    Argument, COMMON, CallResult, HostCall, HostFn, HostOption, action, argument, fields, option,
    parse_moment, renamed,
};
use crate::base::clock::timestamp;
use crate::base::id::{Key, KeyError};
use crate::model::events::hook::{RESUME, SUSPEND};

const KEY: &[Argument] = &[argument("resource", ArgumentType::Resource)];

const ENDS: HostOption = HostOption {
    former_name: Some("until"),
    ..option(
        "ends",
        ArgumentType::Moment,
        "the end of the suspension; by default a person or a script ends it",
    )
};

pub(super) static ROWS: &[HostFn] = &[
    renamed(
        "hold",
        Some(SUSPEND),
        action(
            "suspend",
            &[argument("resource", ArgumentType::Resource), argument("reason", ArgumentType::Text)],
            &[&[ENDS], COMMON],
            suspend,
            "Suspends a resource, or everything of a merchant, as `reckon suspend` does.",
        ),
    ),
    renamed(
        "release",
        Some(RESUME),
        action("resume", KEY, &[COMMON], resume, "Resumes a resource, as `reckon resume` does."),
    ),
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
    call.request(call.session.merchant().cloned(), fields)
}

pub(crate) fn resume(call: &HostCall<'_>) -> CallResult {
    request_for_key(call)
}

pub(crate) fn reconcile(call: &HostCall<'_>) -> CallResult {
    request_for_key(call)
}

/// Requests an action whose only field is the resource.
fn request_for_key(call: &HostCall<'_>) -> CallResult {
    let fields = fields([("key", Some(resource_key(call)?))]);
    call.request(call.session.merchant().cloned(), fields)
}
