use std::pin::pin;
use std::sync::mpsc as std_mpsc;

use futures::FutureExt;
use futures::future::join_all;
use tokio::task::{unconstrained, yield_now};

use crate::store::journal::chain::JournalError;
use crate::store::journal::files::JournalOptions;
use crate::store::journal::log::BODY_BYTES_MAX;
use crate::store::tests::support::{TestDisk, seeded_rng};
use crate::store::vault::key::MasterKey;
use crate::store::writer::handle::*;

/// A fold that remembers its records, waits at a gate, and fails on one word.
#[derive(Debug, Default)]
struct Memory {
    seen: Vec<(u64, String)>,
    head: Option<Head>,
    batches: usize,
    gate: Option<std_mpsc::Receiver<()>>,
}

impl Fold<String> for Memory {
    fn apply(&mut self, batch: &[(u64, String)], head: Head) -> Result<(), StoreError> {
        if let Some(gate) = self.gate.take() {
            gate.recv().unwrap();
        }
        if batch.iter().any(|(_, record)| record == "unfoldable") {
            return Err(StoreError::Closed);
        }
        self.seen.extend_from_slice(batch);
        self.head = Some(head);
        self.batches = self.batches.saturating_add(1);
        Ok(())
    }
}

type Parts = WriterParts<Memory>;

struct Disks {
    journal: TestDisk,
    vault: TestDisk,
}

fn disks() -> Disks {
    Disks { journal: TestDisk::default(), vault: TestDisk::default() }
}

fn parts(disks: &Disks, fold: Memory) -> Parts {
    let journal =
        Journal::open(Arc::new(disks.journal.clone()), JournalOptions::default()).unwrap().0;
    let vault = Vault::open(Arc::new(disks.vault.clone()), &MasterKey::new([1; 32])).unwrap();
    Parts { journal, vault, fold }
}

fn threaded(parts: Parts) -> Writer<String, Memory> {
    Writer::on_thread(parts.journal, parts.vault, parts.fold).unwrap()
}

fn inline(parts: Parts) -> Writer<String, Memory> {
    Writer::inline(parts.journal, parts.vault, parts.fold)
}

/// Both forms, each on disks of its own.
fn both() -> [(Disks, Writer<String, Memory>); 2] {
    [threaded, inline].map(|form| {
        let disks = disks();
        let writer = form(parts(&disks, Memory::default()));
        (disks, writer)
    })
}

fn commit(records: &[&str]) -> Commit<String> {
    Commit::of(records.iter().map(|record| (*record).to_owned()).collect())
}

#[tokio::test]
async fn an_answered_commit_is_durable_and_folded() {
    for (disks, writer) in both() {
        assert_eq!(writer.append(commit(&["a", "b"])).await.unwrap(), 2);
        assert_eq!(writer.append(commit(&[])).await.unwrap(), 2);
        assert_eq!(writer.append(commit(&["c"])).await.unwrap(), 3);
        assert_eq!(writer.head().sequence, 3);
        assert!(format!("{writer:?}").starts_with("Writer("));
        let reopened = parts(&disks, Memory::default()).journal;
        assert_eq!(reopened.head(), writer.head());
        let bodies = reopened.read_from(1).map(|record| record.unwrap().body);
        let read: Vec<String> =
            bodies.map(|body| ciborium::from_reader(body.as_slice()).unwrap()).collect();
        assert_eq!(read, ["a", "b", "c"]);
        let closed = writer.close().await.unwrap();
        assert_eq!(
            closed.fold.seen.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert_eq!(closed.fold.head, Some(closed.journal.head()));
    }
}

#[tokio::test]
async fn sealed_values_are_durable_before_the_records_that_name_them() {
    for (disks, writer) in both() {
        let vault = parts(&disks, Memory::default()).vault;
        let sealed = vault.seal("jane", b"4242", &mut seeded_rng(1)).unwrap();
        let reference = sealed.reference();
        let records = vec![reference.to_string()];
        writer.append(Commit { blobs: vec![sealed.clone()], records }).await.unwrap();
        let vault = parts(&disks, Memory::default()).vault;
        assert_eq!(vault.unseal(&reference).unwrap().as_slice(), b"4242");

        disks.vault.break_syncs(true);
        let again = Commit { blobs: vec![sealed], records: vec!["never".to_owned()] };
        assert!(matches!(writer.append(again).await, Err(StoreError::Failed { .. })));
        assert_eq!(parts(&disks, Memory::default()).journal.head().sequence, 1);
    }
}

#[tokio::test]
async fn many_waiters_share_few_syncs() {
    let disks = disks();
    let (open_gate, gate) = std_mpsc::channel();
    let writer = threaded(parts(&disks, Memory { gate: Some(gate), ..Memory::default() }));
    let before = disks.journal.syncs();
    let mut first = pin!(writer.append(commit(&["first"])));
    assert!(first.as_mut().now_or_never().is_none());
    let mut waiters: Vec<_> =
        (0..500).map(|_| Box::pin(unconstrained(writer.append(commit(&["more"]))))).collect();
    for waiter in &mut waiters {
        assert!(waiter.now_or_never().is_none());
    }
    // The thread waits in its first fold, and all others are queued behind it.
    open_gate.send(()).unwrap();
    first.await.unwrap();
    let mut answers: Vec<u64> = join_all(waiters).await.into_iter().map(Result::unwrap).collect();
    answers.sort_unstable();
    answers.dedup();
    assert_eq!(answers.len(), 500);
    assert!(disks.journal.syncs() - before <= 2);
    assert!(writer.close().await.unwrap().fold.batches <= 2);
}

#[tokio::test]
async fn what_is_kept_is_answered_once_it_is_durable_and_folded_before_what_comes_later() {
    let disks = disks();
    let (open_gate, gate) = std_mpsc::channel();
    let writer = threaded(parts(&disks, Memory { gate: Some(gate), ..Memory::default() }));
    let before = disks.journal.syncs();
    assert_eq!(writer.append_durable(commit(&["a"; 100])).await.unwrap(), 100);
    assert_eq!(writer.head().sequence, 0, "it is not folded yet");
    assert!(disks.journal.syncs() > before);
    open_gate.send(()).unwrap();
    assert_eq!(writer.append(Commit::of(Vec::new())).await.unwrap(), 100);
    assert_eq!(writer.head().sequence, 100);
}

#[tokio::test]
async fn after_a_failed_sync_everyone_is_refused() {
    for (disks, writer) in both() {
        writer.append(commit(&["a"])).await.unwrap();
        disks.journal.break_syncs(true);
        let failed = writer.append(commit(&["b"])).await.unwrap_err();
        assert!(failed.to_string().contains("the disk is on fire"), "{failed}");
        disks.journal.break_syncs(false);
        assert!(matches!(
            writer.append_durable(commit(&["d"])).await,
            Err(StoreError::Failed { .. })
        ));
        let refused = writer.append(commit(&["c"])).await.unwrap_err();
        assert!(refused.to_string().contains("the disk is on fire"), "{refused}");
        assert_eq!(writer.head().sequence, 1);
        let mut parts = writer.close().await.unwrap();
        assert_eq!(parts.fold.seen.len(), 1);
        assert!(matches!(parts.journal.append(&[]), Err(JournalError::Poisoned { .. })));
    }
}

#[tokio::test]
async fn a_fold_that_fails_is_no_answer_that_it_went_well() {
    for (disks, writer) in both() {
        let failed = writer.append(commit(&["unfoldable"])).await;
        assert!(matches!(failed, Err(StoreError::Failed { .. })));
        assert!(matches!(writer.append(commit(&["a"])).await, Err(StoreError::Failed { .. })));
        assert_eq!(parts(&disks, Memory::default()).journal.head().sequence, 1);
    }
}

#[tokio::test]
async fn a_record_that_is_too_large_is_refused_alone() {
    for (_, writer) in both() {
        let large = Commit::of(vec!["small".to_owned(), "x".repeat(BODY_BYTES_MAX)]);
        assert!(matches!(writer.append(large).await, Err(StoreError::TooLarge { .. })));
        assert_eq!(writer.append(commit(&["a"])).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_closed_writer_says_so() {
    for (_, writer) in both() {
        writer.close().await.unwrap();
        assert!(matches!(writer.append(commit(&["a"])).await, Err(StoreError::Closed)));
        assert!(matches!(writer.close().await, Err(StoreError::Closed)));
    }
}

/// Polls an append this often, then drops it: a crash or a cancelled caller.
async fn stopped_after(polls: usize) -> (Disks, Writer<String, Memory>) {
    let disks = disks();
    let writer = inline(parts(&disks, Memory::default()));
    let mut append = Box::pin(writer.append(commit(&["stopped"])));
    for _ in 0..polls {
        assert!((&mut append).now_or_never().is_none());
        yield_now().await;
    }
    drop(append);
    (disks, writer)
}

#[tokio::test]
async fn a_caller_that_is_dropped_anywhere_leaves_the_store_true() {
    for polls in 1..=3 {
        let (disks, writer) = stopped_after(polls).await;
        let written = polls > 1;
        assert_eq!(writer.head().sequence, 0);
        let found = parts(&disks, Memory::default()).journal.head().sequence;
        assert_eq!(found, u64::from(written), "{polls}");
        let last = writer.append(commit(&["next"])).await.unwrap();
        assert_eq!(last, u64::from(written) + 1, "{polls}");
        let closed = writer.close().await.unwrap();
        assert_eq!(closed.fold.seen.len(), usize::try_from(last).unwrap());
    }
}

#[tokio::test]
async fn closing_finishes_what_a_dropped_caller_left() {
    for polls in 2..=3 {
        let closed = stopped_after(polls).await.1.close().await.unwrap();
        assert_eq!((closed.journal.head().sequence, closed.fold.seen.len()), (1, 1));
    }
}
