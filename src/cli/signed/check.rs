//! Compares the files that a plan was made of with the commit that is checked out, byte by byte.
//!
//! Guarantees: approvals count only where the judge of authors and the loader of specs read the
//! same bytes. Git's own comparison of its work tree decides nothing, since attributes, settings
//! and marks of the index can hide a change.

use super::place::{ApprovalRepo, NotTrusted, SignedConfig};
use crate::base::hash::Digest;
use crate::cli::git::attributes::{self, ForbiddenAttribute};
use crate::cli::git::committed::{Committed, Difference};

impl SignedConfig {
    /// Checks that the clone holds the complete history, and that the loaded specs equal the
    /// commit. `loaded` is the digest of the files that the plan was made of.
    pub(super) fn check(
        &self,
        repo: &ApprovalRepo,
        loaded: Option<Digest>,
    ) -> Result<(), NotTrusted> {
        if repo.git.line(&["rev-parse", "--is-shallow-repository"])? != "false" {
            let what = "the clone does not hold the whole history, so the authors of the specs are unknown";
            let help = "fetch all of it: `git fetch --unshallow`";
            return Err(self.untrusted("shallow", what.to_owned(), help));
        }
        let committed = Committed::read(&repo.git, &repo.head, &repo.specs)?;
        self.attributes(repo, &committed)?;
        if let Some(path) = committed.odd() {
            let path = repo.display_path(&format!("{}/{path}", repo.specs));
            let what = format!(
                "{path} is a link or a repository of its own in the commit, so the author of its text is unknown"
            );
            return Err(self.untrusted("link", what, "commit the file itself in its place"));
        }
        if loaded == Some(committed.digest()) {
            return Ok(());
        }
        Err(committed
            .difference(self.specs())
            .map_or_else(|| self.specs_changed(), |one| self.uncommitted(repo, &one)))
    }

    /// Checks that no file has an attribute that gives it other text in a commit than on disk.
    fn attributes(&self, repo: &ApprovalRepo, committed: &Committed) -> Result<(), NotTrusted> {
        let specs = committed.paths().map(|path| format!("{}/{path}", repo.specs));
        let approvals = Committed::read(&repo.git, &repo.head, &repo.folder)?;
        let approvals = approvals.paths().map(|path| format!("{}/{path}", repo.folder));
        let paths: Vec<String> = specs.chain(approvals).collect();
        let Some(found) = attributes::first_forbidden(&repo.git, paths.iter().map(String::as_str))?
        else {
            return Ok(());
        };
        let ForbiddenAttribute { path, attribute, place } = found;
        let place = place.map_or_else(
            || "in the configuration of git".to_owned(),
            |place| format!("at {place}"),
        );
        let what = format!(
            "{} has the attribute {attribute}, set {place}: its text in a commit is another than on disk, or is merged by another rule, so its author is unknown",
            repo.display_path(&path)
        );
        let help =
            "take the attribute back for specs and approvals, then check the files out again";
        Err(self.untrusted("attributes", what, help))
    }

    fn uncommitted(&self, repo: &ApprovalRepo, found: &Difference) -> NotTrusted {
        let path = repo.display_path(&format!("{}/{}", repo.specs, found.path));
        let what =
            format!("{path} is not as it was committed, byte by byte: no approval by file counts");
        let help = if found.line_ends {
            "git changes line ends here: `git config core.autocrlf false`, leave `eol` out of the attributes, and check the file out again"
        } else {
            "commit it or take it back; `git update-index --no-assume-unchanged --no-skip-worktree FILE` if git sees no change"
        };
        self.untrusted("dirty", what, help)
    }

    fn specs_changed(&self) -> NotTrusted {
        let what = "the specs changed after the plan was made";
        self.untrusted("moved", what.to_owned(), "run it again when nothing writes to the folder")
    }
}
