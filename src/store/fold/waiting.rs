//! Posts that wait to be read, in the index: oldest first, many to an entry, so that a flood of them stays light.
//!
//! Pages are counted from 1. An event that waits knows its page; the newest page alone is added to.

use crate::base::id::Key;
use crate::store::facts::{FactError, newest_page_key, read, waiting_key, write};
use crate::store::index::{Batch, Index};

/// Ids in one page.
const PAGE_MAX: usize = 64;

/// The newest page of a merchant, while posts are added.
#[derive(Debug)]
pub(super) struct Pages {
    merchant: Key,
    newest: u64,
    ids: Vec<String>,
}

impl Pages {
    pub(super) fn open(
        index: &dyn Index,
        batch: &Batch,
        merchant: &Key,
    ) -> Result<Self, FactError> {
        let newest: u64 = read(index, batch, &newest_page_key(merchant))?.unwrap_or(1);
        let ids = read(index, batch, &waiting_key(merchant, newest))?.unwrap_or_default();
        Ok(Self { merchant: merchant.clone(), newest, ids })
    }

    /// One more waits. Answers its page.
    pub(super) fn add(&mut self, batch: &mut Batch, id: &str) -> Result<u64, FactError> {
        if self.ids.len() >= PAGE_MAX {
            self.write(batch)?;
            self.newest = self.newest.saturating_add(1);
            self.ids.clear();
            write(batch, &newest_page_key(&self.merchant), &self.newest)?;
        }
        self.ids.push(id.to_owned());
        Ok(self.newest)
    }

    /// Writes the newest page.
    pub(super) fn write(&self, batch: &mut Batch) -> Result<(), FactError> {
        write(batch, &waiting_key(&self.merchant, self.newest), &self.ids)
    }
}

/// It waits no longer.
pub(super) fn remove(
    index: &dyn Index,
    batch: &mut Batch,
    (merchant, page): (&Key, u64),
    id: &str,
) -> Result<(), FactError> {
    let key = waiting_key(merchant, page);
    let mut ids: Vec<String> = read(index, batch, &key)?.unwrap_or_default();
    ids.retain(|one| one != id);
    if ids.is_empty() {
        batch.remove(key);
        return Ok(());
    }
    write(batch, &key, &ids)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::facts::Facts;
    use crate::store::index::MemoryIndex;

    fn merchant() -> Key {
        "Merchant/acme".parse().unwrap()
    }

    fn add(index: &MemoryIndex, ids: std::ops::Range<usize>) -> Vec<u64> {
        let mut batch = Batch::new();
        let mut pages = Pages::open(index, &batch, &merchant()).unwrap();
        let added = ids.map(|id| pages.add(&mut batch, &format!("{id:04}")).unwrap()).collect();
        pages.write(&mut batch).unwrap();
        index.apply(batch).unwrap();
        added
    }

    #[test]
    fn the_oldest_come_first_and_none_is_lost_between_pages() {
        let index = Arc::new(MemoryIndex::new());
        let facts = Facts::new(index.clone());
        let mut pages = add(&index, 0..10);
        pages.extend(add(&index, 10..200));
        assert_eq!((pages.first(), pages.last()), (Some(&1), Some(&4)));
        let waiting = |most| facts.events_waiting(&merchant(), most).unwrap();
        let all: Vec<String> = (0..200).map(|id| format!("{id:04}")).collect();
        assert_eq!(waiting(1000), all);
        assert_eq!(waiting(70), all[..70]);
        let mut batch = Batch::new();
        for (id, page) in all.iter().zip(&pages).take(130) {
            remove(&*index, &mut batch, (&merchant(), *page), id).unwrap();
        }
        index.apply(batch).unwrap();
        assert_eq!(waiting(1000), all[130..]);
        assert_eq!(add(&index, 200..201), [4], "the newest page goes on");
        let mut batch = Batch::new();
        for id in 130..201 {
            let page = if id < 192 { 3 } else { 4 };
            remove(&*index, &mut batch, (&merchant(), page), &format!("{id:04}")).unwrap();
        }
        index.apply(batch).unwrap();
        assert_eq!((waiting(1), add(&index, 201..202)), (vec![], vec![4]));
    }
}
