//! Backup, loss, damage and restore of the machine's state.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::journal_decoder;
use super::process::Machine;
use crate::model::record::Record;
use crate::sim::faults::incident::StateLoss;
use crate::store::backup::write::BackupSource;
use crate::store::backup::{restore, write};
use crate::store::disk::traits::Disk;
use crate::store::index::ordered::MemoryIndex;
use crate::store::journal::log::Head;
use crate::store::read_model::model::ReadModel;
use crate::store::state::assemble::AssembledState;
use crate::store::state::marks;
use crate::store::state::open::OpenError;
use crate::store::writer::handle::{Commit, Writer};

/// Lost part of the journal's end, in bytes.
const TAIL_BYTES: usize = 700;
const JOURNAL: &str = "journal/";
const VAULT: &str = "vault/";

#[derive(Debug, Clone)]
pub(crate) struct Backup {
    /// Last record of the backup.
    pub(crate) head: Head,
    at: DateTime<Utc>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Backup {
    /// Returns the files of one folder.
    fn folder(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let own = self.files.iter();
        own.filter_map(|(name, bytes)| Some((name.strip_prefix(folder)?.to_owned(), bytes.clone())))
            .collect()
    }
}

impl Machine {
    /// Backs up everything that is durable now, as `store backup` does. Returns `None` for an empty
    /// state, and while the machine is dead.
    pub(crate) fn back_up(&self, at: DateTime<Utc>) -> Option<Backup> {
        let last = journal_decoder::allowed_counts(&self.journal).pop()?;
        let head = Head { sequence: last.sequence, hash: last.hash };
        let (journal, vault) = (Arc::new(self.journal.clone()), Arc::new(self.vault.clone()));
        let source = BackupSource { journal, archive: None, vault, head, at, compactions: None };
        let files = write::contents(&source).ok()?;
        Some(Backup { head, at, files })
    }

    /// Loses the whole state.
    pub(crate) fn lose_everything(&mut self) {
        self.journal.swap(BTreeMap::new());
        self.vault.swap(BTreeMap::new());
        self.index = Arc::new(MemoryIndex::new());
    }

    /// Restores a backup and begins a new epoch. Returns the new head.
    pub(crate) async fn restore(
        &mut self,
        backup: &Backup,
        at: DateTime<Utc>,
    ) -> Result<Head, OpenError> {
        self.journal.swap(backup.folder(JOURNAL));
        self.vault.swap(backup.folder(VAULT));
        self.index = Arc::new(MemoryIndex::new());
        let AssembledState { journal, fold, vault, found: _ } = self.assemble()?;
        let writer = Writer::inline(journal, vault, fold);
        let facts = ReadModel::new(self.index.clone());
        let by = (at, "the simulator".to_owned());
        let began = restore::next_epoch(&facts, (backup.head, backup.at), by)?;
        writer.append(Commit::of(vec![Record::Restored(Box::new(began))])).await?;
        marks::close(&writer, &*self.index).await
    }

    /// Loses or damages a part of the state.
    pub(crate) fn apply_loss(&mut self, what: StateLoss, newest: Option<&Backup>) {
        match what {
            StateLoss::Index => self.index = Arc::new(MemoryIndex::new()),
            StateLoss::Keys => drop(self.vault.remove("keys")),
            StateLoss::Sealed => drop(self.vault.remove("data")),
            StateLoss::Segment => {
                if let Some(segment) = self.newest_segment() {
                    drop(self.journal.remove(&segment));
                }
            }
            StateLoss::Tail => self.lose_tail(),
            StateLoss::Older => {
                if let Some(older) = newest {
                    self.journal.swap(older.folder(JOURNAL));
                }
            }
        }
    }

    fn newest_segment(&self) -> Option<String> {
        let mut names = self.journal.list().ok()?;
        names.sort();
        names.pop()
    }

    /// Overwrites the last records, all acknowledged, with zeros.
    fn lose_tail(&mut self) {
        let Some(last) = journal_decoder::allowed_counts(&self.journal).pop() else { return };
        let (file, _, end) = last.place;
        let from = end.saturating_sub(TAIL_BYTES);
        let (Ok(offset), zeros) = (u64::try_from(from), vec![0; end.saturating_sub(from)]) else {
            return;
        };
        drop(self.journal.write_at(&file, offset, &zeros).and_then(|()| self.journal.sync(&file)));
    }

    /// Returns true if the next start trusts the index, which then knows the end of the journal.
    pub(crate) fn believes_index(&self) -> bool {
        let applied = ReadModel::progress_of(&*self.index).unwrap_or(None);
        applied.is_some() && self.opened_under == Some(self.boot)
    }

    /// Opens the state, and returns the digest of its contents.
    pub(crate) fn open_digest(&self) -> Result<crate::base::hash::Digest, OpenError> {
        self.assemble()?;
        Ok(ReadModel::new(self.index.clone()).digest()?)
    }
}
