//! Corruption tests of the store: every file damaged in every way, a full disk, a crash in a
//! compaction, a clock that goes back. Each state is repaired, or refused with a remedy.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::base::hash::Digest;
use crate::model::record::{Record, StateOwner};
use crate::model::state::observed::{FactSource, Observation};
use crate::store::disk::traits::{Disk, MemoryDisk};
use crate::store::error::{OpenError, OpenReport};
use crate::store::index::buffered::BufferedIndex;
use crate::store::index::ordered::{Index, MemoryIndex};
use crate::store::read_model::model::ReadModel;
use crate::store::state::compact::{
    Archive, ArchivePolicy, CompactionLock, CompactionRequest, Compactor,
};
use crate::store::state::index::MemorySlots;
use crate::store::state::open::{AssembledState, StateParts, assemble};
use crate::store::tests::support::{FullDisk, seeded_rng};
use crate::store::vault::key::MasterKey;
use crate::store::writer::core::Commit;
use crate::store::writer::handle::Writer;

mod compaction;
mod marks;

const SEGMENT: u64 = 1024;

fn key() -> MasterKey {
    MasterKey::new([3; 32])
}

fn at(minute: u32) -> DateTime<Utc> {
    format!("2026-11-21T12:{minute:02}:00Z").parse().unwrap()
}

/// The disks of a state.
#[derive(Debug, Clone)]
struct Disks {
    journal: MemoryDisk,
    vault: MemoryDisk,
}

impl Disks {
    fn copy(&self) -> Self {
        Self { journal: self.journal.copy(), vault: self.vault.copy() }
    }

    fn disk(&self, part: &str) -> &MemoryDisk {
        if part == "journal" { &self.journal } else { &self.vault }
    }

    /// Every file, by its part.
    fn files(&self) -> Vec<(&'static str, String)> {
        let all = |part| {
            let mut files = self.disk(part).list().unwrap();
            files.sort();
            files.into_iter().map(move |file| (part, file))
        };
        all("journal").chain(all("vault")).collect()
    }
}

fn pieces(journal: Arc<dyn Disk>, vault: Arc<dyn Disk>, index: Arc<dyn Index>) -> StateParts {
    let boot = "b".to_owned();
    StateParts { journal, vault, index, boot, rebuild: false, segment_bytes: SEGMENT, watch: None }
}

/// Opens a state over a new index, or over this one.
fn open(
    disks: &Disks,
    index: Option<Arc<dyn Index>>,
) -> Result<(AssembledState, Digest), OpenError> {
    let index = index.unwrap_or_else(|| Arc::new(MemoryIndex::new()));
    let (journal, vault) = (Arc::new(disks.journal.clone()), Arc::new(disks.vault.clone()));
    let assembled = assemble(pieces(journal, vault, index.clone()), &key(), OpenReport::default())?;
    let digest = ReadModel::new(index).digest()?;
    Ok((assembled, digest))
}

fn hold(name: &str) -> Record {
    let key = format!("Contact/{name}").parse().unwrap();
    Record::OnHold { key, reason: "a reason that fills a segment".into(), at: at(1) }
}

/// A state of this many records and a sealed value; `salt` makes it another one.
async fn state(records: usize, salt: &str) -> Disks {
    let disks = Disks { journal: MemoryDisk::new(), vault: MemoryDisk::new() };
    let AssembledState { journal, fold, vault, found: _ } = open(&disks, None).unwrap().0;
    let sealed = vault.seal("Contact/default/a", salt.as_bytes(), &mut seeded_rng(1)).unwrap();
    let writer = Writer::inline(journal, vault, fold);
    let partner = salt.to_owned();
    let binding =
        StateOwner { partner, client: "c".into(), key: key().fingerprint(), epoch: 0, began: None };
    let first = Commit { blobs: vec![sealed], records: vec![Record::StateOwner(binding)] };
    writer.append(first).await.unwrap();
    for number in 1..records {
        writer.append(Commit::of(vec![hold(&format!("{salt}{number}"))])).await.unwrap();
    }
    disks
}

fn compacting() -> CompactionRequest {
    CompactionRequest { history: ArchivePolicy::Keep, at: at(2), actor: "uid 1".into() }
}

/// The compactor of the state on these disks: journal, vault and archive.
fn compactor(disks: [Arc<dyn Disk>; 3]) -> Compactor {
    let [journal, vault, archive] = disks;
    let index = Arc::new(BufferedIndex::new(Arc::new(MemoryIndex::new())));
    let all = pieces(journal.clone(), vault.clone(), index.clone());
    let assembled = assemble(all, &key(), OpenReport::default()).unwrap();
    let (opened, fold) = (assembled.journal, assembled.fold);
    Compactor {
        writer: Arc::new(Writer::inline(opened, assembled.vault.clone(), fold)),
        index,
        slots: Box::new(MemorySlots),
        journal,
        vault_disk: vault,
        vault: assembled.vault,
        archive: Archive::over(archive),
        turn: CompactionLock::default(),
    }
}

/// Compacts a state; returns the digest of its fold.
async fn compact_state(disks: &Disks, archive: &MemoryDisk) -> Digest {
    let (journal, vault) = (Arc::new(disks.journal.clone()), Arc::new(disks.vault.clone()));
    let compactor = compactor([journal, vault, Arc::new(archive.clone())]);
    compactor.compact(&compacting()).await.unwrap();
    ReadModel::new(compactor.index.clone()).digest().unwrap()
}

/// Returns a copy for each way in which a file can be damaged.
fn damages(
    disks: &Disks,
    (part, file): (&'static str, &str),
    older: &Disks,
    other: &Disks,
) -> Vec<(String, Disks)> {
    let whole = disks.disk(part).read_at(file, 0, usize::MAX).unwrap();
    let mut all = Vec::new();
    let mut damaged = |name: String, change: &dyn Fn(&MemoryDisk)| {
        let copy = disks.copy();
        change(copy.disk(part));
        all.push((format!("{part}/{file}: {name}"), copy));
    };
    damaged("deleted".into(), &|disk| disk.remove(file).unwrap());
    for keep in [0, 1, 30, 64, whole.len() / 2, whole.len().saturating_sub(1)] {
        let cut = whole.get(..keep).unwrap_or(&whole).to_vec();
        damaged(format!("cut to {keep}"), &|disk| disk.replace(file, &cut).unwrap());
    }
    for place in (0..whole.len()).step_by(37) {
        let mut flipped = whole.clone();
        flipped[place] ^= 0x41;
        damaged(format!("byte {place} flipped"), &|disk| disk.replace(file, &flipped).unwrap());
    }
    for (name, stranger) in [("older", older), ("another state's", other)] {
        if let Ok(bytes) = stranger.disk(part).read_at(file, 0, usize::MAX) {
            damaged(name.into(), &|disk| disk.replace(file, &bytes).unwrap());
        }
    }
    all
}

/// Returns true if a sentence names a remedy.
fn helps(sentence: &str) -> bool {
    let ways = ["restore", "move", "give the key", "use the newer program", "check the journal"];
    ways.iter().any(|way| sentence.contains(way))
}

/// Opens every damaged copy, with an empty index and with the index folded before. A state that
/// opens holds at least what it held before, so no acknowledged record is lost.
async fn matrix(disks: &Disks) {
    let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
    let (whole, digest) = open(disks, Some(index.clone())).unwrap();
    let (older, other) = (state(20, "acme").await, state(40, "other").await);
    let mut refused = 0;
    for (part, file) in disks.files() {
        for (name, damaged) in damages(disks, (part, &file), &older, &other) {
            for known in [true, false] {
                let before: Arc<dyn Index> = Arc::new(MemoryIndex::new());
                if known {
                    let mut batch = crate::store::index::ordered::Batch::new();
                    for (key, value) in index.scan(b"").unwrap() {
                        batch.put(key, value);
                    }
                    before.apply(batch).unwrap();
                }
                match open(&damaged, Some(before)) {
                    Ok((assembled, found)) if known || part == "vault" => {
                        assert_eq!(found, digest, "{name}: it opened and knows something else");
                        assert_eq!(assembled.journal.head(), whole.journal.head(), "{name}");
                    }
                    // Without an index the last acknowledged record is unknown: a shorter end may
                    // be a torn one.
                    Ok((assembled, _)) => {
                        let head = assembled.journal.head().sequence;
                        assert!(head <= whole.journal.head().sequence, "{name}");
                    }
                    Err(error) => {
                        refused = usize::saturating_add(refused, 1);
                        assert!(helps(&error.to_string()), "{name}: {error}");
                    }
                }
            }
        }
    }
    assert!(refused > 100, "only {refused} were refused");
}

#[tokio::test]
async fn every_damage_of_every_file_is_repaired_or_refused_with_what_to_do() {
    matrix(&state(40, "acme").await).await;
}

#[tokio::test]
async fn the_same_holds_after_a_compaction() {
    let disks = state(40, "acme").await;
    compact_state(&disks, &MemoryDisk::new()).await;
    matrix(&disks).await;
}

#[tokio::test]
async fn a_compacted_journal_makes_the_same_state_and_the_chain_goes_on() {
    let (disks, archive) = (state(40, "acme").await, MemoryDisk::new());
    let before = open(&disks, None).unwrap();
    let digest = compact_state(&disks, &archive).await;
    assert_eq!(digest, before.1);
    assert!(!disks.journal.list().unwrap().contains(&"00000000000000000001.seg".to_owned()));
    assert!(archive.list().unwrap().contains(&"00000000000000000001.seg".to_owned()));
    let (AssembledState { journal, fold, vault, found }, again) = open(&disks, None).unwrap();
    assert_eq!((again, found.folded), (before.1, 1), "only the record of the compaction is folded");
    assert_eq!(journal.verify().unwrap().sequence, 41);
    let writer = Writer::inline(journal, vault, fold);
    writer.append(Commit::of(vec![hold("later")])).await.unwrap();
    let twice = compact_state(&disks, &archive).await;
    assert_eq!(open(&disks, None).unwrap().1, twice);
    assert_ne!(twice, digest);
}

#[tokio::test]
async fn a_snapshot_that_no_record_names_is_refused() {
    let (disks, archive) = (state(40, "acme").await, MemoryDisk::new());
    compact_state(&disks, &archive).await;
    let other = state(40, "other").await;
    compact_state(&other, &archive).await;
    let snapshot = "00000000000000000040.snap";
    let theirs = other.journal.read_at(snapshot, 0, usize::MAX).unwrap();
    disks.journal.replace(snapshot, &theirs).unwrap();
    let error = open(&disks, None).unwrap_err().to_string();
    assert!(helps(&error), "{error}");
}

#[tokio::test]
async fn a_full_disk_loses_nothing_that_was_acknowledged_and_goes_on_when_there_is_room() {
    for room in 0..80 {
        let inner = Disks { journal: MemoryDisk::new(), vault: MemoryDisk::new() };
        let disk = FullDisk::new(inner.journal.clone(), room);
        let vault = FullDisk::new(inner.vault.clone(), room);
        let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
        let all = pieces(Arc::new(disk.clone()), Arc::new(vault.clone()), index);
        let mut acknowledged = 0;
        match assemble(all, &key(), OpenReport::default()) {
            Ok(AssembledState { journal, fold, vault, found: _ }) => {
                let writer = Writer::inline(journal, vault, fold);
                for number in 0..60 {
                    let written = writer.append(Commit::of(vec![hold(&number.to_string())])).await;
                    match written {
                        Ok(sequence) => acknowledged = sequence,
                        Err(error) => {
                            let told = error.to_string();
                            assert!(told.contains("no storage space"), "{told}");
                            break;
                        }
                    }
                }
            }
            Err(error) => assert!(error.to_string().contains("no storage space"), "{error}"),
        }
        disk.free();
        vault.free();
        let AssembledState { journal, fold, vault, found: _ } = open(&inner, None).unwrap().0;
        assert!(journal.head().sequence >= acknowledged, "room for {room} changes");
        let writer = Writer::inline(journal, vault, fold);
        writer.append(Commit::of(vec![hold("later")])).await.unwrap();
    }
}

#[tokio::test]
async fn an_index_that_knows_more_than_the_journal_is_not_believed_and_nothing_is_sent() {
    let disks = state(40, "acme").await;
    let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
    open(&disks, Some(index.clone())).unwrap();
    let older = state(20, "acme").await;
    let error = open(&older, Some(index)).unwrap_err().to_string();
    assert!(error.contains("record 40 was acknowledged") && helps(&error), "{error}");
}

#[tokio::test]
async fn records_keep_their_order_when_the_clock_goes_back() {
    let disks = Disks { journal: MemoryDisk::new(), vault: MemoryDisk::new() };
    let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
    let AssembledState { journal, fold, vault, found: _ } =
        open(&disks, Some(index.clone())).unwrap().0;
    let writer = Writer::inline(journal, vault, fold);
    let fact = |source, minute, state: &str| {
        let key: crate::base::id::Key = "Contact/jane".parse().unwrap();
        Record::Observation(Box::new(Observation {
            merchant: key.clone(),
            key,
            at: at(minute),
            source,
            remote_id: None,
            exists: Some(true),
            applied: None,
            facts: json!({"state": state}),
        }))
    };
    let facts = ReadModel::new(index);
    let state = || facts.observed_state(&"Contact/jane".parse().unwrap()).unwrap().unwrap();
    for (record, wanted) in [
        (fact(FactSource::Read, 30, "read"), "read"),
        (fact(FactSource::Answer, 10, "answered"), "answered"),
        (fact(FactSource::Read, 20, "stale"), "answered"),
        (fact(FactSource::Read, 40, "fresh"), "fresh"),
    ] {
        writer.append(Commit::of(vec![record])).await.unwrap();
        assert_eq!(state().text("state"), Some(wanted));
    }
    assert_eq!(state().at, at(40));
    drop(writer);
    assert_eq!(open(&disks, None).unwrap().1, facts.digest().unwrap());
}
