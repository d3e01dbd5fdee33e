//! Laws of the packed index.

use std::fs;
use std::path::Path;

use super::*;
use crate::spec::tree::files::Listing;

/// So far in the future that no file counts as just changed.
const LATER: i64 = i64::MAX;

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("x")).unwrap();
    for file in ["a.yaml", "b.yaml", "x/c.yaml"] {
        fs::write(dir.path().join(file), file).unwrap();
    }
    dir
}

fn index(root: &Path, read_at_ns: i64) -> SpecIndex {
    let listing = Listing::of(&root.into(), "");
    let entries = listing.files.iter().map(|(path, stat)| {
        let hash = *blake3::hash(&fs::read(root.join(path)).unwrap()).as_bytes();
        IndexEntry { path, stat: *stat, hash }
    });
    SpecIndex::pack(entries, read_at_ns)
}

#[test]
fn an_untouched_tree_is_unchanged_and_any_touch_shows() {
    let dir = tree();
    let root = dir.path();
    let before = index(root, LATER);
    assert!(before.is_unchanged(&root.into()));
    fs::write(root.join("a.yaml"), "longer than before").unwrap();
    fs::rename(root.join("b.yaml"), root.join("x/b.yaml")).unwrap();
    assert!(!before.is_unchanged(&root.into()));
}

/// Replaces a file's content by another one of the same length, and restores its old time.
fn change_unseen(path: &Path, text: &str) {
    let before = fs::metadata(path).unwrap();
    assert_eq!(usize::try_from(before.len()).unwrap(), text.len());
    fs::write(path, text).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
}

#[test]
fn contents_are_believed_and_not_sizes_and_times() {
    let dir = tree();
    let (root, file) = (dir.path(), dir.path().join("a.yaml"));
    let before = index(root, LATER);
    change_unseen(&file, "A.YAML");
    assert!(before.is_unchanged(&root.into()), "a look at sizes and times does not see it");
    assert!(!before.has_same_contents(&root.into()));
    fs::write(&file, "a.yaml").unwrap();
    assert!(
        before.has_same_contents(&root.into()) && !before.is_unchanged(&root.into()),
        "the other way round"
    );
    fs::write(root.join("z.yaml"), "").unwrap();
    assert!(!before.has_same_contents(&root.into()), "a file came");
    fs::rename(root.join("z.yaml"), root.join("a.yaml")).unwrap();
    assert!(!before.has_same_contents(&root.into()));
    std::os::unix::fs::symlink("/", root.join("out")).unwrap();
    assert!(!before.has_same_contents(&root.into()), "not everything can be seen");
}

#[test]
fn what_cannot_be_seen_whole_is_not_unchanged() {
    let dir = tree();
    let before = index(dir.path(), LATER);
    std::os::unix::fs::symlink("/", dir.path().join("out")).unwrap();
    assert!(!before.is_unchanged(&dir.path().into()));
    assert!(!before.is_unchanged(&dir.path().join("gone").into()));
}

#[test]
fn a_file_that_changed_while_it_was_read_is_looked_at_again() {
    let dir = tree();
    let now = Listing::of(&dir.path().into(), "").files["a.yaml"].mtime_ns;
    assert!(!index(dir.path(), now).is_unchanged(&dir.path().into()));
    assert!(!index(dir.path(), now + TICK_NS).is_unchanged(&dir.path().into()));
}

#[test]
fn an_index_survives_storage_and_damage_is_noticed() {
    let dir = tree();
    let before = index(dir.path(), LATER);
    let bytes = before.header();
    assert_eq!(SpecIndex::decode(&bytes), Ok(before.clone()));
    assert_eq!(before.count, 3);
    for byte in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[byte] ^= 1;
        assert_eq!(SpecIndex::decode(&damaged), Err(SpecIndexError));
    }
    for length in 0..bytes.len() {
        assert_eq!(SpecIndex::decode(&bytes[..length]), Err(SpecIndexError));
    }
}

#[test]
fn the_digest_speaks_of_paths_and_contents_alone() {
    let dir = tree();
    let before = index(dir.path(), LATER).digest;
    fs::copy(dir.path().join("a.yaml"), dir.path().join("tmp")).unwrap();
    fs::rename(dir.path().join("tmp"), dir.path().join("a.yaml")).unwrap();
    assert_eq!(index(dir.path(), LATER).digest, before);
    fs::write(dir.path().join("a.yaml"), "A.yaml").unwrap();
    assert_ne!(index(dir.path(), LATER).digest, before);
}
