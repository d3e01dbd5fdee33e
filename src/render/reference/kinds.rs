//! Renders docs/reference/kinds.md: each kind with its fields and an example, from the tables that
//! `explain` and `new` read.

use chrono::NaiveDate;

use super::tables::{Column, default, field_table, meaning, path, value_type};
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::Mutability;
use crate::render::document_template::{TemplateValues, document};
use crate::render::words::push_line;
use crate::spec::explain::{Explanation, explain};

const INTRO: &str = "# Kinds

This page is made by `reckon explain -o markdown`. `reckon explain KIND` shows a kind in a terminal, and
`reckon new KIND NAME` writes a document to start from.

Paths are below `spec`, and `[]` is each item of a list. A document gives each required field. A field beneath another one
is required only where its parent is given. The column *change* says what a change of a field in the document does:
";

const COLUMNS: [Column; 5] = [
    ("field", path),
    ("type", value_type),
    ("required, default", default),
    ("change", change),
    ("meaning", meaning),
];

/// Renders the page of all kinds. `defaults` is the section of the kind `Defaults`, which has no row.
pub fn kinds_page(kinds: &[KindRow], defaults: &str) -> String {
    let mut out = String::from(INTRO);
    out.push('\n');
    for change in Mutability::ALL {
        push_line!(out, "- **{}**: {}", change.words(), change.meaning());
    }
    for row in kinds {
        out.push_str(&kind_section(row));
    }
    out.push_str(defaults);
    out
}

/// Renders the kind `Defaults`, with this document as an example.
pub fn defaults_section(defaults: &Explanation, example: &str) -> String {
    let mut out = String::new();
    let columns: [Column; 3] = [("field", path), ("type", value_type), ("meaning", meaning)];
    section(&mut out, defaults, &columns, example);
    out
}

/// Renders one kind.
pub fn kind_section(row: &KindRow) -> String {
    let mut out = String::new();
    let explained = explain(row, "").unwrap_or_default();
    section(&mut out, &explained, &COLUMNS, &example(row));
    out
}

fn section(out: &mut String, kind: &Explanation, columns: &[Column], example: &str) {
    push_line!(out, "\n## {}\n\n{}", kind.kind, kind.meaning);
    field_table(out, &kind.fields.iter().collect::<Vec<_>>(), columns);
    push_line!(out, "\n```yaml\n{}\n```", example.trim_end());
}

fn change(field: &Explanation) -> String {
    field.change.unwrap_or_default().to_owned()
}

/// Returns a new document of the kind without its comments.
fn example(row: &KindRow) -> String {
    let name = "jane";
    let day = NaiveDate::from_ymd_opt(2030, 1, 15).unwrap_or_default();
    let Ok(key) = format!("{}/{name}", row.name).parse() else { return String::new() };
    let (merchant, resource, plan) = ("acme".to_owned(), name.to_owned(), "basic".to_owned());
    let document = document(row, &TemplateValues { key, merchant, resource, plan, day });
    let lines = document.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.map(without_comment).collect::<Vec<_>>().join("\n")
}

/// Returns a line of YAML without the comment at its end.
fn without_comment(line: &str) -> String {
    line.split_once(" # ").map_or(line, |(value, _)| value).trim_end().to_owned()
}
