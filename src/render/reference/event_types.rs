//! Explains the event types and their fields, and renders docs/reference/event-types.md.

use serde_json::{Map, Value, json};

use super::tables::{Column, field_table, meaning, path, value_type};
use crate::base::json_schema::example::example;
use crate::base::wording::suggestion_help;
use crate::render::words::push_line;
use crate::scripting::host::event_data::{DataField, event_records};
use crate::scripting::language::names::{self, EVENT_FIELDS, EVENTS, EventRow};
use crate::spec::explain::{Explanation, type_name};

/// The word for the event types, beside the kinds.
pub const EVENT_TYPES: &str = "Events";

const MEANING: &str =
    "The types of events that the service reports, each with the record that it shows.";

const INTRO: &str = "# Event types

This page is made by `reckon explain Events -o markdown`. `reckon events trigger TYPE` makes a sandbox send an event of a
type. A script gets an event as a map with these fields ([hooks](../guides/hooks.md#events)):
";

/// Explains all event types, or the one at `path`.
///
/// # Errors
/// There is no such type; the text names the closest ones.
pub fn explain_events(path: &str) -> Result<Explanation, String> {
    if path.is_empty() {
        let fields = EVENTS.iter().map(type_explanation).collect();
        let meaning = MEANING.to_owned();
        return Ok(Explanation { kind: EVENT_TYPES, meaning, fields, ..Explanation::default() });
    }
    let row = EVENTS.iter().find(|row| row.name == path);
    let row = row.ok_or_else(|| suggestion_help(path, EVENTS.iter().map(|row| row.name)))?;
    let fields = record_fields(row.data).iter().map(field_explanation).collect();
    Ok(Explanation { fields, ..type_explanation(row) })
}

fn type_explanation(row: &EventRow) -> Explanation {
    Explanation {
        kind: EVENT_TYPES,
        path: row.name.to_owned(),
        meaning: row.doc.to_owned(),
        value_type: row.data.to_owned(),
        ..Explanation::default()
    }
}

fn record_fields(record: &str) -> &'static [DataField] {
    let found = event_records().iter().find(|(name, _)| *name == record);
    found.map(|(_, fields)| fields.as_slice()).unwrap_or_default()
}

fn field_explanation(field: &DataField) -> Explanation {
    Explanation {
        kind: EVENT_TYPES,
        path: format!("data.{}", field.name),
        meaning: field.doc.clone(),
        value_type: type_name(&field.schema),
        privacy: field.personal.then_some("personal"),
        ..Explanation::default()
    }
}

/// Renders the page.
pub fn event_types_page() -> String {
    let mut out = String::from(INTRO);
    out.push_str("\n| field | holds |\n|---|---|\n");
    for field in EVENT_FIELDS {
        push_line!(out, "| `{}` | {} |", field.name, field.doc);
    }
    out.push_str(
        "\n`data` has the fields that the service documents; the service omits empty ones. Scripts see personal \
        fields only with\nthe right `personal` ([rights](../guides/hooks.md#rights)). The examples show a few fields.\n",
    );
    for (record, fields) in event_records() {
        push_line!(out, "\n## Events of {} {record}", article(record));
        types_of(&mut out, record);
        push_line!(out, "\n### Fields of {} {record}", article(record));
        let fields: Vec<Explanation> = fields.iter().map(field_explanation).collect();
        let columns: [Column; 3] = [("field", path), ("type", value_type), ("meaning", meaning)];
        field_table(&mut out, &fields.iter().collect::<Vec<_>>(), &columns);
    }
    out
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'o']) { "an" } else { "a" }
}

fn types_of(out: &mut String, record: &str) {
    for row in EVENTS.iter().filter(|row| row.data == record) {
        let function = names::handler_name(row.name);
        push_line!(out, "\n### `{}`\n\n{} Scripts: `{function}(event)`.", row.name, row.doc);
        push_line!(out, "\n```json\n{}\n```", crate::render::json(&payload(row)));
    }
}

/// Returns an example of an event of this type, as scripts see it.
fn payload(row: &EventRow) -> Value {
    json!({
        "id": "evt_1",
        "type": row.name,
        "created": "2030-01-15T18:00:00.000Z",
        "mode": "test",
        "merchant": (row.data != names::APPLICATION).then_some("acme"),
        "resource": null,
        "data": data(row),
        "previous": null,
    })
}

/// Fields of an example, beside those that the sentence of the type names.
const SHOWN: [&str; 12] = [
    "id",
    "reference",
    "type",
    "status",
    "amount",
    "currency",
    "card_type",
    "exp_month",
    "exp_year",
    "due_date",
    "next_payment",
    "created",
];

/// Returns the data of the example: few fields, each with one value.
fn data(row: &EventRow) -> Value {
    let is_named = |name: &str| row.doc.contains(&format!("`{name}`"));
    let is_shown = |name: &str| SHOWN.contains(&name) || is_named(name);
    // Only a declined application has its number (partner-api, Events).
    let is_absent = |name: &str| row.name == "merchant.provisioned" && name == "id";
    let fields = record_fields(row.data).iter();
    let fields = fields.filter(|field| is_shown(&field.name) && !is_absent(&field.name));
    let values = fields.map(|field| (field.name.clone(), value(row, field)));
    let is_single = |value: &Value| !value.is_object() && !value.is_array();
    values.filter(|(_, value)| is_single(value)).collect::<Map<_, _>>().into()
}

fn value(row: &EventRow, field: &DataField) -> Value {
    match field.name.as_str() {
        "id" => json!("id_1"),
        "reference" => json!("ref-1"),
        "amount" => json!(12_500),
        "currency" => json!("USD"),
        "attempts" => json!(1),
        "exp_month" => json!(8),
        "exp_year" => json!(2031),
        _ => status(row, field).unwrap_or_else(|| example(&field.schema, &Value::Null)),
    }
}

fn status(row: &EventRow, field: &DataField) -> Option<Value> {
    let word = row.name.rsplit('.').next()?.to_ascii_uppercase();
    let words = field.schema.pointer("/enum").or_else(|| field.schema.pointer("/anyOf/0/enum"))?;
    let known = words.as_array()?.iter().any(|known| *known == word);
    (field.name == "status" && known).then(|| Value::from(word))
}
