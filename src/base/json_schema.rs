//! JSON Schemas of values that are written as text.

pub(crate) mod example;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::base::hash::Digest;
use crate::base::id::{Key, PublicKey, RemoteId};
use crate::base::money::Currency;

/// Gives each type the schema of its text: its meaning and its pattern.
macro_rules! text_schemas {
    ($($type:ident: $meaning:literal, $pattern:literal;)+) => {$(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $meaning, "type": "string", "pattern": $pattern })
            }
        }
    )+};
}

text_schemas! {
    Key: "Name of a resource: KIND/NAMESPACE/NAME.", "^[A-Za-z]+/[^/]+/[^/]+$";
    RemoteId: "An id that the service gave.", "^.{1,128}$";
    PublicKey: "The public key of an account.", "^.{1,128}$";
    Digest: "A digest: 64 hexadecimal digits.", "^[0-9a-f]{64}$";
    Currency: "ISO 4217.", "^[A-Z]{3}$";
}
