//! Runs the git program in a repository of untrusted content: every query of git starts here.
//!
//! Guarantees: one short environment; no hook, pager, file system monitor, external diff, editor or
//! network; no replaced, grafted or precomputed history; an end after two minutes. The command line
//! sets every option that decides about signatures and history, so that the repository's own
//! configuration does not.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::cli::context::machine;
use crate::config::setting::{EnvSource, ProcessEnv};
use crate::spec::tree::roots::SpecRoots;

/// Time limit of one call; a long history is read in one.
const TIME: Duration = Duration::from_mins(2);
/// Interval at which an ending program is polled.
const LOOK: Duration = Duration::from_millis(5);
/// Bytes that are read of one answer, at most.
const BYTES_MAX: u64 = 1 << 30;
/// The variables that git inherits. `HOME` may say that a folder of another owner is safe.
const GIVEN: [&str; 2] = ["PATH", "HOME"];
/// Settings that override those of every configuration file.
const SETTINGS: [&str; 17] = [
    // A folder of the tree that looks like a repository is none.
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    // A file of precomputed parents could show another history than the commits do.
    "core.commitGraph=false",
    "merge.default=text",
    "merge.renormalize=false",
    "blame.ignoreRevsFile=",
    "log.mailmap=false",
    "log.showSignature=false",
    "log.showRoot=true",
    "log.follow=false",
    "gpg.format=ssh",
    "gpg.ssh.program=ssh-keygen",
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.x509.program=false",
];

/// Variables that are set for every call.
const SET: [(&str, &str); 4] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
];

#[derive(Debug, Clone)]
pub(crate) struct Git {
    /// The folder; paths in answers are relative to the top of its work tree.
    pub top: PathBuf,
    pub(crate) signers: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct GitOutput {
    pub success: bool,
    pub out: Vec<u8>,
    pub err: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("git {call}: {why}")]
pub(crate) struct GitError {
    call: String,
    why: String,
}

impl GitError {
    pub(crate) fn new(call: &str, why: String) -> Self {
        Self { call: call.to_owned(), why }
    }
}

impl Git {
    pub(crate) fn at(folder: impl Into<PathBuf>) -> Self {
        Self { top: folder.into(), signers: None }
    }

    /// Runs git with `input` on its standard input.
    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<GitOutput, GitError> {
        let failed = |why: String| GitError { call: call(arguments), why };
        let io = |error: io::Error| failed(error.to_string());
        let mut child = self.command(arguments).spawn().map_err(io)?;
        let (Some(mut asks), Some(answers), Some(beside)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            end(&mut child);
            return Err(failed("its streams could not be opened".to_owned()));
        };
        let (answers, beside) = (read(answers), read(beside));
        let input = input.to_vec();
        // Git may end early and read no more: its output then gives the reason.
        std::thread::spawn(move || drop(asks.write_all(&input)));
        let taken = |from: Receiver<io::Result<Vec<u8>>>| match from.recv_timeout(TIME) {
            Ok(read) => read.map_err(io),
            Err(_) => Err(failed(format!("took longer than {} s", TIME.as_secs()))),
        };
        let said = taken(answers).and_then(|out| Ok((out, taken(beside)?, wait(&mut child)?)));
        end(&mut child);
        let (out, err, status) = said?;
        let err = String::from_utf8_lossy(&err).trim().to_owned();
        Ok(GitOutput { success: status.success(), out, err })
    }

    pub(crate) fn output(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let said = self.run(arguments, input)?;
        if said.success {
            return Ok(said.out);
        }
        Err(GitError { call: call(arguments), why: said.err })
    }

    pub(crate) fn line(&self, arguments: &[&str]) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.output(arguments, &[])?).trim().to_owned())
    }

    /// Returns the program with these arguments, ready to be started; its streams are piped.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let given = GIVEN.iter().filter_map(|name| Some((*name, ProcessEnv.var(name)?)));
        let mut command = machine::command(Path::new("git"), &given.collect::<Vec<_>>());
        command.arg("-C").arg(&self.top);
        command.args(["--no-pager", "--no-replace-objects", "--no-optional-locks"]);
        command.arg("--literal-pathspecs");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        if let Some(signers) = &self.signers {
            let mut setting = OsString::from("gpg.ssh.allowedSignersFile=");
            setting.push(signers);
            command.arg("-c").arg(setting);
        }
        command.args(arguments).envs(SET);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Returns a path from the top of the repository, as git names it.
pub(crate) fn path_from_top(top: &Path, path: &Path) -> Option<String> {
    let below = path.strip_prefix(top).ok()?.to_str()?.to_owned();
    (!below.is_empty()).then_some(below)
}

fn call(arguments: &[&str]) -> String {
    arguments.first().map(|word| (*word).to_owned()).unwrap_or_default()
}

/// Reads a stream on a thread of its own, so that a stream which never ends is left behind.
fn read(stream: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes);
        let whole = u64::try_from(bytes.len()).is_ok_and(|read| read <= BYTES_MAX);
        let read = read.and_then(|_| {
            if whole { Ok(bytes) } else { Err(io::Error::other("its output is too long")) }
        });
        // The receiver may have given up.
        drop(sender.send(read));
    });
    receiver
}

fn wait(child: &mut Child) -> Result<ExitStatus, GitError> {
    let failed = |why: String| GitError { call: "program".to_owned(), why };
    let ended = machine::wait_for_end(child, TIME, LOOK);
    let ended = ended.map_err(|error| failed(error.to_string()))?;
    ended.ok_or_else(|| failed("it did not end".to_owned()))
}

fn end(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}

const BLOBS: usize = 1024;

/// Passes the bytes of these blobs to `take`, each once; `None` for an id that names none here.
pub(crate) fn for_each<'a>(
    git: &Git,
    ids: &[&'a str],
    take: &mut dyn FnMut(&'a str, Option<&[u8]>),
) -> Result<(), GitError> {
    for some in ids.chunks(BLOBS) {
        let input: String = some.iter().flat_map(|id| [*id, "\n"]).collect();
        let said = git.output(&["cat-file", "--batch"], input.as_bytes())?;
        let mut rest = &*said;
        for id in some {
            let (bytes, after) = content(rest).unwrap_or((None, &[]));
            take(id, bytes);
            rest = after;
        }
    }
    Ok(())
}

/// Returns true for the id that git writes where there is no file, all zeros.
pub(crate) fn is_absent_id(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

/// Splits off the first answer of `cat-file --batch`: `ID blob SIZE`, the bytes, the end of a line.
fn content(said: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = said.iter().position(|byte| *byte == b'\n')?;
    let about = std::str::from_utf8(said.get(..end)?).ok()?;
    let rest = said.get(end.saturating_add(1)..)?;
    let Some(size) = about.split_once(" blob ").and_then(|(_, size)| size.parse::<usize>().ok())
    else {
        return Some((None, rest));
    };
    Some((Some(rest.get(..size)?), rest.get(size.saturating_add(1)..)?))
}

/// Returns the commit that is checked out at `folder`; `None` where there is none or no git.
pub(crate) fn commit(folder: &Path) -> Option<String> {
    let said = Git::at(folder).run(&["rev-parse", "--verify", "--quiet", "HEAD"], &[]).ok()?;
    let text = String::from_utf8(said.out).ok()?;
    let commit = text.trim();
    let plausible = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    plausible.then(|| commit.to_owned())
}

/// Returns the commit that is checked out in all these folders; `None` where a folder cannot be
/// opened, has no commit, or is in another repository than the first one.
pub(crate) fn commit_of(roots: &SpecRoots) -> Option<String> {
    let opened: Vec<PathBuf> = roots
        .places()
        .map(|place| place.open().ok().map(|_| place.path()))
        .collect::<Option<_>>()?;
    let (first, others) = opened.split_first()?;
    let tree = work_tree(first);
    if others.iter().any(|path| work_tree(path) != tree) {
        return None;
    }
    commit(first)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_to_their_size() {
        let (first, rest) = content(b"aa blob 3\na\nb\nbb missing\n").unwrap();
        assert_eq!(first, Some(&b"a\nb"[..]));
        assert_eq!(content(rest), Some((None, &b""[..])));
    }
}
