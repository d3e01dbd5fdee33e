//! Tests of the output for people and programs.

use insta::assert_snapshot;

use super::*;
use crate::spec::testing::{Tree, document};
use crate::spec::tree::loader::Loader;

mod real;

const PLAIN: OutputStyle = OutputStyle { color: false, unicode: true, width: 80 };

fn shown(loader: &Loader) -> String {
    let problems = loader.problems().shown;
    let text = text(&problems, &loader.sources(&problems), PLAIN);
    for problem in &problems {
        let place = format!("{}:{}:{}", problem.file, problem.line, problem.column);
        assert!(text.contains(&place), "{place} is missing in\n{text}");
    }
    text
}

fn check(text: &str) -> String {
    shown(&Tree::new(&[("a.yaml", text)]).load())
}

#[test]
fn a_problem_is_shown_at_its_place_with_a_help() {
    assert_snapshot!(check("kind: Contact\nspec:\n\tnumber: 1\n"), @r#"
    reckon::yaml::tab

      × the indentation contains a tab
       ╭─[specs/a.yaml:3:1]
     2 │ spec:
     3 │     number: •
       · ────
       ╰────
      help: indent with spaces
    "#);
    assert_snapshot!(check("kind: Contact\r\nspec: {a: é, a: 2}\r\n"), @r#"
    reckon::header::missing

      × `apiVersion` is missing
       ╭─[specs/a.yaml:1:1]
     1 │ kind: Contact
       · ─────────────
     2 │ spec: {a: é, a: 2}
       ╰────
      help: write `apiVersion: reckon.dev/v1`

    reckon::header::missing

      × `metadata` is missing
       ╭─[specs/a.yaml:1:1]
     1 │ kind: Contact
       · ─────────────
     2 │ spec: {a: é, a: 2}
       ╰────
      help: write `metadata: {name: …}`

    reckon::yaml::duplicate_key

      × duplicate key `a`
       ╭─[specs/a.yaml:2:14]
     1 │ kind: Contact
     2 │ spec: {a: é, a: 2}
       ·        ┬     ─
       ·        ╰── the first one is here
       ╰────
      help: keep one of the two
    "#);
}

#[test]
fn a_snippet_shows_no_private_value_and_keeps_columns() {
    let head = "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\n";
    let spec = "spec: {first_name: Zoë, number: '42', total: 0}\n";
    assert_snapshot!(check(&format!("{head}{spec}")), @r#"
    reckon::invoice::total_zero

      × the total of `•••` is 0
       ╭─[specs/a.yaml:4:46]
     3 │ metadata: {name: jane}
     4 │ spec: {first_name: •••, number: ••••, total: 0}
       ·                                              ─
       ╰────
      help: write an amount
    "#);
    assert_snapshot!(check(&format!("{head}spec:\n  number: 42\n  first_name: 'Jane\n")), @r#"
    reckon::yaml::syntax

      × invalid YAML: while scanning a quoted scalar, found unexpected end of
      │ stream
       ╭─[specs/a.yaml:6:15]
     5 │   number: ••
     6 │   first_name: •••••
       ·               ─
       ╰────
      help: close the quote
    "#);
}

#[test]
fn a_second_place_in_another_file_is_named() {
    let jane = document("Contact", "jane", "");
    let tree = Tree::new(&[("a.yaml", &jane), ("b.yaml", &jane)]);
    assert_snapshot!(shown(&tree.load()), @r#"
    reckon::link::duplicate

      × Contact/jane is defined more than once
       ╭─[specs/b.yaml:1:61]
     1 │ {apiVersion: reckon.dev/v1, kind: Contact, metadata: {name: jane}, spec: {}}
       ·                                                             ────
       ╰────
      help: rename or remove one of them
      see specs/a.yaml:1:61: the first definition is here
    "#);
}

#[test]
fn what_has_no_snippet_still_has_its_place() {
    assert_snapshot!(check("a\0b\0c\0d\0"), @r#"
    reckon::yaml::utf16

      × the file is UTF-16 or UTF-32, not UTF-8
      help: save it as UTF-8, such as with `iconv -f UTF-16 -t UTF-8`
      at specs/a.yaml:1:1
    "#);
    let long = format!("a: {}\na: 1\n", "x".repeat(5000));
    assert!(!check(&long).contains("xxx"));
    let tree = Tree::new(&[("a.yaml", "a: 'x\n")]);
    let loader = tree.load();
    tree.write("a.yaml", "changed");
    assert!(!shown(&loader).contains("changed"));
}

#[test]
fn plain_ascii_is_possible_and_color_only_where_it_is_wanted() {
    let loader = Tree::new(&[("a.yaml", "a: 'x\n")]).load();
    let problems = loader.problems().shown;
    let with = |look| text(&problems, &loader.sources(&problems), look);
    assert!(with(OutputStyle { unicode: false, ..PLAIN }).is_ascii());
    assert!(with(OutputStyle { color: true, ..PLAIN }).contains('\u{1b}'));
    assert!(!with(PLAIN).contains('\u{1b}'));
}

#[test]
fn only_the_first_problems_are_shown_and_the_rest_is_counted() {
    let problem = |line| PlacedIssue { line, ..problem_at_first_line() };
    let problems: Vec<_> = (1..=SHOWN_MAX + 7).map(problem).collect();
    let text = text(&problems, &Sources::default(), PLAIN);
    assert_eq!(text.matches("reckon::yaml::syntax").count(), SHOWN_MAX);
    assert!(text.ends_with("7 more; `-o json` lists all\n"));
    let json = ProblemsView::new(3, &problems, ProblemCounts::default());
    let json = serde_json::to_value(json).unwrap();
    assert_eq!(json["problems"].as_array().map(Vec::len), Some(SHOWN_MAX + 7));
    assert_eq!(json["documents"], 3);
    assert_eq!(json["version"], 1);
    assert_eq!(json["problems"][0]["severity"], "error");
}

fn problem_at_first_line() -> PlacedIssue {
    let loader = Tree::new(&[("a.yaml", "a: 'x\n")]).load();
    loader.problems().shown.remove(0)
}
