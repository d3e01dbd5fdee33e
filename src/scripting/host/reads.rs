//! Host functions that read through [`crate::scripting::host::session::Reads`].

use rhai::Dynamic;
use serde_json::{Value, json};

use super::argument_type::ArgumentType;
use super::call::{
    Argument, CallResult, FunctionGroup, HostCall, HostFn, argument, dynamic_to_json, host_fn,
    object_id, renamed,
};
use super::session::HostError;
use crate::api::reads::ReadEndpoint;
use crate::model::events::scripts::sum;
use crate::scripting::host::{filter, privacy};
use crate::scripting::language::json;
use crate::scripting::language::json::untrusted_to_dynamic;

/// Name of `gateway_get` in the journal.
const REMOTE: &str = "remote";

const fn reads(
    name: &'static str,
    arguments: &'static [Argument],
    call: fn(&HostCall<'_>) -> CallResult,
    doc: &'static str,
) -> HostFn {
    host_fn(name, FunctionGroup::Read, (arguments, &[]), call, doc)
}

pub(super) static ROWS: &[HostFn] = &[
    reads(
        "resource",
        &[argument("resource", ArgumentType::Resource)],
        resource,
        "Returns the known state of a resource: `kind`, `namespace`, `name`, `labels`, `spec`, \
        `ready`, `reason`, `message`, `remote_id`; `()` if there is none.",
    ),
    reads(
        "find",
        &[argument("kind", ArgumentType::Kind), argument("filter", ArgumentType::Map)],
        find,
        "Returns the resources of a kind whose fields equal the filter's, in the order of their \
        names; `#{}` finds all. Fields of the document are beneath `spec`: `#{spec: #{contact: \
        \"jane\"}}`. A field that no resource has is an error.",
    ),
    reads(
        "transaction",
        &[argument("id", ArgumentType::Object)],
        transaction,
        "Returns the known state of a transaction; `()` if there is none.",
    ),
    renamed(
        "remote",
        Some(REMOTE),
        reads(
            "gateway_get",
            &[argument("read", ArgumentType::Read), argument("args", ArgumentType::Map)],
            gateway_get,
            "Returns the service's answer to a read (`reckon gateway get` lists the reads). `args` \
            has its parameters and query by name, and `merchant` if it is not the event's. A read \
            takes time: use few.",
        ),
    ),
    reads(
        "kv_get",
        &[argument("key", ArgumentType::Text)],
        kv_get,
        "Returns the stored value of a key; `()` if there is none.",
    ),
];

pub(crate) fn resource(call: &HostCall<'_>) -> CallResult {
    let key = call.text(0);
    let arguments = json!([key]);
    call.session.record_read("resource", arguments, |reads, _| reads.resource(&key)).map(|answer| {
        untrusted_to_dynamic(&privacy::resource_without_private(
            answer,
            call.session.may_see_personal(),
        ))
    })
}

pub(crate) fn find(call: &HostCall<'_>) -> CallResult {
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

pub(crate) fn transaction(call: &HostCall<'_>) -> CallResult {
    let id = object_id(&call.argument(0))?;
    let arguments = json!([id]);
    call.session
        .record_read("transaction", arguments, |reads, _| reads.transaction(&id))
        .map(|answer| without_private(call, &answer, None))
}

pub(crate) fn gateway_get(call: &HostCall<'_>) -> CallResult {
    let (name, mut args) = (call.text(0), dynamic_to_json(&call.argument(1))?);
    if let (Some(args), Some(merchant)) = (args.as_object_mut(), call.session.merchant()) {
        let named = merchant.short();
        let named = named.strip_prefix("Merchant/").unwrap_or(&named).to_owned();
        args.entry("merchant").or_insert(Value::String(named));
    }
    let arguments = json!([name, args]);
    call.session.record_read(REMOTE, arguments, |reads, _| reads.remote(&name, &args)).map(
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
pub(crate) fn kv_get(call: &HostCall<'_>) -> CallResult {
    let key = call.text(0);
    if let Some(kept) = call.session.stored_value(&key) {
        return Ok(json::from_stored_json(&kept));
    }
    let stored = stored_value(call, &key)?;
    let added = call.session.addition(&key).and_then(|added| sum(&stored, &added));
    Ok(json::from_stored_json(&added.unwrap_or(stored)))
}

/// Returns the value that earlier runs stored under a key.
pub(crate) fn stored_value(call: &HostCall<'_>, key: &str) -> Result<Value, HostError> {
    call.session.record_read("kv_get", json!([key]), |reads, script| reads.kv(script, key))
}
