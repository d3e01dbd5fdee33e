//! Renders docs/reference/configuration.md: the fields of `reckon.yaml`, from the schema of its types.

use super::tables::{Column, default, field_table, meaning, path, value_type};
use crate::render::words::push_line;
use crate::spec::explain::Explanation;

const INTRO: &str = "# Configuration

This page is made by `reckon explain Config -o markdown`. `reckon schema Config` prints the JSON Schema for editors.

`reckon.yaml` holds the decisions of the operator. Relative paths start at the folder of the file. `NAME` in a path is
a name that you choose, and `[]` is each item of a list. The column *set in* says where a value may be:

- **file, variable**: the file holds the value, or `{env: NAME}` with the variable that holds it.
- **file**: the file alone.

Three options of the command line come before the file and its variables: `--config` names the file, `--state` the state
directory, and `--server` a daemon that holds the state.
";

const COLUMNS: [Column; 5] = [
    ("field", path),
    ("type", value_type),
    ("required, default", default),
    ("set in", source),
    ("meaning", meaning),
];

/// Renders the page of the file that `config` explains.
pub fn configuration_page(config: &Explanation) -> String {
    let mut out = String::from(INTRO);
    let has_parts = |field: &Explanation| beneath(config, &field.path).next().is_some();
    let top = || config.fields.iter().filter(|field| !field.path.contains(['.', '[']));
    push_line!(out, "\n## The file");
    let single: Vec<&Explanation> = top().filter(|field| !has_parts(field)).collect();
    field_table(&mut out, &single, &COLUMNS);
    for section in top().filter(|field| has_parts(field)) {
        push_line!(out, "\n## `{}`\n\n{}", section.path, section.meaning);
        let fields = beneath(config, &section.path);
        let fields: Vec<&Explanation> = fields.filter(|field| !has_parts(field)).collect();
        field_table(&mut out, &fields, &COLUMNS);
    }
    out
}

/// Returns the fields beneath a path.
fn beneath<'a>(config: &'a Explanation, path: &str) -> impl Iterator<Item = &'a Explanation> {
    let begins = [format!("{path}."), format!("{path}[")];
    config
        .fields
        .iter()
        .filter(move |field| begins.iter().any(|begin| field.path.starts_with(begin)))
}

fn source(field: &Explanation) -> String {
    if field.from_variable { "file, variable" } else { "file" }.to_owned()
}
