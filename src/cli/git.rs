//! Git, as far as commands ask it: one door to the program, and the commit of the spec tree.

pub(super) mod attributes;
pub(super) mod blobs;
pub(super) mod committed;
mod door;

use std::path::{Path, PathBuf};

pub(super) use door::{Git, Trouble, below};

/// The commit that is checked out at `folder`, `None` where there is none or no git.
pub(super) fn commit(folder: &Path) -> Option<String> {
    let said = Git::at(folder).run(&["rev-parse", "--verify", "--quiet", "HEAD"], &[]).ok()?;
    let text = String::from_utf8(said.out).ok()?;
    let commit = text.trim();
    let plausible = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    plausible.then(|| commit.to_owned())
}

/// The git work tree that a folder stands in, found without running anything.
pub(super) fn work_tree(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find(|place| place.join(".git").exists()).map(Path::to_owned)
}

/// Whether a folder holds what is not in its commit; `None` where there is none or no git.
pub(super) fn is_dirty(folder: &Path) -> Option<bool> {
    let status = ["status", "--porcelain", "--untracked-files=all", "--", "."];
    let said = Git::at(folder).run(&status, &[]).ok()?;
    said.good.then_some(!said.out.is_empty())
}
