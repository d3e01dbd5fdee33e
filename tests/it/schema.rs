//! JSON Schemas: current, valid by themselves, and in agreement with the program about the shipped specs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use reckon::config::schema as config;
use reckon::config::schema::CONFIG;
use reckon::config::settings::Config;
use reckon::kinds::register::KINDS;
use reckon::render;
use reckon::spec::default_fields::DEFAULTS;
use reckon::spec::header::{DOCUMENT, document, of_defaults, of_kind};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every schema, by the name of its file.
fn schemas() -> Vec<(String, Value)> {
    let kinds = KINDS.iter().map(|row| (row.name.to_owned(), of_kind(row)));
    let others = [
        (DOCUMENT.to_owned(), document(KINDS)),
        (CONFIG.to_owned(), config::schema()),
        (DEFAULTS.to_owned(), of_defaults()),
    ];
    kinds.chain(others).collect()
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
    ("  merchant: acme\n", "", true),
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
fn defaults_have_values_and_no_name() {
    let head = "apiVersion: reckon.dev/v1\nkind: Defaults\n";
    for (body, fits) in [
        ("spec: {merchant: acme, timezone: UTC, labels: {team: x}}", true),
        ("metadata: {name: x}\nspec: {merchant: acme}", false),
        ("spec: {merchant: acme, amount: 1.00 USD}", false),
        ("spec: {labels: {team: 1}}", false),
    ] {
        let found = problems(&documents(&format!("{head}{body}\n")).remove(0));
        assert_eq!(found.is_empty(), fits, "{body}: {found:?}");
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

/// Returns the shipped configuration files.
fn config_files() -> Vec<String> {
    let files = ["reckon.yaml", "src/cli/commands/init/reckon.yaml"];
    files.map(|file| std::fs::read_to_string(root().join(file)).unwrap()).into()
}

/// Edits of the shipped `reckon.yaml`: a text, its replacement, and true if the result is valid.
const CONFIG_EDITS: &[(&str, &str, bool)] = &[
    ("timeout: 30s", "timeout: {env: TIMEOUT}", true),
    ("timeout: 30s", "timeout: 30", false),
    ("timeout: 30s", "timeout: {env: A, file: b}", false),
    ("timeout: 30s", "timeout: ~", true),
    ("timeout: 30s", "timout: 30s", false),
    ("apiVersion: reckon.dev/v1", "apiVersion: reckon.dev/v2", false),
    ("kind: Config\n", "", false),
    ("amounts: decimal", "amounts: decmal", false),
    (
        "amounts: decimal",
        "amounts: decimal\n  limits: {per_day: ['1.00 USD'], live: {per_run: []}}",
        true,
    ),
    ("amounts: decimal", "amounts: decimal\n  limits: {per_day: '1.00 USD'}", false),
    (
        "amounts: decimal",
        "amounts: decimal\n  limits: {merchants: {acme: {per_day: ['1.00 USD']}}}",
        true,
    ),
    ("amounts: decimal", "amounts: decimal\n  limits: {merchants: {acme: {live: {}}}}", false),
    (
        "amounts: decimal",
        "amounts: decimal\n  prune: {percent: 50%, empty: allow, delay: 72h}",
        true,
    ),
    ("amounts: decimal", "amounts: decimal\n  prune: {percent: 130}", false),
    ("amounts: decimal", "amounts: decimal\n  approvals: {signed: {folder: a}}", false),
    ("[refund, charge, credit, mail, card_link]", "{refund: [acme, books/two], mail: all}", true),
    ("[refund, charge, credit, mail, card_link]", "[refnd]", false),
    ("type: chat", "type: chta", false),
    ("type: chat", "type: chat, at_least_once: true", true),
    ("type: chat", "type: chat, alerts: all", true),
    ("type: chat", "type: chat, alerts: [held, recovered]", true),
    ("type: chat", "type: chat, alerts: [hold]", false),
    ("type: chat", "type: chat, alerts: every", false),
    ("type: chat", "type: chat, alerts: {env: ALERTS}", false),
    ("to: [billing@partner.example]", "to: any", true),
    ("to: [billing@partner.example]", "to: [any, {env: OPS}]", true),
    ("to: [billing@partner.example], ", "", false),
    ("{id: basic, trust: false}", "{id: basic}", true),
    ("{id: basic, trust: false}", "{trust: false}", false),
    ("listen: 127.0.0.1:8780", "listen: 8780", false),
    ("files: examples/secrets", "exec: {jane: [/bin/vault, get, 7]}", true),
    ("files: examples/secrets", "age: {file: age.key}", true),
    ("files: examples/secrets", "age: age.key", false),
];

#[test]
fn the_schema_of_reckon_yaml_agrees_with_its_reader() {
    let validator = jsonschema::validator_for(&config::schema()).unwrap();
    let agrees = |text: &str| {
        let value: Value = serde_yaml::from_str(text).unwrap();
        let read = Config::parse("reckon.yaml", Path::new("."), text.as_bytes().to_vec());
        let problems = read.err().map(|broken| broken.problems);
        assert_eq!(validator.is_valid(&value), problems.is_none(), "{text}\n{problems:?}");
        problems.is_none()
    };
    let files = config_files();
    for text in &files {
        assert!(agrees(text), "{text}");
    }
    for (from, to, fits) in CONFIG_EDITS {
        assert!(files[0].contains(from), "{from}");
        assert_eq!(agrees(&files[0].replace(from, to)), *fits, "{from} -> {to}");
    }
}
