//! Tests over the states in `tests/fixtures/fold-9`, which a program of that version wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::DateTime;

use crate::base::hash::Digest;
use crate::model::intent::OpenIntent;
use crate::model::record::Record;
use crate::model::state::lifecycle::Compacted;
use crate::model::state::observed::Observed;
use crate::store::disk::traits::{Disk, MemoryDisk};
use crate::store::error::{OpenError, OpenReport};
use crate::store::index::ordered::{Batch, Index, MemoryIndex};
use crate::store::journal::files::{JournalOptions, archive_segments, write_snapshot};
use crate::store::journal::log::Journal;
use crate::store::projection::fold::IndexFold;
use crate::store::read_model::journal_refs::EVENT_RECORDS;
use crate::store::read_model::model::{decode as decode_value, write};
use crate::store::read_model::resources::{INTENTS, OBSERVED, entries};
use crate::store::state::open::{AssembledState, StateParts, assemble};
use crate::store::vault::key::MasterKey;
use crate::store::writer::core::{Fold, decode, encode};

/// The key of the fixtures; it opens nothing else.
const KEY: [u8; 32] = [7; 32];
/// Records of the snapshot.
const SNAPSHOT: u64 = 269;

/// A copy in memory of the files in this folder.
fn disk(folder: &Path) -> MemoryDisk {
    let disk = MemoryDisk::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        disk.replace(&name, &std::fs::read(file.path()).unwrap()).unwrap();
    }
    disk
}

fn fixture(state: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fold-9").join(state)
}

fn open(
    journal: MemoryDisk,
    state: &str,
    index: &Arc<MemoryIndex>,
) -> Result<AssembledState, OpenError> {
    let pieces = StateParts {
        journal: Arc::new(journal),
        vault: Arc::new(disk(&fixture(state).join("vault"))),
        index: index.clone(),
        boot: "boot".to_owned(),
        rebuild: false,
        segment_bytes: 1 << 20,
        watch: None,
    };
    assemble(pieces, &MasterKey::new(KEY), OpenReport::default())
}

pub(crate) fn opened(state: &str) -> (Journal, Arc<MemoryIndex>) {
    let index = Arc::new(MemoryIndex::new());
    let journal = disk(&fixture(state).join("journal"));
    (open(journal, state, &index).unwrap().journal, index)
}

fn records(journal: &Journal, from: u64) -> Vec<(u64, Record)> {
    let records = journal.read_from(from).map(Result::unwrap);
    records.map(|one| (one.sequence, decode(one.sequence, &one.body).unwrap())).collect()
}

/// Every entry, without the facts that version 9 did not record.
fn comparable(index: &MemoryIndex) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let blurred = |(key, value): (Vec<u8>, Vec<u8>)| {
        let mut batch = Batch::new();
        if key.starts_with(OBSERVED.prefix()) {
            let known: Observed = decode_value(&key, &value).unwrap();
            write(&mut batch, &key, &Observed { changed: None, ..known }).unwrap();
        } else if key.starts_with(INTENTS.prefix()) {
            let open: OpenIntent = decode_value(&key, &value).unwrap();
            write(&mut batch, &key, &OpenIntent { since: None, ..open }).unwrap();
        } else if key.starts_with(b"v/g/") {
            batch.put(key.clone(), Vec::new());
        } else {
            batch.put(key.clone(), value);
        }
        let value = batch.get(&MemoryIndex::new(), &key).unwrap().unwrap();
        (key, value)
    };
    // The places of an event's records are not known from a snapshot that did not hold them.
    let is_known = |(key, _): &(Vec<u8>, Vec<u8>)| !key.starts_with(EVENT_RECORDS.prefix());
    entries(index).unwrap().into_iter().filter(is_known).map(blurred).collect()
}

/// Closes K11: a snapshot of fold 9 gives the same index as the records of that version.
#[test]
fn a_snapshot_of_fold_9_is_carried_on_and_says_what_its_records_say() {
    let (journal, carried) = opened("compacted");
    assert_eq!(journal.base().unwrap().map(|base| base.fold), Some(9));
    let (whole, made) = opened("records");
    assert_eq!(whole.head().sequence, SNAPSHOT);
    let mut fold = IndexFold::new(made.clone());
    fold.apply(&records(&journal, SNAPSHOT + 1), journal.head()).unwrap();
    let (carried, made) = (comparable(&carried), comparable(&made));
    for (key, value) in &made {
        let shown = String::from_utf8_lossy(key);
        assert_eq!(carried.get(key), Some(value), "{shown}");
    }
    let more: Vec<_> = carried.keys().filter(|key| !made.contains_key(*key)).collect();
    assert!(more.is_empty(), "{more:?}");
}

/// Closes K11: the fixture holds enough kinds of entries to prove something, those that the steps
/// convert among them.
#[test]
fn the_fixture_of_fold_9_holds_actions_failures_forgeries_and_kept_values() {
    let (_journal, index) = opened("compacted");
    for prefix in ["w/a/", "w/g/", "w/z/", "v/h/", "w/p/", "w/d/", "w/f/", "v/g/", "i/"] {
        assert!(!index.scan(prefix.as_bytes()).unwrap().is_empty(), "{prefix}");
    }
    let paid = index.scan(OBSERVED.prefix()).unwrap().into_iter();
    let paid = paid.map(|(key, value)| decode_value::<Observed>(&key, &value).unwrap());
    assert!(paid.into_iter().any(|known| known.payments.is_some()));
}

/// Closes K11: every record of that version still decodes.
#[test]
fn records_of_fold_9_of_many_kinds_decode() {
    let (whole, _) = opened("records");
    let (behind, _) = opened("compacted");
    let all = [records(&whole, 1), records(&behind, SNAPSHOT + 1)].concat();
    let word = |record: &Record| {
        let shown = format!("{record:?}");
        shown.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
    };
    let kinds: BTreeSet<_> = all.iter().map(|(_, record)| word(record)).collect();
    assert!(kinds.len() >= 22, "{} {kinds:?}", kinds.len());
}

/// Closes K11: a snapshot of a version that is too old, or newer than this program, is refused with
/// a remedy.
#[test]
fn snapshots_of_other_versions_are_refused() {
    for (fold, words) in [(8_u32, "too old"), (u32::MAX, "use that version")] {
        let journal = disk(&fixture("compacted").join("journal"));
        let (mut sealed, _) =
            Journal::open(Arc::new(journal.clone()), JournalOptions::default()).unwrap();
        let at = DateTime::UNIX_EPOCH;
        let head = sealed.end_segment().unwrap();
        let snapshot = write_snapshot(&journal, head, fold, b"").unwrap();
        let compacted = Compacted {
            sequence: head.sequence,
            replaces: Digest::from_bytes(head.hash),
            snapshot: Digest::from_bytes(snapshot),
            dropped: true,
            at,
            actor: "ann".to_owned(),
        };
        let record = Record::Compacted(Box::new(compacted));
        sealed.append(&[encode(&record).unwrap()]).unwrap();
        sealed.sync().unwrap();
        archive_segments(&journal, head, None).unwrap();
        drop(sealed);
        let refused = open(journal, "compacted", &Arc::new(MemoryIndex::new())).unwrap_err();
        assert!(refused.to_string().contains(words), "{refused}");
    }
}
