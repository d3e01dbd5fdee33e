//! The files as they were read last.
//!
//! Guarantees: what the files want is there at any time, also while another thread reads them again; then it is what
//! they wanted before.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::desired::Desired;
use crate::model::issue::{Issue, Problem, Problems};
use crate::model::provenance::Provenance;
use crate::spec::loader::Loader;

/// Where wishes come from.
pub trait Specs: Send {
    /// What the files want now.
    fn desired(&self) -> Arc<Desired>;
    /// Looks at these files again, at all of them if there are none; answers the resources whose
    /// wish may have changed.
    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key>;
    /// Reads every file again, whatever its size and time say; answers as `reload` does.
    fn verify(&mut self) -> BTreeSet<Key>;
    /// What is wrong with the files.
    fn problems(&self) -> Problems;
    /// A digest of the files' paths and bytes; none where there are no files.
    fn digest(&self) -> Option<Digest>;
    /// An issue of a resource's document with its place in the file, where there is a file.
    fn place(&self, key: &Key, issue: &Issue) -> Option<Problem>;
    /// The first and last line of each of these fields below `spec` in a resource's document.
    fn lines(&self, _key: &Key, _fields: &[&str]) -> Vec<(usize, usize)> {
        Vec::new()
    }
    /// The commit that was checked out at the last look; none without a repository.
    fn commit(&self) -> Option<String> {
        None
    }
    /// The revision of a file as it was read, by its name in reports.
    fn provenance(&self, _file: &str) -> Provenance {
        Provenance { commit: self.commit(), uncommitted: false }
    }
}

impl Specs for Loader {
    fn desired(&self) -> Arc<Desired> {
        self.shared()
    }

    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key> {
        if paths.is_empty() { self.load_all().touched } else { Self::reload(self, paths).touched }
    }

    fn verify(&mut self) -> BTreeSet<Key> {
        Self::verify(self).touched
    }

    fn problems(&self) -> Problems {
        Self::problems(self)
    }

    fn digest(&self) -> Option<Digest> {
        Some(Self::digest(self))
    }

    fn place(&self, key: &Key, issue: &Issue) -> Option<Problem> {
        Self::place(self, key, issue)
    }

    fn lines(&self, key: &Key, fields: &[&str]) -> Vec<(usize, usize)> {
        Self::lines(self, key, fields)
    }
}

/// How the files are looked at again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// Every file, whatever its size and time say.
    pub(super) verify: bool,
    /// These alone; all of them if there are none.
    pub(super) paths: Vec<PathBuf>,
}

impl Scope {
    /// One look in the place of two.
    pub(super) fn with(mut self, other: Self) -> Self {
        let all = self.paths.is_empty() || other.paths.is_empty();
        self.paths.extend(other.paths);
        let paths = if all { Vec::new() } else { self.paths };
        Self { verify: self.verify || other.verify, paths }
    }

    /// Looks; answers the resources whose wish may have changed.
    fn look(&self, specs: &mut dyn Specs) -> BTreeSet<Key> {
        if self.verify { specs.verify() } else { specs.reload(&self.paths) }
    }
}

/// The files, and what was read of them.
pub(super) struct Files {
    /// None while another thread looks.
    specs: Option<Box<dyn Specs>>,
    desired: Arc<Desired>,
    /// What is told while another thread looks; none where none ever does.
    told: Option<Told>,
}

/// What a look has found beside the wishes.
struct Told {
    problems: Problems,
    digest: Option<Digest>,
    commit: Option<String>,
}

/// The files after a look of another thread.
pub(super) struct Looked {
    specs: Box<dyn Specs>,
    touched: BTreeSet<Key>,
    told: Told,
}

impl Files {
    pub(super) fn new(specs: Box<dyn Specs>) -> Self {
        Self { desired: specs.desired(), specs: Some(specs), told: None }
    }

    /// What the files want.
    pub(super) fn desired(&self) -> &Desired {
        &self.desired
    }

    /// Looks at files again, on this thread; answers the resources whose wish may have changed.
    pub(super) fn look(&mut self, scope: &Scope) -> BTreeSet<Key> {
        let Some(specs) = &mut self.specs else { return BTreeSet::new() };
        // Nobody else holds it now, so nothing is copied.
        self.desired = Arc::default();
        let touched = scope.look(&mut **specs);
        self.desired = specs.desired();
        touched
    }

    /// Takes note of what is told while another thread looks.
    pub(super) fn note(&mut self) {
        self.told = self.specs.as_deref().map(Told::by);
    }

    /// A look for another thread, unless one is under way.
    pub(super) fn aside(&mut self, scope: Scope) -> Option<impl FnOnce() -> Looked + Send + use<>> {
        let mut specs = self.specs.take()?;
        Some(move || {
            let touched = scope.look(&mut *specs);
            let told = Told::by(&*specs);
            Looked { specs, touched, told }
        })
    }

    /// Takes over what another thread saw; answers the resources whose wish may have changed.
    pub(super) fn take_back(&mut self, looked: Looked) -> BTreeSet<Key> {
        let Looked { specs, touched, told } = looked;
        self.desired = specs.desired();
        (self.specs, self.told) = (Some(specs), Some(told));
        touched
    }

    /// What is wrong with the files.
    pub(super) fn problems(&self) -> Problems {
        match (&self.told, &self.specs) {
            (Some(told), _) => told.problems.clone(),
            (None, Some(specs)) => specs.problems(),
            (None, None) => Problems::default(),
        }
    }

    /// A digest of the files' paths and bytes; none where there are no files.
    pub(super) fn digest(&self) -> Option<Digest> {
        match (&self.told, &self.specs) {
            (Some(told), _) => told.digest,
            (None, specs) => specs.as_ref().and_then(|specs| specs.digest()),
        }
    }

    /// An issue of a resource's document with its place in the file, where there is a file that nobody reads now.
    pub(super) fn place(&self, key: &Key, issue: &Issue) -> Option<Problem> {
        self.specs.as_ref()?.place(key, issue)
    }

    /// Whether another thread reads the files now. No effect of a document starts meanwhile: its revision could not be
    /// told.
    pub(super) fn is_away(&self) -> bool {
        self.specs.is_none()
    }

    /// The commit that was checked out at the last look.
    pub(super) fn commit(&self) -> Option<String> {
        match (&self.told, &self.specs) {
            (Some(told), _) => told.commit.clone(),
            (None, specs) => specs.as_ref().and_then(|specs| specs.commit()),
        }
    }

    /// The revision of a file as it was read; without a commit while another thread reads.
    pub(super) fn provenance(&self, file: &str) -> Provenance {
        self.specs.as_ref().map(|specs| specs.provenance(file)).unwrap_or_default()
    }

    /// The first and last line of each of these fields of a resource's document.
    pub(super) fn lines(&self, key: &Key, fields: &[&str]) -> Vec<(usize, usize)> {
        self.specs.as_ref().map(|specs| specs.lines(key, fields)).unwrap_or_default()
    }
}

impl Told {
    fn by(specs: &dyn Specs) -> Self {
        Self { problems: specs.problems(), digest: specs.digest(), commit: specs.commit() }
    }
}
