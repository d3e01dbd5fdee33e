//! Generated files: the schemas in `docs/schemas`, and the page that lists them. `RECKON_BLESS=1`
//! writes them.

#![expect(clippy::disallowed_methods, reason = "a person sets the variable of a test run")]

mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use serde_json::Value;

use super::register::{OUTPUTS, OutputRow};
use super::shape::OutputShape;
use crate::cli::args::options::Cli;

const BLESS: &str = "RECKON_BLESS";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn shapes() -> BTreeMap<String, OutputShape> {
    OUTPUTS
        .iter()
        .filter_map(|row| row.content.shape())
        .map(|shape| (shape.file(), shape))
        .collect()
}

/// Returns the example of a shape; `None` until there is one.
fn example(shape: OutputShape) -> Option<String> {
    fs::read_to_string(docs().join("schemas/examples").join(shape.file())).ok()
}

/// Compares a generated file with the one in the tree, or writes it.
fn check(path: &Path, made: &str) {
    if std::env::var_os(BLESS).is_some() {
        fs::write(path, made).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    let differing = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
    let line = differing.unwrap_or(kept.lines().count().min(made.lines().count()));
    assert!(
        kept == made,
        "{} differs in line {}:\n-{}\n+{}\nRun this test with {BLESS}=1 to write it. A field that is \
        renamed, removed or no longer always there needs a new version of the shape.",
        path.display(),
        line.saturating_add(1),
        kept.lines().nth(line).unwrap_or_default(),
        made.lines().nth(line).unwrap_or_default(),
    );
}

#[test]
fn the_schemas_are_made_of_the_types() {
    let folder = docs().join("schemas");
    for (file, shape) in shapes() {
        let made = format!("{}\n", serde_json::to_string_pretty(&shape.schema()).unwrap());
        check(&folder.join(file), &made);
    }
    let known = shapes();
    let kept = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let kept = kept
        .filter_map(|name| name.into_string().ok())
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "json"));
    let left: Vec<String> = kept.filter(|name| !known.contains_key(name)).collect();
    assert!(left.is_empty(), "no output has the shape of these files: {left:?}");
}

#[test]
fn the_page_lists_every_output() {
    check(&docs().join("reference/output.md"), &page::page(OUTPUTS, example));
}

#[test]
fn each_shape_has_one_type_and_an_example_that_it_permits() {
    let mut types: BTreeMap<String, Value> = BTreeMap::new();
    for shape in OUTPUTS.iter().filter_map(|row| row.content.shape()) {
        let schema = shape.schema();
        assert_eq!(types.entry(shape.file()).or_insert_with(|| schema.clone()), &schema);
        let text = example(shape).unwrap_or_else(|| panic!("no example of {}", shape.file()));
        let example = serde_json::from_str(&text).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&example).map(|one| one.to_string()).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", shape.file());
    }
}

/// Every object that a schema declares names its fields, and permits no other.
#[test]
fn a_renamed_field_breaks_a_schema() {
    for shape in shapes().values() {
        let schema = shape.schema();
        let example: Value = serde_json::from_str(&example(*shape).unwrap()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let Some(fields) = example.as_object() else { continue };
        for name in fields.keys() {
            let mut other = fields.clone();
            let value = other.remove(name).unwrap();
            other.insert(format!("{name}_x"), value);
            assert!(!validator.is_valid(&Value::Object(other)), "{}: {name}", shape.file());
        }
    }
}

/// Returns the words of a row's command, without options and placeholders.
fn words(row: &OutputRow) -> Vec<&str> {
    let plain = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
    row.source.split([' ', ',']).take_while(plain).collect()
}

fn leaves(command: &Command, path: &[&str], found: &mut BTreeSet<String>) {
    let visible: Vec<&Command> =
        command.get_subcommands().filter(|one| !one.is_hide_set()).collect();
    // A command with optional subcommands has an output of its own.
    if visible.is_empty() || !command.is_subcommand_required_set() && !path.is_empty() {
        found.insert(path.join(" "));
    }
    for one in visible.into_iter().filter(|one| one.get_name() != "help") {
        leaves(one, &[path, &[one.get_name()]].concat(), found);
    }
}

#[test]
fn each_command_has_a_row() {
    let mut found = BTreeSet::new();
    leaves(&Cli::command(), &[], &mut found);
    assert!(found.len() > 60, "{found:?}");
    let rows: Vec<String> = OUTPUTS.iter().map(|row| words(row).join(" ")).collect();
    let is_action = |name: &str| name.starts_with("gateway ") && name != "gateway get";
    let missing = found.iter().filter(|name| !is_action(name) && !rows.contains(name));
    let missing: Vec<&String> = missing.collect();
    assert!(missing.is_empty(), "add rows to src/cli/outputs/register.rs: {missing:?}");
    let known = |name: &str| found.contains(name) || name == "gateway";
    let http = |row: &OutputRow| row.source.contains("/api/v1/") || row.source.starts_with("any ");
    let gone: Vec<&str> = OUTPUTS
        .iter()
        .filter(|row| !http(row) && !known(&words(row).join(" ")))
        .map(|row| row.source)
        .collect();
    assert!(gone.is_empty(), "no such commands: {gone:?}");
}
