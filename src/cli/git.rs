//! The commit of the spec tree, for the audit trail.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The commit that is checked out at `folder`, `None` where there is none or no git.
pub(super) fn commit(folder: &Path) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["rev-parse", "--verify", "--quiet", "HEAD"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
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
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "core.fsmonitor=false", "--no-optional-locks"])
        .args(["status", "--porcelain", "--untracked-files=all", "--", "."])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then_some(!output.stdout.is_empty())
}
