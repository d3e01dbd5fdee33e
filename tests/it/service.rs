//! Checks that `docs/reference/service.md` has one line for each rule of the service, and that each line names a test
//! that reports its number.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::named_tests::{missing, read};

/// Rows of the service that are split into rules.
const ROWS: usize = 52;

/// A rule of the service.
struct Rule {
    /// Number of the rule, as `row.number`.
    id: String,
    /// Tests as `file: name`.
    tests: Vec<String>,
}

fn rules() -> Vec<Rule> {
    let text = read("docs/reference/service.md").unwrap_or_default();
    let rule = |line: &str| {
        let (id, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
        let numbered = id.split('.').all(|part| part.parse::<usize>().is_ok());
        let last = rest.trim_end_matches(" |").rsplit(" | ").next()?;
        let tests = last.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        numbered.then(|| Rule { id: id.to_owned(), tests })
    };
    text.lines().filter_map(rule).collect()
}

/// Returns the body of a test, up to the next line that closes a function.
fn body<'a>(source: &'a str, name: &str) -> &'a str {
    let start = source.find(&format!("fn {name}(")).unwrap_or(source.len());
    let rest = source.get(start..).unwrap_or_default();
    rest.split("\n}").next().unwrap_or_default()
}

/// Returns the numbers that a test reports.
fn reported(named: &str) -> BTreeSet<String> {
    let Some((file, name)) = named.split_once(": ") else { return BTreeSet::new() };
    let source = read(file).unwrap_or_default();
    let calls = body(&source, name).split("covers(&[").skip(1);
    let lists = calls.map(|call| call.split(']').next().unwrap_or_default());
    lists.flat_map(|list| list.split('"').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn every_rule_names_tests_that_are_there_and_report_its_number() {
    let mut wrong = Vec::new();
    for Rule { id, tests } in rules() {
        if tests.is_empty() {
            wrong.push(format!("{id} names no test"));
        }
        for named in &tests {
            wrong.extend(missing(named).map(|why| format!("{id}: {why}")));
            if !reported(named).contains(&id) {
                wrong.push(format!("{id}: {named} does not report it"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Returns the rules that no test shows yet, from lines such as `- 25.1 …` in the last part.
fn unshown() -> Vec<String> {
    let text = read("docs/reference/service.md").unwrap_or_default();
    let part = text.split_once("## Not shown yet").map_or("", |(_, part)| part);
    let ids = part.lines().filter_map(|line| line.strip_prefix("- ")?.split(' ').next());
    ids.map(str::to_owned).collect()
}

#[test]
fn rules_are_numbered_without_a_gap_and_none_twice() {
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for id in rules().into_iter().map(|rule| rule.id).chain(unshown()) {
        let (row, number) = id.split_once('.').unwrap();
        rows.entry(row.parse().unwrap()).or_default().push(number.parse().unwrap());
    }
    assert_eq!(rows.keys().copied().collect::<Vec<_>>(), (1..=ROWS).collect::<Vec<_>>());
    for (row, mut numbers) in rows {
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>(), "row {row}");
    }
}
