//! Host functions that suspend a resource, resume it, or reconcile it at once.

use rhai::Dynamic;
use serde_json::Value;

use super::{HostCall, fields, parse_moment};
use crate::base::clock::timestamp;
use crate::base::id::{Key, KeyError};
use crate::model::events::hook::{RECONCILE, RESUME, SUSPEND};
use crate::scripting::run::session::HostError;

type SuspendCallResult = Result<Dynamic, HostError>;

fn resource_key(call: &HostCall<'_>) -> Result<Value, String> {
    let key: Key = call.text(0).parse().map_err(|error: KeyError| error.to_string())?;
    Ok(Value::String(key.to_string()))
}

pub(crate) fn suspend(call: &HostCall<'_>) -> SuspendCallResult {
    let until = call.option("ends").map(|until| parse_moment(&until)).transpose()?;
    let until = until.map(|until| Value::String(timestamp(&until.0)));
    let fields = fields([
        ("key", Some(resource_key(call)?)),
        ("reason", Some(call.text(1).into())),
        ("until", until),
    ]);
    call.request(SUSPEND, call.session.merchant().cloned(), fields)
}

pub(crate) fn resume(call: &HostCall<'_>) -> SuspendCallResult {
    call.request(
        RESUME,
        call.session.merchant().cloned(),
        fields([("key", Some(resource_key(call)?))]),
    )
}

pub(crate) fn reconcile(call: &HostCall<'_>) -> SuspendCallResult {
    call.request(
        RECONCILE,
        call.session.merchant().cloned(),
        fields([("key", Some(resource_key(call)?))]),
    )
}
