//! The author of lines, from git, where the repository is present.

use std::path::Path;

use crate::cli::context::git::program::Git;
use crate::model::intents::intent::Cause;
use crate::render::why::AuthorView;
use crate::spec::text::decode::decode;
use crate::spec::text::split::split;

/// Returns the author of the lines that caused an effect: of the newest change among its changed
/// fields, or of the complete document. Files are relative to `root`. Returns `None` where the
/// change was in no commit, or where git, the repository or the commit is missing.
pub(super) fn author(root: &Path, cause: &Cause) -> Option<AuthorView> {
    let (commit, file, line) = (cause.commit.as_ref()?, cause.file.as_ref()?, cause.line?);
    let plain = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !plain || cause.uncommitted {
        return None;
    }
    let git = Git::at(root);
    let lines = match cause.changed.as_slice() {
        [] => vec![document(&git, commit, file, line)?],
        changed => changed.to_vec(),
    };
    let ranges = lines.iter().map(|(first, last)| format!("-L{first},{last}:{file}"));
    let ranges: Vec<String> = ranges.collect();
    let mut arguments = vec!["log", "-1", "--no-patch", "--no-textconv", "--no-ext-diff"];
    arguments.push("--format=%H%x00%an%x00%ae%x00%aI%x00%s");
    arguments.extend(ranges.iter().map(String::as_str));
    arguments.push(commit);
    let said = git.line(&arguments).ok()?;
    let mut parts = said.split('\0').map(str::to_owned);
    Some(AuthorView {
        commit: parts.next()?,
        name: parts.next()?,
        email: parts.next()?,
        at: parts.next()?,
        subject: parts.next()?,
    })
}

/// Returns the first and last line of the document that begins on this line of a file.
fn document(git: &Git, commit: &str, file: &str, line: usize) -> Option<(usize, usize)> {
    let bytes = git.output(&["cat-file", "blob", &format!("{commit}:./{file}")], &[]).ok()?;
    let text = decode(bytes).text;
    let (slices, _) = split(&text);
    let slice = slices.into_iter().find(|slice| slice.line == line)?;
    let content = text.get(slice.range)?.trim_end();
    Some((line, line.saturating_add(content.matches('\n').count())))
}
