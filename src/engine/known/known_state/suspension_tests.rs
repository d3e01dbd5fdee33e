//! Suspensions that end by their time.

use std::path::PathBuf;

use super::*;
use crate::base::clock::VirtualClock;
use crate::model::issue::{Issue, PlacedIssue, TreeProblems};
use crate::model::record::Record;
use crate::store::index::ordered::{Batch, Index, MemoryIndex};
use crate::store::tests::support::fold;

/// A tree without files.
struct NoFiles;

impl SpecSource for NoFiles {
    fn desired(&self) -> Arc<Desired> {
        Arc::default()
    }

    fn reload(&mut self, _: &[PathBuf]) -> BTreeSet<Key> {
        BTreeSet::new()
    }

    fn verify(&mut self) -> BTreeSet<Key> {
        BTreeSet::new()
    }

    fn problems(&self) -> TreeProblems {
        TreeProblems::default()
    }

    fn digest(&self) -> Option<Digest> {
        None
    }

    fn place(&self, _: &Key, _: &Issue) -> Option<PlacedIssue> {
        None
    }
}

fn at(minute: u32) -> DateTime<Utc> {
    format!("2026-11-21T12:{minute:02}:00Z").parse().unwrap()
}

fn suspension(name: &str, until: Option<DateTime<Utc>>) -> Suspension {
    let (reason, actor) = ("why".to_owned(), "uid 7".to_owned());
    Suspension { key: name.parse().unwrap(), reason, actor, until, at: at(0) }
}

/// Builds a known state with these suspensions, and the index behind it.
fn suspended(all: &[Suspension]) -> (KnownState, Arc<MemoryIndex>) {
    let index = Arc::new(MemoryIndex::new());
    for one in all {
        write(&index, one);
    }
    let clock = Arc::new(VirtualClock::new(at(0)));
    let facts = ReadModel::new(index.clone());
    (
        KnownState::new(&facts, StoredFacts::read(&facts).unwrap(), Box::new(NoFiles), clock)
            .unwrap(),
        index,
    )
}

fn write(index: &MemoryIndex, suspension: &Suspension) {
    let mut batch = Batch::new();
    fold(index, &mut batch, &Record::Suspended(Box::new(suspension.clone()))).unwrap();
    index.apply(batch).unwrap();
}

/// A suspension that ended by its time is returned once, and is then forgotten.
#[test]
fn an_ended_suspension_is_dropped_once() {
    let all = [
        suspension("Invoice/a", Some(at(10))),
        suspension("Invoice/b", Some(at(20))),
        suspension("Invoice/c", None),
    ];
    let (mut known, _) = suspended(&all);
    assert_eq!(known.next_suspension_end(at(0)), Some(at(10)));
    assert_eq!((known.suspension_count(at(9)), known.suspension_count(at(10))), (3, 2));
    assert_eq!(known.drop_ended_suspensions(at(9)), []);
    assert_eq!(known.drop_ended_suspensions(at(10)), [all[0].key.clone()]);
    assert_eq!(known.drop_ended_suspensions(at(10)), [], "once");
    assert_eq!(known.suspension(&all[0].key), None, "it is forgotten");
    assert_eq!(
        (known.suspension_count(at(10)), known.next_suspension_end(at(10))),
        (2, Some(at(20)))
    );
    assert_eq!(known.drop_ended_suspensions(at(30)), [all[1].key.clone()]);
    assert_eq!((known.suspension_count(at(30)), known.next_suspension_end(at(30))), (1, None));
    known.reload_suspensions().unwrap();
    assert_eq!(known.suspension_count(at(9)), 3, "a clock that goes back finds them again");
}

#[test]
fn a_suspension_that_is_said_again_ends_at_its_new_time() {
    let first = suspension("Invoice/a", Some(at(10)));
    let (mut known, index) = suspended(std::slice::from_ref(&first));
    write(&index, &suspension("Invoice/a", Some(at(30))));
    known.refresh(&first.key).unwrap();
    assert_eq!(known.drop_ended_suspensions(at(20)), []);
    write(&index, &suspension("Invoice/a", None));
    known.refresh(&first.key).unwrap();
    assert_eq!(
        (known.drop_ended_suspensions(at(59)), known.next_suspension_end(at(0))),
        (vec![], None)
    );
    assert!(known.has_suspensions());
}
