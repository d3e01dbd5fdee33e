//! A route of the service, and its description for the document, taken from its endpoint's type.

use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::api::call::{Auth, Endpoint};
use crate::api::query::Parameter;
use crate::sandbox::answer::{SandboxAnswer, SandboxRefusal};
use crate::sandbox::http::request::{ParsedRequest, decode};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::state::store::ChangeUnit;

pub(crate) type RouteHandler = Box<
    dyn Fn(&mut ChangeUnit<'_>, &ParsedRequest) -> Result<SandboxAnswer, SandboxRefusal>
        + Send
        + Sync,
>;

/// A route.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) pattern: Vec<&'static str>,
    pub(crate) auth: Auth,
    pub(crate) surface: ServiceSurface,
    /// Its description in the document; `None` for a page.
    pub(crate) doc: Option<RouteDoc>,
    pub(crate) handler: RouteHandler,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} /{}", self.method, self.pattern.join("/"))
    }
}

impl Route {
    pub(crate) fn fits(&self, parts: &[&str]) -> bool {
        let fits = |(own, part): (&&str, &&str)| own.starts_with('{') || own == part;
        self.pattern.len() == parts.len() && self.pattern.iter().zip(parts).all(fits)
    }

    pub(crate) fn parameters(&self, parts: &[&str]) -> Vec<String> {
        let pairs = self.pattern.iter().zip(parts).filter(|(own, _)| own.starts_with('{'));
        pairs.map(|(_, part)| decode(&part.replace('+', "%2B"))).collect()
    }
}

/// Generates the schema of one type.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Description of a route in the document, besides its address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteDoc {
    /// Name of the operation, such as `card.create`; unique.
    pub(crate) name: &'static str,
    /// Schema of the endpoint itself: its description is the endpoint's doc comment.
    pub(crate) description: SchemaOf,
    /// Credential that the route requires.
    pub(crate) auth: Auth,
    /// Query parameters.
    pub(crate) query: &'static [Parameter],
    pub(crate) request: Option<SchemaOf>,
    pub(crate) reply: Option<SchemaOf>,
    /// Status of a success.
    pub(crate) status: StatusCode,
    /// Least surface on which it also reads forms.
    pub(crate) forms: Option<ServiceSurface>,
}

impl RouteDoc {
    /// Returns the description of an endpoint's type.
    pub(crate) fn of<E: Endpoint>() -> Self {
        Self {
            name: E::NAME,
            description: E::json_schema,
            auth: E::AUTH,
            query: E::QUERY,
            request: body::<E::Request>(),
            reply: body::<E::Reply>(),
            status: StatusCode::OK,
            forms: None,
        }
    }

    /// Returns the description with 204 and no body.
    pub(crate) fn without_content(self) -> Self {
        Self { status: StatusCode::NO_CONTENT, ..self }
    }

    /// Returns the description with forms accepted on this surface and larger ones.
    pub(crate) fn with_forms(self, surface: ServiceSurface) -> Self {
        Self { forms: Some(surface), ..self }
    }

    /// Returns the description under another name.
    pub(crate) fn with_name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

/// Returns the schema of a body; `None` for `()`, which means no body.
fn body<T: JsonSchema>() -> Option<SchemaOf> {
    (T::schema_name() != <()>::schema_name()).then_some(schema::<T>)
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
