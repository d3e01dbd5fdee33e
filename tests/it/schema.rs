//! JSON Schemas: current, valid by themselves, and in agreement with the program about the shipped specs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use reckon::kinds::register::KINDS;
use reckon::render;
use reckon::spec::documents::schema::{DOCUMENT, document, of_kind};
use serde::Deserialize;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every schema, by the name of its file.
fn schemas() -> Vec<(String, Value)> {
    let kinds = KINDS.iter().map(|row| (row.name.to_owned(), of_kind(row)));
    kinds.chain([(DOCUMENT.to_owned(), document(KINDS))]).collect()
}

/// Returns the shipped spec files, including those that `init` writes.
fn spec_files() -> Vec<PathBuf> {
    let walked = walkdir::WalkDir::new(root().join("specs")).into_iter();
    let files = walked.map(|entry| entry.unwrap().into_path());
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml");
    let mut files: Vec<PathBuf> = files.filter(is_yaml).collect();
    files.push(root().join("src/cli/commands/init/acme.yaml"));
    files
}

/// Parses the documents of a valid file.
fn documents(text: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(text);
    documents.map(|one| Value::deserialize(one).unwrap()).collect()
}

/// Returns the problems of a document, by the schema for any document.
fn problems(document: &Value) -> Vec<String> {
    let schema = self::document(KINDS);
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(document).map(|error| error.to_string()).collect()
}

#[test]
fn the_files_are_what_the_program_prints() {
    let folder = root().join("specs/schema");
    let mut names = BTreeSet::new();
    for (name, schema) in schemas() {
        let file = format!("{name}.json");
        let kept = std::fs::read_to_string(folder.join(&file)).unwrap_or_default();
        let argument = if name == DOCUMENT { "" } else { &name };
        assert!(
            kept == format!("{}\n", render::json(&schema)),
            "specs/schema/{file} is outdated: run `cargo run -- schema {argument} > specs/schema/{file}`"
        );
        names.insert(file);
    }
    let there = std::fs::read_dir(&folder).unwrap();
    let there = there.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(there.collect::<BTreeSet<_>>(), names);
}

#[test]
fn each_is_a_schema_of_draft_2020_12() {
    for (name, schema) in schemas() {
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
    }
}

#[test]
fn every_shipped_spec_fits_and_names_its_schema_first() {
    for file in spec_files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let first = text.lines().next().unwrap();
        let schema = first.strip_prefix("# yaml-language-server: $schema=");
        let schema = schema.unwrap_or_else(|| panic!("{}: {first}", file.display()));
        // `init` writes this file to `specs`, and not to the folder in which its text is kept.
        let folder = file.parent().unwrap();
        let shipped = folder.join(schema).exists() || root().join("specs").join(schema).exists();
        assert!(shipped, "{}: {schema}", file.display());
        for document in documents(&text) {
            assert_eq!(problems(&document), Vec::<String>::new(), "{}", file.display());
        }
    }
}

/// Edits of the documents of `init`: a text, its replacement, and true if the result is valid.
const EDITS: &[(&str, &str, bool)] = &[
    ("{env: CODE_ACME}", "{file: acme/code}", true),
    ("{env: CODE_ACME}", "{exec: code}", true),
    ("{env: CODE_ACME}", "{age: '-----BEGIN AGE ENCRYPTED FILE-----'}", true),
    ("{env: CODE_ACME}", "in-the-open", false),
    ("{env: CODE_ACME}", "{env: CODE_ACME, file: code}", false),
    ("{env: CODE_ACME}", "{env: not a name}", false),
    ("mode: test", "mode: tset", false),
    ("mode: test\n  ", "", false),
    ("kind: Contact", "kind: Contcat", false),
    ("kind: Contact", "kind: Invoice", false),
    ("first_name", "firstName", false),
    ("  name: jane\n", "  name: Jane\n", false),
    ("  name: jane\n", "  name: jane\n  labels: {a: 1}\n", true),
    (
        "  name: jane\n",
        "  name: jane\n  annotations: {reckon.dev/suspend: 'true', other/x: y}\n",
        true,
    ),
    ("  name: jane\n", "  name: jane\n  annotations: {reckon.dev/supend: 'true'}\n", false),
    ("\"125.00 USD\"", "12500", true),
    ("\"125.00 USD\"", "125.5", false),
    ("\"125.00 USD\"", "\"125.00\"", false),
    ("bank_account", "source_id: x\n  bank_account", false),
    ("reckon.dev/v1", "reckon.dev/v2", false),
];

#[test]
fn mistakes_are_seen_and_every_form_of_a_secret_is_allowed() {
    let good = std::fs::read_to_string(root().join("src/cli/commands/init/acme.yaml")).unwrap();
    for (from, to, fits) in EDITS {
        assert!(good.contains(from), "{from}");
        let edited = documents(&good.replace(from, to));
        let found: Vec<String> = edited.iter().flat_map(problems).collect();
        assert_eq!(found.is_empty(), *fits, "{from} -> {to}: {found:?}");
    }
}

#[test]
fn every_field_of_every_kind_is_in_its_schema_with_its_text() {
    for row in KINDS {
        let text = of_kind(row).to_string();
        for field in row.fields {
            let doc = Value::from(field.doc).to_string();
            assert!(text.contains(&doc), "{}.{} is not described", row.name, field.path);
        }
    }
}
