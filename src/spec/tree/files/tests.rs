use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn tree(files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "a: 1\n").unwrap();
    }
    dir
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.files.keys().map(String::as_str).collect()
}

#[test]
fn only_visible_yaml_files_are_taken_sorted_by_path() {
    let dir = tree(&["b.yml", "a.yaml", "x/c.yaml", ".h.yaml", ".git/d.yaml", "e.txt", "yaml"]);
    assert_eq!(names(&Listing::of(&dir.path().into(), "")), ["a.yaml", "b.yml", "x/c.yaml"]);
    assert_eq!(names(&Listing::of(&dir.path().into(), "x")), ["x/c.yaml"]);
    assert_eq!(names(&Listing::of(&dir.path().into(), "x/c.yaml")), ["x/c.yaml"]);
    for none in [".git/d.yaml", "../a.yaml", "e.txt", "gone.yaml", "x/gone"] {
        assert_eq!(Listing::of(&dir.path().into(), none), Listing::default(), "{none}");
    }
}

#[test]
fn a_symlink_is_followed_to_a_file_inside_the_root_only() {
    let outside = tree(&["o.yaml"]);
    let dir = tree(&["..data/a.yaml", "x/c.yaml"]);
    symlink("..data/a.yaml", dir.path().join("a.yaml")).unwrap();
    symlink(outside.path().join("o.yaml"), dir.path().join("o.yaml")).unwrap();
    symlink(outside.path(), dir.path().join("out")).unwrap();
    symlink("x", dir.path().join("in")).unwrap();
    symlink("nowhere", dir.path().join("dangling.yaml")).unwrap();
    symlink("nowhere", dir.path().join("dangling.txt")).unwrap();
    let listing = Listing::of(&dir.path().into(), "");
    assert_eq!(names(&listing), ["a.yaml", "x/c.yaml"]);
    let troubles: Vec<_> = listing.problems.keys().map(String::as_str).collect();
    assert_eq!(troubles, ["dangling.yaml", "in", "o.yaml", "out"]);
    assert_eq!(Listing::of(&dir.path().into(), "out/o.yaml").problems.len(), 1);
}

#[test]
fn a_missing_root_is_trouble() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Listing::of(&dir.path().join("gone").into(), "").problems.len(), 1);
}

/// Closes S4: an entry that is no file is reported by its name, and not waited for.
#[test]
fn s4_a_fifo_among_the_specs_is_trouble() {
    let dir = tree(&["a.yaml"]);
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe.yaml"), mode).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe.txt"), mode).unwrap();
    symlink("pipe.yaml", dir.path().join("linked.yaml")).unwrap();
    let listing = Listing::of(&dir.path().into(), "");
    assert_eq!(names(&listing), ["a.yaml"]);
    let troubles: Vec<_> = listing.problems.values().map(|one| (&*one.path, one.code)).collect();
    let odd = "reckon::source::odd";
    assert_eq!(troubles, [("linked.yaml", odd), ("pipe.yaml", odd)]);
    assert!(listing.problems["pipe.yaml"].message.contains("FIFO"));
    let folder = FolderLocation::from(dir.path()).open().unwrap();
    assert!(read(&folder, "pipe.yaml").is_err() && read(&folder, "linked.yaml").is_err());
}

/// Closes S4: a folder of specs that is a link is not read, whatever its target.
#[test]
fn s4_a_root_that_is_a_link_is_not_read() {
    let outside = tree(&["o.yaml"]);
    let dir = tempfile::tempdir().unwrap();
    symlink(outside.path(), dir.path().join("specs")).unwrap();
    let place = FolderLocation::from_config(dir.path(), &dir.path().join("specs"));
    let listing = Listing::of(&place, "");
    assert!(listing.files.is_empty());
    let trouble = &listing.problems[""];
    assert_eq!(trouble.code, "reckon::source::symlink");
    assert!(trouble.message.contains("`specs`, a symbolic link"), "{}", trouble.message);
    assert!(!trouble.message.contains(&*outside.path().to_string_lossy()), "{}", trouble.message);
}
