//! Host functions that read through [`crate::scripting::host::session::Reads`], and the filters of
//! `find`: every named field exists, and is open to scripts.

use std::collections::BTreeSet;

use rhai::Dynamic;
use serde_json::{Value, json};

use crate::api::reads::ReadEndpoint;
use crate::base::wording::{nearest, suggestion_help};
use crate::kinds::register;
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::{Privacy, SpecField};
use crate::kinds::secrets::names_beneath;
use crate::model::events::scripts::sum;
use crate::policy::ScriptPower;
use crate::scripting::host::argument_type::ArgumentType;
use crate::scripting::host::call::{
    Argument, CallResult, FunctionGroup, HostCall, HostFn, argument, host_fn, object_id,
};
use crate::scripting::host::script_event::{self, privacy_of_field};
use crate::scripting::host::session::HostError;
use crate::scripting::language::json::{self, to_json, untrusted_to_dynamic};

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

pub(crate) static ROWS: &[HostFn] = &[
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
    reads(
        "gateway_get",
        &[argument("read", ArgumentType::Read), argument("args", ArgumentType::Map)],
        gateway_get,
        "Returns the service's answer to a read (`reckon gateway get` lists the reads). `args` \
            has its parameters and query by name, and `merchant` if it is not the event's. A read \
            takes time: use few.",
    )
    .renamed("remote", Some(REMOTE)),
    reads(
        "kv_get",
        &[argument("key", ArgumentType::Text)],
        kv_get,
        "Returns the stored value of a key; `()` if there is none.",
    ),
];

fn resource(call: &HostCall<'_>) -> CallResult {
    let key = call.text(0);
    let answer =
        call.session.record_read("resource", json!([key]), |reads, _| reads.resource(&key))?;
    Ok(open_resource(call, answer))
}

fn find(call: &HostCall<'_>) -> CallResult {
    let (kind, filter) = (call.text(0), to_json(&call.argument(1))?);
    check_filter(&kind, &[], &filter, call.session.may_see_personal())?;
    let answer = call
        .session
        .record_read("find", json!([kind, filter]), |reads, _| reads.find(&kind, &filter))?;
    Ok(open_resource(call, answer))
}

/// Returns a resource, or a list of resources, without the values that are closed to scripts.
fn open_resource(call: &HostCall<'_>, answer: Value) -> Dynamic {
    let personal = call.session.may_see_personal();
    untrusted_to_dynamic(&script_event::resource_without_private(answer, personal))
}

fn transaction(call: &HostCall<'_>) -> CallResult {
    let id = object_id(&call.argument(0))?;
    let answer =
        call.session.record_read("transaction", json!([id]), |reads, _| reads.transaction(&id))?;
    Ok(without_private(call, &answer, None))
}

fn gateway_get(call: &HostCall<'_>) -> CallResult {
    let (name, mut args) = (call.text(0), to_json(&call.argument(1))?);
    if let (Some(args), Some(merchant)) = (args.as_object_mut(), call.session.merchant()) {
        let named = merchant.short();
        let named = named.strip_prefix("Merchant/").unwrap_or(&named).to_owned();
        args.entry("merchant").or_insert(Value::String(named));
    }
    let arguments = json!([name, args]);
    let answer =
        call.session.record_read(REMOTE, arguments, |reads, _| reads.remote(&name, &args))?;
    let secret = ReadEndpoint::find(&name).and_then(|read| read.secret);
    Ok(without_private(call, &answer, secret))
}

/// Returns a record of the service without the values that are closed to scripts.
fn without_private(call: &HostCall<'_>, answer: &Value, also: Option<&str>) -> Dynamic {
    let mut answer = untrusted_to_dynamic(answer);
    script_event::remove_private(&mut answer, call.session.may_see_personal(), also);
    answer
}

/// Returns a stored value. A value of this run itself is not recorded as a read, since no other run
/// can have changed it.
fn kv_get(call: &HostCall<'_>) -> CallResult {
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

/// Fields of a resource as scripts see it.
const RESOURCE_FIELDS: [&str; 9] =
    ["kind", "namespace", "name", "labels", "spec", "ready", "reason", "message", "remote_id"];
/// Field with the content of the document.
const SPEC: &str = "spec";
/// Field with freely chosen names.
const LABELS: &str = "labels";

/// Position of a filter's field: the names above it.
pub(crate) type FilterPath<'a> = [&'a str];

/// Returns the problem with a field of a kind at this position, and its fix. `persons` is set if
/// personal values are open.
pub(crate) fn filter_problem(
    kind: &str,
    above: &FilterPath<'_>,
    name: &str,
    persons: bool,
) -> Option<(String, String)> {
    let row = register::find(kind);
    match above {
        [] if !RESOURCE_FIELDS.contains(&name) => Some(unknown_field(row, kind, name)),
        [] | [LABELS, ..] => None,
        [SPEC, ..] => spec_field_problem(row?, above, name, persons),
        [field, ..] => {
            let message = format!("`{field}` of a resource has no fields: it is one value");
            Some((message, format!("write `{field}: …`")))
        }
    }
}

/// Returns the problem with a field that no resource has, but perhaps its document.
fn unknown_field(row: Option<&KindRow>, kind: &str, name: &str) -> (String, String) {
    let message = format!("a resource has no field `{name}`");
    let spec = row.map(|row| names_beneath(row.fields, SPEC)).unwrap_or_default();
    if spec.contains(&name) {
        return (
            message,
            format!("write `#{{spec: #{{{name}: …}}}}`: the document of {kind} has it"),
        );
    }
    let all: Vec<&str> = RESOURCE_FIELDS.into_iter().chain(spec.iter().copied()).collect();
    let near = nearest(name, all);
    let help = match near {
        Some(near) if !RESOURCE_FIELDS.contains(&near) => {
            format!("did you mean `#{{spec: #{{{near}: …}}}}`?")
        }
        _ => suggestion_help(name, RESOURCE_FIELDS),
    };
    (message, help)
}

fn spec_field_problem(
    row: &KindRow,
    above: &FilterPath<'_>,
    name: &str,
    persons: bool,
) -> Option<(String, String)> {
    let place = above.join(".");
    let names = names_beneath(row.fields, &place);
    if !names.is_empty() && !names.contains(&name) {
        let message = format!("`{place}` of {} has no field `{name}`", row.name);
        return Some((message, suggestion_help(name, BTreeSet::from_iter(names))));
    }
    closed_field_problem(row.fields, &format!("{place}.{name}"), persons)
}

/// Returns the problem with a field that is closed to scripts: a filter on it would reveal its
/// value.
fn closed_field_problem(
    fields: &[SpecField],
    path: &str,
    persons: bool,
) -> Option<(String, String)> {
    match privacy_of_field(fields, path) {
        Privacy::Plain => None,
        Privacy::Personal if persons => None,
        Privacy::Personal => {
            let (message, help) = ScriptPower::Personal.refusal(None);
            Some((format!("`{path}` is personal: {message}"), help))
        }
        Privacy::Secret => {
            let help = "leave it out: the document has a name to look for";
            Some((format!("`{path}` is secret: no script sees it"), help.to_owned()))
        }
    }
}

/// Checks the fields of a filter of `find` below `above`; the error is the first problem, and its
/// fix.
fn check_filter(
    kind: &str,
    above: &FilterPath<'_>,
    filter: &Value,
    persons: bool,
) -> Result<(), String> {
    for (name, value) in filter.as_object().into_iter().flatten() {
        if let Some((message, help)) = filter_problem(kind, above, name, persons) {
            return Err(format!("{message}; {help}"));
        }
        check_filter(kind, &[above, &[name.as_str()]].concat(), value, persons)?;
    }
    Ok(())
}
