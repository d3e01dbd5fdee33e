//! Checks that `docs/operations/security.md` names tests for each claim, and that each of these tests exists.

use crate::support::named_tests::{missing, read};

/// Returns the rows of every table whose last column is called `tests`.
fn rows(text: &str) -> Vec<&str> {
    let is_row = |line: &&str| line.starts_with("| ") && !line.ends_with("| tests |");
    text.lines().filter(is_row).collect()
}

/// Returns the tests that a row names in its last column.
fn tests(row: &str) -> Vec<&str> {
    let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
    last.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_claim_names_tests_and_every_test_is_there() {
    let text = read("docs/operations/security.md").unwrap_or_default();
    let rows = rows(&text);
    assert!(rows.len() > 35, "{} claims", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let claim: String = row.chars().take(60).collect();
        if tests(row).is_empty() {
            wrong.push(format!("{claim}: names no test"));
        }
        let absent = tests(row).into_iter().filter_map(missing);
        wrong.extend(absent.map(|why| format!("{claim}: {why}")));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_claim_without_a_test_is_seen() {
    assert_eq!(
        tests("| a | b | `tests/a.rs: b`, `src/c.rs: d` |"),
        ["tests/a.rs: b", "src/c.rs: d"]
    );
    assert!(tests("| a `b` | none |").is_empty());
    assert_eq!(rows("| who | tests |\n|---|---|\n| a | b |\ntext"), ["| a | b |"]);
}

#[test]
fn the_map_and_the_readme_lead_to_it() {
    for page in ["ARCHITECTURE.md", "README.md"] {
        let text = read(page).unwrap_or_default();
        assert!(text.contains("(docs/operations/security.md)"), "{page}");
    }
}
