//! The mark outside the state directory: what it detects, and what a crash at any step leaves of
//! it.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::id::Mode;
use crate::store::error::RollbackDetected;
use crate::store::journal::log::HighWater;
use crate::store::state::rollback::StateMark;
use crate::store::tests::support::{TestDisk, old_intent};
use crate::store::tests::trouble::*;

fn watch(marks: Arc<dyn Disk>) -> StateMark {
    let mark = HighWater::open(marks, "id").unwrap();
    StateMark { mark, named: true, restoring: false, at: at(9), actor: "uid 1".into() }
}

/// Opens a state without an index, under the mark on this disk.
fn open_marked(disks: &Disks, marks: &MemoryDisk) -> Result<AssembledState, OpenError> {
    let (journal, vault) = (Arc::new(disks.journal.clone()), Arc::new(disks.vault.clone()));
    let watch = Some(watch(Arc::new(marks.clone())));
    let pieces = StateParts { watch, ..pieces(journal, vault, Arc::new(MemoryIndex::new())) };
    assemble(pieces, &key(), OpenReport::default())
}

fn empty() -> Disks {
    Disks { journal: MemoryDisk::new(), vault: MemoryDisk::new() }
}

/// Writes these records under the mark, and stops without a clean end.
async fn write(disks: &Disks, marks: &MemoryDisk, names: std::ops::Range<usize>, salt: &str) {
    let AssembledState { journal, fold, vault, found } = open_marked(disks, marks).unwrap();
    assert_eq!(found.put_back, None);
    let writer = Writer::inline(journal, vault, fold);
    for number in names {
        writer.append(Commit::of(vec![hold(&format!("{salt}{number}"))])).await.unwrap();
    }
}

fn marked_sequence(marks: &MemoryDisk) -> u64 {
    HighWater::open(Arc::new(marks.clone()), "id").unwrap().head().map_or(0, |head| head.sequence)
}

/// Closes S10: a copy that is put back begins an epoch, once.
#[tokio::test]
async fn an_older_or_another_journal_begins_an_epoch_and_the_mark_goes_on_from_there() {
    let (disks, marks) = (empty(), MemoryDisk::new());
    write(&disks, &marks, 0..5, "a").await;
    let older = disks.copy();
    write(&disks, &marks, 5..9, "a").await;
    assert_eq!(marked_sequence(&marks), 9);
    let fork = older.copy();
    write(&fork, &MemoryDisk::new(), 5..12, "b").await;
    for (name, put_back, head) in [("older", older, 5), ("another", fork, 12)] {
        let marks = marks.copy();
        let found = open_marked(&put_back, &marks).unwrap();
        let told = RollbackDetected { marked: 9, head, epoch: 1 };
        assert_eq!(found.found.put_back, Some(told), "{name}");
        assert_eq!(found.journal.head().sequence, head + 1, "the epoch's record is there");
        assert_eq!(marked_sequence(&marks), head + 1);
        let again = open_marked(&put_back, &marks).unwrap();
        assert_eq!((again.found.put_back, again.found.unmarked), (None, None), "{name}, again");
    }
}

/// Closes S10: a tail is cut only if it lies behind the mark.
#[tokio::test]
async fn a_flip_in_an_acknowledged_record_is_refused_while_the_index_is_gone() {
    let (disks, marks) = (empty(), MemoryDisk::new());
    write(&disks, &marks, 0..3, "a").await;
    let file = disks.journal.list().unwrap().pop().unwrap();
    let bytes = disks.journal.read_at(&file, 0, usize::MAX).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let mut cut = 0;
    for place in end.saturating_sub(400)..end {
        let damaged = disks.copy();
        let mut flipped = bytes.clone();
        flipped[place] ^= 0x41;
        damaged.journal.replace(&file, &flipped).unwrap();
        let error = open_marked(&damaged, &marks).unwrap_err().to_string();
        assert!(helps(&error), "{error}");
        cut += usize::from(open(&damaged, None).is_ok());
    }
    assert!(cut > 50, "without a mark {cut} of them are cut as a torn tail");
    let torn = disks.copy();
    torn.journal.write_at(&file, u64::try_from(end).unwrap(), b"RkJ1 torn").unwrap();
    let opened = open_marked(&torn, &marks).unwrap();
    assert!(opened.found.cut.is_some(), "what lies behind the mark is cut as before");
}

#[tokio::test]
async fn looking_makes_no_mark_and_a_state_without_one_is_adopted_with_a_word() {
    let (disks, marks) = (empty(), MemoryDisk::new());
    let found = open_marked(&disks, &marks).unwrap().found;
    assert_eq!((found.unmarked, marks.list().unwrap().len()), (None, 0));
    let before = state(5, "acme").await;
    let found = open_marked(&before, &marks).unwrap().found;
    assert!(found.unmarked.unwrap().contains("mark"));
    assert_eq!(marks.list().unwrap().len(), 0, "nothing was written yet");
    write(&before, &marks, 0..1, "x").await;
    assert_eq!(marked_sequence(&marks), 6);
}

#[tokio::test]
async fn the_mark_is_synced_before_something_leaves_and_not_for_anything_else() {
    let (disks, marks) = (empty(), TestDisk::default());
    let (journal, vault) = (Arc::new(disks.journal.clone()), Arc::new(disks.vault.clone()));
    let watch = Some(watch(Arc::new(marks.clone())));
    let pieces = StateParts { watch, ..pieces(journal, vault, Arc::new(MemoryIndex::new())) };
    let AssembledState { journal, fold, vault, .. } =
        assemble(pieces, &key(), OpenReport::default()).unwrap();
    let writer = Writer::inline(journal, vault, fold);
    writer.append(Commit::of(vec![hold("a")])).await.unwrap();
    assert_eq!((marks.syncs(), marked_sequence(&marks.inner)), (0, 1));
    let intent = Record::Intent(Box::new(old_intent(1, "a", "acme", Mode::Test)));
    writer.append(Commit::of(vec![intent.clone()])).await.unwrap();
    assert_eq!((marks.syncs(), marked_sequence(&marks.inner)), (1, 2));
    marks.break_syncs(true);
    let second = Record::Intent(Box::new(old_intent(2, "b", "acme", Mode::Test)));
    let refused = writer.append(Commit::of(vec![second])).await.unwrap_err().to_string();
    assert!(refused.contains("mark"), "nothing leaves without it: {refused}");
}

/// A disk that loses unsynced writes, and dies after a number of changes.
#[derive(Debug, Clone, Default)]
struct Lossy {
    seen: MemoryDisk,
    durable: MemoryDisk,
    left: Arc<AtomicUsize>,
}

impl Lossy {
    fn new(left: &Arc<AtomicUsize>) -> Self {
        Self { left: left.clone(), ..Self::default() }
    }

    fn change(&self) -> io::Result<()> {
        let left = self.left.load(Ordering::SeqCst);
        self.left.store(left.saturating_sub(1), Ordering::SeqCst);
        if left == 0 { Err(io::Error::other("the power is gone")) } else { Ok(()) }
    }

    fn both(&self, act: impl Fn(&MemoryDisk) -> io::Result<()>) -> io::Result<()> {
        self.change()?;
        act(&self.seen)?;
        act(&self.durable)
    }

    /// Every combination in which the two sectors of a file may have survived.
    fn survivors(&self, file: &str) -> Vec<MemoryDisk> {
        let side = |disk: &MemoryDisk, at| disk.read_at(file, at, 512).unwrap_or_default();
        let mut all = Vec::new();
        for (first, second) in [(false, false), (false, true), (true, false), (true, true)] {
            let pick = |seen, at| side(if seen { &self.seen } else { &self.durable }, at);
            let bytes = [pick(first, 0), pick(second, 512)].concat();
            let disk = MemoryDisk::new();
            if !bytes.is_empty() {
                disk.replace(file, &bytes).unwrap();
            }
            all.push(disk);
        }
        all
    }
}

impl Disk for Lossy {
    fn list(&self) -> io::Result<Vec<String>> {
        self.seen.list()
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        self.seen.len(name)
    }

    fn read_at(&self, name: &str, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.seen.read_at(name, offset, len)
    }

    fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change()?;
        self.seen.write_at(name, offset, bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.change()?;
        let bytes = self.seen.read_at(name, 0, usize::MAX)?;
        self.durable.replace(name, &bytes)
    }

    fn cut(&self, name: &str, len: u64) -> io::Result<()> {
        self.both(|disk| disk.cut(name, len))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.both(|disk| disk.remove(name))
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.both(|disk| disk.replace(name, bytes))
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        self.both(|disk| disk.rename(name, to))
    }

    fn allocate(&self, name: &str, len: u64) -> io::Result<()> {
        self.both(|disk| disk.allocate(name, len))
    }
}

/// Writes holds and intents with these numbers until the power fails; returns the last acknowledged
/// record with an effect that leaves the process.
async fn until_dark(
    (journal, vault, marks): (&Lossy, &MemoryDisk, &Lossy),
    numbers: std::ops::Range<u64>,
) -> u64 {
    let watch = Some(watch(Arc::new(marks.clone())));
    let (disk, vault) = (Arc::new(journal.clone()), Arc::new(vault.clone()));
    let pieces = StateParts { watch, ..pieces(disk, vault, Arc::new(MemoryIndex::new())) };
    let Ok(AssembledState { journal, fold, vault, .. }) =
        assemble(pieces, &key(), OpenReport::default())
    else {
        return 0;
    };
    let writer = Writer::inline(journal, vault, fold);
    let mut left = 0;
    for number in numbers {
        let name = format!("n{number}");
        let leaves = number % 3 == 0;
        let intent = || Record::Intent(Box::new(old_intent(number, &name, "acme", Mode::Test)));
        let record = if leaves { intent() } else { hold(&name) };
        match writer.append(Commit::of(vec![record])).await {
            Ok(sequence) if leaves => left = sequence,
            Ok(_) => {}
            Err(_) => return left,
        }
    }
    left
}

/// Closes S10: the power may fail at every step of a commit, and any unsynced sector may be lost.
#[tokio::test]
async fn a_power_failure_at_any_step_never_leaves_the_mark_ahead_nor_short_of_what_left() {
    let mut died = 0;
    for changes in 0..120 {
        let left = Arc::new(AtomicUsize::new(changes));
        let (journal, marks) = (Lossy::new(&left), Lossy::new(&left));
        let vault = MemoryDisk::new();
        let sent = until_dark((&journal, &vault, &marks), 1..12).await;
        died += usize::from(left.load(Ordering::SeqCst) == 0);
        for kept in marks.survivors("id.mark") {
            assert!(marked_sequence(&kept) >= sent, "after {changes} changes: {sent} left");
            for disk in [&journal.durable, &journal.seen] {
                let disks = Disks { journal: disk.copy(), vault: vault.copy() };
                let again = open_marked(&disks, &kept.copy()).unwrap();
                assert_eq!(again.found.put_back, None, "after {changes} changes");
                assert!(again.journal.head().sequence >= sent);
            }
        }
    }
    assert!(died > 40 && died < 120, "{died}");
}

/// Closes S10: a killed process left an unsynced mark; the next process never overwrites the only
/// durable one.
#[tokio::test]
async fn a_power_failure_after_a_kill_never_leaves_the_mark_short_of_what_left() {
    for changes in 0..30 {
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let (journal, marks) = (Lossy::new(&left), Lossy::new(&left));
        let vault = MemoryDisk::new();
        let first = until_dark((&journal, &vault, &marks), 1..12).await;
        assert!(
            first > 0 && marked_sequence(&marks.seen) > marked_sequence(&marks.durable),
            "not synced at the kill"
        );
        left.store(changes, Ordering::SeqCst);
        let sent = until_dark((&journal, &vault, &marks), 12..20).await.max(first);
        for kept in marks.survivors("id.mark") {
            assert!(marked_sequence(&kept) >= sent, "after {changes} changes: {sent} left");
        }
    }
}
