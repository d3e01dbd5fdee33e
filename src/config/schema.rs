//! JSON Schema of `reckon.yaml`, generated from the types that the file is read into, and the
//! explanation of its fields.
//!
//! The text of a field is its doc comment, for editors and for `explain`. Everything is inline:
//! there are no references. The targets of `notify` are read as an enum, whose shape differs, so
//! their form is declared here.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::base::wording;
use crate::config::alerts::AlertsForm;
use crate::config::notify::{MailTarget, NotifyTarget, SecretUrl};
use crate::config::setting::Setting;
use crate::config::settings::Config;
use crate::kinds::json_schema::DRAFT;
use crate::notify::message::BodyFormat;
use crate::spec::explain::{Explanation, default_text, is_beneath, type_name, without_null};
use crate::spec::header::API_VERSION;

/// The name of the schema, and `kind` of the file.
pub const CONFIG: &str = "Config";

pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|one| one.inline_subschemas = true);
    let schema = settings.for_deserialize().into_generator().into_root_schema_for::<Config>();
    let mut schema = schema.to_value();
    tidy(&mut schema);
    let mut properties = Map::new();
    let version = constant("The version of the form of the file.", API_VERSION);
    properties.insert("apiVersion".to_owned(), version);
    properties.insert("kind".to_owned(), constant("The kind of the file.", CONFIG));
    properties
        .extend(schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
    json!({
        "$schema": DRAFT,
        "title": CONFIG,
        "description": schema.get("description"),
        "type": "object",
        "properties": properties,
        "required": ["apiVersion", "kind"],
        "additionalProperties": false,
    })
}

fn constant(meaning: &str, word: &str) -> Value {
    json!({ "description": meaning, "title": "word", "enum": [word] })
}

/// Closes every section against unknown keys, and joins the lines of texts.
fn tidy(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    map.shift_remove("format");
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    for property in map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        tidy(property.1);
    }
    for name in ["items", "additionalProperties"] {
        map.get_mut(name).into_iter().for_each(tidy_part);
    }
    for choice in map.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        tidy_part(choice);
    }
    if map.contains_key("properties") {
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// As [`tidy`], for a part that is no field: it has no text.
fn tidy_part(schema: &mut Value) {
    if let Value::Object(map) = schema {
        map.shift_remove("description");
    }
    tidy(schema);
}

/// The segment of a path that matches any name.
const ANY_NAME: &str = "NAME";

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
    let beneath = fields.iter().filter(|other| is_beneath(&other.path, &field.path));
    let fields = beneath.map(ConfigField::explanation).collect();
    Ok(Explanation { fields, ..field.explanation() })
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
        Explanation {
            kind: CONFIG,
            path: path.clone(),
            meaning: meaning.to_owned(),
            value_type: type_name(schema),
            required: *required,
            privacy: is_secret(schema).then_some("secret"),
            allowed: words(schema),
            default: default_text(Some(schema)),
            from_variable: is_from_variable(schema),
            ..Explanation::default()
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

/// Returns true if a variable may hold the value, or each item of the list.
fn is_from_variable(schema: &Value) -> bool {
    let schema = without_null(schema);
    let inner = schema.get("items").or_else(|| schema.get("additionalProperties"));
    let own = choices(schema).iter().any(|choice| choice.pointer("/properties/env").is_some());
    let nested =
        || choices(schema).iter().any(|choice| *choice != *schema && is_from_variable(choice));
    own || nested() || inner.is_some_and(is_from_variable)
}

fn words(schema: &Value) -> Vec<String> {
    let words = choices(schema).iter().filter_map(|choice| choice.get("enum")?.as_array());
    words.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl JsonSchema for NotifyTarget {
    fn schema_name() -> Cow<'static, str> {
        "NotifyTarget".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        TargetForm::json_schema(generator)
    }
}

/// The form of a target, which has `url` and `type`, or `mail`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "declares a schema")]
struct TargetForm {
    /// The address of a chat or program; the address alone is enough to write there.
    url: Option<Setting<SecretUrl>>,
    /// The form of the body posted to `url`: `json` posts a map unchanged and a text as
    /// `{"text": …}`, `chat` always posts `{"text": …}`.
    r#type: Option<Setting<BodyFormat>>,
    /// A mail server, with sender and recipients.
    mail: Option<MailTarget>,
    /// True if a notification is sent again after a lost answer, under the same key.
    #[schemars(extend("default" = false))]
    at_least_once: Option<Setting<bool>>,
    /// The problems of resources that the daemon notifies the target of, each change once: `all`, or a
    /// list. Written in the file itself; without it there are none.
    alerts: Option<AlertsForm>,
}

#[cfg(test)]
mod tests;
