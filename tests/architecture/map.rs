//! ARCHITECTURE.md and the documents name files that exist, and each walk names few of them.

use std::fs;
use std::path::Path;

use super::assert_none;

/// Largest number of files in a walk.
const WALK_FILES_MAX: usize = 5;

/// Returns the files that a text names in backticks.
fn files(text: &str) -> Vec<&str> {
    let code = text.split('`').skip(1).step_by(2);
    let is_file = |code: &&str| {
        Path::new(code).extension().is_some_and(|extension| extension == "rs")
            && code.contains('/')
            && !code.contains([' ', '*', '<'])
    };
    code.filter(is_file).collect()
}

/// Returns the files of a page that do not exist, from the package's folder or from `src`.
fn missing(page: &Path, root: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let is_missing =
        |file: &&str| !root.join(file).exists() && !root.join("src").join(file).exists();
    let files = files(&text).into_iter().filter(is_missing);
    files.map(|file| format!("{}: {file} does not exist", page.display())).collect()
}

/// Returns the documents: ARCHITECTURE.md, README.md, and every page under `docs`.
pub(crate) fn pages(root: &Path) -> Vec<std::path::PathBuf> {
    let mut pages = vec![root.join("ARCHITECTURE.md"), root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

#[test]
fn every_file_that_a_document_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let missing: Vec<String> = pages(root).iter().flat_map(|page| missing(page, root)).collect();
    assert_none(&missing);
    assert_eq!(files("see `a/b.rs` and `c.rs`, `run a/b.rs`"), ["a/b.rs"]);
}

#[test]
fn the_three_walks_name_few_files_each() {
    let map =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).unwrap();
    let walks = map.split("\n## ").find_map(|part| part.strip_prefix("Three walks")).unwrap();
    let walks: Vec<usize> = walks.trim().split("\n\n").map(|walk| files(walk).len()).collect();
    assert_eq!(walks.len(), 3, "a wrong amount, a lost answer, a hook's action");
    assert!(walks.iter().all(|files| (1..=WALK_FILES_MAX).contains(files)), "{walks:?}");
}
