//! Host functions that read. Every answer is recorded with the run.

use super::{Argument, Group, HostFn, argument};
use crate::hooks::host::{Call, read};
use crate::hooks::session::Refused;
use crate::hooks::sort::Sort;
use rhai::Dynamic;

const fn reads(
    name: &'static str,
    arguments: &'static [Argument],
    call: fn(&Call<'_>) -> Result<Dynamic, Refused>,
    doc: &'static str,
) -> HostFn {
    HostFn { name, group: Group::Read, arguments, options: &[], doc, power: None, call }
}

pub(super) static ROWS: &[HostFn] = &[
    reads(
        "resource",
        &[argument("resource", Sort::Resource)],
        read::resource,
        "What is known of a resource: `kind`, `namespace`, `name`, `labels`, `spec`, `ready`, `reason`, `message`, \
         `remote_id`; `()` where there is none.",
    ),
    reads(
        "find",
        &[argument("kind", Sort::Kind), argument("filter", Sort::Map)],
        read::find,
        "The resources of a kind whose fields are as the filter's, in the order of their names; `#{}` finds all. Fields of the document are beneath `spec`: `#{spec: #{contact: \"jane\"}}`. A field that no resource has is an error.",
    ),
    reads(
        "transaction",
        &[argument("id", Sort::Object)],
        read::transaction,
        "What is known of a transaction; `()` where there is none.",
    ),
    reads(
        "remote",
        &[argument("read", Sort::Read), argument("args", Sort::Map)],
        read::remote,
        "What the service answers to a read (`reckon gateway get` lists them): `args` holds its parameters and query by \
         name, and `merchant` where it is not the event's. It takes time: ask for little.",
    ),
    reads(
        "kv_get",
        &[argument("key", Sort::Text)],
        read::kv_get,
        "What this script keeps under a key; `()` where there is nothing.",
    ),
];
