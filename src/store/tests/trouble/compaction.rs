//! Compactions that stop at any step, or run beside everything else.

use crate::store::tests::trouble::*;
use crate::store::vault::key::VaultRef;

/// An observation that names a sealed value.
fn fact(name: &str, sealed: &VaultRef) -> Record {
    let key: crate::base::id::Key = format!("Contact/{name}").parse().unwrap();
    Record::Observation(Box::new(Observation {
        merchant: key.clone(),
        key,
        at: at(1),
        source: FactSource::Read,
        remote_id: None,
        exists: Some(true),
        applied: None,
        facts: json!({"token": {"sealed": sealed.to_string()}}),
    }))
}

/// Adds observations that name sealed values, each replacing the former; returns the last value.
async fn seal(compactor: &Compactor, name: &str, count: u64) -> VaultRef {
    let mut last = None;
    for number in 1..=count {
        let sealed = compactor
            .vault
            .seal(name, &[7; 300], &mut seeded_rng(number.wrapping_add(count)))
            .unwrap();
        let records = vec![fact(name, &sealed.reference())];
        last = Some(sealed.reference());
        compactor.writer.append(Commit { blobs: vec![sealed], records }).await.unwrap();
    }
    last.unwrap()
}

fn over(disks: &Disks, archive: &MemoryDisk) -> Compactor {
    let (journal, vault) = (Arc::new(disks.journal.clone()), Arc::new(disks.vault.clone()));
    compactor([journal, vault, Arc::new(archive.clone())])
}

fn opens(disks: &Disks, sealed: &VaultRef) -> bool {
    open(disks, None).unwrap().0.vault.unseal(sealed).is_ok()
}

/// Closes K11: with any disk full at any step the state is intact, and the next compaction does the
/// rest.
#[tokio::test]
async fn a_compaction_that_stops_anywhere_leaves_the_whole_state() {
    let before = state(40, "acme").await;
    let sealed = seal(&over(&before, &MemoryDisk::new()), "jane", 9).await;
    let digest = open(&before, None).unwrap().1;
    for (limited, least) in [("journal", 8), ("vault", 3), ("archive", 8)] {
        let mut stopped = 0;
        for room in 0..60 {
            let (disks, archive) = (before.copy(), MemoryDisk::new());
            let disk = |name, inner: &MemoryDisk| -> Arc<dyn Disk> {
                let room = if name == limited { room } else { usize::MAX / 2 };
                Arc::new(FullDisk::new(inner.clone(), room))
            };
            let all = [
                disk("journal", &disks.journal),
                disk("vault", &disks.vault),
                disk("archive", &archive),
            ];
            let compactor = compactor(all);
            let wanted =
                if room % 2 == 0 { ArchivePolicy::KeepFor(0) } else { ArchivePolicy::Keep };
            let done =
                compactor.compact(&CompactionRequest { history: wanted, ..compacting() }).await;
            stopped += usize::from(done.is_err());
            assert_eq!(ReadModel::new(compactor.index.clone()).digest().unwrap(), digest);
            drop(compactor);
            let (again, found) = open(&disks, None).unwrap();
            assert_eq!(found, digest, "{limited}, after {room} changes");
            assert!(again.journal.verify().is_ok(), "{limited}, after {room} changes");
            assert!(opens(&disks, &sealed), "{limited}, after {room} changes");
            assert_eq!(compact_state(&disks, &archive).await, digest);
            assert_eq!(open(&disks, None).unwrap().1, digest, "{limited}, after {room}, again");
            assert!(opens(&disks, &sealed), "{limited}, after {room} changes, again");
        }
        assert!(stopped >= least && stopped < 60, "{limited}: {stopped}");
    }
}

/// Closes K11: appends continue beside a compaction, and a later record than the one directly
/// behind the snapshot names it.
#[tokio::test]
async fn what_is_written_beside_a_compaction_is_in_the_state_after_it() {
    let (disks, archive) = (state(40, "acme").await, MemoryDisk::new());
    let Compactor { writer, index, slots, journal, vault_disk, vault, archive: put, turn } =
        over(&disks, &archive);
    drop(writer.close().await.unwrap());
    let assembled = open(&disks, Some(index.clone())).unwrap().0;
    let writer = Writer::on_thread(assembled.journal, vault.clone(), assembled.fold).unwrap();
    let writer = Arc::new(writer);
    let compactor = Compactor {
        writer: writer.clone(),
        index: index.clone(),
        slots,
        journal,
        vault_disk,
        vault,
        archive: put,
        turn,
    };
    let appending = tokio::spawn({
        let writer = writer.clone();
        async move {
            for number in 0..900 {
                let records = vec![hold(&format!("beside{number}"))];
                writer.append(Commit::of(records)).await.unwrap();
            }
        }
    });
    let mut compactions = 0;
    while !appending.is_finished() {
        compactor.compact(&compacting()).await.unwrap();
        compactions += 1;
        tokio::task::yield_now().await;
    }
    appending.await.unwrap();
    let sealed = seal(&compactor, "jane", 3).await;
    compactor.compact(&compacting()).await.unwrap();
    let (head, known) = (writer.head(), ReadModel::new(index).digest().unwrap());
    drop(writer.close().await.unwrap());
    let (again, digest) = open(&disks, None).unwrap();
    assert_eq!((again.journal.head(), digest), (head, known), "after {compactions} compactions");
    let facts = ReadModel::new(compactor.index.clone());
    for number in 0..900 {
        let key = format!("Contact/beside{number}").parse().unwrap();
        assert!(facts.observed_state(&key).unwrap().is_some(), "{number}");
    }
    assert!(opens(&disks, &sealed));
}

/// Closes K11: values and segments that are no longer named are removed from journal, archive and
/// vault.
#[tokio::test]
async fn a_compaction_shrinks_what_is_superseded() {
    let (disks, archive) = (state(2, "acme").await, MemoryDisk::new());
    let compactor = over(&disks, &archive);
    let sealed = seal(&compactor, "jane", 200).await;
    let kept = compactor.compact(&compacting()).await.unwrap();
    assert!(kept.segments > 20 && kept.after.archive >= kept.before.journal / 2, "{kept:?}");
    assert_eq!((kept.values, kept.dropped), (1, 0), "only the value that no record names");
    let later = at(2) + chrono::TimeDelta::days(200);
    let wanted =
        CompactionRequest { history: ArchivePolicy::KeepFor(3600), at: later, ..compacting() };
    let thinned = compactor.compact(&wanted).await.unwrap();
    assert_eq!((thinned.dropped, thinned.after.archive), (kept.segments, 0));
    assert_eq!(thinned.values, 199);
    assert!(thinned.after.vault < thinned.before.vault / 20, "{thinned:?}");
    assert!(opens(&disks, &sealed));
}

/// Closes K18: history that was archived before is dropped, too, without any new record.
#[tokio::test]
async fn dropping_the_history_drops_the_archive() {
    let (disks, archive) = (state(40, "acme").await, MemoryDisk::new());
    let digest = compact_state(&disks, &archive).await;
    let put = archive.list().unwrap().len();
    assert!(put > 1);
    let compactor = over(&disks, &archive);
    let wanted = CompactionRequest { history: ArchivePolicy::Drop, ..compacting() };
    let done = compactor.compact(&wanted).await.unwrap();
    assert_eq!((done.compacted, done.segments, done.dropped), (None, 0, put));
    assert_eq!(archive.list().unwrap(), [""; 0]);
    assert_eq!(open(&disks, None).unwrap().1, digest);
}

/// Closes K11: a compaction is due once the records take much more room than the fold.
#[tokio::test]
async fn a_compaction_is_due_when_the_records_outgrow_the_snapshot() {
    let (disks, archive) = (state(40, "acme").await, MemoryDisk::new());
    let compactor = over(&disks, &archive);
    assert!(!compactor.is_due().unwrap(), "they are few");
    disks.journal.allocate("00000000000000000001.seg", 65 << 20).unwrap();
    assert!(compactor.is_due().unwrap());
    compactor.compact(&compacting()).await.unwrap();
    assert!(!compactor.is_due().unwrap(), "they are in the archive");
    disks.journal.allocate("00000000000000000040.snap", 40 << 20).unwrap();
    let files = disks.journal.list().unwrap();
    let last = files.iter().filter(|file| file.strip_suffix(".seg").is_some());
    disks.journal.allocate(last.max().unwrap(), 65 << 20).unwrap();
    assert!(!compactor.is_due().unwrap(), "less than twice as much as is known");
}
