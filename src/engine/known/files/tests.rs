use super::*;
use crate::model::issue::Severity;

/// Documents of one name each, and a record of how they were read.
#[derive(Default)]
struct NamedSpecs {
    names: Vec<&'static str>,
    commit: Option<String>,
    reads: Vec<String>,
}

impl NamedSpecs {
    fn read(&mut self, how: String) -> BTreeSet<Key> {
        self.reads.push(how);
        self.commit = Some(format!("commit-{}", self.reads.len()));
        self.names.push("Contact/new");
        BTreeSet::from(["Contact/new".parse().unwrap()])
    }
}

impl SpecSource for NamedSpecs {
    fn desired(&self) -> Arc<Desired> {
        let broken = self.names.iter().map(|name| name.parse().unwrap()).collect();
        Arc::new(Desired { broken, ..Desired::default() })
    }

    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key> {
        self.read(format!("reload {}", paths.len()))
    }

    fn verify(&mut self) -> BTreeSet<Key> {
        self.read("verify".to_owned())
    }

    fn problems(&self) -> TreeProblems {
        TreeProblems::default()
    }

    fn digest(&self) -> Option<Digest> {
        Some(crate::base::hash::sha256(&[u8::try_from(self.reads.len()).unwrap()]))
    }

    fn place(&self, _: &Key, _: &Issue) -> Option<PlacedIssue> {
        None
    }

    fn commit(&self) -> Option<String> {
        self.commit.clone()
    }
}

fn scope(verify: bool, paths: &[&str]) -> ReadScope {
    ReadScope { verify, paths: paths.iter().map(PathBuf::from).collect() }
}

fn count(files: &SpecFiles) -> usize {
    files.desired().broken.len()
}

#[test]
fn two_wanted_reads_become_one_that_covers_both() {
    let merged = |one: ReadScope, other: ReadScope| one.merge(other);
    assert_eq!(merged(scope(false, &["a"]), scope(false, &["b"])), scope(false, &["a", "b"]));
    assert_eq!(merged(scope(false, &["a"]), scope(false, &[])), scope(false, &[]), "everything");
    assert_eq!(merged(scope(false, &[]), scope(true, &["b"])), scope(true, &[]));
    assert_eq!(merged(scope(true, &["a"]), scope(false, &["b"])), scope(true, &["a", "b"]));
}

#[test]
fn a_read_on_this_thread_is_seen_at_once() {
    let mut files = SpecFiles::new(Box::new(NamedSpecs::default()));
    assert_eq!(files.read(&scope(false, &["a"])).len(), 1);
    assert_eq!((count(&files), files.commit().as_deref()), (1, Some("commit-1")));
    files.read(&scope(true, &[]));
    assert_eq!(files.commit().as_deref(), Some("commit-2"));
}

#[test]
fn while_another_thread_reads_everything_answers_from_the_read_before() {
    let mut files = SpecFiles::new(Box::new(NamedSpecs::default()));
    files.read(&scope(false, &[]));
    let (digest, commit) = (files.digest(), files.commit());
    files.remember_report();
    let read = files.read_elsewhere(scope(false, &[])).unwrap();
    assert!(files.is_being_read());
    assert_eq!((count(&files), files.digest(), files.commit()), (1, digest, commit.clone()));
    assert_eq!(files.provenance("a").commit, None, "the revision is not known meanwhile");
    assert!(files.read(&scope(false, &[])).is_empty(), "nothing is read twice at once");
    assert!(files.read_elsewhere(scope(false, &[])).is_none());
    let done = std::thread::spawn(read).join().unwrap();
    assert_eq!(files.apply_read(done).len(), 1);
    assert!(!files.is_being_read());
    assert_ne!(files.commit(), commit);
    assert_ne!(files.digest(), digest);
}

#[test]
fn an_issue_has_no_place_while_the_files_are_read() {
    let mut files = SpecFiles::new(Box::new(NamedSpecs::default()));
    let read = files.read_elsewhere(scope(false, &[]));
    let issue = Issue::error("code", "spec", "message", "help");
    assert_eq!(issue.severity, Severity::Error);
    let key = "Contact/jane".parse().unwrap();
    assert!(files.place(&key, &issue).is_none() && files.lines(&key, &["a"]).is_empty());
    drop(read);
}
