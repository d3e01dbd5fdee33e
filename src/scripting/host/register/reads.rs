//! Host functions that read. Every answer is recorded with the run.

use super::{Argument, FunctionGroup, HostFn, argument};
use crate::scripting::check::argument_type::ArgumentType;
use crate::scripting::host::functions::{HostCall, read};
use crate::scripting::run::session::HostError;
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
        "Returns the known state of a resource: `kind`, `namespace`, `name`, `labels`, `spec`, \
        `ready`, `reason`, `message`, `remote_id`; `()` if there is none.",
    ),
    reads(
        "find",
        &[argument("kind", ArgumentType::Kind), argument("filter", ArgumentType::Map)],
        read::find,
        "Returns the resources of a kind whose fields equal the filter's, in the order of their \
        names; `#{}` finds all. Fields of the document are beneath `spec`: `#{spec: #{contact: \
        \"jane\"}}`. A field that no resource has is an error.",
    ),
    reads(
        "transaction",
        &[argument("id", ArgumentType::Object)],
        read::transaction,
        "Returns the known state of a transaction; `()` if there is none.",
    ),
    reads(
        "remote",
        &[argument("read", ArgumentType::Read), argument("args", ArgumentType::Map)],
        read::gateway_get,
        "Returns the service's answer to a read (`reckon gateway get` lists the reads). `args` \
        has its parameters and query by name, and `merchant` if it is not the event's. A read \
        takes time: use few.",
    ),
    reads(
        "kv_get",
        &[argument("key", ArgumentType::Text)],
        read::kv_get,
        "Returns the stored value of a key; `()` if there is none.",
    ),
];
