//! Disks that count and fail, for the tests of the store.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use crate::base::hash::{SourceId, sha256};
use crate::base::id::{IntentId, Key, Mode};
use crate::model::intent::Intent;
use crate::model::record::Record;
use crate::store::disk::traits::{Disk, MemoryDisk};
use crate::store::error::Folded;
use crate::store::index::ordered::{Batch, Index};
use crate::store::projection::fold::fold_record;
use crate::store::read_model::model::Changes;

/// Folds one record: reads through the batch, writes into it.
pub(crate) fn fold(index: &dyn Index, batch: &mut Batch, record: &Record) -> Folded {
    fold_record(&mut Changes::new(index, batch), record)
}

/// A disk in memory whose syncs are counted and whose writes and syncs fail on demand.
#[derive(Debug, Clone, Default)]
pub(crate) struct TestDisk {
    pub(crate) inner: MemoryDisk,
    syncs: Arc<AtomicUsize>,
    broken_write: Arc<AtomicBool>,
    broken_sync: Arc<AtomicBool>,
}

impl TestDisk {
    pub(crate) fn syncs(&self) -> usize {
        self.syncs.load(Ordering::SeqCst)
    }

    pub(crate) fn break_writes(&self, broken: bool) {
        self.broken_write.store(broken, Ordering::SeqCst);
    }

    pub(crate) fn break_syncs(&self, broken: bool) {
        self.broken_sync.store(broken, Ordering::SeqCst);
    }
}

fn fail_if(broken: &AtomicBool) -> io::Result<()> {
    if broken.load(Ordering::SeqCst) {
        Err(io::Error::other("the disk is on fire"))
    } else {
        Ok(())
    }
}

impl Disk for TestDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        self.inner.len(name)
    }

    fn read_at(&self, name: &str, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.inner.read_at(name, offset, len)
    }

    fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        fail_if(&self.broken_write)?;
        self.inner.write_at(name, offset, bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        fail_if(&self.broken_sync)?;
        self.inner.sync(name)
    }

    fn cut(&self, name: &str, len: u64) -> io::Result<()> {
        self.inner.cut(name, len)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.inner.replace(name, bytes)
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        self.inner.rename(name, to)
    }

    fn allocate(&self, name: &str, len: u64) -> io::Result<()> {
        self.inner.allocate(name, len)
    }
}

/// A generator with a fixed seed.
pub(crate) fn seeded_rng(seed: u64) -> rand_chacha::ChaCha20Rng {
    rand_core::SeedableRng::seed_from_u64(seed)
}

/// A disk that becomes full after a number of changes: the next write or allocation is half done
/// and refused.
#[derive(Debug, Clone, Default)]
pub(crate) struct FullDisk<D = MemoryDisk> {
    pub(crate) inner: D,
    left: Arc<AtomicUsize>,
}

impl FullDisk {
    /// A disk in memory with room for this number of changes.
    pub(crate) fn new(inner: MemoryDisk, room: usize) -> Self {
        Self::over(inner, room)
    }
}

impl<D: Disk> FullDisk<D> {
    /// Any disk with room for this number of changes.
    pub(crate) fn over(inner: D, room: usize) -> Self {
        Self { inner, left: Arc::new(AtomicUsize::new(room)) }
    }

    /// Makes room again.
    pub(crate) fn free(&self) {
        self.leave(usize::MAX / 2);
    }

    /// Sets the number of changes that still fit.
    pub(crate) fn leave(&self, room: usize) {
        self.left.store(room, Ordering::SeqCst);
    }

    fn change(&self) -> io::Result<()> {
        let left = self.left.load(Ordering::SeqCst);
        if left == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.left.store(left.saturating_sub(1), Ordering::SeqCst);
        Ok(())
    }
}

impl<D: Disk> Disk for FullDisk<D> {
    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        self.inner.len(name)
    }

    fn read_at(&self, name: &str, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.inner.read_at(name, offset, len)
    }

    fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if let Err(full) = self.change() {
            self.inner.write_at(name, offset, bytes.split_at(bytes.len() / 2).0)?;
            return Err(full);
        }
        self.inner.write_at(name, offset, bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.inner.sync(name)
    }

    fn cut(&self, name: &str, len: u64) -> io::Result<()> {
        self.change()?;
        self.inner.cut(name, len)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.change()?;
        self.inner.remove(name)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.change()?;
        self.inner.replace(name, bytes)
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        self.change()?;
        self.inner.rename(name, to)
    }

    fn allocate(&self, name: &str, len: u64) -> io::Result<()> {
        if let Err(full) = self.change() {
            self.inner.allocate(name, len / 2)?;
            return Err(full);
        }
        self.inner.allocate(name, len)
    }
}

/// An intent of an invoice, in the form from before exposure was counted.
pub(crate) fn old_intent(id: u64, name: &str, merchant: &str, mode: Mode) -> Intent {
    let key: Key = format!("Invoice/{name}").parse().unwrap();
    let source_id = SourceId::new("acme", &key, 0);
    let said = json!({
        "id": IntentId::new(id), "effect": "invoice.create", "key": key,
        "merchant": format!("Merchant/default/{merchant}"), "mode": mode, "target": null,
        "mark": source_id.mark(), "source_id": source_id,
        "request": {"endpoint": "", "method": "POST", "host": "base", "path": "", "auth": "none", "body": "none"},
        "expect": {}, "baseline": null, "on_doubt": "hold",
        "applied": {"spec": {}, "digest": sha256(b""), "generation": 0, "deletion": "orphan"},
        "cause": {"file": null, "line": null, "commit": null}, "at": "2026-11-22T23:59:59Z",
    });
    serde_json::from_value(said).unwrap()
}
