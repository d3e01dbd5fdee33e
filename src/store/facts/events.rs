//! Reads of the gateway's events: what came, what is proved, and what still waits to be.

use super::{Decoded, FactError, Facts, INBOX, decode, decode_entry, parse_key, read};
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::event::{EventEntry, EventLedger};
use crate::model::inbox::InboxEvent;
use crate::model::remote_object::RemoteObject;
use crate::store::index::{Batch, Index};

/// How many notifications of the partner interface were ignored.
pub(in crate::store) const NOTICES_IGNORED: &[u8] = b"v/i";
/// Events and posted ids, by merchant.
pub(in crate::store) const EVENTS: &[u8] = b"v/e/";
const EVENT_NUMBERS: &[u8] = b"v/n/";
const EVENTS_WAITING: &[u8] = b"v/w/";
const EVENT_PAGES: &[u8] = b"v/p/";
const EVENTS_FORGED: &[u8] = b"v/f/";
const EVENTS_GARBLED: &[u8] = b"v/g/";
const EVENT_STRANGERS: &[u8] = b"v/h/";
/// What is known of the events of each merchant.
pub(in crate::store) const EVENT_LEDGERS: &[u8] = b"v/l/";
const OBJECTS: &[u8] = b"v/o/";

impl Facts {
    /// What is known of an event of a merchant.
    pub fn event(&self, merchant: &Key, id: &str) -> Result<Option<EventEntry>, FactError> {
        read(&*self.index, &Batch::new(), &event_key(merchant, id))
    }

    /// Whether a body that could not be an event came before.
    pub fn knows_garbled(&self, merchant: &Key, digest: &Digest) -> Result<bool, FactError> {
        Ok(self.index.get(&garbled_key(merchant, digest))?.is_some())
    }

    /// How a merchant's events stand as a whole.
    pub fn event_ledger(&self, merchant: &Key) -> Result<EventLedger, FactError> {
        let ledger: Option<EventLedger> = read(&*self.index, &Batch::new(), &ledger_key(merchant))?;
        Ok(ledger.unwrap_or_default())
    }

    /// The same, decoded only where it differs from what is known. None: nothing was ever posted or told.
    pub fn event_ledger_again(
        &self,
        merchant: &Key,
        before: Option<&Decoded<EventLedger>>,
    ) -> Result<Option<Decoded<EventLedger>>, FactError> {
        self.again(&ledger_key(merchant), before)
    }

    /// The same of all of them.
    pub fn event_ledgers(&self) -> Result<Vec<EventLedger>, FactError> {
        self.list(EVENT_LEDGERS)
    }

    /// How many notifications of the partner interface were ignored.
    pub fn notices_ignored(&self) -> Result<u64, FactError> {
        Ok(read(&*self.index, &Batch::new(), NOTICES_IGNORED)?.unwrap_or_default())
    }

    /// The newest of them, at most so many, newest first.
    pub fn newest_ignored(&self, most: usize) -> Result<Vec<InboxEvent>, FactError> {
        let all: Vec<InboxEvent> = self.list(INBOX)?;
        let mut ignored: Vec<_> = all.into_iter().filter(|one| one.ignored.is_some()).collect();
        ignored.sort_by_key(|one| std::cmp::Reverse(one.at));
        ignored.truncate(most);
        Ok(ignored)
    }

    /// The same with whose they are.
    pub fn ledgers(&self) -> Result<Vec<(Key, EventLedger)>, FactError> {
        let entries = self.index.scan(EVENT_LEDGERS)?.into_iter();
        let entries = entries.map(|(key, value)| {
            let merchant = parse_key(key.get(EVENT_LEDGERS.len()..).unwrap_or_default())?;
            Ok((merchant, decode_entry(&key, &value)?))
        });
        entries.collect()
    }

    /// Those of whose events something is known.
    pub fn event_merchants(&self) -> Result<Vec<Key>, FactError> {
        Self::event_merchants_in(&*self.index, &Batch::new())
    }

    /// The same, for the fold.
    pub(in crate::store) fn event_merchants_in(
        index: &dyn Index,
        batch: &Batch,
    ) -> Result<Vec<Key>, FactError> {
        let entries = batch.scan(index, EVENT_LEDGERS)?.into_iter();
        entries
            .map(|(key, _)| parse_key(key.get(EVENT_LEDGERS.len()..).unwrap_or_default()))
            .collect()
    }

    /// Ids of a merchant's events that were posted and wait to be read, at most so many, those first that wait longest.
    pub fn events_waiting(&self, merchant: &Key, most: usize) -> Result<Vec<String>, FactError> {
        let mut ids = Vec::new();
        // No page is empty.
        for (key, value) in self.index.scan_from(&waiting_pages(merchant), None, most)? {
            ids.extend(decode::<Vec<String>>(&key, &value)?);
        }
        ids.truncate(most);
        Ok(ids)
    }

    /// Ids that were posted and that the service does not have, at most so many.
    pub fn events_forged(&self, merchant: &Key, most: usize) -> Result<Vec<String>, FactError> {
        let prefix = forged_key(merchant, "");
        let entries = self.index.scan_from(&prefix, None, most)?.into_iter();
        let id = |key: Vec<u8>| {
            key.get(prefix.len()..).map(|id| String::from_utf8_lossy(id).into_owned())
        };
        Ok(entries.filter_map(|(key, _)| id(key)).collect())
    }

    /// The ids of a merchant's newest events in the order in which they became known, newest first.
    pub fn events_newest(&self, merchant: &Key, most: usize) -> Result<Vec<String>, FactError> {
        let told = self.event_ledger(merchant)?.told;
        let mut ids = Vec::new();
        for number in (1..=told).rev().take(most) {
            let id: Option<String> =
                read(&*self.index, &Batch::new(), &number_key(merchant, number))?;
            ids.extend(id);
        }
        Ok(ids)
    }

    /// The id of a merchant's event by its number: they are counted from 1 as they become known.
    pub fn event_at(&self, merchant: &Key, number: u64) -> Result<Option<String>, FactError> {
        read(&*self.index, &Batch::new(), &number_key(merchant, number))
    }

    /// The newest version of an object of the service.
    pub fn remote_object(
        &self,
        merchant: &Key,
        id: &str,
    ) -> Result<Option<RemoteObject>, FactError> {
        read(&*self.index, &Batch::new(), &object_key(merchant, id))
    }
}

/// A name beneath a merchant.
fn beneath(prefix: &[u8], merchant: &Key, name: &[u8]) -> Vec<u8> {
    [prefix, merchant.to_string().as_bytes(), b"\0", name].concat()
}

/// The entry of an event.
pub(in crate::store) fn event_key(merchant: &Key, id: &str) -> Vec<u8> {
    beneath(EVENTS, merchant, id.as_bytes())
}

/// The entry of an event's number: the service's events of a merchant are counted as they become known.
pub(in crate::store) fn number_key(merchant: &Key, number: u64) -> Vec<u8> {
    beneath(EVENT_NUMBERS, merchant, &number.to_be_bytes())
}

/// The entry of a page of ids that wait to be read.
pub(in crate::store) fn waiting_key(merchant: &Key, page: u64) -> Vec<u8> {
    beneath(EVENTS_WAITING, merchant, &page.to_be_bytes())
}

fn waiting_pages(merchant: &Key) -> Vec<u8> {
    beneath(EVENTS_WAITING, merchant, b"")
}

/// The entry of the number of a merchant's newest page.
pub(in crate::store) fn newest_page_key(merchant: &Key) -> Vec<u8> {
    [EVENT_PAGES, merchant.to_string().as_bytes()].concat()
}

/// Where the entries of all numbers of a merchant's events begin.
pub(in crate::store) fn numbers_of(merchant: &Key) -> Vec<u8> {
    beneath(EVENT_NUMBERS, merchant, &[])
}

/// The entry of an event that the service does not have.
pub(in crate::store) fn forged_key(merchant: &Key, id: &str) -> Vec<u8> {
    beneath(EVENTS_FORGED, merchant, id.as_bytes())
}

/// The entry of a body that could not be an event.
pub(in crate::store) fn garbled_key(merchant: &Key, digest: &Digest) -> Vec<u8> {
    beneath(EVENTS_GARBLED, merchant, digest.as_bytes())
}

/// The entry of a posted id that no event of the merchant's mode bears.
pub(in crate::store) fn stranger_key(merchant: &Key, id: &str) -> Vec<u8> {
    beneath(EVENT_STRANGERS, merchant, id.as_bytes())
}

/// Where the entries of bodies begin that could not be an event.
pub(super) fn garbled_of(merchant: &Key) -> Vec<u8> {
    beneath(EVENTS_GARBLED, merchant, b"")
}

/// The entry of how a merchant's events stand.
pub(in crate::store) fn ledger_key(merchant: &Key) -> Vec<u8> {
    [EVENT_LEDGERS, merchant.to_string().as_bytes()].concat()
}

/// The entry of an object's newest version.
pub(in crate::store) fn object_key(merchant: &Key, id: &str) -> Vec<u8> {
    beneath(OBJECTS, merchant, id.as_bytes())
}
