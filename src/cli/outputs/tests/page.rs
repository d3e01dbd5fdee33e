//! Renders docs/reference/output.md: rules, a table of the outputs, and an example of each shape.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::outputs::register::{OutputContent, OutputRow};
use crate::cli::outputs::shape::OutputShape;

const INTRO: &str = include_str!("intro.md");

pub(super) fn page(rows: &[OutputRow], example: impl Fn(OutputShape) -> Option<String>) -> String {
    let mut out = String::from(INTRO);
    out.push_str("\n## Outputs\n\n| command or path | output | schema |\n|---|---|---|\n");
    let mut sources: BTreeMap<String, (OutputShape, Vec<&str>)> = BTreeMap::new();
    for row in rows {
        let (form, shape) = cells(row);
        writeln!(out, "| {} | {form} | {shape} |", code(row.source)).unwrap();
        if let Some(shape) = row.content.shape() {
            let of = sources.entry(shape.file()).or_insert((shape, Vec::new()));
            of.1.push(row.source);
        }
    }
    out.push_str("\n## Examples\n\nLists are shortened. Every example satisfies its schema.\n");
    for (shape, sources) in sources.into_values() {
        let sources: Vec<String> = sources.into_iter().map(code).collect();
        let example = example(shape).unwrap_or_default();
        let OutputShape { name, version, .. } = shape;
        writeln!(out, "\n### {name}\n\nVersion {version}: {}.\n", sources.join(", ")).unwrap();
        writeln!(out, "```json\n{}\n```", example.trim_end()).unwrap();
    }
    out
}

/// Formats a command or a path as code, and a sentence as text.
fn code(source: &str) -> String {
    match source.split_once(", for ") {
        Some((source, which)) => format!("`{source}` for {which}"),
        None if source.starts_with("any ") => source.to_owned(),
        None => format!("`{source}`"),
    }
}

fn cells(row: &OutputRow) -> (String, String) {
    let link = |shape: OutputShape| {
        let file = shape.file();
        format!("[`{file}`](../schemas/{file})")
    };
    match row.content {
        OutputContent::Value(shape) => ("one value".to_owned(), link(shape)),
        OutputContent::Lines(shape) => ("one value a line".to_owned(), link(shape)),
        OutputContent::Foreign(what) => (what.to_owned(), "none".to_owned()),
        OutputContent::Text(what) => (format!("text: {what}"), "none".to_owned()),
    }
}
