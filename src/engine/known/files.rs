//! The files as last read.
//!
//! Guarantees: the desired state is available at any time, also while another thread reads the
//! files again. Until that read ends, it is the previous desired state.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::issue::{Issue, PlacedIssue, TreeProblems};
use crate::model::manifest::{Desired, Provenance};
use crate::spec::tree::loader::Loader;

pub trait SpecSource: Send + Sync {
    fn desired(&self) -> Arc<Desired>;
    /// Reads these files, or all if there are none; returns the resources that may have changed.
    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key>;
    /// Reads every file again, regardless of size and time; returns as `reload` does.
    fn verify(&mut self) -> BTreeSet<Key>;
    fn problems(&self) -> TreeProblems;
    /// Returns a digest of the files' paths and bytes; `None` if there are no files.
    fn digest(&self) -> Option<Digest>;
    /// Locates an issue of a resource's document in its file, if there is a file.
    fn place(&self, key: &Key, issue: &Issue) -> Option<PlacedIssue>;
    /// Returns the first and last line of each of these fields below `spec` of a document.
    fn lines(&self, _key: &Key, _fields: &[&str]) -> Vec<(usize, usize)> {
        Vec::new()
    }
    /// Returns the commit that was checked out at the last read; `None` without a repository.
    fn commit(&self) -> Option<String> {
        None
    }
    /// Returns the revision of a file as it was read, by its name in reports.
    fn provenance(&self, _file: &str) -> Provenance {
        Provenance { commit: self.commit(), uncommitted: false }
    }
}

impl SpecSource for Loader {
    fn desired(&self) -> Arc<Desired> {
        self.shared_desired()
    }

    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key> {
        if paths.is_empty() { self.load_all().touched } else { Self::reload(self, paths).touched }
    }

    fn verify(&mut self) -> BTreeSet<Key> {
        Self::verify(self).touched
    }

    fn problems(&self) -> TreeProblems {
        Self::problems(self)
    }

    fn digest(&self) -> Option<Digest> {
        Some(Self::digest(self))
    }

    fn place(&self, key: &Key, issue: &Issue) -> Option<PlacedIssue> {
        Self::place_issue(self, key, issue)
    }

    fn lines(&self, key: &Key, fields: &[&str]) -> Vec<(usize, usize)> {
        Self::field_lines(self, key, fields)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReadScope {
    /// Reads every file, regardless of size and time.
    pub(crate) verify: bool,
    /// Reads these files alone; all files if the list is empty.
    pub(crate) paths: Vec<PathBuf>,
}

impl ReadScope {
    pub(crate) fn merge(mut self, other: Self) -> Self {
        let all = self.paths.is_empty() || other.paths.is_empty();
        self.paths.extend(other.paths);
        let paths = if all { Vec::new() } else { self.paths };
        Self { verify: self.verify || other.verify, paths }
    }

    /// Reads the files; returns the resources whose manifest may have changed.
    fn read(&self, specs: &mut dyn SpecSource) -> BTreeSet<Key> {
        if self.verify { specs.verify() } else { specs.reload(&self.paths) }
    }
}

pub(crate) struct SpecFiles {
    /// `None` while another thread reads.
    specs: Option<Box<dyn SpecSource>>,
    desired: Arc<Desired>,
    /// Answers while another thread reads; `None` if no other thread ever read.
    report: Option<ReadReport>,
    /// Set by the first question for the digest: from then on each read computes it, whose cost is that
    /// of all files.
    needs_digest: AtomicBool,
}

struct ReadReport {
    problems: TreeProblems,
    digest: Option<Digest>,
    commit: Option<String>,
}

pub(crate) struct TreeRead {
    specs: Box<dyn SpecSource>,
    touched: BTreeSet<Key>,
    report: ReadReport,
}

impl SpecFiles {
    pub(crate) fn new(specs: Box<dyn SpecSource>) -> Self {
        let (desired, needs_digest) = (specs.desired(), AtomicBool::new(false));
        Self { desired, specs: Some(specs), report: None, needs_digest }
    }

    pub(crate) fn desired(&self) -> &Desired {
        &self.desired
    }

    /// Reads files again on this thread; returns the resources whose manifest may have changed.
    pub(crate) fn read(&mut self, scope: &ReadScope) -> BTreeSet<Key> {
        let Some(specs) = &mut self.specs else { return BTreeSet::new() };
        // This drops the only other reference, so nothing is copied.
        self.desired = Arc::default();
        let touched = scope.read(&mut **specs);
        self.desired = specs.desired();
        touched
    }

    /// Stores the answers for the time in which another thread reads.
    pub(crate) fn remember_report(&mut self) {
        self.report = self.specs.as_deref().map(|specs| ReadReport::of(specs, true));
    }

    /// Returns a read for another thread, unless one is under way.
    pub(crate) fn read_elsewhere(
        &mut self,
        scope: ReadScope,
    ) -> Option<impl FnOnce() -> TreeRead + Send + use<>> {
        let mut specs = self.specs.take()?;
        let needs_digest = self.needs_digest.load(Relaxed);
        Some(move || {
            let touched = scope.read(&mut *specs);
            let told = ReadReport::of(&*specs, needs_digest);
            TreeRead { specs, touched, report: told }
        })
    }

    /// Applies the read of another thread; returns the resources whose manifest may have changed. Only
    /// their manifests are copied: from the first change on, each thread has a map of its own.
    pub(crate) fn apply_read(&mut self, looked: TreeRead) -> BTreeSet<Key> {
        let TreeRead { specs, touched, report: told } = looked;
        let read = specs.desired();
        if !Arc::ptr_eq(&read, &self.desired) {
            Arc::make_mut(&mut self.desired).copy_from(&read, &touched);
        }
        debug_assert!(
            self.desired.is_same(&read),
            "a changed document is not among the touched ones"
        );
        (self.specs, self.report) = (Some(specs), Some(told));
        touched
    }

    pub(crate) fn problems(&self) -> TreeProblems {
        match (&self.report, &self.specs) {
            (Some(told), _) => told.problems.clone(),
            (None, Some(specs)) => specs.problems(),
            (None, None) => TreeProblems::default(),
        }
    }

    /// Returns a digest of the files' paths and bytes; `None` if there are no files, and at a first
    /// question that comes while another thread reads them.
    pub(crate) fn digest(&self) -> Option<Digest> {
        self.needs_digest.store(true, Relaxed);
        match (&self.specs, &self.report) {
            (Some(specs), _) => specs.digest(),
            (None, told) => told.as_ref().and_then(|told| told.digest),
        }
    }

    /// Locates an issue of a resource's document, if there is a file and no thread reads it now.
    pub(crate) fn place(&self, key: &Key, issue: &Issue) -> Option<PlacedIssue> {
        self.specs.as_ref()?.place(key, issue)
    }

    /// Returns true while another thread reads the files. No effect of a document starts meanwhile:
    /// its revision would be unknown.
    pub(crate) fn is_being_read(&self) -> bool {
        self.specs.is_none()
    }

    /// Returns the commit that was checked out at the last read.
    pub(crate) fn commit(&self) -> Option<String> {
        match (&self.report, &self.specs) {
            (Some(told), _) => told.commit.clone(),
            (None, specs) => specs.as_ref().and_then(|specs| specs.commit()),
        }
    }

    /// Returns the revision of a file as it was read; without a commit while another thread reads.
    pub(crate) fn provenance(&self, file: &str) -> Provenance {
        self.specs.as_ref().map(|specs| specs.provenance(file)).unwrap_or_default()
    }

    /// Returns the first and last line of each of these fields of a resource's document.
    pub(crate) fn lines(&self, key: &Key, fields: &[&str]) -> Vec<(usize, usize)> {
        self.specs.as_ref().map(|specs| specs.lines(key, fields)).unwrap_or_default()
    }
}

impl ReadReport {
    fn of(specs: &dyn SpecSource, needs_digest: bool) -> Self {
        let digest = if needs_digest { specs.digest() } else { None };
        Self { problems: specs.problems(), digest, commit: specs.commit() }
    }
}

#[cfg(test)]
mod tests;
