//! The pages of the book that a newcomer follows do what they show, and the README does.

use std::fs;
use std::path::Path;

use crate::support::pages::{Part, Reader, copy, matches, parts};

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn the_five_minute_start_goes_as_its_page_shows() {
    let tried = Reader::new().play(&page("docs/start.md"));
    assert!(tried > 12, "{tried} commands");
}

#[test]
fn documents_are_written_as_the_guide_shows() {
    let tried = Reader::new().play(&page("docs/guides/documents.md"));
    assert!(tried > 5, "{tried} commands");
}

/// The README runs the tree of the repository.
#[test]
fn the_repository_runs_as_the_readme_shows() {
    let mut reader = Reader::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["specs", "scripts", "examples/secrets", "examples/attachments"] {
        copy(&root.join(folder), &reader.path(folder));
    }
    fs::copy(root.join("reckon.yaml"), reader.path("reckon.yaml")).unwrap();
    let readme = page("README.md");
    let (before, rest) = readme.split_once("$ cargo test\n").expect("the second command");
    let tried = reader.play(&format!("{before}{rest}"));
    assert!(tried >= 2, "{tried} commands");
}

#[test]
fn an_output_that_differs_is_seen() {
    let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
    let real = lines("12:34:56Z created Invoice/jane 125.00 USD i_7wk7abcdefghijklmnopqr\nlast 5s");
    assert!(matches(
        &lines("01:02:03Z created Invoice/jane 125.00 USD i_hXtXV_pzWGfVvVNpYDpHlg\n…\nlast 9s"),
        &real
    ));
    assert!(!matches(&lines("01:02:03Z created Invoice/jane 126.00 USD …\nlast 9s"), &real));
    assert!(!matches(&lines("01:02:03Z created Invoice/jane …"), &real));
    let shown =
        parts("Write `a/b.yaml`:\n\n```yaml\nx: 1\n```\n```console\n$ one two\nthree\n```\n");
    let file = Part::File { path: "a/b.yaml".to_owned(), text: "x: 1\n".to_owned() };
    let command = Part::Command { line: "one two".to_owned(), shown: "three\n".to_owned() };
    assert_eq!(shown, [file, command]);
}
