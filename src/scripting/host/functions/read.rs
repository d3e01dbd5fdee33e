//! Host functions that read through [`crate::scripting::interface::Reads`].

use rhai::Dynamic;
use serde_json::{Value, json};

use super::{HostCall, dynamic_to_json, object_id};
use crate::api::reads::ReadEndpoint;
use crate::model::events::script_values::sum;
use crate::scripting::host::{filter, privacy, stored_value};
use crate::scripting::run::json::untrusted_to_dynamic;
use crate::scripting::run::session::HostError;

type ReadCallResult = Result<Dynamic, HostError>;

pub(crate) fn resource(call: &HostCall<'_>) -> ReadCallResult {
    let key = call.text(0);
    let arguments = json!([key]);
    call.session.record_read("resource", arguments, |reads, _| reads.resource(&key)).map(|answer| {
        untrusted_to_dynamic(&privacy::resource_without_private(
            answer,
            call.session.may_see_personal(),
        ))
    })
}

pub(crate) fn find(call: &HostCall<'_>) -> ReadCallResult {
    let (kind, filter) = (call.text(0), dynamic_to_json(&call.argument(1))?);
    filter::check(&kind, &filter, call.session.may_see_personal())?;
    let arguments = json!([kind, filter]);
    call.session.record_read("find", arguments, |reads, _| reads.find(&kind, &filter)).map(
        |answer| {
            untrusted_to_dynamic(&privacy::resource_without_private(
                answer,
                call.session.may_see_personal(),
            ))
        },
    )
}

pub(crate) fn transaction(call: &HostCall<'_>) -> ReadCallResult {
    let id = object_id(&call.argument(0))?;
    let arguments = json!([id]);
    call.session
        .record_read("transaction", arguments, |reads, _| reads.transaction(&id))
        .map(|answer| without_private(call, &answer, None))
}

pub(crate) fn gateway_get(call: &HostCall<'_>) -> ReadCallResult {
    let (name, mut args) = (call.text(0), dynamic_to_json(&call.argument(1))?);
    if let (Some(args), Some(merchant)) = (args.as_object_mut(), call.session.merchant()) {
        let named = merchant.short();
        let named = named.strip_prefix("Merchant/").unwrap_or(&named).to_owned();
        args.entry("merchant").or_insert(Value::String(named));
    }
    let arguments = json!([name, args]);
    call.session.record_read("remote", arguments, |reads, _| reads.remote(&name, &args)).map(
        |answer| {
            without_private(call, &answer, ReadEndpoint::find(&name).and_then(|read| read.secret))
        },
    )
}

/// Returns a record of the service without the values that are closed to scripts.
fn without_private(call: &HostCall<'_>, answer: &Value, also: Option<&str>) -> Dynamic {
    let mut answer = untrusted_to_dynamic(answer);
    privacy::remove_private(&mut answer, call.session.may_see_personal(), also);
    answer
}

/// Returns a stored value. A value of this run itself is not recorded as a read, since no other run
/// can have changed it.
pub(crate) fn kv_get(call: &HostCall<'_>) -> ReadCallResult {
    let key = call.text(0);
    if let Some(kept) = call.session.stored_value(&key) {
        return Ok(stored_value::from_stored_json(&kept));
    }
    let stored = stored_value(call, &key)?;
    let added = call.session.addition(&key).and_then(|added| sum(&stored, &added));
    Ok(stored_value::from_stored_json(&added.unwrap_or(stored)))
}

/// Returns the value that earlier runs stored under a key.
pub(crate) fn stored_value(call: &HostCall<'_>, key: &str) -> Result<Value, HostError> {
    call.session.record_read("kv_get", json!([key]), |reads, script| reads.kv(script, key))
}
