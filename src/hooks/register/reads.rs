//! Host functions that read. Every answer is recorded with the run.

use super::{Argument, FunctionGroup, HostFn, argument};
use crate::hooks::host::{HostCall, read};
use crate::hooks::session::HostError;
use crate::hooks::sort::ArgumentType;
use rhai::Dynamic;

const fn reads(
    name: &'static str,
    arguments: &'static [Argument],
    call: fn(&HostCall<'_>) -> Result<Dynamic, HostError>,
    doc: &'static str,
) -> HostFn {
    HostFn { name, group: FunctionGroup::Read, arguments, options: &[], doc, right: None, call }
}

pub(super) static ROWS: &[HostFn] = &[
    reads(
        "resource",
        &[argument("resource", ArgumentType::Resource)],
        read::resource,
        "What is known of a resource: `kind`, `namespace`, `name`, `labels`, `spec`, `ready`, `reason`, `message`, \
         `remote_id`; `()` where there is none.",
    ),
    reads(
        "find",
        &[argument("kind", ArgumentType::Kind), argument("filter", ArgumentType::Map)],
        read::find,
        "The resources of a kind whose fields are as the filter's, in the order of their names; `#{}` finds all. Fields of the document are beneath `spec`: `#{spec: #{contact: \"jane\"}}`. A field that no resource has is an error.",
    ),
    reads(
        "transaction",
        &[argument("id", ArgumentType::Object)],
        read::transaction,
        "What is known of a transaction; `()` where there is none.",
    ),
    reads(
        "remote",
        &[argument("read", ArgumentType::Read), argument("args", ArgumentType::Map)],
        read::gateway_get,
        "What the service answers to a read (`reckon gateway get` lists them): `args` holds its parameters and query by \
         name, and `merchant` where it is not the event's. It takes time: ask for little.",
    ),
    reads(
        "kv_get",
        &[argument("key", ArgumentType::Text)],
        read::kv_get,
        "What this script keeps under a key; `()` where there is nothing.",
    ),
];
