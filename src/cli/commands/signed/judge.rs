//! Judges the approval of one file: it counts, or the judge returns the reason against it.
//!
//! An approval counts under three conditions. An allowed signer signed the commit that brought the
//! file. That commit changes nothing but approvals. The signer changed no document of the plan.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::base::clock::timestamp;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::wording::count_noun;
use crate::cli::commands::signed::commit::{CommitSignature, SignedCommit, Signer};
use crate::cli::commands::signed::history::{DocumentChange, SoughtDocuments, changes};
use crate::cli::commands::signed::repository::ApprovalRepo;
use crate::cli::context::git::program::GitError;
use crate::cli::context::git::tree::is_yaml;
use crate::config::approvals::{ApprovalFile, AuthorEvidence};
use crate::engine::protocol::approvals::{ApproveSigned, ApprovingPlan};
use crate::model::operator::ApprovalSignature;

const SHORT: usize = 12;

/// Reason against a file: a code, the message, and the help.
pub(crate) struct Rejection(pub(crate) &'static str, pub(crate) String, pub(crate) &'static str);

#[derive(derive_more::From)]
pub(crate) enum NotCounted {
    Rejected(Rejection),
    Git(GitError),
}

pub(crate) struct Judge<'a> {
    pub repo: &'a ApprovalRepo,
    sought: SoughtDocuments,
    applied: BTreeMap<Key, Digest>,
    now: DateTime<Utc>,
    changes: Option<Vec<DocumentChange>>,
    commits: BTreeMap<String, SignedCommit>,
}

/// A file of the approvals folder, as it is in the commit that is checked out.
#[derive(Debug)]
pub(crate) struct ApprovalEntry {
    /// Path from the top of the repository.
    pub path: String,
    pub shown: String,
    pub blob: String,
}

impl<'a> Judge<'a> {
    /// Creates a judge; `applied` holds the digests of documents that the plan only changes.
    pub(crate) fn new(
        repo: &'a ApprovalRepo,
        sought: SoughtDocuments,
        applied: BTreeMap<Key, Digest>,
        now: DateTime<Utc>,
    ) -> Self {
        Self { repo, sought, applied, now, changes: None, commits: BTreeMap::new() }
    }

    /// Returns the approval of a file that names the present plan, ready to be recorded.
    pub(crate) fn judge(
        &mut self,
        file: &ApprovalEntry,
        said: ApprovalFile,
    ) -> Result<ApproveSigned, NotCounted> {
        let Some(commit) = self.bringing_commit(file)? else {
            let what = "the present content of this file comes only from a merge".to_owned();
            let help = "commit the file in a signed commit of its own";
            return Err(Rejection("reckon::approval::merge", what, help).into());
        };
        self.check_only_approvals(&commit)?;
        let signer = signer(&commit)?;
        self.check_not_expired(&said, &commit)?;
        self.check_not_author(&signer)?;
        let ApprovalFile { plan: checksum, ceilings, expires } = said;
        let plan = ApprovingPlan { checksum, ceilings, actor: signer.principal };
        let (file, key) = (file.path.clone(), signer.key);
        let signature = ApprovalSignature { file, commit: commit.id, key, until: expires };
        Ok(ApproveSigned { plan, signature, at: commit.at })
    }

    /// Returns the commit that last changed the file, if the file is still as that commit left it.
    fn bringing_commit(&mut self, file: &ApprovalEntry) -> Result<Option<SignedCommit>, GitError> {
        let git = &self.repo.git;
        let mut arguments = vec!["log", "-1", "--topo-order", "--full-history", "--no-merges"];
        arguments.extend(["--format=%H", &self.repo.head, "--", &file.path]);
        let id = git.line(&arguments)?;
        if id.is_empty() {
            return Ok(None);
        }
        let there =
            git.run(&["rev-parse", "--verify", "--quiet", &format!("{id}:{}", file.path)], &[])?;
        let same = String::from_utf8_lossy(&there.out).trim() == file.blob;
        if same { self.commit(&id).map(Some) } else { Ok(None) }
    }

    /// Returns a commit; each is read once.
    fn commit(&mut self, id: &str) -> Result<SignedCommit, GitError> {
        if let Some(commit) = self.commits.get(id) {
            return Ok(commit.clone());
        }
        let commit = SignedCommit::read(&self.repo.git, id)?;
        self.commits.insert(id.to_owned(), commit.clone());
        Ok(commit)
    }

    fn check_only_approvals(&self, commit: &SignedCommit) -> Result<(), NotCounted> {
        let ApprovalRepo { git, folder, .. } = self.repo;
        let mut arguments =
            vec!["diff-tree", "--no-commit-id", "--root", "-r", "-z", "--name-only"];
        arguments.extend(["--no-renames", "--no-ext-diff", "--no-textconv", &commit.id]);
        let said = git.output(&arguments, &[])?;
        let said = String::from_utf8_lossy(&said);
        let beneath = format!("{folder}/");
        let other = said.split('\0').find(|path| !path.is_empty() && !path.starts_with(&beneath));
        let Some(other) = other else { return Ok(()) };
        let what = format!("commit {} also changes {other}", short(&commit.id));
        let help = "commit the approval alone, after the commits that it approves";
        Err(Rejection("reckon::approval::mixed", what, help).into())
    }

    fn check_not_expired(
        &self,
        said: &ApprovalFile,
        commit: &SignedCommit,
    ) -> Result<(), Rejection> {
        let help = "approve the plan again, if you still want it";
        let over = |what: String| Err(Rejection("reckon::approval::expired", what, help));
        if let Some(expires) = said.expires.filter(|expires| *expires <= self.now) {
            return over(format!("it expired at {}", timestamp(&expires)));
        }
        let age = self.now.signed_duration_since(commit.at);
        let valid = self.repo.valid_for;
        if age.to_std().is_ok_and(|age| age >= valid) {
            let hours = count_noun(valid.as_secs().checked_div(3600).unwrap_or_default(), "hour");
            let signed = timestamp(&commit.at);
            return over(format!("it was signed at {signed}, and approvals are valid for {hours}"));
        }
        Ok(())
    }

    /// Checks that the signer changed no document of the plan, as far as the history shows it.
    fn check_not_author(&mut self, signer: &Signer) -> Result<(), NotCounted> {
        let changes = self.changes()?;
        self.check_all_committed(&changes)?;
        for change in changes {
            let commit = self.commit(&change.commit)?;
            if let Err(no) = check_other_person(signer, &commit, &change, self.repo.authors)
                && !self.is_applied(&change)?
            {
                return Err(no.into());
            }
        }
        Ok(())
    }

    /// Checks that some commit changed every document of the plan.
    fn check_all_committed(&self, changes: &[DocumentChange]) -> Result<(), Rejection> {
        let unknown = |key: &&Key| !changes.iter().any(|one| one.documents.contains_key(*key));
        let Some(key) = self.sought.keys.iter().find(unknown) else { return Ok(()) };
        let what = format!("the author of {} is unknown: no commit names it", key.short());
        let help = "commit its document as plain text, or approve the plan: `reckon plan` shows the command";
        Err(Rejection("reckon::approval::unknown_author", what, help))
    }

    /// Returns true if the service already has everything that a commit changed. The commit then
    /// comes before one at which each of these documents had just the applied content, so it is no
    /// part of the plan's changes.
    fn is_applied(&mut self, change: &DocumentChange) -> Result<bool, GitError> {
        let all = self.changes()?;
        for key in change.documents.keys() {
            let Some(applied) = self.applied.get(key) else { return Ok(false) };
            let there = |one: &&DocumentChange| one.documents.get(key) == Some(&Some(*applied));
            let Some(base) = all.iter().find(there) else { return Ok(false) };
            let arguments = ["merge-base", "--is-ancestor", &change.commit, &base.commit];
            if !self.repo.git.run(&arguments, &[])?.success {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns every commit that changed a document of the plan; reads the complete history once.
    fn changes(&mut self) -> Result<Vec<DocumentChange>, GitError> {
        if let Some(changes) = &self.changes {
            return Ok(changes.clone());
        }
        let ApprovalRepo { git, head, specs, .. } = self.repo;
        let found = changes(git, head, specs, &self.sought)?;
        self.changes = Some(found.clone());
        Ok(found)
    }
}

fn signer(commit: &SignedCommit) -> Result<Signer, Rejection> {
    let id = short(&commit.id);
    let no = |code, what: String, help| Err(Rejection(code, what, help));
    match &commit.signature {
        CommitSignature::Valid(signer) if signer.is_named_by_address() => Ok(signer.clone()),
        CommitSignature::Valid(signer) => no(
            "reckon::approval::nameless",
            format!("its signer {:?} is not an e-mail address", signer.principal),
            "name signers by their e-mail addresses, so that reckon can compare them with authors",
        ),
        CommitSignature::Unsigned => no(
            "reckon::approval::unsigned",
            format!("commit {id} is not signed"),
            "sign it: `git commit -S`, with gpg.format ssh",
        ),
        CommitSignature::NotSsh => no(
            "reckon::approval::unsigned",
            format!("commit {id} is not signed with an SSH key"),
            "sign it with an SSH key: `git commit -S`, with gpg.format ssh",
        ),
        CommitSignature::Invalid => no(
            "reckon::approval::unsigned",
            format!("the signature of commit {id} is invalid"),
            "sign the commit again; `git verify-commit` shows details",
        ),
        CommitSignature::UnknownKey(key) => no(
            "reckon::approval::unknown_signer",
            format!("commit {id} is signed with {key}, which is not among the allowed signers"),
            "have an operator add the key to policy.approvals.signed.signers",
        ),
    }
}

/// Checks that a commit which changed a document is another person's.
fn check_other_person(
    signer: &Signer,
    commit: &SignedCommit,
    change: &DocumentChange,
    how: AuthorEvidence,
) -> Result<(), Rejection> {
    let id = short(&commit.id);
    let about = change.documents.keys().map(Key::short).collect::<Vec<_>>().join(", ");
    let own = |how: &str| {
        let who = &signer.principal;
        let what = format!("{who} {how} commit {id}, which changed {about}");
        Err(Rejection("reckon::approval::own_work", what, "let another person approve it"))
    };
    if commit.people.iter().any(|address| signer.may_be(address)) {
        return own("made");
    }
    match &commit.signature {
        CommitSignature::Valid(author) if signer.may_also_be(author) => return own("signed"),
        CommitSignature::UnknownKey(key) if *key == signer.key => return own("signed"),
        CommitSignature::Valid(_) => return Ok(()),
        CommitSignature::Unsigned
        | CommitSignature::NotSsh
        | CommitSignature::Invalid
        | CommitSignature::UnknownKey(_) => {}
    }
    if how == AuthorEvidence::Named {
        return Ok(());
    }
    let what =
        format!("the author of {about} is unknown: commit {id} is not signed by an allowed signer");
    let help = "have the commit signed, or trust author names (policy.approvals.signed.authors: \
        named), which anyone can forge";
    Err(Rejection("reckon::approval::unknown_author", what, help))
}

/// Returns the plain files of the approvals folder in a commit, and its other entries.
pub(crate) fn files(
    repo: &ApprovalRepo,
) -> Result<(Vec<ApprovalEntry>, Vec<ApprovalEntry>), GitError> {
    let ApprovalRepo { git, head, folder, .. } = repo;
    let listing = ["ls-tree", "-z", "--full-tree", head, "--", &format!("{folder}/")];
    let said = git.output(&listing, &[])?;
    let mut found = (Vec::new(), Vec::new());
    for entry in String::from_utf8_lossy(&said).split('\0') {
        let Some((about, path)) = entry.split_once('\t') else { continue };
        if !is_yaml(path) {
            continue;
        }
        let mut about = about.split(' ');
        let mode = about.next().unwrap_or_default();
        let blob = about.nth(1).unwrap_or_default().to_owned();
        let file = ApprovalEntry { path: path.to_owned(), shown: repo.display_path(path), blob };
        if mode.starts_with("100") { found.0.push(file) } else { found.1.push(file) }
    }
    Ok(found)
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}
