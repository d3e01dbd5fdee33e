//! Compares the files that a plan was made of with the commit that is checked out, byte by byte.
//!
//! Guarantees: approvals count only where the judge of authors and the loader of specs read the
//! same bytes. Git's own comparison of its work tree decides nothing, since attributes, settings
//! and marks of the index can hide a change.

use super::repository::{ApprovalRepo, NotTrusted, SignedConfig};
use crate::base::hash::Digest;
use crate::cli::context::git::attributes;
use crate::cli::context::git::attributes::ForbiddenAttribute;
use crate::cli::context::git::committed::{Committed, Difference};

impl SignedConfig {
    /// Checks that the clone holds the complete history, and that the loaded specs equal the
    /// commit. `loaded` is the digest of the files that the plan was made of.
    pub(crate) fn check(
        &self,
        repo: &ApprovalRepo,
        loaded: Option<Digest>,
    ) -> Result<(), NotTrusted> {
        if repo.git.line(&["rev-parse", "--is-shallow-repository"])? != "false" {
            let what = "the clone is shallow, so the authors of the specs are unknown";
            let help = "fetch the whole history: `git fetch --unshallow`";
            return Err(self.untrusted("shallow", what.to_owned(), help));
        }
        let committed = Committed::read(&repo.git, &repo.head, &repo.specs)?;
        self.attributes(repo, &committed)?;
        if let Some(path) = committed.odd() {
            let path = repo.display_path(&format!("{}/{path}", repo.specs));
            let what = format!(
                "{path} is a link or a submodule in the commit, so the author of its text is \
                unknown"
            );
            return Err(self.untrusted("link", what, "commit the file itself instead"));
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
        let place = place
            .map_or_else(|| "in the git configuration".to_owned(), |place| format!("at {place}"));
        let what = format!(
            "{} has the git attribute {attribute}, set {place}: its committed text differs from \
            the file, or is merged by another rule, so its author is unknown",
            repo.display_path(&path)
        );
        let help = "remove the attribute for specs and approvals, then check the files out again";
        Err(self.untrusted("attributes", what, help))
    }

    fn uncommitted(&self, repo: &ApprovalRepo, found: &Difference) -> NotTrusted {
        let path = repo.display_path(&format!("{}/{}", repo.specs, found.path));
        let what = format!("{path} differs from its commit: no signed approval counts");
        let help = if found.line_ends {
            "stop git from changing line ends (`git config core.autocrlf false`, no `eol` \
            attribute), then check the file out again"
        } else {
            "commit or revert the change; if git shows none, run `git update-index \
            --no-assume-unchanged --no-skip-worktree FILE`"
        };
        self.untrusted("dirty", what, help)
    }

    fn specs_changed(&self) -> NotTrusted {
        let what = "the specs changed after the plan was made";
        self.untrusted(
            "moved",
            what.to_owned(),
            "repeat the command while no program writes to \
            the folder",
        )
    }
}
