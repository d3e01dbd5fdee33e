//! Reads of the gateway's events: posted, verified, and waiting to be verified.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::model::events::event::{EventEntry, EventLedger, PartnerWebhook};
use crate::model::remote_object::RemoteObject;
use crate::model::state::observed::Observed;
use crate::store::read_model::model::{Entries, ReadModel, ReadResult, Table, decode};
use crate::store::read_model::resources::{OBSERVED, PARTNER_WEBHOOKS};

/// Number of ignored webhooks of the partner interface.
pub(in crate::store) static IGNORED_WEBHOOKS: Table<(), u64> = Table::new(b"v/i");
/// Events and posted ids, by merchant.
pub(in crate::store) static EVENTS: Table<(Key, String), EventEntry> = Table::new(b"v/e/");
/// Ids of a merchant's events, by the numbers that they got as they became known.
pub(in crate::store) static EVENT_NUMBERS: Table<(Key, u64), String> = Table::new(b"v/n/");
/// Pages of ids that wait to be verified.
pub(in crate::store) static EVENTS_WAITING: Table<(Key, u64), Vec<String>> = Table::new(b"v/w/");
/// The number of a merchant's newest page.
pub(in crate::store) static EVENT_PAGES: Table<Key, u64> = Table::new(b"v/p/");
/// Posted ids that the service does not have.
pub(in crate::store) static EVENTS_FORGED: Table<(Key, String), ()> = Table::new(b"v/f/");
/// Malformed bodies, with the time of the last post; entries of fold 9 have no time.
pub(in crate::store) static EVENTS_MALFORMED: Table<(Key, Digest), DateTime<Utc>> =
    Table::new(b"v/g/");
/// Posted ids that match no event of the merchant's mode, with the time of the first post.
pub(in crate::store) static EVENTS_UNMATCHED: Table<(Key, String), DateTime<Utc>> =
    Table::new(b"v/h/");
pub(in crate::store) static EVENT_LEDGERS: Table<Key, EventLedger> = Table::new(b"v/l/");
/// The newest version of each object.
pub(in crate::store) static OBJECTS: Table<(Key, String), RemoteObject> = Table::new(b"v/o/");

impl ReadModel {
    pub fn event(&self, merchant: &Key, id: &str) -> ReadResult<Option<EventEntry>> {
        EVENTS.get(self, (merchant, id))
    }

    /// Returns true if the same malformed body was posted before.
    pub fn knows_malformed(&self, merchant: &Key, digest: &Digest) -> ReadResult<bool> {
        EVENTS_MALFORMED.has(self, (merchant, digest))
    }

    pub fn event_ledger(&self, merchant: &Key) -> ReadResult<EventLedger> {
        Ok(EVENT_LEDGERS.get(self, merchant)?.unwrap_or_default())
    }

    /// Reads a merchant's ledger and decodes it only if it differs from `before`. `None` if no
    /// event was ever posted or verified.
    pub fn event_ledger_cached(
        &self,
        merchant: &Key,
        before: Option<&CachedEntry<EventLedger>>,
    ) -> ReadResult<Option<CachedEntry<EventLedger>>> {
        self.read_cached(&EVENT_LEDGERS.key(merchant), before)
    }

    pub fn event_ledgers(&self) -> ReadResult<Vec<EventLedger>> {
        EVENT_LEDGERS.list(self)
    }

    /// Returns the number of ignored webhooks of the partner interface.
    pub fn ignored_webhooks(&self) -> ReadResult<u64> {
        Ok(IGNORED_WEBHOOKS.get(self, ())?.unwrap_or_default())
    }

    /// Returns at most `most` ignored webhooks of the partner interface, newest first.
    pub fn newest_ignored_webhooks(&self, most: usize) -> ReadResult<Vec<PartnerWebhook>> {
        let all: Vec<PartnerWebhook> = PARTNER_WEBHOOKS.list(self)?;
        let mut ignored: Vec<_> = all.into_iter().filter(|one| one.ignored.is_some()).collect();
        ignored.sort_by_key(|one| std::cmp::Reverse(one.at));
        ignored.truncate(most);
        Ok(ignored)
    }

    pub fn ledgers_by_merchant(&self) -> ReadResult<Vec<(Key, EventLedger)>> {
        EVENT_LEDGERS.entries(self)
    }

    pub fn event_merchants(&self) -> ReadResult<Vec<Key>> {
        EVENT_LEDGERS.keys(self)
    }

    /// Returns at most `most` posted ids of a merchant that wait to be verified, longest waiting
    /// first.
    pub fn events_waiting(&self, merchant: &Key, most: usize) -> ReadResult<Vec<String>> {
        // No page is empty.
        let pages = EVENTS_WAITING.under(merchant).entries_after(self, None, most)?;
        Ok(pages.into_iter().flat_map(|(_, ids)| ids).take(most).collect())
    }

    /// Returns at most `most` posted ids that the service does not have.
    pub fn events_forged(&self, merchant: &Key, most: usize) -> ReadResult<Vec<String>> {
        let forged = EVENTS_FORGED.under(merchant);
        let entries = self.scan_from(forged.prefix(), None, most)?;
        entries.iter().map(|(key, _)| forged.parse(key)).collect()
    }

    /// Returns the ids of a merchant's newest events in the order in which they became known,
    /// newest first.
    pub fn events_newest(&self, merchant: &Key, most: usize) -> ReadResult<Vec<String>> {
        let told = self.event_ledger(merchant)?.verified;
        let mut ids = Vec::new();
        for number in (1..=told).rev().take(most) {
            ids.extend(EVENT_NUMBERS.get(self, (merchant, number))?);
        }
        Ok(ids)
    }

    /// Returns the newest version of an object of the service.
    pub fn remote_object(&self, merchant: &Key, id: &str) -> ReadResult<Option<RemoteObject>> {
        OBJECTS.get(self, (merchant, id))
    }
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
    ) -> ReadResult<Option<CachedEntry<Observed>>> {
        self.read_cached(&OBSERVED.key(key), before)
    }

    /// Reads an entry and decodes it only if its bytes differ from those of `before`.
    pub(crate) fn read_cached<T: DeserializeOwned>(
        &self,
        entry: &[u8],
        before: Option<&CachedEntry<T>>,
    ) -> ReadResult<Option<CachedEntry<T>>> {
        let Some(bytes) = self.index.get(entry)? else { return Ok(None) };
        if let Some(before) = before.filter(|before| *before.bytes == *bytes) {
            return Ok(Some(before.clone()));
        }
        let value = Arc::new(decode(entry, &bytes)?);
        Ok(Some(CachedEntry { bytes: bytes.into(), value }))
    }
}
