//! Folds the queue of posted ids that wait to be verified: oldest first, many to an entry, so that
//! a flood of posts stays cheap.
//!
//! Pages are numbered from 1. A waiting event knows its page; only the newest page grows.
//!
//! The ledger of a merchant counts its events.

use crate::base::id::Key;
use crate::model::events::event::EventLedger;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::events::{ledger_key, newest_page_key, waiting_key};
use crate::store::read_model::hooks::to_run_key;
use crate::store::read_model::model::{ReadModelError, read, write};

/// Ids in one page.
const PAGE_MAX: usize = 64;

/// The newest page of a merchant, while posts are added.
#[derive(Debug)]
pub(crate) struct NewestPage {
    merchant: Key,
    newest: u64,
    ids: Vec<String>,
}

impl NewestPage {
    pub(crate) fn open(
        index: &dyn Index,
        batch: &Batch,
        merchant: &Key,
    ) -> Result<Self, ReadModelError> {
        let newest: u64 = read(index, batch, &newest_page_key(merchant))?.unwrap_or(1);
        let ids = read(index, batch, &waiting_key(merchant, newest))?.unwrap_or_default();
        Ok(Self { merchant: merchant.clone(), newest, ids })
    }

    /// Adds an id to the queue; returns its page.
    pub(crate) fn add(&mut self, batch: &mut Batch, id: &str) -> Result<u64, ReadModelError> {
        if self.ids.len() >= PAGE_MAX {
            self.write(batch)?;
            self.newest = self.newest.saturating_add(1);
            self.ids.clear();
            write(batch, &newest_page_key(&self.merchant), &self.newest)?;
        }
        self.ids.push(id.to_owned());
        Ok(self.newest)
    }

    pub(crate) fn write(&self, batch: &mut Batch) -> Result<(), ReadModelError> {
        write(batch, &waiting_key(&self.merchant, self.newest), &self.ids)
    }
}

/// Removes an id from the queue.
pub(crate) fn remove(
    index: &dyn Index,
    batch: &mut Batch,
    (merchant, page): (&Key, u64),
    id: &str,
) -> Result<(), ReadModelError> {
    let key = waiting_key(merchant, page);
    let mut ids: Vec<String> = read(index, batch, &key)?.unwrap_or_default();
    ids.retain(|one| one != id);
    if ids.is_empty() {
        batch.remove(key);
        return Ok(());
    }
    write(batch, &key, &ids)
}

/// Changes a merchant's ledger and writes it back.
pub(crate) fn count(
    index: &dyn Index,
    batch: &mut Batch,
    merchant: &Key,
    change: impl FnOnce(&mut EventLedger),
) -> Result<(), ReadModelError> {
    let key = ledger_key(merchant);
    let mut ledger: EventLedger = read(index, batch, &key)?.unwrap_or_default();
    change(&mut ledger);
    write(batch, &key, &ledger)
}

/// Marks a merchant whose events have hooks to run.
pub(crate) fn queue_merchant(batch: &mut Batch, merchant: &Key) {
    batch.put(to_run_key(merchant), Vec::new());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::hash::sha256;
    use crate::base::id::Mode;
    use crate::model::events::event::{ReceivedWebhook, WebhookContent};
    use crate::model::record::Record;
    use crate::store::index::ordered::MemoryIndex;
    use crate::store::journal::chain::Head;
    use crate::store::projection::fold::IndexFold;
    use crate::store::read_model::model::ReadModel;
    use crate::store::writer::parts::Fold as _;

    fn merchant() -> Key {
        "Merchant/acme".parse().unwrap()
    }

    fn add(index: &MemoryIndex, ids: std::ops::Range<usize>) -> Vec<u64> {
        let mut batch = Batch::new();
        let mut pages = NewestPage::open(index, &batch, &merchant()).unwrap();
        let added = ids.map(|id| pages.add(&mut batch, &format!("{id:04}")).unwrap()).collect();
        pages.write(&mut batch).unwrap();
        index.apply(batch).unwrap();
        added
    }

    #[test]
    fn the_oldest_come_first_and_none_is_lost_between_pages() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
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

    fn post(number: usize) -> Record {
        let (id, mode) = (format!("e{}", number % 90), Mode::Test);
        let what = match number % 7 {
            0 => WebhookContent::OtherMode(id),
            1 => WebhookContent::Malformed(sha256(id.as_bytes())),
            _ => WebhookContent::Event(id),
        };
        let merchant = format!("Merchant/m{}", number % 2).parse().unwrap();
        let (body, at) = (String::new(), chrono::DateTime::UNIX_EPOCH);
        Record::WebhookReceived(Box::new(ReceivedWebhook { merchant, mode, what, body, at }))
    }

    #[test]
    fn many_posts_at_once_are_taken_in_as_one_after_the_other() {
        let posts: Vec<(u64, Record)> = (1..).zip((0..400).map(post)).collect();
        let states = [1, 7, 400].map(|size| {
            let index = Arc::new(MemoryIndex::new());
            let mut fold = IndexFold::new(index.clone());
            for group in posts.chunks(size) {
                let sequence = group.last().unwrap().0;
                fold.apply(group, Head { sequence, hash: [0; 32] }).unwrap();
            }
            (index.scan(b"").unwrap(), ReadModel::new(index))
        });
        let [(one, facts), (some, _), (all, _)] = states;
        assert!(one == some && one == all);
        let merchant = "Merchant/m1".parse().unwrap();
        let ledger = facts.event_ledger(&merchant).unwrap();
        let waiting = facts.events_waiting(&merchant, 1000).unwrap();
        assert_eq!((ledger.posts, ledger.waiting), (200, u64::try_from(waiting.len()).unwrap()));
        assert!(ledger.repeated > 100 && ledger.malformed > 0, "{ledger:?}");
        assert_eq!(waiting.first().map(String::as_str), Some("e3"));
    }
}
