use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Shop {
    name: String,
    size: Option<u8>,
    lines: Vec<Line>,
    unit: Unit,
    #[serde(default)]
    notes: BTreeMap<String, bool>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
    amount: i64,
}

#[derive(Debug, Deserialize, PartialEq)]
enum Unit {
    Day,
    Month,
}

fn problems(yaml: &str) -> Vec<String> {
    match decode::<Shop>(yaml) {
        Ok(shop) => panic!("{shop:?}"),
        Err(InvalidDocument::Broken(error)) => vec![format!("broken: {error}")],
        Err(InvalidDocument::Misfits(misfits)) => misfits.iter().map(line).collect(),
    }
}

fn line(misfit: &DocumentMisfit) -> String {
    let DocumentMisfit { path, problem } = misfit;
    let problem = match problem {
        DecodeProblem::UnknownField { known, .. } => format!("unknown, of {}", known.len()),
        DecodeProblem::MissingField { name } => format!("lacks {name}"),
        DecodeProblem::DuplicateField { name } => format!("twice {name}"),
        DecodeProblem::UnknownWord { found, .. } => format!("word {found}"),
        DecodeProblem::WrongType { expected, .. } => format!("not {expected:?}"),
        DecodeProblem::WrongValue { expected, .. } => format!("value not {expected:?}"),
        DecodeProblem::Other(text) => text.clone(),
    };
    format!("{path}: {problem}")
}

#[test]
fn a_plain_scalar_is_a_number_or_its_own_text_as_its_field_expects() {
    let yaml =
        "name: +0155\nsize: 7\nlines: [{text: 1.50, amount: -3}]\nunit: Day\nnotes: {a: true}";
    let shop = decode::<Shop>(yaml).unwrap();
    assert_eq!((shop.name.as_str(), shop.lines[0].text.as_str()), ("+0155", "1.50"));
    // The second reading of a document with a problem sees the same values.
    let told = problems(&format!("{yaml}\nmore: 1"));
    assert_eq!(told, ["more: unknown, of 5"]);
}

#[test]
fn every_problem_comes_out_in_one_run() {
    let yaml = "name: [x]\nsize: 300\nsise: 1\nlines: [{text: a, amount: many}, {txt: b}, 5]\nunit: Week\nnotes: {a: no, b: true}";
    let mut told = problems(yaml);
    told.sort();
    let expect = [
        "lines[0].amount: not WholeNumber",
        "lines[1].txt: unknown, of 2",
        "lines[1]: lacks amount",
        "lines[1]: lacks text",
        "lines[2]: not Mapping",
        "name: not Text",
        "notes.a: not Bool",
        "sise: unknown, of 5",
        "size: value not WholeNumber",
        "unit: word Week",
    ];
    assert_eq!(told, expect);
}

#[test]
fn nothing_beneath_a_reported_value_is_reported() {
    assert_eq!(problems("name: a\nlines: {a: [1]}\nunit: Day"), ["lines: not Sequence"]);
    assert_eq!(problems("- 1"), [".: not Mapping"]);
    assert_eq!(problems("5"), [".: not Mapping"]);
    let told = problems("{}");
    assert_eq!(told, [".: lacks name", ".: lacks lines", ".: lacks unit"]);
}

#[test]
fn broken_yaml_is_no_misfit_and_nothing_makes_it_panic() {
    let deep = format!("name: {}", "[".repeat(100_000));
    let (tag, twice) =
        ("name: !x a\nlines: []\nunit: Day", "name: a\nname: b\nlines: []\nunit: Day");
    for yaml in ["", "name: ]", "a: 'x", "%", "*a", "? [a]\n: b", &deep, tag, twice, "1: 2"] {
        if let Err(InvalidDocument::Misfits(misfits)) = decode::<Shop>(yaml) {
            assert!(!misfits.is_empty(), "{yaml}");
        }
    }
    assert!(problems("name: ]")[0].starts_with("broken: "));
    let told = problems(&deep);
    assert!(told[0].starts_with("broken: "), "{}", told.len());
}

#[test]
fn the_number_of_problems_is_bounded() {
    let fields: Vec<String> = (0..5_000).map(|number| format!("f{number}: 1")).collect();
    let yaml = format!("name: a\nlines: []\nunit: Day\n{}", fields.join("\n"));
    assert_eq!(problems(&yaml).len(), DECODINGS_MAX);
}
