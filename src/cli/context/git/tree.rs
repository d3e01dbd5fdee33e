//! Trees of specs at a revision, read with the git program out of its object store.
//!
//! The program checks nothing out, runs no hook and fetches nothing. The files go into a folder
//! that only their owner can enter; dropping its value removes the folder.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use super::program::{self, Git, GitError};
use crate::cli::context::machine;
use crate::cli::exit::{CommandFailure, CommandResult};

/// Git's mode of a symbolic link.
const LINK: &str = "120000";
const BLOB: &str = "blob";
/// Contents that are in memory together: specs are small, attachments are checked once written.
const SPECS_AT_ONCE: usize = 1024;
const ATTACHMENTS_AT_ONCE: usize = 1;

/// Two revisions; `after` is `None` for the present tree.
#[derive(Debug)]
pub(crate) struct RevisionRange {
    pub before: Revision,
    pub after: Option<Revision>,
}

#[derive(Debug)]
pub(crate) struct Revision {
    pub name: String,
    pub commit: String,
}

impl RevisionRange {
    /// Parses `REV`, `A..B`, or `A...B` (B against the merge base). An empty side is `HEAD`.
    pub(crate) fn read(folder: &Path, text: &str) -> CommandResult<Self> {
        if let Some((before, after)) = text.split_once("...") {
            let (before, after) = (Revision::find(folder, before)?, Revision::find(folder, after)?);
            let base = run_text(folder, &["merge-base", &before.commit, &after.commit])?;
            let before = Revision { commit: base.trim().to_owned(), ..before };
            return Ok(Self { before, after: Some(after) });
        }
        let (before, after) =
            text.split_once("..").map_or((text, None), |(before, after)| (before, Some(after)));
        let before = Revision::find(folder, before)?;
        Ok(Self { before, after: after.map(|after| Revision::find(folder, after)).transpose()? })
    }
}

impl Revision {
    fn find(folder: &Path, name: &str) -> CommandResult<Self> {
        let name = if name.is_empty() { "HEAD" } else { name };
        let wrong = || {
            CommandFailure::input("reckon::git::revision", format!("there is no commit {name:?} in this \
                repository"))
                .help("name a branch, a tag or a commit of the repository that holds the specs; fetch it first if this clone lacks it")
        };
        if name.starts_with('-') {
            return Err(wrong());
        }
        let wanted = format!("{name}^{{commit}}");
        let commit = run_text(folder, &["rev-parse", "--verify", "--quiet", &wanted]);
        let commit = commit.map_err(|_| wrong())?.trim().to_owned();
        Ok(Self { name: name.to_owned(), commit })
    }

    /// Extracts the specs of this revision, and the attachments if they are in the same repository.
    pub(crate) fn extract(
        &self,
        specs: &[PathBuf],
        attached: Option<&Path>,
    ) -> CommandResult<TempTree> {
        let mut folder = TempTree::make()?;
        for (number, from) in specs.iter().enumerate() {
            let into = folder.specs.join(number.to_string());
            make_dir(&into).map_err(not_written)?;
            self.take(from, &into, (is_yaml, SPECS_AT_ONCE))?;
            folder.folders.push(into);
        }
        let top = |folder: &Path| run_text(folder, &["rev-parse", "--show-toplevel"]).ok();
        let Some(attached) = attached.filter(|path| {
            top(path).is_some_and(|of| Some(of) == specs.first().and_then(|first| top(first)))
        }) else {
            return Ok(folder);
        };
        let place = folder.root.0.join("attachments");
        make_dir(&place).map_err(not_written)?;
        self.take(attached, &place, (|_| true, ATTACHMENTS_AT_ONCE))?;
        Ok(TempTree { attachments: Some(place), ..folder })
    }

    fn take(
        &self,
        from: &Path,
        into: &Path,
        (keep, at_once): (fn(&str) -> bool, usize),
    ) -> CommandResult<()> {
        let prefix = run_text(from, &["rev-parse", "--show-prefix"])?;
        let prefix = prefix.trim_end_matches('\n');
        let mut list = vec!["ls-tree", "-r", "-z", "--full-tree", &self.commit];
        if !prefix.is_empty() {
            list.extend(["--", prefix]);
        }
        let entries = run(from, &list)?;
        let entries = entries.split(|byte| *byte == 0);
        let entries = entries.filter_map(|entry| TreeEntry::read(entry, prefix));
        let (links, files): (Vec<TreeEntry>, Vec<TreeEntry>) =
            entries.filter(|entry| entry.link || keep(&entry.path)).partition(|entry| entry.link);
        // Links come last: no file is written through a link.
        contents(from, &files, at_once, |path, bytes| write(&into.join(path), bytes))?;
        contents(from, &links, at_once, |path, bytes| link(&into.join(path), bytes))
    }
}

pub(crate) fn is_yaml(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

struct TreeEntry {
    object: String,
    path: String,
    link: bool,
}

impl TreeEntry {
    /// Parses `MODE TYPE OBJECT<tab>PATH`; `None` for no file, or a path out of the folder.
    fn read(entry: &[u8], prefix: &str) -> Option<Self> {
        let text = std::str::from_utf8(entry).ok()?;
        let (about, path) = text.split_once('\t')?;
        let mut about = about.split(' ');
        let (mode, sort, object) = (about.next()?, about.next()?, about.next()?);
        let path = path.strip_prefix(prefix)?;
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        (sort == BLOB && plain && !path.is_empty()).then(|| Self {
            object: object.to_owned(),
            path: path.to_owned(),
            link: mode == LINK,
        })
    }
}

/// Passes the content of each entry to `take`; `at_once` contents are in memory together.
fn contents(
    folder: &Path,
    entries: &[TreeEntry],
    at_once: usize,
    mut take: impl FnMut(&str, &[u8]) -> io::Result<()>,
) -> CommandResult<()> {
    for some in entries.chunks(at_once) {
        let ids: Vec<&str> = some.iter().map(|entry| entry.object.as_str()).collect();
        let (mut paths, mut written) = (some.iter().map(|entry| &entry.path), Ok(()));
        let read = program::for_each(&Git::at(folder), &ids, &mut |id, bytes| {
            let missing = || io::Error::other(format!("git said {:?}", format!("{id} missing")));
            let write = |path: &String| take(path, bytes.ok_or_else(missing)?);
            if written.is_ok() {
                written = paths.next().map_or(Ok(()), write);
            }
        });
        read.map_err(git_failed)?;
        written.map_err(not_written)?;
    }
    Ok(())
}

/// Writes a file, and makes its folders.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), make_dir)?;
    fs::write(path, bytes)
}

fn link(path: &Path, target: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), make_dir)?;
    symlink(OsStr::from_bytes(target), path)
}

/// A temporary folder; dropping the value removes it.
#[derive(Debug)]
pub(crate) struct TempTree {
    root: RemovedOnDrop,
    pub(crate) specs: PathBuf,
    /// The folders of specs of a revision, in their order; below `specs`.
    pub(crate) folders: Vec<PathBuf>,
    /// The folder of the attached files, where they are of the same revision.
    pub(crate) attachments: Option<PathBuf>,
}

impl TempTree {
    pub(crate) fn make() -> CommandResult<Self> {
        let root = std::env::temp_dir().join(format!("reckon-{:016x}", machine::seed()?));
        fs::DirBuilder::new().mode(0o700).create(&root).map_err(not_written)?;
        let (root, specs) = (RemovedOnDrop(root.clone()), root.join("specs"));
        make_dir(&specs).map_err(not_written)?;
        Ok(Self { root, specs, folders: Vec::new(), attachments: None })
    }
}

#[derive(Debug)]
struct RemovedOnDrop(PathBuf);

impl Drop for RemovedOnDrop {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "cannot remove the temporary tree of a revision");
        }
    }
}

fn make_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn run(folder: &Path, arguments: &[&str]) -> CommandResult<Vec<u8>> {
    Git::at(folder).output(arguments, &[]).map_err(git_failed)
}

fn git_failed(trouble: GitError) -> CommandFailure {
    CommandFailure::environment("reckon::git::failed", trouble)
        .help("install git, and keep the specs in a git repository")
}

fn run_text(folder: &Path, arguments: &[&str]) -> CommandResult<String> {
    Ok(String::from_utf8_lossy(&run(folder, arguments)?).into_owned())
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn not_written(error: io::Error) -> CommandFailure {
    let what = format!("read the tree of a revision: {error}");
    CommandFailure::environment("reckon::git::read", what)
}
