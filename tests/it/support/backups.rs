//! Backups of a world, and their restore.

use std::sync::Arc;

use crate::support::world::World;
use reckon::base::hash::Digest;
use reckon::model::record::Record;
use reckon::model::state::lifecycle::Restored;
use reckon::store::disk::traits::MemoryDisk;
use reckon::store::index::ordered::{Batch, Index, MemoryIndex};
use reckon::store::journal::files::JournalOptions;
use reckon::store::journal::log::Journal;
use reckon::store::projection::fold::IndexFold;
use reckon::store::vault::key::MasterKey;
use reckon::store::vault::values::Vault;
use reckon::store::writer::core::Commit;
use reckon::store::writer::handle::Writer;

/// Copies of the three disks.
pub(crate) struct Backup {
    journal: MemoryDisk,
    vault: MemoryDisk,
    index: Vec<(Vec<u8>, Vec<u8>)>,
}

pub(crate) fn back_up(world: &World) -> Backup {
    let index = world.index.scan(b"").unwrap();
    Backup { journal: world.journal.copy(), vault: world.vault.copy(), index }
}

/// Replaces the state by a backup. With `epoch`, records the beginning of an epoch.
pub(crate) async fn restore(world: &mut World, backup: &Backup, epoch: bool) {
    (world.journal, world.vault) = (backup.journal.copy(), backup.vault.copy());
    world.index = Arc::new(MemoryIndex::new());
    let mut batch = Batch::new();
    for (key, value) in &backup.index {
        batch.put(key.clone(), value.clone());
    }
    world.index.apply(batch).unwrap();
    if !epoch {
        return;
    }
    let (journal, opened) =
        Journal::open(Arc::new(world.journal.clone()), JournalOptions::default()).unwrap();
    let vault = Vault::open(Arc::new(world.vault.clone()), &MasterKey::new([7; 32])).unwrap();
    let index: Arc<dyn Index> = world.index.clone();
    let writer = Writer::inline(journal, vault, IndexFold::new(index));
    let restored = Restored {
        epoch: 1,
        backup_sequence: opened.head.sequence,
        backup_head: Digest::from_bytes(opened.head.hash),
        backup_at: "2026-11-20T08:00:00Z".parse().unwrap(),
        at: "2026-11-21T09:30:00Z".parse().unwrap(),
        actor: "uid 1000".to_owned(),
        put_back: false,
    };
    writer.append(Commit::of(vec![Record::Restored(Box::new(restored))])).await.unwrap();
}
