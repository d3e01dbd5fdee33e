//! Compaction of copies of the machine's disks.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::DateTime;

use super::process::{Machine, copy};
use crate::base::hash::Digest;
use crate::store::disk::traits::{Disk, MemoryDisk};
use crate::store::index::buffered::BufferedIndex;
use crate::store::index::ordered::{Index, MemoryIndex};
use crate::store::read_model::model::ReadModel;
use crate::store::state::assemble;
use crate::store::state::assemble::{AssembledState, StateParts};
use crate::store::state::compact::{
    Archive, ArchivePolicy, CompactionLock, CompactionRequest, Compactor,
};
use crate::store::state::open::{OpenError, OpenReport};
use crate::store::state::slots::MemorySlots;
use crate::store::vault::error::VaultError;
use crate::store::vault::values::Vault;
use crate::store::writer::handle::Writer;

/// Contents of a state.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StateContents {
    pub(crate) digest: Digest,
    /// Every sealed value, or name of one, in the fold, with the result of its opening.
    pub(crate) values: BTreeMap<String, &'static str>,
}

impl Machine {
    /// Returns the contents before and after a compaction that drops the history. Returns `None` if
    /// the state does not open before it.
    ///
    /// # Errors
    ///
    /// An in-memory disk refused an operation, or the state no longer opens.
    pub(crate) async fn compact_copies(&self) -> Result<Option<[StateContents; 2]>, OpenError> {
        let (journal, vault) = (copy(&self.journal), copy(&self.vault));
        let Ok(before) = self.contents(&journal, &vault) else { return Ok(None) };
        let index = Arc::new(BufferedIndex::new(Arc::new(MemoryIndex::new())));
        let AssembledState { journal: opened, fold, vault: sealed, found: _ } = assemble::assemble(
            self.pieces_of(&journal, &vault, index.clone()),
            &self.key,
            OpenReport::default(),
        )?;
        let compactor = Compactor {
            writer: Arc::new(Writer::inline(opened, sealed.clone(), fold)),
            index,
            slots: Box::new(MemorySlots),
            journal: Arc::new(journal.clone()),
            vault_disk: Arc::new(vault.clone()),
            vault: sealed,
            archive: Archive::over(Arc::new(MemoryDisk::new())),
            turn: CompactionLock::default(),
        };
        let (at, actor) = (DateTime::UNIX_EPOCH, "the simulator".to_owned());
        compactor.compact(&CompactionRequest { history: ArchivePolicy::Drop, at, actor }).await?;
        Ok(Some([before, self.contents(&journal, &vault)?]))
    }

    fn pieces_of(
        &self,
        journal: &MemoryDisk,
        vault: &MemoryDisk,
        index: Arc<dyn Index>,
    ) -> StateParts {
        let (journal, vault): (Arc<dyn Disk>, Arc<dyn Disk>) =
            (Arc::new(journal.clone()), Arc::new(vault.clone()));
        let (boot, segment_bytes) = ("copy".to_owned(), self.segment_bytes);
        StateParts { journal, vault, index, boot, rebuild: false, watch: None, segment_bytes }
    }

    /// Returns the contents of the state on these disks.
    fn contents(
        &self,
        journal: &MemoryDisk,
        vault: &MemoryDisk,
    ) -> Result<StateContents, OpenError> {
        let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
        let pieces = self.pieces_of(journal, vault, index.clone());
        let assembled = assemble::assemble(pieces, &self.key, OpenReport::default())?;
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
    for one in value.as_array().into_iter().flatten() {
        collect_sealed(vault, one, found);
    }
    for (key, one) in value.as_map().into_iter().flatten() {
        collect_sealed(vault, key, found);
        collect_sealed(vault, one, found);
    }
}

/// Returns true if a text looks like the name of a value, or like a sealed value.
fn is_sealed(text: &str) -> bool {
    let is_name = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name || text.starts_with("sealed:")
}
