//! The repository of approvals in signed commits, and the checks that make it trustworthy: a pull
//! request must not be able to change who may sign.
//!
//! It also compares the loaded specs with the commit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::folder_location::FolderLocation;
use crate::base::hash::Digest;
use crate::cli::context::git::committed::{Committed, Difference, ForbiddenAttribute};
use crate::cli::context::git::program::{Git, GitError, path_from_top};
use crate::cli::context::git::{committed, program};
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandResult, file_problem};
use crate::config::approvals::{AuthorEvidence, SignedRules};
use crate::config::setting::ProcessEnv;
use crate::kinds::register::KINDS;
use crate::kinds::schema::kind::CheckCx;
use crate::model::issue::PlacedIssue;
use crate::spec::document::ReadContext;
use crate::spec::tree::roots::SpecRoots;

/// Configuration of signed approvals, which each examination checks again.
#[derive(Debug, Clone)]
pub(crate) struct SignedConfig {
    root: PathBuf,
    /// The folder of the configuration's name, and the one of the file itself.
    config: Vec<PathBuf>,
    specs: SpecRoots,
    rules: SignedRules,
    valid_for: Duration,
    check: CheckCx,
}

/// A repository in which approvals may count.
#[derive(Debug)]
pub(crate) struct ApprovalRepo {
    pub git: Git,
    pub head: String,
    /// Folders of the specs, from the top.
    pub specs: Vec<String>,
    roots: SpecRoots,
    /// Folder of the approvals, from the top.
    pub folder: String,
    pub authors: AuthorEvidence,
    pub valid_for: Duration,
    root: PathBuf,
}

/// Reason for which no approval counts here.
#[derive(Debug, derive_more::From)]
pub(crate) enum NotTrusted {
    /// The operator has to change something first.
    Problem(Box<PlacedIssue>),
    #[from]
    Git(GitError),
}

impl NotTrusted {
    pub(crate) fn problem(self, place: &SignedConfig) -> PlacedIssue {
        match self {
            Self::Problem(problem) => *problem,
            Self::Git(trouble) => {
                let help = "install git 2.35 or later and ssh-keygen";
                place.problem("reckon::approval::git", trouble.to_string(), help)
            }
        }
    }
}

impl ApprovalRepo {
    /// Returns a path of the tree of specs from the top of the repository.
    fn spec_from_top(&self, path: &str) -> String {
        let found = self.roots.locate(path);
        let found = found.and_then(|(number, below)| Some((self.specs.get(number)?, below)));
        found.map_or_else(|| path.to_owned(), |(folder, below)| format!("{folder}/{below}"))
    }

    /// Returns a path as problems name it: from the folder of the configuration.
    pub(crate) fn display_path(&self, path: &str) -> String {
        machine::below(&self.root, &self.git.top.join(path)).to_string_lossy().into_owned()
    }
}

impl SignedConfig {
    /// Returns the configuration of signed approvals; `None` if it has none.
    pub(crate) fn of(setup: &Context) -> CommandResult<Option<Self>> {
        let section = setup.config.policy.approvals.signed.as_ref();
        let rules = section.map(|section| section.get(&ProcessEnv)).transpose()?.flatten();
        let valid_for = setup.config.rules(&ProcessEnv)?.approvals.valid_for;
        let (root, specs) = (setup.root.clone(), setup.specs.roots());
        let check = setup.config.check_context(&ProcessEnv)?;
        let config = setup.config_places();
        Ok(rules.map(|rules| Self { root, config, specs, rules, valid_for, check }))
    }

    pub(crate) fn reading(&self) -> ReadContext {
        ReadContext { kinds: KINDS, check: self.check.clone() }
    }

    /// Opens the repository.
    ///
    /// # Errors
    /// The reason for which approvals in it cannot be trusted.
    pub(crate) fn open(&self) -> Result<ApprovalRepo, NotTrusted> {
        let (top, specs) = self.tree()?;
        let signers = self.signers(&top)?;
        let folder = self.folder(&top, &specs)?;
        let git = Git { signers: Some(signers), ..Git::at(top) };
        let found = git.run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], &[])?;
        let head = String::from_utf8_lossy(&found.out).trim().to_owned();
        if !found.success || head.is_empty() {
            let what = "the repository of the specs has no commit";
            let help = "commit the specs, then each approval in a commit of its own";
            return Err(self.untrusted("repository", what, help));
        }
        let (authors, valid_for, root) = (self.rules.authors, self.valid_for, self.root.clone());
        let roots = self.specs.clone();
        Ok(ApprovalRepo { git, head, specs, roots, folder, authors, valid_for, root })
    }

    /// Returns the top of the work tree, and the folders of specs from there.
    fn tree(&self) -> Result<(PathBuf, Vec<String>), NotTrusted> {
        if self.specs.is_rendered() {
            let what = "the tree is rendered, so the authors of its documents are unknown";
            let help = "approve plans with `reckon approve`, or commit the rendered documents";
            return Err(self.untrusted("rendered", what, help));
        }
        let mut found: Option<(PathBuf, Vec<String>)> = None;
        for place in self.specs.places() {
            let (top, folder) = self.tree_of(place)?;
            let (known, folders) = found.get_or_insert_with(|| (top.clone(), Vec::new()));
            if *known != top {
                let what = format!("the folder of specs {place} is in another repository");
                let help = "keep all folders of specs in one repository";
                return Err(self.untrusted("repository", what, help));
            }
            folders.push(folder);
        }
        Ok(found.unwrap_or_default())
    }

    fn tree_of(&self, place: &FolderLocation) -> Result<(PathBuf, String), NotTrusted> {
        if let Err(error) = place.open() {
            let what = format!("the folder of specs {place} cannot be opened: {error}");
            let help = "write the real path of the folder, without links, in `specs`";
            return Err(self.untrusted("repository", what, help));
        }
        let specs = place.path().canonicalize().ok();
        let top = specs.as_deref().and_then(program::work_tree);
        let Some((top, specs)) = top.zip(specs) else {
            let help = "keep the specs in a git repository";
            let what = "the specs are not in a git work tree, so there are no signed commits";
            return Err(self.untrusted("repository", what, help));
        };
        if self.config.iter().any(|place| place.starts_with(&top)) {
            let what = "this file is in the repository of the specs, where a pull request can change who may approve";
            let help =
                "keep the configuration outside that repository and name it with --config FILE";
            return Err(self.untrusted("config_inside", what, help));
        }
        let Some(specs) = path_from_top(&top, &specs) else {
            let help = "give the specs a folder of their own, beside that of the approvals";
            let what =
                "the specs are the whole repository, with no folder for approvals beside them";
            return Err(self.untrusted("folder", what, help));
        };
        Ok((top, specs))
    }

    /// Returns the file of allowed signers, which has to be out of reach of pull requests.
    fn signers(&self, top: &Path) -> Result<PathBuf, NotTrusted> {
        let path = &self.rules.signers;
        let real = path.canonicalize().map_err(|error| {
            let what = format!("the allowed signers {} cannot be read: {error}", path.display());
            let help = "write a line for each: ADDRESS KEY, as ssh-keygen reads it";
            self.untrusted("signers", what, help)
        })?;
        let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
        let named = parent.is_none_or(|parent| parent.starts_with(top));
        if named || real.starts_with(top) {
            let what = format!(
                "the allowed signers {} are in the repository of the specs, where a pull request can change who may approve",
                path.display()
            );
            let help = "keep that file outside the repository";
            return Err(self.untrusted("signers_inside", what, help));
        }
        Ok(real)
    }

    /// Returns the folder of the approvals, from the top.
    fn folder(&self, top: &Path, specs: &[String]) -> Result<String, NotTrusted> {
        let beside = || {
            let first = self.specs.places().next()?.path().canonicalize().ok()?;
            first.parent().map(|parent| parent.join("approvals"))
        };
        let folder = self.rules.folder.clone().or_else(beside).unwrap_or_default();
        let parent = folder.parent().and_then(|parent| parent.canonicalize().ok());
        let real = parent.zip(folder.file_name()).map(|(parent, name)| parent.join(name));
        let inside = real.and_then(|real| path_from_top(top, &real));
        let apart = |one: &str, other: &str| !Path::new(one).starts_with(other);
        let free = |one: &String| specs.iter().all(|it| apart(one, it) && apart(it, one));
        inside.filter(free).ok_or_else(|| {
            let what = format!(
                "the folder of approvals {} is outside the repository of the specs, or overlaps \
                the specs",
                folder.display()
            );
            let help = "set policy.approvals.signed.folder to a folder beside the specs";
            self.untrusted("folder", what, help)
        })
    }

    /// Returns the reason that has to change before any approval counts.
    fn untrusted(&self, word: &str, message: impl Into<String>, help: &str) -> NotTrusted {
        let problem = self.problem(&format!("reckon::approval::{word}"), message.into(), help);
        NotTrusted::Problem(Box::new(problem))
    }

    fn problem(&self, code: &str, message: String, help: &str) -> PlacedIssue {
        let (file, line) = self.rules.place.rsplit_once(':').unwrap_or((&self.rules.place, "1"));
        PlacedIssue { line: line.parse().unwrap_or(1), ..file_problem(file, code, message, help) }
    }

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
            return Err(self.untrusted("shallow", what, help));
        }
        let committed = Committed::read_tree(&repo.git, &repo.head, &repo.specs, &repo.roots)?;
        self.attributes(repo, &committed)?;
        if let Some(path) = committed.odd() {
            let path = repo.display_path(&repo.spec_from_top(path));
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
            .difference(&self.specs)
            .map_or_else(|| self.specs_changed(), |one| self.uncommitted(repo, &one)))
    }

    /// Checks that no file has an attribute that gives it other text in a commit than on disk.
    fn attributes(&self, repo: &ApprovalRepo, committed: &Committed) -> Result<(), NotTrusted> {
        let specs = committed.paths().map(|path| repo.spec_from_top(path));
        let approvals = Committed::read(&repo.git, &repo.head, &repo.folder)?;
        let approvals = approvals.paths().map(|path| format!("{}/{path}", repo.folder));
        let paths: Vec<String> = specs.chain(approvals).collect();
        let Some(found) = committed::first_forbidden(&repo.git, paths.iter().map(String::as_str))?
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
        let path = repo.display_path(&repo.spec_from_top(&found.path));
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
        self.untrusted("moved", what, "repeat the command while no program writes to the folder")
    }
}
