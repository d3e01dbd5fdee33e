//! What an endpoint's type says of itself.

use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::api::query::Parameter;
use crate::api::{Auth, Endpoint};
use crate::sandbox::options::Surface;

/// Makes the schema of one type.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What the document says of a way in, beside its address and its credential.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spoken {
    /// How we speak of it, `card.create`; different for each way in.
    pub(crate) name: &'static str,
    /// The schema of the endpoint itself: its description is its doc comment.
    pub(crate) about: SchemaOf,
    /// What lets a caller in.
    pub(crate) auth: Auth,
    /// The parameters of its query.
    pub(crate) query: &'static [Parameter],
    /// The body it takes.
    pub(crate) request: Option<SchemaOf>,
    /// The body it answers.
    pub(crate) reply: Option<SchemaOf>,
    /// The status of its success.
    pub(crate) status: StatusCode,
    /// The surface on which it reads forms too, and those that hold more.
    pub(crate) forms: Option<Surface>,
}

impl Spoken {
    /// What an endpoint's type says.
    pub(crate) fn of<E: Endpoint>() -> Self {
        Self {
            name: E::NAME,
            about: E::json_schema,
            auth: E::AUTH,
            query: E::QUERY,
            request: body::<E::Request>(),
            reply: body::<E::Reply>(),
            status: StatusCode::OK,
            forms: None,
        }
    }

    /// The same, which answers 204 and nothing.
    pub(crate) fn without_content(self) -> Self {
        Self { status: StatusCode::NO_CONTENT, ..self }
    }

    /// The same, which reads forms too where this surface is.
    pub(crate) fn with_forms(self, surface: Surface) -> Self {
        Self { forms: Some(surface), ..self }
    }

    /// The same under another name.
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

/// `None` for `()`, which is no body.
fn body<T: JsonSchema>() -> Option<SchemaOf> {
    (T::schema_name() != <()>::schema_name()).then_some(schema::<T>)
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
