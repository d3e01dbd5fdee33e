//! Tables of fields in pages of reference.

use crate::render::words::push_line;
use crate::spec::explain::Explanation;

/// The type whose words its name says.
const TRUTH: &str = "true or false";

/// A column: its title, and the text of a field.
pub(super) type Column = (&'static str, fn(&Explanation) -> String);

/// Renders the fields, one row each.
pub(super) fn field_table(out: &mut String, fields: &[&Explanation], columns: &[Column]) {
    let titles: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    push_line!(out, "\n| {} |", titles.join(" | "));
    push_line!(out, "|{}", "---|".repeat(columns.len()));
    for field in fields {
        let cells: Vec<String> = columns.iter().map(|(_, text)| cell(&text(field))).collect();
        push_line!(out, "| {} |", cells.join(" | "));
    }
}

/// Returns a text as a cell of a table, in one line.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

pub(super) fn path(field: &Explanation) -> String {
    format!("`{}`", field.path)
}

/// Returns the type, with the possible words.
pub(super) fn value_type(field: &Explanation) -> String {
    let allowed: Vec<String> = field.allowed.iter().map(|word| format!("`{word}`")).collect();
    if field.value_type.is_empty() {
        return "any value".to_owned();
    }
    if allowed.is_empty() || field.value_type == TRUTH {
        return field.value_type.clone();
    }
    format!("{}: {}", field.value_type, allowed.join(", "))
}

pub(super) fn default(field: &Explanation) -> String {
    match &field.default {
        Some(default) => format!("`{default}`"),
        None if field.required => "required".to_owned(),
        None => String::new(),
    }
}

/// Returns the meaning, and a word about values that are not shown.
pub(super) fn meaning(field: &Explanation) -> String {
    match field.privacy.filter(|privacy| *privacy != "plain") {
        Some(privacy) => format!("{} The value is {privacy}.", field.meaning),
        None => field.meaning.clone(),
    }
}
