//! Reads of the gateway's events: posted, verified, and waiting to be verified.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::events::event::{EventEntry, EventLedger, PartnerWebhook};
use crate::model::remote_object::RemoteObject;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{
    PARTNER_WEBHOOKS, ReadModel, ReadModelError, decode, decode_entry, observed_key, parse_key,
    read,
};

/// Number of ignored webhooks of the partner interface.
pub(in crate::store) const IGNORED_WEBHOOKS: &[u8] = b"v/i";
/// Prefix of events and posted ids, by merchant.
pub(in crate::store) const EVENTS: &[u8] = b"v/e/";
const EVENT_NUMBERS: &[u8] = b"v/n/";
const EVENTS_WAITING: &[u8] = b"v/w/";
const EVENT_PAGES: &[u8] = b"v/p/";
const EVENTS_FORGED: &[u8] = b"v/f/";
const EVENTS_MALFORMED: &[u8] = b"v/g/";
const EVENTS_UNMATCHED: &[u8] = b"v/h/";
/// Prefix of the ledgers of events, one for each merchant.
pub(in crate::store) const EVENT_LEDGERS: &[u8] = b"v/l/";
const OBJECTS: &[u8] = b"v/o/";

impl ReadModel {
    /// Returns the entry of a merchant's event.
    pub fn event(&self, merchant: &Key, id: &str) -> Result<Option<EventEntry>, ReadModelError> {
        read(&*self.index, &Batch::new(), &event_key(merchant, id))
    }

    /// Returns true if the same malformed body was posted before.
    pub fn knows_malformed(&self, merchant: &Key, digest: &Digest) -> Result<bool, ReadModelError> {
        Ok(self.index.get(&malformed_key(merchant, digest))?.is_some())
    }

    /// Returns the counts of a merchant's events.
    pub fn event_ledger(&self, merchant: &Key) -> Result<EventLedger, ReadModelError> {
        let ledger: Option<EventLedger> = read(&*self.index, &Batch::new(), &ledger_key(merchant))?;
        Ok(ledger.unwrap_or_default())
    }

    /// Reads a merchant's ledger and decodes it only if it differs from `before`. `None` if no
    /// event was ever posted or verified.
    pub fn event_ledger_cached(
        &self,
        merchant: &Key,
        before: Option<&CachedEntry<EventLedger>>,
    ) -> Result<Option<CachedEntry<EventLedger>>, ReadModelError> {
        self.read_cached(&ledger_key(merchant), before)
    }

    /// Returns the ledgers of all merchants.
    pub fn event_ledgers(&self) -> Result<Vec<EventLedger>, ReadModelError> {
        self.list(EVENT_LEDGERS)
    }

    /// Returns the number of ignored webhooks of the partner interface.
    pub fn ignored_webhooks(&self) -> Result<u64, ReadModelError> {
        Ok(read(&*self.index, &Batch::new(), IGNORED_WEBHOOKS)?.unwrap_or_default())
    }

    /// Returns at most `most` ignored webhooks of the partner interface, newest first.
    pub fn newest_ignored_webhooks(
        &self,
        most: usize,
    ) -> Result<Vec<PartnerWebhook>, ReadModelError> {
        let all: Vec<PartnerWebhook> = self.list(PARTNER_WEBHOOKS)?;
        let mut ignored: Vec<_> = all.into_iter().filter(|one| one.ignored.is_some()).collect();
        ignored.sort_by_key(|one| std::cmp::Reverse(one.at));
        ignored.truncate(most);
        Ok(ignored)
    }

    /// Returns the ledgers with their merchants.
    pub fn ledgers_by_merchant(&self) -> Result<Vec<(Key, EventLedger)>, ReadModelError> {
        let entries = self.index.scan(EVENT_LEDGERS)?.into_iter();
        let entries = entries.map(|(key, value)| {
            let merchant = parse_key(key.get(EVENT_LEDGERS.len()..).unwrap_or_default())?;
            Ok((merchant, decode_entry(&key, &value)?))
        });
        entries.collect()
    }

    /// Returns the merchants with a ledger of events.
    pub fn event_merchants(&self) -> Result<Vec<Key>, ReadModelError> {
        Self::event_merchants_in(&*self.index, &Batch::new())
    }

    /// Same as `event_merchants`, for the fold.
    pub(in crate::store) fn event_merchants_in(
        index: &dyn Index,
        batch: &Batch,
    ) -> Result<Vec<Key>, ReadModelError> {
        let entries = batch.scan(index, EVENT_LEDGERS)?.into_iter();
        entries
            .map(|(key, _)| parse_key(key.get(EVENT_LEDGERS.len()..).unwrap_or_default()))
            .collect()
    }

    /// Returns at most `most` posted ids of a merchant that wait to be verified, longest waiting
    /// first.
    pub fn events_waiting(
        &self,
        merchant: &Key,
        most: usize,
    ) -> Result<Vec<String>, ReadModelError> {
        let mut ids = Vec::new();
        // No page is empty.
        for (key, value) in self.index.scan_from(&waiting_pages(merchant), None, most)? {
            ids.extend(decode::<Vec<String>>(&key, &value)?);
        }
        ids.truncate(most);
        Ok(ids)
    }

    /// Returns at most `most` posted ids that the service does not have.
    pub fn events_forged(
        &self,
        merchant: &Key,
        most: usize,
    ) -> Result<Vec<String>, ReadModelError> {
        let prefix = forged_key(merchant, "");
        let entries = self.index.scan_from(&prefix, None, most)?.into_iter();
        let id = |key: Vec<u8>| {
            key.get(prefix.len()..).map(|id| String::from_utf8_lossy(id).into_owned())
        };
        Ok(entries.filter_map(|(key, _)| id(key)).collect())
    }

    /// Returns the ids of a merchant's newest events in the order in which they became known,
    /// newest first.
    pub fn events_newest(
        &self,
        merchant: &Key,
        most: usize,
    ) -> Result<Vec<String>, ReadModelError> {
        let told = self.event_ledger(merchant)?.verified;
        let mut ids = Vec::new();
        for number in (1..=told).rev().take(most) {
            let id: Option<String> =
                read(&*self.index, &Batch::new(), &number_key(merchant, number))?;
            ids.extend(id);
        }
        Ok(ids)
    }

    /// Returns the id of a merchant's event by its number. Numbers count from 1 as events become
    /// known.
    pub fn event_at(&self, merchant: &Key, number: u64) -> Result<Option<String>, ReadModelError> {
        read(&*self.index, &Batch::new(), &number_key(merchant, number))
    }

    /// Returns the newest version of an object of the service.
    pub fn remote_object(
        &self,
        merchant: &Key,
        id: &str,
    ) -> Result<Option<RemoteObject>, ReadModelError> {
        read(&*self.index, &Batch::new(), &object_key(merchant, id))
    }
}

/// Joins prefix, merchant and name to the key of an entry.
fn merchant_entry_key(prefix: &[u8], merchant: &Key, name: &[u8]) -> Vec<u8> {
    [prefix, merchant.to_string().as_bytes(), b"\0", name].concat()
}

pub(in crate::store) fn event_key(merchant: &Key, id: &str) -> Vec<u8> {
    merchant_entry_key(EVENTS, merchant, id.as_bytes())
}

/// Key of the entry of an event's number. A merchant's events are numbered as they become known.
pub(in crate::store) fn number_key(merchant: &Key, number: u64) -> Vec<u8> {
    merchant_entry_key(EVENT_NUMBERS, merchant, &number.to_be_bytes())
}

/// Key of a page of ids that wait to be verified.
pub(in crate::store) fn waiting_key(merchant: &Key, page: u64) -> Vec<u8> {
    merchant_entry_key(EVENTS_WAITING, merchant, &page.to_be_bytes())
}

fn waiting_pages(merchant: &Key) -> Vec<u8> {
    merchant_entry_key(EVENTS_WAITING, merchant, b"")
}

/// Key of the entry with the number of a merchant's newest page.
pub(in crate::store) fn newest_page_key(merchant: &Key) -> Vec<u8> {
    [EVENT_PAGES, merchant.to_string().as_bytes()].concat()
}

/// Prefix of the numbers of a merchant's events.
pub(in crate::store) fn numbers_of(merchant: &Key) -> Vec<u8> {
    merchant_entry_key(EVENT_NUMBERS, merchant, &[])
}

/// Key of the entry of an event that the service does not have.
pub(in crate::store) fn forged_key(merchant: &Key, id: &str) -> Vec<u8> {
    merchant_entry_key(EVENTS_FORGED, merchant, id.as_bytes())
}

/// Key of the entry of a malformed body.
pub(in crate::store) fn malformed_key(merchant: &Key, digest: &Digest) -> Vec<u8> {
    merchant_entry_key(EVENTS_MALFORMED, merchant, digest.as_bytes())
}

/// Key of the entry of a posted id that matches no event of the merchant's mode.
pub(in crate::store) fn unmatched_key(merchant: &Key, id: &str) -> Vec<u8> {
    merchant_entry_key(EVENTS_UNMATCHED, merchant, id.as_bytes())
}

/// Prefix of a merchant's malformed bodies.
pub(crate) fn malformed_of(merchant: &Key) -> Vec<u8> {
    merchant_entry_key(EVENTS_MALFORMED, merchant, b"")
}

pub(in crate::store) fn ledger_key(merchant: &Key) -> Vec<u8> {
    [EVENT_LEDGERS, merchant.to_string().as_bytes()].concat()
}

/// Key of the entry of an object's newest version.
pub(in crate::store) fn object_key(merchant: &Key, id: &str) -> Vec<u8> {
    merchant_entry_key(OBJECTS, merchant, id.as_bytes())
}

/// An entry's bytes and the value decoded from them.
#[derive(Debug)]
pub struct CachedEntry<T> {
    bytes: Arc<[u8]>,
    pub value: Arc<T>,
}

impl<T> Clone for CachedEntry<T> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), value: self.value.clone() }
    }
}

impl ReadModel {
    /// Returns the observed state of a resource that is read often. Decodes the entry only if its
    /// bytes differ from those of `before`.
    pub fn observed_cached(
        &self,
        key: &Key,
        before: Option<&CachedEntry<Observed>>,
    ) -> Result<Option<CachedEntry<Observed>>, ReadModelError> {
        self.read_cached(&observed_key(key), before)
    }

    /// Reads an entry and decodes it only if its bytes differ from those of `before`.
    pub(crate) fn read_cached<T: DeserializeOwned>(
        &self,
        entry: &[u8],
        before: Option<&CachedEntry<T>>,
    ) -> Result<Option<CachedEntry<T>>, ReadModelError> {
        let Some(bytes) = self.index.get(entry)? else { return Ok(None) };
        if let Some(before) = before.filter(|before| *before.bytes == *bytes) {
            return Ok(Some(before.clone()));
        }
        let value = Arc::new(decode(entry, &bytes)?);
        Ok(Some(CachedEntry { bytes: bytes.into(), value }))
    }
}
