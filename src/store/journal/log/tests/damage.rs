//! Tails that are cut, damage that is refused, and edits that are detected.

use super::*;
use crate::store::journal::chain::{DamageEvidence, HEADER_BYTES};

#[test]
fn a_torn_tail_is_cut_at_every_byte() {
    let (disk, mut journal) = written(&[&["first"], &["second"]]);
    let before = journal.position();
    add(&mut journal, &["the last record"]);
    for kept in before.ends..journal.position().ends {
        let torn = disk.copy();
        torn.cut(&segment::segment_name(1), kept).unwrap();
        torn.allocate(&segment::segment_name(1), SMALL).unwrap();
        let (mut again, opened) = open(&torn).unwrap();
        assert_eq!(opened.head, before.head, "{kept} bytes");
        assert_eq!(opened.cut.is_some(), kept > before.ends, "{kept} bytes");
        add(&mut again, &["instead"]);
        assert_eq!(bodies(&open(&torn).unwrap().0), ["first", "second", "instead"]);
        assert_eq!(file(&torn, 1).len(), 1024);
    }
}

#[test]
fn a_cut_is_reported_with_its_place() {
    let (disk, journal) = written(&[&["first"]]);
    disk.write_at(&segment::segment_name(1), journal.position().ends, b"garbage").unwrap();
    let cut = open(&disk).unwrap().1.cut.unwrap();
    let offset = journal.position().ends;
    assert_eq!(cut, CutTail { segment: segment::segment_name(1), offset, bytes: SMALL - offset });
    assert_eq!(open(&disk).unwrap().1.cut, None);
}

#[test]
fn a_flipped_byte_before_a_later_record_fails_with_its_place_and_changes_nothing() {
    let (disk, journal) = written(&[&["first"], &["second"], &["third"]]);
    let last = journal.position();
    for offset in HEADER_BYTES..last.begins {
        let damaged = disk.copy();
        flip(&damaged, 1, offset);
        let before = file(&damaged, 1);
        match open(&damaged).unwrap_err() {
            JournalError::Damaged { file, offset: at, sequence, follows, .. } => {
                assert_eq!(file, segment::segment_name(1));
                assert!(at <= offset && (1..=2).contains(&sequence));
                assert!(
                    matches!(follows, DamageEvidence::Record { sequence: found, .. } if found > sequence)
                );
            }
            other => panic!("byte {offset}: {other}"),
        }
        assert_eq!(file(&damaged, 1), before);
    }
}

#[test]
fn a_flipped_byte_within_the_last_batch_fails_too() {
    let (disk, journal) = written(&[&["first"], &["second", "third"]]);
    flip(&disk, 1, journal.position().begins - 3);
    assert!(matches!(open(&disk), Err(JournalError::Damaged { sequence: 2, .. })));
}

/// Three batches, the middle one over several sectors, and then a hole in that one.
fn with_a_hole(later: &[&str]) -> Result<(Journal, JournalOpening), JournalError> {
    let large = "x".repeat(400);
    let disk = MemoryDisk::new();
    let options = JournalOptions { segment_bytes: 8192, ..options() };
    let mut journal = Journal::open(Arc::new(disk.clone()), options)?.0;
    add(&mut journal, &["first"]);
    add(&mut journal, &[large.as_str(); 5]);
    for body in later {
        add(&mut journal, &[body]);
    }
    disk.write_at(&segment::segment_name(1), 512, &[0; 1024]).unwrap();
    Journal::open(Arc::new(disk), options)
}

#[test]
fn a_batch_whose_earlier_sectors_never_reached_the_disk_is_cut() {
    let (journal, opened) = with_a_hole(&[]).unwrap();
    assert!(opened.cut.is_some());
    assert_eq!(bodies(&journal), ["first"]);
}

#[test]
fn the_same_hole_before_a_later_batch_is_damage() {
    let error = with_a_hole(&["later"]).unwrap_err();
    assert!(matches!(error, JournalError::Damaged { sequence: 2, .. }), "{error}");
}

#[test]
fn damage_in_a_segment_that_has_a_successor_is_never_cut() {
    let large = "x".repeat(300);
    let (disk, _) = written(&[&[&large], &[&large], &[&large]]);
    assert_eq!(segment::list_segments(&disk).unwrap(), [1, 3]);
    let last = file(&disk, 1).iter().rposition(|byte| *byte == b'x').unwrap();
    flip(&disk, 1, to_u64(last));
    assert!(matches!(
        open(&disk),
        Err(JournalError::Damaged { sequence: 2, follows: DamageEvidence::Segment { .. }, .. })
    ));
}

#[test]
fn the_chain_finds_every_edited_byte() {
    let (disk, mut journal) = written(&[&["first"]]);
    let edited = journal.position();
    add(&mut journal, &["second"]);
    for offset in edited.begins + 12..edited.ends {
        let forged = forged(&disk, edited.begins, offset);
        let error = open(&forged).unwrap_err();
        assert!(
            matches!(error, JournalError::Chain { .. } | JournalError::Version { .. }),
            "byte {offset}: {error}"
        );
    }
}

#[test]
fn the_last_record_cannot_be_edited_under_a_known_head() {
    let (disk, journal) = written(&[&["first"], &["second"]]);
    let last = journal.position();
    let forged = forged(&disk, last.begins, last.ends - 1);
    let known = JournalOptions { known: Some(journal.head()), ..options() };
    assert!(matches!(
        Journal::open(Arc::new(forged.clone()), known),
        Err(JournalError::Forgotten { .. })
    ));
    let trusted = JournalOptions { trusted: Some(last), ..options() };
    assert!(matches!(
        Journal::open(Arc::new(forged), trusted),
        Err(JournalError::Untrusted { sequence: 2, .. })
    ));
}

#[test]
fn an_acknowledged_record_is_never_cut_away() {
    let (disk, journal) = written(&[&["first"], &["second"]]);
    let known = JournalOptions { known: Some(journal.head()), ..options() };
    let torn = disk.copy();
    flip(&torn, 1, journal.position().ends - 1);
    let before = file(&torn, 1);
    assert!(matches!(
        Journal::open(Arc::new(torn.clone()), known),
        Err(JournalError::Damaged { follows: DamageEvidence::Acknowledged, .. })
    ));
    assert_eq!(file(&torn, 1), before);
    let lost = Journal::open(Arc::new(MemoryDisk::new()), known);
    assert!(matches!(lost, Err(JournalError::Forgotten { .. })));
}

#[test]
fn a_head_of_nothing_is_no_promise() {
    let known = JournalOptions { known: Some(Head::EMPTY), ..options() };
    let (_, opened) = Journal::open(Arc::new(MemoryDisk::new()), known).unwrap();
    assert_eq!(opened.head, Head::EMPTY);
}
