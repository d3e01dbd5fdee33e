//! Histories of resources, read from the journal.

use std::sync::Arc;

use serde_json::json;

use crate::base::id::{IntentId, Mode};
use crate::model::intent::{EffectProof, Intent, IntentProgress};
use crate::model::state::observed::{FactSource, Observation};
use crate::store::disk::traits::MemoryDisk;
use crate::store::history::*;
use crate::store::journal::chain::JournalError;
use crate::store::journal::files::{JournalOptions, archive_segments, write_snapshot};
use crate::store::journal::log::Journal;
use crate::store::tests::support::old_intent;

/// Two records that a compaction archived or dropped, and one after it.
fn compacted(archive: Option<&MemoryDisk>) -> Journal {
    let disk = Arc::new(MemoryDisk::new());
    let mut journal = Journal::open(disk.clone(), JournalOptions::default()).unwrap().0;
    journal.append(&[b"one".to_vec(), b"two".to_vec()]).unwrap();
    journal.sync().unwrap();
    let head = journal.end_segment().unwrap();
    write_snapshot(&*disk, head, 1, b"state").unwrap();
    match archive {
        Some(archive) => archive_segments(&*disk, head, Some(archive)).unwrap(),
        None => archive_segments(&*disk, head, None).unwrap(),
    };
    journal.append(&[b"three".to_vec()]).unwrap();
    journal.sync().unwrap();
    journal
}

/// Returns the bodies picked of all three records, and the sequences that no longer exist.
fn picked(books: &JournalSet) -> (Vec<Vec<u8>>, Vec<u64>) {
    let (picked, dropped) = books.pick(&[1, 2, 3]).unwrap();
    (picked.records.into_iter().map(|record| record.body).collect(), dropped)
}

#[test]
fn what_was_put_aside_is_read_and_what_was_dropped_is_named() {
    let kept = MemoryDisk::new();
    let journal = compacted(Some(&kept)).reader();
    let archive = Some(JournalReader::over(Arc::new(kept)));
    let all = [&b"one"[..], b"two", b"three"].map(<[u8]>::to_vec);
    let with = JournalSet { journal: journal.clone(), archive };
    assert_eq!(picked(&with), (all.to_vec(), Vec::new()));
    let without = JournalSet { journal, archive: None };
    assert_eq!(picked(&without), (vec![b"three".to_vec()], vec![1, 2]));
    let empty = Some(JournalReader::over(Arc::new(MemoryDisk::new())));
    let lost = JournalSet { archive: empty, ..without };
    assert_eq!(picked(&lost), (vec![b"three".to_vec()], vec![1, 2]));
}

#[test]
fn a_chain_ends_in_the_head_that_is_known() {
    let kept = MemoryDisk::new();
    let journal = compacted(Some(&kept));
    let head = journal.head();
    let archive = Some(JournalReader::over(Arc::new(kept)));
    let books = JournalSet { journal: journal.reader(), archive };
    assert_eq!(books.verify(head).unwrap(), 1, "from the first record that was put aside");
    let alone = JournalSet { archive: None, ..books };
    assert_eq!(alone.verify(head).unwrap(), 3);
    assert!(alone.verify(Head { hash: [9; 32], ..head }).is_err());
    assert!(alone.verify(Head { sequence: 4, ..head }).is_err());
}

/// The history of an invoice whose intent was followed by this progress.
fn told(progress: Vec<IntentProgress>) -> ResourceHistory {
    let intent = old_intent(7, "jane", "acme", Mode::Test);
    let key = intent.key.clone();
    let mut story = ResourceHistory {
        key,
        effects: Vec::new(),
        others: Vec::new(),
        approvals: Vec::new(),
        verified: Vec::new(),
        dropped: Vec::new(),
    };
    let stands = |record| RecordRef { record, hash: Digest::from_bytes([0; 32]) };
    let at = intent.at;
    add_record(&mut story, stands(1), Record::Intent(Box::new(intent)));
    for (record, progress) in (2..).zip(progress) {
        let intent = IntentId::new(7);
        add_record(&mut story, stands(record), Record::Progress { intent, at, progress });
    }
    story
}

fn done(id: &str) -> IntentProgress {
    let intent = old_intent(7, "jane", "acme", Mode::Test);
    let observation = Observation {
        key: intent.key.clone(),
        merchant: intent.merchant,
        at: intent.at,
        source: FactSource::Answer,
        remote_id: Some(id.parse().unwrap()),
        exists: Some(true),
        applied: None,
        facts: json!({"contact": "p_1", "total": 5}),
    };
    IntentProgress::Done { observation: Box::new(observation), proof: EffectProof::Answer }
}

#[test]
fn an_effect_is_known_by_what_it_made_changed_and_was_marked_with() {
    let story = told(vec![done("i_1")]);
    let effect = &story.effects[0];
    let mark = effect.intent.mark.to_string();
    for (id, known) in [("i_1", true), ("p_1", true), (mark.as_str(), true), ("i_2", false)] {
        assert_eq!(effect.concerns(id), known, "{id}");
    }
    let target = Some("i_9".parse().unwrap());
    let changed = EffectHistory {
        intent: Intent { target, ..effect.intent.clone() },
        ids: Vec::new(),
        ..effect.clone()
    };
    let known = ["i_9", mark.as_str(), "i_1"].map(|id| changed.concerns(id));
    assert_eq!(known, [true, true, false]);
}

#[test]
fn each_progress_has_a_word_and_what_there_is_to_say() {
    let reason = || "no proof".to_owned();
    let problem =
        crate::model::outcome::ServiceProblem::from_code("card_declined", "Card declined");
    let story = told(vec![
        IntentProgress::Doubt { reason: reason(), unsent: false },
        IntentProgress::Resent,
        IntentProgress::Refused { status: 422, problem },
        IntentProgress::OnHold { reason: reason(), observation: None },
        done("i_1"),
    ]);
    let lines = story.effects[0].progress.iter();
    let lines: Vec<_> =
        lines.map(|line| (line.what.as_str(), line.detail.as_deref().unwrap_or(""))).collect();
    assert_eq!(
        lines,
        [
            ("doubt", "no proof"),
            ("again", ""),
            ("refused", "HTTP 422: Card declined"),
            ("held", "no proof"),
            ("done", "answered"),
        ]
    );
    assert_eq!(story.effects[0].progress[4].remote_id.as_deref(), Some("i_1"));
    assert_eq!(story.effects[0].ids, ["i_1", "p_1"]);
}

#[test]
fn what_is_of_no_intent_that_was_told_is_left_out() {
    let mut story = told(Vec::new());
    let (at, progress) = (story.effects[0].intent.at, IntentProgress::Resent);
    let stands = RecordRef { record: 9, hash: Digest::from_bytes([0; 32]) };
    add_record(&mut story, stands, Record::Progress { intent: IntentId::new(8), at, progress });
    assert!(story.effects[0].progress.is_empty());
}

#[test]
fn a_fact_is_seen_gone_or_noted() {
    let IntentProgress::Done { observation: fact, proof: _ } = done("i_1") else { unreachable!() };
    let word = |exists, remote_id| {
        let fact = Observation { exists, remote_id, source: FactSource::Read, ..(*fact).clone() };
        observation_text(&fact).1.to_owned()
    };
    let id = || fact.remote_id.clone();
    assert_eq!(word(Some(false), id()), "found missing");
    assert_eq!(word(Some(true), id()), "seen");
    assert_eq!(word(Some(true), None), "noted");
    assert_eq!(word(None, id()), "noted");
    assert_eq!(observation_text(&fact).2.as_deref(), Some("source: answer"));
}

#[test]
fn what_stands_beside_effects_has_a_word() {
    let at = "2026-11-22T12:00:00Z".parse().unwrap();
    let merchant: Key = "Merchant/acme".parse().unwrap();
    let what = crate::model::state::credentials::RefusedCredentials::new(&json!({}), 0, at);
    let refused =
        crate::model::state::credentials::CredentialsRefused { merchant, credentials: what };
    let record = Record::Unauthorised(Box::new(refused));
    let (when, word, why) = entry_text(&record).unwrap();
    assert_eq!((when, word), (at, "refused"));
    assert_eq!(why.as_deref(), Some("the service refuses its credentials"));
}

/// Closes K11: a read is repeated if a compaction moves segments meanwhile.
#[test]
fn what_moves_while_it_is_read_is_read_again() {
    let kept = MemoryDisk::new();
    let disk = Arc::new(MemoryDisk::new());
    let mut journal = Journal::open(disk.clone(), JournalOptions::default()).unwrap().0;
    journal.append(&[b"one".to_vec(), b"two".to_vec()]).unwrap();
    journal.sync().unwrap();
    let head = journal.end_segment().unwrap();
    let archive = Some(JournalReader::over(Arc::new(kept.clone())));
    let books = JournalSet { journal: journal.reader(), archive };
    let reads = std::cell::Cell::new(0);
    let read = || {
        reads.set(reads.get() + 1);
        if reads.get() == 1 {
            write_snapshot(&*disk, head, 1, b"state").unwrap();
            archive_segments(&*disk, head, Some(&kept)).unwrap();
            return Err(JournalError::Full);
        }
        books.pick(&[1, 2])
    };
    let (picked, dropped) = books.retry_while_moving(read).unwrap();
    assert_eq!((picked.records.len(), dropped, reads.get()), (2, Vec::new(), 2));
}
