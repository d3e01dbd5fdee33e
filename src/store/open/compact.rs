//! `store compact`: a snapshot takes the place of the records up to the head.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::base::body;
use super::marks::note_closed;
use super::{OpenError, State};
use crate::base::hash::Digest;
use crate::model::compacted::Compacted;
use crate::model::record::Record;
use crate::store::disk::Disk;
use crate::store::facts::FOLD_VERSION;
use crate::store::fold::IndexFold;
use crate::store::index::Index;
use crate::store::journal::{Head, Journal};
use crate::store::writer::{Fold, encode};

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shorter {
    /// The record that it wrote.
    pub compacted: Compacted,
    /// Bytes of the snapshot.
    pub bytes: usize,
    /// Segments that are not in the journal any more.
    pub segments: usize,
}

/// Who wants a compaction, and what becomes of the old segments.
#[derive(Debug, Clone)]
pub struct Compacting {
    /// Where they are put aside; without it they are dropped.
    pub archive: Option<Arc<dyn Disk>>,
    /// When.
    pub at: DateTime<Utc>,
    /// Who.
    pub actor: String,
}

impl State {
    /// Compacts the journal and closes the state cleanly; `None` if there is nothing to do.
    pub async fn compact(self, wanted: &Compacting) -> Result<Option<Shorter>, OpenError> {
        let parts = self.writer.close().await?;
        let (mut journal, mut fold) = (parts.journal, parts.fold);
        let shorter = compact(&mut journal, &mut fold, &*self.index, wanted)?;
        journal.seal_mark()?;
        note_closed(&*self.index, &journal.position())?;
        Ok(shorter)
    }
}

/// The same over a journal that nobody else writes to. What stands in it is verified first.
pub fn compact(
    journal: &mut Journal,
    fold: &mut IndexFold,
    index: &dyn Index,
    wanted: &Compacting,
) -> Result<Option<Shorter>, OpenError> {
    let head = journal.verify()?;
    let base = journal.base()?.map_or(Head::EMPTY, |base| base.head);
    if head.sequence <= base.sequence.saturating_add(1) {
        if base.sequence > 0 {
            // What an interrupted compaction left is put aside now.
            journal.put_aside(base, wanted.archive.as_deref())?;
        }
        return Ok(None);
    }
    let body = body(index)?;
    let snapshot = journal.seal(FOLD_VERSION, &body)?;
    let compacted = Compacted {
        sequence: head.sequence,
        replaces: Digest::from_bytes(head.hash),
        snapshot: Digest::from_bytes(snapshot),
        dropped: wanted.archive.is_none(),
        at: wanted.at,
        actor: wanted.actor.clone(),
    };
    let record = Record::Compacted(Box::new(compacted.clone()));
    let sequences = journal.append(&[encode(&record)?])?;
    journal.sync()?;
    fold.apply(&[(sequences.start, record)], journal.head())?;
    let segments = journal.put_aside(head, wanted.archive.as_deref())?;
    Ok(Some(Shorter { compacted, bytes: body.len(), segments }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::Binding;
    use crate::store::key::MasterKey;
    use crate::store::lock::Owner;
    use crate::store::open::Opening;
    use crate::store::writer::Commit;

    #[tokio::test]
    async fn a_compacted_state_says_where_its_journal_begins() {
        let folder = tempfile::tempdir().unwrap();
        let key = MasterKey::new([3; 32]);
        let owner = Owner { pid: 1, host: "here".into(), started: "now".into() };
        let dir = folder.path().to_owned();
        let opening = Opening { dir, owner, boot: "b".into(), rebuild: false, marking: None };
        let (client, partner) = ("c".into(), "acme".into());
        let binding = Binding { partner, client, key: key.fingerprint(), epoch: 0, began: None };
        let state = State::open(&opening, &key).unwrap();
        state.bind(&binding).await.unwrap();
        assert_eq!(state.begins_behind().unwrap(), 0);
        let at = "2026-11-22T12:00:00Z".parse().unwrap();
        let key_of = |name: &str| format!("Contact/{name}").parse().unwrap();
        let hold = |name| Record::Hold { key: key_of(name), reason: "x".into(), at };
        state.writer.append(Commit::of(vec![hold("a"), hold("b")])).await.unwrap();
        let head = state.close().await.unwrap();
        let wanted = Compacting { archive: None, at, actor: "uid 1".into() };
        let state = State::open(&opening, &key).unwrap();
        let shorter = state.compact(&wanted).await.unwrap().unwrap();
        let again = State::open(&opening, &key).unwrap();
        assert_eq!(again.begins_behind().unwrap(), shorter.compacted.sequence);
        assert!(shorter.compacted.sequence >= head.sequence && head.sequence > 0);
    }
}
