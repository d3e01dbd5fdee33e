//! Tables of rules: a rule in the reference's words, a valid document made invalid, and the diagnostics of the result.
//!
//! A rule is a line of its own, with further lines beneath it:
//! - `-` is the text of the valid document to replace; without it, the end of the document.
//! - `+` is the replacement; without it, the line is removed.
//! - Each `=` is one diagnostic, as `FILE:LINE:COLUMN code: message | help`.
//!
//! `\n` is a line break.

use std::collections::BTreeMap;

use reckon::base::money::Currency;
use reckon::kinds::register::KINDS;
use reckon::kinds::schema::kind::CheckCx;
use reckon::model::issue::PlacedIssue;
use reckon::render::diagnostic::{OutputStyle, text};
use reckon::spec::document::ReadContext;
use reckon::spec::tree::loader::Loader;

/// A rendering so wide that no sentence is wrapped.
const LOOK: OutputStyle = OutputStyle { color: false, unicode: true, width: 4000 };
const FILE: &str = "it.yaml";

/// A rule, with a value that breaks it.
#[derive(Debug, Default)]
struct Rule<'a> {
    says: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
    told: Vec<&'a str>,
}

/// Fails with every rule whose diagnostics differ from the table, and with the table as it would be now.
pub(crate) fn check(good: &str, table: &str) {
    assert_eq!(diagnostics(good), Vec::<String>::new(), "the valid document");
    let rules = rules(table);
    assert!(!rules.is_empty(), "an empty table");
    let (mut wrong, mut now) = (Vec::new(), Vec::new());
    for rule in &rules {
        let found = diagnostics(&broken(good, rule));
        now.push(rule.says.to_owned());
        now.extend(rule.from.map(|from| format!("    - {from}")));
        now.extend(rule.to.map(|to| format!("    + {to}")));
        now.extend(found.iter().map(|one| format!("    = {one}")));
        if found.is_empty() || found != rule.told {
            wrong.push(format!("{}\n    was: {:?}\n    now: {found:?}", rule.says, rule.told));
        }
    }
    let (wrong, now) = (wrong.join("\n"), now.join("\n"));
    assert!(
        wrong.is_empty(),
        "these rules have other diagnostics:\n{wrong}\nthe table now:\n{now}\n"
    );
}

fn rules(table: &str) -> Vec<Rule<'_>> {
    let mut rules: Vec<Rule<'_>> = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let rest = line.strip_prefix("    ");
        match (rest.map(|rest| rest.split_at(1)), rules.last_mut()) {
            (Some(("-", text)), Some(rule)) => rule.from = Some(text.trim()),
            (Some(("+", text)), Some(rule)) => rule.to = Some(text.trim()),
            (Some(("=", text)), Some(rule)) => rule.told.push(text.trim()),
            (None, _) => rules.push(Rule { says: line, ..Rule::default() }),
            (Some(_), _) => panic!("not a line of a table: {line}"),
        }
    }
    rules
}

/// Returns the valid document with the rule's value in it.
fn broken(good: &str, rule: &Rule<'_>) -> String {
    let to = rule.to.map(|to| to.replace("\\n", "\n"));
    let Some(from) = rule.from else {
        let end = good.find("---\n").unwrap_or(good.len());
        return format!("{}  {}\n{}", &good[..end], to.unwrap_or_default(), &good[end..]);
    };
    let from = from.replace("\\n", "\n");
    assert!(good.contains(&from), "{}: {from:?} is not in\n{good}", rule.says);
    match to {
        Some(to) => good.replacen(&from, &to, 1),
        None => without_lines(good, &from),
    }
}

/// Returns the text without the lines that hold this part of it.
fn without_lines(good: &str, part: &str) -> String {
    let at = good.find(part).unwrap();
    let start = good[..at].rfind('\n').map_or(0, |line| line + 1);
    let end = at + part.len();
    let end = good[end..].find('\n').map_or(good.len(), |line| end + line + 1);
    format!("{}{}", &good[..start], &good[end..])
}

/// Returns everything that `validate` reports of a file with this text.
fn diagnostics(yaml: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE), yaml).unwrap();
    let mut loader = Loader::new(folder.path(), "specs", ReadContext { kinds: KINDS, check: cx() });
    loader.load_all();
    let problems = loader.problems().shown;
    let shown = text(&problems, &loader.sources(&problems), LOOK);
    problems.iter().map(|problem| line(problem, &shown)).collect()
}

/// Returns a diagnostic in one line, after a check that people see all of it.
fn line(problem: &PlacedIssue, shown: &str) -> String {
    let PlacedIssue { file, line, column, code, message, help, .. } = problem;
    let place = format!("{file}:{line}:{column}");
    for part in [&place, code, message, help] {
        assert!(shown.contains(part.as_str()), "{part} is not in\n{shown}");
    }
    format!("{place} {code}: {message} | {help}")
}

/// Returns the context of an operator with two plans, one of them for trust accounts.
fn cx() -> CheckCx {
    CheckCx {
        decimal_amounts_only: false,
        web_urls: vec!["https://web.example".to_owned()],
        currency: Currency::USD,
        plans: BTreeMap::from([("basic".to_owned(), false), ("trust".to_owned(), true)]),
        programs: Some(Vec::new()),
        variables: None,
        files: None,
    }
}
