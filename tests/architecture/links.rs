//! No link of a document is dead, and the book has each of its pages once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{assert_none, map};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns a text without its blocks and spans of code.
fn prose(text: &str) -> String {
    let lines = text.split("```").step_by(2).flat_map(str::lines);
    let plain = |line: &str| line.split('`').step_by(2).collect::<Vec<_>>().join("x");
    lines.map(plain).collect::<Vec<_>>().join("\n")
}

/// Returns the targets of a text's links, without addresses of other hosts.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let found = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    found.filter(|target| !target.contains(':')).map(str::to_owned).collect()
}

/// Returns the anchor of a heading, as mdBook and GitHub make it.
fn anchor(heading: &str) -> String {
    let shown = heading.split("](").enumerate().map(|(part, text)| match part {
        0 => text,
        _ => text.split_once(')').map_or("", |(_, rest)| rest),
    });
    let letters = shown.collect::<String>();
    let letters = letters.trim().chars().filter_map(|letter| match letter {
        '_' | '-' => Some(letter),
        letter if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
        letter if letter.is_whitespace() => Some('-'),
        _ => None,
    });
    letters.collect()
}

/// Returns the anchors of a page: an equal second heading gets a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let lines = text.split("```").step_by(2).flat_map(str::lines);
    let headings = lines.filter(|line| line.starts_with('#') && line.contains("# "));
    let numbered = headings.map(|line| {
        let anchor = anchor(line.trim_start_matches('#'));
        let before = times.entry(anchor.clone()).or_default();
        *before += 1;
        if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
    });
    numbered.collect()
}

/// Returns a path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other @ (Component::Prefix(_) | Component::RootDir | Component::Normal(_)) => {
                plain.push(other);
            }
        }
    }
    plain
}

/// Explains a link that leads nowhere, or out of the book.
fn dead(page: &Path, target: &str) -> Option<String> {
    let (file, part) = target.split_once('#').unwrap_or((target, ""));
    let folder = page.parent().unwrap();
    let leads = if file.is_empty() { page.to_owned() } else { plain(&folder.join(file)) };
    let book = Path::new(ROOT).join("docs");
    let shown = page.strip_prefix(ROOT).unwrap().display();
    if !leads.exists() {
        return Some(format!("{shown}: {target} leads nowhere"));
    }
    if page.starts_with(&book) && !leads.starts_with(&book) {
        return Some(format!("{shown}: {target} leaves the book"));
    }
    let known =
        part.is_empty() || anchors(&fs::read_to_string(&leads).unwrap_or_default()).contains(part);
    (!known).then(|| format!("{shown}: {target} names no heading"))
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut pages = map::pages(root);
    pages.extend(["CHANGELOG.md", "specs/README.md"].map(|page| root.join(page)));
    pages
}

#[test]
fn no_link_of_a_document_is_dead() {
    let mut wrong = Vec::new();
    let mut links = 0;
    for page in pages() {
        let targets = targets(&fs::read_to_string(&page).unwrap());
        links += targets.len();
        wrong.extend(targets.iter().filter_map(|target| dead(&page, target)));
    }
    assert_none(&wrong);
    assert!(links > 200, "{links} links");
}

#[test]
fn the_book_has_each_page_once() {
    let book = Path::new(ROOT).join("docs");
    let summary = fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let named = targets(&summary);
    let unique: BTreeSet<PathBuf> = named.iter().map(|target| book.join(target)).collect();
    assert_eq!(unique.len(), named.len(), "a page is listed twice");
    let there: BTreeSet<PathBuf> =
        pages().into_iter().filter(|page| page.starts_with(&book)).collect();
    let there: BTreeSet<PathBuf> =
        there.into_iter().filter(|page| !page.ends_with("SUMMARY.md")).collect();
    assert_eq!(unique, there);
}

/// Every alert has its part of the runbook.
#[test]
fn the_runbook_names_every_alert() {
    let alerts =
        fs::read_to_string(Path::new(ROOT).join("contrib/prometheus/alerts.yaml")).unwrap();
    let runbook = Path::new(ROOT).join("docs/operations/runbook.md");
    let runbook = fs::read_to_string(runbook).unwrap();
    let alerts: Vec<&str> =
        alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let missing: Vec<String> = alerts
        .iter()
        .filter(|name| !runbook.contains(&format!("| `{name}` | [")))
        .map(|name| format!("{name} has no row with a link"))
        .collect();
    assert_none(&missing);
    assert!(alerts.len() > 10, "{alerts:?}");
}

#[test]
fn a_dead_link_is_seen() {
    let page = Path::new(ROOT).join("docs/introduction.md");
    let seen = |target| dead(&page, target).is_some();
    assert!(!seen("glossary.md#in-doubt") && !seen("flow.svg"));
    assert!(seen("glossary.md#nowhere") && seen("nowhere.md") && seen("../README.md"));
    assert_eq!(targets("[a](b.md) `[c](d.md)` [e](https://f)\n```\n[g](h)\n```\n"), ["b.md"]);
    assert_eq!(anchor(" Adopt one: `import KIND/NAME ID`"), "adopt-one-import-kindname-id");
    assert_eq!(anchors("# A [b](c.md)\n# a b\n").len(), 2);
}
