//! Checks that `docs/design/lessons.md` names a test for each lesson, and that each of these tests exists.

use std::collections::BTreeSet;

use crate::support::named_tests::{has_test, missing, read};

/// Number of lessons. Each has a row, or a reason why it is not applicable.
const LESSONS: usize = 42;

/// A row of a table.
struct Lesson<'a> {
    number: usize,
    /// Tests as `file: name`.
    tests: Vec<&'a str>,
}

/// Returns the rows that begin with a number. The last column has the tests in backticks.
fn lessons(text: &str) -> Vec<Lesson<'_>> {
    let row = |line: &'_ str| -> Option<usize> {
        line.strip_prefix("| ")?.split(' ').next()?.parse().ok()
    };
    let lesson = |line| {
        let last = str::trim_end_matches(line, " |").rsplit(" | ").next()?;
        Some(Lesson { number: row(line)?, tests: last.split('`').skip(1).step_by(2).collect() })
    };
    text.lines().filter_map(lesson).collect()
}

#[test]
fn every_lesson_names_tests_and_every_test_is_there() {
    let text = read("docs/design/lessons.md").unwrap();
    let mut wrong = Vec::new();
    for Lesson { number, tests } in lessons(&text) {
        if tests.is_empty() {
            wrong.push(format!("lesson {number} names no test"));
        }
        wrong.extend(
            tests
                .iter()
                .filter_map(|named| missing(named))
                .map(|why| format!("lesson {number}: {why}")),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn no_lesson_is_left_out() {
    let text = read("docs/design/lessons.md").unwrap();
    let (_, rest) = text.split_once("## Not applicable").unwrap();
    let reasons = rest.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    let kept = lessons(&text).into_iter().map(|lesson| lesson.number);
    let all: Vec<usize> = kept.chain(reasons.map(|(number, _)| number.parse().unwrap())).collect();
    let once: BTreeSet<usize> = all.iter().copied().collect();
    assert_eq!(once, (1..=LESSONS).collect());
    assert_eq!(all.len(), LESSONS, "each lesson occurs once");
}

#[test]
fn the_map_and_the_readme_lead_to_the_lessons() {
    for page in ["ARCHITECTURE.md", "README.md"] {
        assert!(read(page).unwrap().contains("(docs/design/lessons.md)"), "{page}");
    }
}

#[test]
fn what_is_no_test_is_not_taken_for_one() {
    let source = "#[test]\nfn one() {}\n\n#[tokio::test(start_paused = true)]\n// Why.\nasync fn two() {}\nfn three() {}\n#[test]\n#[ignore]\nfn four() {}\n";
    let found = ["one", "two", "three", "four", "on", "five"].map(|name| has_test(source, name));
    assert_eq!(found, [true, true, false, false, false, false]);
    assert!(missing("tests/nowhere.rs: one").unwrap().contains("is not there"));
    assert!(missing("tests/it/lessons.rs: nobody_wrote_this").unwrap().contains("has no test"));
    assert_eq!(missing("tests/it/lessons.rs: no_lesson_is_left_out"), None);
    assert_eq!(
        lessons("| 7 | a | b | none |\n| # | x |\n").first().map(|one| one.tests.len()),
        Some(0)
    );
}
