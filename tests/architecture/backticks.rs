//! Checks that the backticks around code in messages come in pairs.

use std::fs;
use std::path::Path;

use super::tokens::literals;
use super::{Source, assert_none, sources};

/// Files whose texts are fragments: they parse another library's messages, or write Markdown.
const PIECES: [&str; 3] =
    ["src/kinds/decode_error.rs", "src/render/plan/markdown.rs", "src/spec/annotations.rs"];

/// Permitted code that begins or ends with a space.
const SPACED: [&str; 2] = [" - TEST", ": "];

/// Returns true if the backticks of a text pair, and no pair is within another one.
fn is_paired(text: &str) -> bool {
    let parts: Vec<&str> = text.split('`').collect();
    let mut codes = parts.iter().skip(1).step_by(2);
    parts.len() % 2 == 1 && codes.all(|code| code.trim() == *code || SPACED.contains(code))
}

/// Returns the texts of a file whose backticks do not pair, without those of its tests.
fn crossed(source: &Source) -> Vec<String> {
    let is_test = ["/tests", "_tests.rs"].iter().any(|part| source.path.contains(part));
    if is_test || PIECES.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let end = source.text.find("#[cfg(test)]\nmod tests {").unwrap_or(source.text.len());
    let texts = literals(&source.text[..end]).into_iter();
    let crossed = texts.filter(|(_, text)| !is_paired(text));
    crossed.map(|(line, text)| format!("{}:{line}: {text}", source.path)).collect()
}

/// Closes the item of C: crossed backticks.
#[test]
fn the_backticks_of_every_text_pair() {
    let broken: Vec<String> = sources().iter().flat_map(crossed).collect();
    assert_none(&broken);
}

#[test]
fn the_backticks_of_every_problem_of_a_script_pair() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/wrong");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let shown = files.filter(|path| path.extension().is_some_and(|ending| ending == "txt"));
    let broken = shown.filter_map(|path| {
        let said = said(&fs::read_to_string(&path).unwrap());
        (!is_paired(&said)).then(|| format!("{}: {said}", path.display()))
    });
    assert_none(&broken.collect::<Vec<_>>());
}

/// Returns the messages and helps of a rendered problem in one line, without the quoted source.
fn said(text: &str) -> String {
    let mut is_code = false;
    let words = text.lines().filter(|line| {
        let begins = line.contains('╭');
        let ends = line.contains('╰');
        is_code = (is_code || begins) && !ends;
        !is_code && !ends
    });
    words.map(|line| line.trim_matches([' ', '│', '×', '⚠'])).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_planted_crossing_is_found() {
    for wrong in ["write `a", "write `a `b` c`", "write `name: … beneath `metadata``"] {
        assert!(!is_paired(wrong), "{wrong}");
    }
    assert!(is_paired("write `a`, or `b`") && is_paired("plain"));
    let source = Source { path: "src/a.rs".to_owned(), text: "f(\n\"`a\")".to_owned() };
    assert_eq!(crossed(&source), ["src/a.rs:2: \"`a\""]);
}
