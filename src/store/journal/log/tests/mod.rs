#![expect(
    clippy::arithmetic_side_effects,
    clippy::wildcard_enum_match_arm,
    reason = "offsets in tests are small, and every other error fails the test"
)]

mod damage;

use proptest::prelude::*;

use crate::store::disk::directory::RealDisk;
use crate::store::disk::traits::{MemoryDisk, to_usize};
use crate::store::journal::chain::HEADER_BYTES;
use crate::store::journal::files::{CutTail, JournalOpening, JournalOptions};
use crate::store::journal::log::*;
use crate::store::tests::support::TestDisk;

/// Small enough that a few records fill a segment.
const SMALL: u64 = 1024;

fn options() -> JournalOptions {
    JournalOptions { segment_bytes: SMALL, ..JournalOptions::default() }
}

fn open(disk: &MemoryDisk) -> Result<(Journal, JournalOpening), JournalError> {
    Journal::open(Arc::new(disk.clone()), options())
}

/// A journal of these batches, each synced.
fn written(batches: &[&[&str]]) -> (MemoryDisk, Journal) {
    let disk = MemoryDisk::new();
    let mut journal = open(&disk).unwrap().0;
    for batch in batches {
        add(&mut journal, batch);
    }
    (disk, journal)
}

fn add(journal: &mut Journal, batch: &[&str]) -> Range<u64> {
    let bodies: Vec<Vec<u8>> = batch.iter().map(|body| body.as_bytes().to_vec()).collect();
    let sequences = journal.append(&bodies).unwrap();
    journal.sync().unwrap();
    sequences
}

fn bodies(journal: &Journal) -> Vec<String> {
    journal.read_from(1).map(|record| String::from_utf8(record.unwrap().body).unwrap()).collect()
}

fn file(disk: &MemoryDisk, first: u64) -> Vec<u8> {
    disk.read_at(&segment::segment_name(first), 0, usize::MAX).unwrap()
}

fn flip(disk: &MemoryDisk, first: u64, offset: u64) {
    let byte = disk.read_at(&segment::segment_name(first), offset, 1).unwrap()[0];
    disk.write_at(&segment::segment_name(first), offset, &[byte ^ 0x41]).unwrap();
}

/// A copy of the journal with one byte of a record changed and its checksum adjusted.
fn forged(disk: &MemoryDisk, begins: u64, offset: u64) -> MemoryDisk {
    let forged = disk.copy();
    flip(&forged, 1, offset);
    let bytes = file(&forged, 1);
    let start = to_usize(begins);
    let length = u32::from_le_bytes(bytes[start + 8..start + 12].try_into().unwrap());
    let end = start + 12 + usize::try_from(length).unwrap();
    let crc = crc32fast::hash(&bytes[start + 8..end]).to_le_bytes();
    forged.write_at(&segment::segment_name(1), begins + 4, &crc).unwrap();
    forged
}

#[test]
fn what_was_synced_is_read_back_in_order() {
    let (disk, journal) = written(&[&["a", "b"], &["c"]]);
    let (again, opened) = open(&disk).unwrap();
    assert_eq!(opened, JournalOpening { head: journal.head(), cut: None, missed_mark: None });
    assert_eq!(bodies(&again), ["a", "b", "c"]);
    assert_eq!(again.position(), journal.position());
    assert_eq!(again.verify().unwrap(), journal.head());
    assert_eq!(journal.reader().records(2, 2).next().unwrap().unwrap().body, b"b");
}

#[test]
fn what_is_not_synced_is_not_read() {
    let (_, mut journal) = written(&[&["a"]]);
    assert_eq!(journal.append(&[b"b".to_vec(), b"c".to_vec()]).unwrap(), 2..4);
    assert_eq!((journal.head().sequence, bodies(&journal)), (1, vec!["a".to_owned()]));
    journal.sync().unwrap();
    assert_eq!(journal.head().sequence, 3);
}

#[test]
fn a_journal_on_a_real_disk_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let open = || {
        let disk = RealDisk::open(&dir.path().join("journal")).unwrap();
        Journal::open(Arc::new(disk), options()).unwrap()
    };
    let mut journal = open().0;
    for _ in 0..30 {
        add(&mut journal, &["x", &"y".repeat(200)]);
    }
    let (again, opened) = open();
    assert_eq!(opened.head, journal.head());
    assert_eq!(again.verify().unwrap().sequence, 60);
}

#[test]
fn a_full_segment_is_followed_by_another() {
    let large = "x".repeat(300);
    let (disk, mut journal) = written(&[&[&large, &large, &large], &[&large, &large]]);
    add(&mut journal, &[&"y".repeat(5000)]);
    assert_eq!(segment::list_segments(&disk).unwrap(), [1, 3, 5, 6]);
    assert_eq!(disk.len(&segment::segment_name(1)).unwrap(), SMALL);
    let (again, opened) = open(&disk).unwrap();
    assert_eq!((opened.head, bodies(&again).len()), (journal.head(), 6));
    assert_eq!(
        again.read_from(4).map(|record| record.unwrap().sequence).collect::<Vec<_>>(),
        [4, 5, 6]
    );
}

#[test]
fn opening_from_a_trusted_position_reads_only_what_follows() {
    let large = "x".repeat(300);
    let (disk, mut journal) = written(&[&[&large, &large, &large, &large]]);
    let trusted = journal.position();
    add(&mut journal, &["later"]);
    flip(&disk, 1, 400);
    let fast = JournalOptions { trusted: Some(trusted), ..options() };
    let (again, opened) = Journal::open(Arc::new(disk.clone()), fast).unwrap();
    assert_eq!(opened.head, journal.head());
    assert!(matches!(again.verify(), Err(JournalError::Damaged { sequence: 1, .. })));
    assert!(open(&disk).is_err());
}

#[test]
fn each_thing_out_of_place_has_its_own_error() {
    let large = "x".repeat(300);
    let (disk, _) = written(&[&[large.as_str(); 6]]);
    assert_eq!(segment::list_segments(&disk).unwrap(), [1, 3, 5]);
    let with = |change: &dyn Fn(&MemoryDisk)| {
        let disk = disk.copy();
        change(&disk);
        open(&disk).unwrap_err()
    };
    let foreign = with(&|disk| disk.write_at("notes.txt", 0, b"hi").unwrap());
    assert!(matches!(foreign, JournalError::Foreign { file } if file == "notes.txt"));
    let missing = with(&|disk| disk.remove(&segment::segment_name(3)).unwrap());
    assert!(matches!(missing, JournalError::MissingSegment { expected: 3, found: Some(_) }));
    let first = with(&|disk| disk.remove(&segment::segment_name(1)).unwrap());
    assert!(matches!(first, JournalError::MissingSegment { expected: 1, .. }));
    let header = with(&|disk| flip(disk, 3, 20));
    assert!(
        matches!(header, JournalError::Header { file, .. } if file == segment::segment_name(3))
    );
    let swapped = with(&|disk| {
        let bytes = file(disk, 5);
        disk.replace(&segment::segment_name(3), &bytes).unwrap();
    });
    assert!(matches!(swapped, JournalError::Header { .. }));
}

#[test]
fn a_later_format_is_left_alone() {
    let (disk, journal) = written(&[&["first"]]);
    let begins = journal.position().begins;
    let newer = forged(&disk, begins, begins + 12);
    assert!(matches!(open(&newer), Err(JournalError::Version { known: 1, .. })));
    let mut header = file(&disk, 1)[..52].to_vec();
    header[8] = 2;
    let crc = crc32fast::hash(&header).to_le_bytes();
    header.extend_from_slice(&crc);
    disk.write_at(&segment::segment_name(1), 0, &header).unwrap();
    assert!(matches!(open(&disk), Err(JournalError::Version { offset: 0, found: 2, .. })));
}

#[test]
fn a_segment_whose_making_was_interrupted_is_made_again() {
    let large = "x".repeat(300);
    let (disk, journal) = written(&[&[&large, &large]]);
    for partial in [&b""[..], b"RECK", &[0; 700]] {
        let crashed = disk.copy();
        crashed.replace(&segment::segment_name(3), partial).unwrap();
        let (mut again, opened) = open(&crashed).unwrap();
        assert_eq!(opened.head, journal.head());
        add(&mut again, &[&large]);
        assert_eq!(open(&crashed).unwrap().1.head.sequence, 3);
    }
    let fresh = MemoryDisk::new();
    fresh.allocate(&segment::segment_name(1), 10).unwrap();
    assert_eq!(open(&fresh).unwrap().1.head, Head::EMPTY);
}

#[test]
fn after_a_failed_sync_or_write_nothing_is_accepted() {
    for break_it in [TestDisk::break_syncs, TestDisk::break_writes] {
        let disk = TestDisk::default();
        let mut journal = Journal::open(Arc::new(disk.clone()), options()).unwrap().0;
        add(&mut journal, &["before"]);
        break_it(&disk, true);
        let failed = journal.append(&[b"lost".to_vec()]).and_then(|_| journal.sync());
        assert!(matches!(failed, Err(JournalError::Io { .. })));
        break_it(&disk, false);
        assert!(matches!(journal.append(&[vec![]]), Err(JournalError::Poisoned { .. })));
        assert!(matches!(journal.sync(), Err(JournalError::Poisoned { .. })));
        assert_eq!(journal.head().sequence, 1);
    }
}

#[test]
fn one_batch_costs_one_sync() {
    let disk = TestDisk::default();
    let mut journal = Journal::open(Arc::new(disk.clone()), JournalOptions::default()).unwrap().0;
    let before = disk.syncs();
    add(&mut journal, &["x"; 1000]);
    assert_eq!(disk.syncs() - before, 1);
}

#[test]
fn a_body_that_is_too_large_refuses_the_batch() {
    let (_, mut journal) = written(&[]);
    let refused = journal.append(&[b"small".to_vec(), vec![0; BODY_BYTES_MAX + 1]]);
    assert!(matches!(refused, Err(JournalError::TooLarge { .. })));
    assert_eq!(add(&mut journal, &["next"]), 1..2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_history_is_found_again_and_a_torn_one_is_a_prefix(
        batches in prop::collection::vec(
            prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 1..4), 1..8),
        torn in 0_u64..2000,
    ) {
        let disk = MemoryDisk::new();
        for batch in &batches {
            let mut journal = open(&disk).unwrap().0;
            journal.append(batch).unwrap();
            journal.sync().unwrap();
        }
        let (journal, _) = open(&disk).unwrap();
        let read: Vec<Vec<u8>> = journal.read_from(1).map(|record| record.unwrap().body).collect();
        prop_assert_eq!(&read, &batches.concat());
        prop_assert_eq!(journal.verify().unwrap(), journal.head());

        let last = journal.position();
        let kept = last.ends.saturating_sub(torn).max(HEADER_BYTES);
        disk.cut(&segment::segment_name(last.segment), kept).unwrap();
        let (journal, _) = open(&disk).unwrap();
        let prefix: Vec<Vec<u8>> = journal.read_from(1).map(|record| record.unwrap().body).collect();
        prop_assert_eq!(&prefix[..], &read[..prefix.len()]);
    }
}
