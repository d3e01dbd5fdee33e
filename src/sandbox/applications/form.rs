//! The form of a sign-up as HTML, and what comes back from it. Plain: no script, no style.
//!
//! A secret that was filled in before is not shown again; left empty, it stays as it was.

use serde_json::{Map, Value};

use crate::api::application::{
    FIELDS, Field, FieldType, Privacy, SECOND_OWNER, SECOND_OWNER_FIELDS,
};
use crate::api::rules::FieldProblem;
use crate::sandbox::mail::escape;

/// Fields that the applicant is not asked for: the partner's own, and what the service sees by itself.
const UNASKED: [&str; 7] = [
    "reference",
    "plan",
    "test",
    "ip_address",
    "ip_address_timestamp",
    "browser_user_agent",
    "browser_language",
];

/// A whole page.
pub(super) fn frame(title: &str, inner: &str) -> String {
    let head = format!("<meta charset=\"utf-8\"><title>{title}</title>");
    format!("<!DOCTYPE html><html lang=\"en\"><head>{head}</head><body>{inner}</body></html>\n")
}

/// The form with what is filled in, under what is wrong with it.
pub(super) fn page(fields: &Map<String, Value>, problems: &[FieldProblem]) -> String {
    let mut inner = String::from("<h1>Merchant application</h1>");
    inner.extend(problems.iter().map(|problem| {
        let (context, text) = (escape(&problem.context), escape(&problem.message));
        format!("<p role=\"alert\" data-field=\"{context}\">{text}</p>")
    }));
    inner.push_str("<form method=\"post\">");
    for field in FIELDS.iter().filter(|field| !UNASKED.contains(&field.name)) {
        inner.push_str(&input(field.name, field, fields.get(field.name)));
    }
    inner.push_str("<fieldset><legend>Second owner</legend>");
    let second = fields.get(SECOND_OWNER).and_then(Value::as_object);
    for field in SECOND_OWNER_FIELDS {
        let name = format!("{SECOND_OWNER}.{}", field.name);
        inner.push_str(&input(&name, field, second.and_then(|second| second.get(field.name))));
    }
    inner.push_str("</fieldset><button>Submit</button></form>");
    frame("Merchant application", &inner)
}

/// One labelled input.
fn input(name: &str, field: &Field, value: Option<&Value>) -> String {
    let is_secret = field.privacy == Privacy::Secret;
    let known = value.map(shown).filter(|text| !text.is_empty());
    let hint = if is_secret && known.is_some() { " placeholder=\"given\"" } else { "" };
    let value = escape(&known.filter(|_| !is_secret).unwrap_or_default());
    let control = match field.of {
        FieldType::Boolean => select(name, &["true", "false"], &value),
        FieldType::Choice(words) => select(name, words, &value),
        FieldType::Signature => format!("<textarea name=\"{name}\"{hint}></textarea>"),
        FieldType::Email => text(name, "email", &value, hint),
        FieldType::Date => text(name, "date", &value, hint),
        FieldType::Integer(..) => text(name, "number", &value, hint),
        FieldType::Text
        | FieldType::Phone
        | FieldType::PostalCode
        | FieldType::Url
        | FieldType::State
        | FieldType::Country
        | FieldType::Timestamp => text(name, "text", &value, hint),
    };
    format!("<p><label>{} {control}</label></p>", name.replace(['_', '.'], " "))
}

fn text(name: &str, kind: &str, value: &str, hint: &str) -> String {
    format!("<input name=\"{name}\" type=\"{kind}\" value=\"{value}\"{hint}>")
}

fn select(name: &str, words: &[&str], chosen: &str) -> String {
    let option = |word: &&str| {
        let mark = if *word == chosen { " selected" } else { "" };
        format!("<option{mark}>{word}</option>")
    };
    let options: String = words.iter().map(option).collect();
    format!("<select name=\"{name}\"><option></option>{options}</select>")
}

/// A value as a text of the form.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What a form brings: what was left empty is not there, and the second owner's inputs are one object.
pub(super) fn read(sent: Value) -> Map<String, Value> {
    let Value::Object(sent) = sent else {
        return Map::new();
    };
    let is_empty = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
    let mut fields = Map::new();
    let mut second = Map::new();
    for (name, value) in sent.into_iter().filter(|(_, value)| !is_empty(value)) {
        match name.split_once('.') {
            Some((SECOND_OWNER, own)) => second.insert(own.to_owned(), value),
            _ if matches!(name.as_str(), "reference" | "plan" | "test") => None,
            _ => fields.insert(name, value),
        };
    }
    if !second.is_empty() {
        fields.insert(SECOND_OWNER.to_owned(), Value::Object(second));
    }
    fields
}

/// Lays what was sent over what was known.
pub(super) fn merge(fields: &mut Map<String, Value>, sent: Map<String, Value>) {
    for (name, value) in sent {
        match (fields.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (_, value) => drop(fields.insert(name, value)),
        }
    }
}
