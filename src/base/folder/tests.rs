//! Closes S4: folders are opened once, and no path leads out of them.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::*;
use crate::base::folder_location::FolderLocation;

fn tree() -> (tempfile::TempDir, Folder) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    fs::write(dir.path().join("a/b/c.txt"), "inside").unwrap();
    let folder = FolderLocation::from(dir.path()).open().unwrap();
    (dir, folder)
}

fn text(folder: &Folder, path: &str) -> String {
    let mut text = String::new();
    folder.file(path).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn s4_files_are_read_beneath_the_folder_alone() {
    let (dir, folder) = tree();
    assert_eq!(text(&folder, "a/b/c.txt"), "inside");
    for path in ["", "/etc/passwd", "../x", "a/../../x", "."] {
        assert!(matches!(folder.file(path), Err(PathError::NotPlain(_))), "{path}");
    }
    assert!(matches!(folder.file("a"), Err(PathError::NotAFile { what: "a folder", .. })));
    assert!(folder.file("a/none").unwrap_err().is_absent());
    // The handle stays valid, whatever takes the folder's name.
    let moved = tempfile::tempdir().unwrap();
    fs::rename(dir.path().join("a"), moved.path().join("a")).unwrap();
    let inner = FolderLocation::from(moved.path().join("a")).open().unwrap();
    fs::rename(moved.path().join("a"), moved.path().join("other")).unwrap();
    assert_eq!(text(&inner, "b/c.txt"), "inside");
}

#[test]
fn s4_a_link_is_refused_by_its_name() {
    let (dir, folder) = tree();
    symlink("/etc", dir.path().join("out")).unwrap();
    symlink("b", dir.path().join("a/in")).unwrap();
    for (path, expect) in [("out/passwd", "out"), ("a/in/c.txt", "a/in"), ("out", "out")] {
        let error = folder.file(path).unwrap_err();
        assert!(matches!(&error, PathError::Link { component } if component == expect), "{error}");
        let error = folder.folder(path).unwrap_err();
        assert!(matches!(error, PathError::Link { .. }), "{error}");
    }
}

#[test]
fn s4_what_is_no_file_is_refused_by_name_and_not_waited_for() {
    let (dir, folder) = tree();
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe"), Mode::RUSR).unwrap();
    let _listener = UnixListener::bind(dir.path().join("socket")).unwrap();
    for (path, expect) in [("pipe", "a FIFO"), ("socket", "a socket")] {
        let error = folder.file(path).unwrap_err();
        assert!(matches!(&error, PathError::NotAFile { what, .. } if *what == expect), "{error}");
    }
    let devices = FolderLocation::from(Path::new("/dev")).open().unwrap();
    assert!(matches!(devices.file("null"), Err(PathError::NotAFile { what: "a device", .. })));
}

#[test]
fn s4_a_kernel_that_cannot_follow_paths_gives_the_same_answers() {
    let (dir, folder) = tree();
    symlink("/etc", dir.path().join("out")).unwrap();
    symlink("/etc/passwd", dir.path().join("a/link")).unwrap();
    let fd = folder.0.as_fd();
    for path in ["a/b/c.txt", "out/passwd", "a/link", "a/none", "a/b/c.txt/d"] {
        let by_kernel = open_by_kernel(fd, Path::new(path), FILE, ResolveFlags::BENEATH).unwrap();
        let by_parts = open_by_parts(fd, Path::new(path), FILE);
        assert_eq!(by_kernel.is_ok(), by_parts.is_ok(), "{path}");
    }
}

#[test]
fn s4_a_configured_folder_is_reached_without_links() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("real/specs")).unwrap();
    symlink("real", dir.path().join("linked")).unwrap();
    let open = |path: &str| FolderLocation::from_config(dir.path(), &dir.path().join(path)).open();
    open("real/specs").unwrap();
    open("./real").unwrap();
    open("real/../real/specs").unwrap();
    for path in ["linked", "linked/specs", "real/../linked/specs"] {
        let error = open(path).unwrap_err();
        assert!(matches!(error, PathError::Link { .. }), "{path}: {error}");
    }
    // The operator's own links are followed outside of the configuration's folder, but none of a
    // work tree.
    let elsewhere = tempfile::tempdir().unwrap();
    let open =
        |path: &str| FolderLocation::from_config(elsewhere.path(), &dir.path().join(path)).open();
    open("linked/specs").unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let error = open("linked/specs").unwrap_err();
    assert!(matches!(error, PathError::Link { .. }), "{error}");
    open("real/specs").unwrap();
}

#[test]
fn s4_links_beneath_the_folder_lead_to_its_own_files_alone() {
    let (dir, folder) = tree();
    for (target, name) in [
        ("a/b/c.txt", "one"),
        ("../b/c.txt", "a/b/two"),
        ("../../outside", "a/out"),
        ("/etc/passwd", "absolute"),
        ("loop", "loop"),
        ("a/b", "folder"),
    ] {
        symlink(target, dir.path().join(name)).unwrap();
    }
    assert_eq!(folder.resolve_links("one").unwrap(), "a/b/c.txt");
    assert_eq!(folder.resolve_links("folder/c.txt").unwrap(), "a/b/c.txt");
    for path in ["a/out", "absolute", "loop"] {
        assert!(matches!(folder.resolve_links(path), Err(PathError::LeadsOutside(_))), "{path}");
    }
    assert!(folder.resolve_links("none").unwrap_err().is_absent());
}
