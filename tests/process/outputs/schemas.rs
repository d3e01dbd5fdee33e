//! The schemas of `docs/schemas`, for every test that reads JSON of the program.

use std::path::Path;

use jsonschema::Validator;
use reckon::cli::outputs::register::{OUTPUTS, OutputRow};
use reckon::cli::outputs::shape::OutputShape;
use serde_json::Value;

/// Returns the row of an output.
pub(crate) fn row(source: &str) -> &'static OutputRow {
    OUTPUTS.iter().find(|row| row.source == source).unwrap_or_else(|| panic!("no output {source}"))
}

fn validator(shape: OutputShape) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas").join(shape.file());
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("no {}", path.display()));
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

/// Asserts that a value satisfies the schema of an output.
pub(crate) fn satisfies(source: &str, value: &Value) {
    let shape = row(source).content.shape().expect("a shape");
    let validator = validator(shape);
    let wrong: Vec<String> =
        validator.iter_errors(value).map(|one| format!("{}: {one}", one.instance_path())).collect();
    assert!(wrong.is_empty(), "{source} ({}): {wrong:#?}\n{value:#}", shape.file());
    if let Some(folder) = std::env::var_os("RECKON_SAMPLES") {
        std::fs::write(Path::new(&folder).join(shape.file()), format!("{value:#}\n")).unwrap();
    }
}
