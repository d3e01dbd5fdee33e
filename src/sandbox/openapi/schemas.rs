//! Schemas of a document: request schemas are inlined, answer schemas are shared components.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::sandbox::openapi::shapes::{tidy, without_null};
use crate::sandbox::openapi::spoken::SchemaOf;

/// Schema generators of one document.
#[derive(Debug)]
pub(super) struct Schemas {
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

    /// Returns the text of an endpoint's doc comment.
    pub(super) fn text(&mut self, about: SchemaOf) -> String {
        let schema = about(&mut self.requests);
        schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Returns the schema of a request.
    pub(super) fn request(&mut self, of: SchemaOf) -> Value {
        without_null(tidy(of(&mut self.requests).to_value()))
    }

    /// Returns the schema of an answer. A whole answer may be null; its fields never are.
    pub(super) fn reply(&mut self, of: SchemaOf) -> Value {
        tidy(of(&mut self.replies).to_value())
    }

    /// Returns the components that answers refer to.
    pub(super) fn into_components(mut self) -> Map<String, Value> {
        let all = self.replies.take_definitions(true);
        all.into_iter().map(|(name, schema)| (name, tidy(schema))).collect()
    }
}
