//! Explains `reckon.yaml` and its fields, from the schema of the types that the file is read into.

use serde_json::Value;

use super::schema::{CONFIG, schema};
use crate::base::wording;
use crate::spec::documents::explain::{Explanation, type_name, without_null};

/// The segment of a path that stands for any name.
const ANY_NAME: &str = "NAME";

/// One field of the file.
struct ConfigField<'s> {
    /// The path, such as `partner.plans[].id` or `notify.NAME.url`.
    path: String,
    schema: &'s Value,
    required: bool,
}

/// Explains the file, or the field at `path`.
///
/// # Errors
/// There is no such field; the text names the closest ones.
pub fn explain(path: &str) -> Result<Explanation, String> {
    let schema = schema();
    let mut fields = Vec::new();
    collect("", &schema, &mut fields);
    let asked = segments(path);
    if asked.is_empty() {
        let beneath = fields.iter().map(ConfigField::explanation).collect();
        let file = ConfigField { path: String::new(), schema: &schema, required: true };
        return Ok(Explanation { fields: beneath, ..file.explanation() });
    }
    let found = fields.iter().find(|field| fits(&segments(&field.path), &asked));
    let field = found.ok_or_else(|| suggestion(&fields, &asked))?;
    let is_beneath = |other: &&ConfigField<'_>| {
        let rest = other.path.strip_prefix(&field.path);
        rest.is_some_and(|rest| rest.starts_with(['.', '[']))
    };
    let beneath = fields.iter().filter(is_beneath).map(ConfigField::explanation).collect();
    Ok(Explanation { fields: beneath, ..field.explanation() })
}

/// Adds the fields of a schema, each before the fields beneath it.
fn collect<'s>(path: &str, schema: &'s Value, found: &mut Vec<ConfigField<'s>>) {
    let schema = without_null(schema);
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let required = required.is_some_and(|names| names.iter().any(|one| one == name));
        found.push(ConfigField { path: path.clone(), schema: property, required });
        collect(&path, property, found);
    }
    if let Some(items) = schema.get("items") {
        collect(&format!("{path}[]"), items, found);
    }
    if let Some(values) = schema.get("additionalProperties") {
        collect(&format!("{path}.{ANY_NAME}"), values, found);
    }
}

/// Splits a path at its dots, without indices of lists.
fn segments(path: &str) -> Vec<&str> {
    let names = path.split('.').filter_map(|segment| segment.split('[').next());
    names.filter(|name| !name.is_empty()).collect()
}

fn fits(field: &[&str], asked: &[&str]) -> bool {
    let fits = |(one, asked): (&&str, &&str)| *one == ANY_NAME || one == asked;
    field.len() == asked.len() && field.iter().zip(asked).all(fits)
}

/// Suggests the nearest field beside the requested one, else one of the file's sections.
fn suggestion(fields: &[ConfigField<'_>], asked: &[&str]) -> String {
    let parent = asked.split_last().map(|(_, parent)| parent).unwrap_or_default();
    let beside = |parent: &[&str]| -> Vec<String> {
        let paths = fields.iter().map(|field| segments(&field.path));
        let last = paths.filter_map(|path| {
            let (last, around) = path.split_last()?;
            fits(around, parent).then(|| [parent, &[*last]].concat().join("."))
        });
        last.collect()
    };
    let beside = match beside(parent) {
        none if none.is_empty() => beside(&[]),
        some => some,
    };
    wording::suggestion_help(&asked.join("."), beside.iter().map(String::as_str))
}

impl ConfigField<'_> {
    fn explanation(&self) -> Explanation {
        let Self { path, schema, required } = self;
        let meaning = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let default = schema.get("default");
        Explanation {
            kind: CONFIG,
            path: path.clone(),
            meaning: meaning.to_owned(),
            value_type: type_name(schema),
            required: *required,
            change: None,
            privacy: is_secret(schema).then_some("secret"),
            allowed: words(schema),
            default: default.map(|value| value.as_str().map_or(value.to_string(), str::to_owned)),
            sources: Vec::new(),
            fields: Vec::new(),
        }
    }
}

/// Returns the choices of a schema, or the schema itself.
fn choices(schema: &Value) -> &[Value] {
    let schema = without_null(schema);
    let choices = schema.get("anyOf").and_then(Value::as_array);
    choices.map_or(std::slice::from_ref(schema), Vec::as_slice)
}

fn is_secret(schema: &Value) -> bool {
    choices(schema).iter().any(|choice| choice.get("writeOnly") == Some(&Value::Bool(true)))
}

/// Returns the possible words of a value.
fn words(schema: &Value) -> Vec<String> {
    let words = choices(schema).iter().filter_map(|choice| choice.get("enum")?.as_array());
    words.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
