//! Who wrote a line: asked of git, where the repository is there.

use std::path::Path;

use serde::Serialize;

use crate::cli::git::Git;

/// Who changed a line last, as of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Author {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
    /// When, RFC 3339.
    pub at: String,
    /// The commit that changed the line.
    pub commit: String,
    /// Its first line.
    pub subject: String,
}

/// The author of a line of a file at a commit; `root` is what the file is relative to. `None` where
/// git, the repository or the commit is not there.
pub(super) fn author(root: &Path, commit: &str, file: &str, line: usize) -> Option<Author> {
    if commit.is_empty() || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let range = format!("{line},{line}");
    let blame =
        git(root, &["blame", "--no-textconv", "--porcelain", "-L", &range, commit, "--", file])?;
    let changed = blame.split_whitespace().next()?.to_owned();
    let form = "--format=%an%x00%ae%x00%aI%x00%s";
    let shown = git(root, &["show", "--no-patch", form, &changed])?;
    let mut parts = shown.trim_end().split('\0').map(str::to_owned);
    Some(Author {
        name: parts.next()?,
        email: parts.next()?,
        at: parts.next()?,
        subject: parts.next()?,
        commit: changed,
    })
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let said = Git::at(root).ask(arguments, &[]).ok()?;
    String::from_utf8(said).ok()
}
