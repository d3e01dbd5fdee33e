//! JSON Schemas of the document: request schemas are inlined, answer schemas are shared components.
//! Both are simplified for readers: no nulls in objects, no defaults of our own types.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::route::SchemaOf;

/// Schema generators of one document.
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

/// Keywords of generated schemas that a reader does not need.
const NOISE: [&str; 2] = ["default", "$schema"];

/// Returns a schema without noise, whose object properties are never null: empty fields are left
/// out.
pub(super) fn tidy(schema: Value) -> Value {
    match schema {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(name, _)| !NOISE.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| tidy_keyword(name, value)).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(tidy).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

/// Tidies the value of a keyword. The keys of `properties` are names; other values are schemas, or
/// lists of them.
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

/// Removes null from the types that a schema allows.
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
        [Value::Object(only)] => merge_choice(std::mem::take(only), map),
        _ => Value::Object(map),
    }
}

/// Merges the one remaining choice with the keywords beside it.
fn merge_choice(only: Map<String, Value>, mut beside: Map<String, Value>) -> Value {
    beside.remove("anyOf");
    let mut whole = only;
    whole.extend(beside);
    Value::Object(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
