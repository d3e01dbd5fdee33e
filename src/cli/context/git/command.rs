//! Git queries of commands: one module runs the program, and the commit of the spec tree is read
//! here.

use std::path::{Path, PathBuf};

use super::program::Git;

/// Returns the commit that is checked out at `folder`; `None` where there is none or no git.
pub(crate) fn commit(folder: &Path) -> Option<String> {
    let said = Git::at(folder).run(&["rev-parse", "--verify", "--quiet", "HEAD"], &[]).ok()?;
    let text = String::from_utf8(said.out).ok()?;
    let commit = text.trim();
    let plausible = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    plausible.then(|| commit.to_owned())
}

/// Returns the git work tree that contains a folder, without running anything.
pub(crate) fn work_tree(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find(|place| place.join(".git").exists()).map(Path::to_owned)
}

/// Returns true if a folder differs from its commit; `None` where there is no commit or no git.
pub(crate) fn is_dirty(folder: &Path) -> Option<bool> {
    let status = ["status", "--porcelain", "--untracked-files=all", "--", "."];
    let said = Git::at(folder).run(&status, &[]).ok()?;
    said.success.then_some(!said.out.is_empty())
}
