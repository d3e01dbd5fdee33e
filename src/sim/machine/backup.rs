//! Copies of the machine's state: backups and their restore, losses and damage, and the compaction
//! of copies of the disks.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::hash::Digest;
use crate::model::record::Record;
use crate::sim::machine::journal;
use crate::sim::machine::process::{Machine, copy};
use crate::sim::plan::trouble::StateLoss;
use crate::store::backup::write::{self, BackupSource};
use crate::store::disk::traits::{Disk, MemoryDisk, to_u64};
use crate::store::error::OpenError;
use crate::store::index::buffered::BufferedIndex;
use crate::store::index::ordered::{Index, MemoryIndex};
use crate::store::journal::chain::Head;
use crate::store::read_model::model::ReadModel;
use crate::store::state::compact::{
    Archive, ArchivePolicy, CompactionLock, CompactionRequest, Compactor,
};
use crate::store::state::index::{self, MemorySlots};
use crate::store::state::rollback::next_epoch;
use crate::store::vault::frame::VaultError;
use crate::store::vault::values::Vault;
use crate::store::writer::core::Commit;
use crate::store::writer::handle::Writer;

/// Lost part of the journal's end, in bytes.
const TAIL_BYTES: usize = 700;
const JOURNAL: &str = "journal/";
const VAULT: &str = "vault/";

#[derive(Debug, Clone)]
pub(crate) struct Backup {
    pub(crate) head: Head,
    at: DateTime<Utc>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Backup {
    fn folder(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let within = |name: &String| name.strip_prefix(folder).map(str::to_owned);
        let files = self.files.iter();
        files.filter_map(|(name, bytes)| Some((within(name)?, bytes.clone()))).collect()
    }
}

impl Machine {
    /// Backs up everything that is durable now, as `store backup` does. Returns `None` for an empty
    /// state, and while the machine is dead.
    pub(crate) fn back_up(&self, at: DateTime<Utc>) -> Option<Backup> {
        let last = journal::allowed_counts(&self.journal).pop()?;
        let head = Head { sequence: last.sequence, hash: last.hash };
        let (journal, vault) = (Arc::new(self.journal.clone()), Arc::new(self.vault.clone()));
        let source = BackupSource { journal, archive: None, vault, head, at, compactions: None };
        let files = write::contents(&source).ok()?;
        Some(Backup { head, at, files })
    }

    pub(crate) fn lose_everything(&mut self) {
        self.journal.swap(BTreeMap::new());
        self.vault.swap(BTreeMap::new());
        self.index = Arc::new(MemoryIndex::new());
    }

    pub(crate) async fn restore(
        &mut self,
        backup: &Backup,
        at: DateTime<Utc>,
    ) -> Result<Head, OpenError> {
        self.journal.swap(backup.folder(JOURNAL));
        self.vault.swap(backup.folder(VAULT));
        self.index = Arc::new(MemoryIndex::new());
        let state = self.assemble()?;
        let writer = Writer::inline(state.journal, state.vault, state.fold);
        let facts = ReadModel::new(self.index.clone());
        let by = (at, "the simulator".to_owned());
        let began = next_epoch(&facts, (backup.head, backup.at), by)?;
        writer.append(Commit::of(vec![Record::Restored(Box::new(began))])).await?;
        index::close_state(&writer, &*self.index).await
    }

    pub(crate) fn apply_loss(&mut self, what: StateLoss, newest: Option<&Backup>) {
        match what {
            StateLoss::Index => self.index = Arc::new(MemoryIndex::new()),
            StateLoss::Keys => drop(self.vault.remove("keys")),
            StateLoss::Sealed => drop(self.vault.remove("data")),
            StateLoss::Segment => {
                let names = self.journal.list().unwrap_or_default();
                drop(names.iter().max().map(|newest| self.journal.remove(newest)));
            }
            StateLoss::Tail => self.lose_tail(),
            StateLoss::Older => {
                if let Some(older) = newest {
                    self.journal.swap(older.folder(JOURNAL));
                }
            }
        }
    }

    /// Overwrites the last records, all acknowledged, with zeros.
    fn lose_tail(&mut self) {
        let Some(last) = journal::allowed_counts(&self.journal).pop() else { return };
        let (file, _, end) = last.place;
        let from = end.saturating_sub(TAIL_BYTES);
        let zeros = vec![0; end.saturating_sub(from)];
        let written = self.journal.write_at(&file, to_u64(from), &zeros);
        drop(written.and_then(|()| self.journal.sync(&file)));
    }

    /// Returns true if the next start trusts the index, which then knows the end of the journal.
    pub(crate) fn believes_index(&self) -> bool {
        let applied = ReadModel::progress_of(&*self.index).unwrap_or(None);
        applied.is_some() && self.opened_under == Some(self.boot)
    }

    pub(crate) fn open_digest(&self) -> Result<Digest, OpenError> {
        self.assemble()?;
        Ok(ReadModel::new(self.index.clone()).digest()?)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StateContents {
    pub(crate) digest: Digest,
    /// Every sealed value, or name of one, in the fold, with the result of its opening.
    pub(crate) values: BTreeMap<String, &'static str>,
}

impl Machine {
    /// Returns the contents before and after a compaction that drops the history. Returns `None` if
    /// the state does not open before it.
    pub(crate) async fn compact_copies(&self) -> Result<Option<[StateContents; 2]>, OpenError> {
        let (journal, vault) = (copy(&self.journal), copy(&self.vault));
        let Ok(before) = self.contents((&journal, &vault)) else { return Ok(None) };
        let index = Arc::new(BufferedIndex::new(Arc::new(MemoryIndex::new())));
        let opened = self.assemble_copy((&journal, &vault), index.clone())?;
        let compactor = Compactor {
            writer: Arc::new(Writer::inline(opened.journal, opened.vault.clone(), opened.fold)),
            index,
            slots: Box::new(MemorySlots),
            journal: Arc::new(journal.clone()),
            vault_disk: Arc::new(vault.clone()),
            vault: opened.vault,
            archive: Archive::over(Arc::new(MemoryDisk::new())),
            turn: CompactionLock::default(),
        };
        let (at, actor) = (DateTime::UNIX_EPOCH, "the simulator".to_owned());
        compactor.compact(&CompactionRequest { history: ArchivePolicy::Drop, at, actor }).await?;
        Ok(Some([before, self.contents((&journal, &vault))?]))
    }

    fn contents(&self, disks: (&MemoryDisk, &MemoryDisk)) -> Result<StateContents, OpenError> {
        let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
        let assembled = self.assemble_copy(disks, index.clone())?;
        let mut values = BTreeMap::new();
        for (_, value) in index.scan(b"")? {
            if let Ok(value) = ciborium::from_reader(&*value) {
                collect_sealed(&assembled.vault, &value, &mut values);
            }
        }
        Ok(StateContents { digest: ReadModel::new(index).digest()?, values })
    }
}

/// Opens every sealed value inside a value of the index.
fn collect_sealed(
    vault: &Vault,
    value: &ciborium::Value,
    found: &mut BTreeMap<String, &'static str>,
) {
    if let Some(text) = value.as_text().filter(|text| is_sealed(text)) {
        let opens = match vault.unseal_text(text) {
            Ok(_) => "opens",
            Err(VaultError::Erased { .. }) => "was erased",
            Err(_) => "does not open",
        };
        found.insert(text.to_owned(), opens);
    }
    let fields = value.as_map().into_iter().flatten().flat_map(|(key, one)| [key, one]);
    for one in value.as_array().into_iter().flatten().chain(fields) {
        collect_sealed(vault, one, found);
    }
}

/// Returns true if a text looks like the name of a value, or like a sealed value.
fn is_sealed(text: &str) -> bool {
    let is_name = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name || text.starts_with("sealed:")
}
