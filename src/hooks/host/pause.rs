//! Host functions that suspend a resource, resume it, or reconcile it at once.

use rhai::Dynamic;
use serde_json::Value;

use super::{Call, fields, moment};
use crate::base::clock::timestamp;
use crate::base::id::{Key, KeyError};
use crate::hooks::session::Refused;
use crate::model::hook::{RECONCILE, RESUME, SUSPEND};

type Answer = Result<Dynamic, Refused>;

fn key(call: &Call<'_>) -> Result<Value, String> {
    let key: Key = call.text(0).parse().map_err(|error: KeyError| error.to_string())?;
    Ok(Value::String(key.to_string()))
}

pub(in crate::hooks) fn hold(call: &Call<'_>) -> Answer {
    let until = call.option("ends").map(|until| moment(&until)).transpose()?;
    let until = until.map(|until| Value::String(timestamp(&until.0)));
    let fields = fields([
        ("key", Some(key(call)?)),
        ("reason", Some(call.text(1).into())),
        ("until", until),
    ]);
    call.wish(SUSPEND, call.session.merchant().cloned(), fields)
}

pub(in crate::hooks) fn release(call: &Call<'_>) -> Answer {
    call.wish(RESUME, call.session.merchant().cloned(), fields([("key", Some(key(call)?))]))
}

pub(in crate::hooks) fn reconcile(call: &Call<'_>) -> Answer {
    call.wish(RECONCILE, call.session.merchant().cloned(), fields([("key", Some(key(call)?))]))
}
