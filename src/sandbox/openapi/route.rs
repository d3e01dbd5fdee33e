//! A route of the service with its description for the document, taken from its endpoint's type,
//! and the JSON Schemas of its bodies.
//!
//! Request schemas are inlined, answer schemas are shared components. Both are simplified for
//! readers: no nulls in objects, no defaults of our own types.

use http::StatusCode;
use percent_encoding::percent_decode_str;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::api::call::{Auth, Endpoint, Method, Parameter};
use crate::sandbox::answer::{Result, SandboxAnswer};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::store::ChangeUnit;

pub(crate) type RouteHandler =
    Box<dyn Fn(&mut ChangeUnit, &ParsedRequest) -> Result<SandboxAnswer> + Send + Sync>;

#[derive(derive_more::Debug)]
#[debug("{method} /{}", pattern.join("/"))]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) pattern: Vec<&'static str>,
    pub(crate) auth: Auth,
    pub(crate) surface: ServiceSurface,
    /// Its description in the document; `None` for a page.
    pub(crate) doc: Option<RouteDoc>,
    pub(crate) handler: RouteHandler,
}

pub(crate) fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

impl Route {
    /// Returns a page of both surfaces, which needs no credential.
    pub(crate) fn new(method: Method, path: &'static str, handler: RouteHandler) -> Self {
        let (pattern, surface) = (parts(path).collect(), ServiceSurface::Documented);
        Self { method: method.as_str(), pattern, auth: Auth::None, surface, doc: None, handler }
    }

    pub(crate) fn public(&mut self) -> &mut Self {
        self.surface = ServiceSurface::Public;
        self
    }

    /// Makes the route a PUT of the public surface with a name of its own.
    pub(crate) fn put(&mut self, name: &'static str) {
        self.method = Method::Put.as_str();
        self.public().describe(|doc| doc.name = name);
    }

    pub(crate) fn describe(&mut self, change: impl FnOnce(&mut RouteDoc)) {
        if let Some(doc) = &mut self.doc {
            change(doc);
        }
    }

    pub(crate) fn fits(&self, parts: &[&str]) -> bool {
        let fits = |(own, part): (&&str, &&str)| own.starts_with('{') || own == part;
        self.pattern.len() == parts.len() && self.pattern.iter().zip(parts).all(fits)
    }

    pub(crate) fn parameters(&self, parts: &[&str]) -> Vec<String> {
        let pairs = self.pattern.iter().zip(parts).filter(|(own, _)| own.starts_with('{'));
        pairs.map(|(_, part)| percent_decode_str(part).decode_utf8_lossy().into_owned()).collect()
    }
}

pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteDoc {
    /// Name of the operation, such as `card.create`; unique.
    pub(crate) name: &'static str,
    /// Schema of the endpoint itself: its description is the endpoint's doc comment.
    pub(crate) description: SchemaOf,
    pub(crate) auth: Auth,
    pub(crate) query: &'static [Parameter],
    pub(crate) request: Option<SchemaOf>,
    pub(crate) reply: Option<SchemaOf>,
    pub(crate) status: StatusCode,
    /// Least surface on which it also reads forms.
    pub(crate) forms: Option<ServiceSurface>,
}

impl RouteDoc {
    pub(crate) fn of<E: Endpoint>() -> Self {
        Self {
            name: E::NAME,
            description: E::json_schema,
            auth: E::AUTH,
            query: E::QUERY,
            request: body_schema::<E::Request>(),
            reply: body_schema::<E::Reply>(),
            status: StatusCode::OK,
            forms: None,
        }
    }
}

/// Returns the schema of a body; `None` for `()`, which means no body.
fn body_schema<T: JsonSchema>() -> Option<SchemaOf> {
    (T::schema_name() != <()>::schema_name()).then_some(schema::<T>)
}

pub(super) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

#[derive(Debug)]
pub(crate) struct Schemas {
    requests: SchemaGenerator,
    replies: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|one| one.meta_schema = None);
        let inline = settings.clone().with(|one| one.inline_subschemas = true);
        let apart = settings.with(|one| one.definitions_path = "/components/schemas".into());
        Self {
            requests: inline.for_deserialize().into_generator(),
            replies: apart.for_serialize().into_generator(),
        }
    }

    pub(super) fn text(&mut self, about: SchemaOf) -> String {
        let schema = about(&mut self.requests);
        schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    pub(super) fn request(&mut self, of: SchemaOf) -> Value {
        without_null(tidy(of(&mut self.requests).to_value()))
    }

    /// Returns the schema of an answer. A whole answer may be null; its fields never are.
    pub(super) fn reply(&mut self, of: SchemaOf) -> Value {
        tidy(of(&mut self.replies).to_value())
    }

    pub(super) fn into_components(mut self) -> Map<String, Value> {
        let all = self.replies.take_definitions(true);
        all.into_iter().map(|(name, schema)| (name, tidy(schema))).collect()
    }
}

/// Returns a schema without noise and without null properties: empty fields are left out.
pub(super) fn tidy(schema: Value) -> Value {
    match schema {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(name, _)| name != "default" && name != "$schema");
            Value::Object(kept.map(|(name, value)| tidy_keyword(name, value)).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(tidy).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

/// Tidies the value of a keyword; the keys of `properties` are names, not keywords.
fn tidy_keyword(name: String, value: Value) -> (String, Value) {
    let value = match (name.as_str(), value) {
        ("properties", Value::Object(all)) => {
            let all = all.into_iter().map(|(name, schema)| (name, without_null(tidy(schema))));
            Value::Object(all.collect())
        }
        ("examples" | "enum" | "const" | "required", value) => value,
        (_, value) => tidy(value),
    };
    (name, value)
}

pub(super) fn without_null(schema: Value) -> Value {
    let Value::Object(mut map) = schema else { return schema };
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = map.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    let Some(Value::Array(choices)) = map.get_mut("anyOf") else { return Value::Object(map) };
    choices.retain(|choice| choice.get("type").is_none_or(|one| one != "null"));
    match choices.as_mut_slice() {
        [Value::Object(only)] => {
            let mut whole = std::mem::take(only);
            map.remove("anyOf");
            whole.extend(map);
            Value::Object(whole)
        }
        _ => Value::Object(map),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_property_is_null_and_no_default_stays() {
        let schema = json!({"type": "object", "default": {}, "properties": {
            "default": {"type": ["string", "null"], "default": null},
            "method": {"anyOf": [{"$ref": "#/a"}, {"type": "null"}], "description": "How."},
        }});
        let expect = json!({"type": "object", "properties": {
            "default": {"type": "string"},
            "method": {"$ref": "#/a", "description": "How."},
        }});
        assert_eq!(tidy(schema), expect);
    }

    #[test]
    fn a_whole_answer_may_be_null() {
        let schema = json!({"type": ["array", "null"], "items": {"type": "string"}});
        assert_eq!(tidy(schema.clone()), schema);
    }
}
