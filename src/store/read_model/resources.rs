//! The state's resources, their intents and the gateway's events: the tables of the index, and their
//! reads. The tables of hooks have their own module.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use memchr::memmem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::alerts::{AlertPart, ReportedAlert};
use crate::model::events::event::{EventEntry, EventLedger, PartnerWebhook};
use crate::model::holds::{Freeze, SyncGrant};
use crate::model::intent::OpenIntent;
use crate::model::operator::{PlanUse, StoredApproval, Suspension};
use crate::model::record::StateOwner;
use crate::model::remote_object::RemoteObject;
use crate::model::state::lifecycle::Epoch;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index, KeyValue};
use crate::store::read_model::journal_refs::{INTENT_POSITIONS, REMOTE, SEQUENCE_PAGES, SEQUENCES};
use crate::store::read_model::model::{
    Entries, ParsedKey, ReadModel, ReadResult, Table, decode, table_reads,
};

/// The version of the fold: an index of another version is rebuilt.
pub const FOLD_VERSION: u32 = 15;

/// Maximum renames followed from one name: a cycle of renames ends there.
const MOVES_MAX: usize = 10_000;

pub(crate) static OBSERVED: Table<Key, Observed> = Table::new(b"o/");
pub(crate) static INTENTS: Table<IntentId, OpenIntent> = Table::new(b"i/");
pub(crate) static OPEN_BY_KEY: Table<Key, IntentId> = Table::new(b"k/");
/// The first resource of each mark that this state issued.
pub(crate) static MARKS: Table<String, Key> = Table::new(b"m/");
pub(crate) static PARTNER_WEBHOOKS: Table<Digest, PartnerWebhook> = Table::new(b"n/");
pub(crate) static ORPHANS: Table<IntentId, PossibleOrphan> = Table::new(b"r/");
pub(crate) static PUBLIC_KEYS: Table<String, Key> = Table::new(b"p/");
pub(crate) const TALLIES: &[u8] = b"s/";
pub(crate) const USUAL_AMOUNTS: &[u8] = b"u/";
pub(crate) static PLAN_APPROVALS: Table<String, StoredApproval> = Table::new(b"a/");
/// The saved plans that were used, by token.
pub(crate) static PLANS: Table<String, PlanUse> = Table::new(b"y/");
pub(crate) static SUSPENDED: Table<Key, Suspension> = Table::new(b"z/");
pub(crate) static DISOWNED: Table<String, DateTime<Utc>> = Table::new(b"d/");
/// The resource that each unknown object blocks.
pub(crate) static UNKNOWN_OBJECTS: Table<String, Key> = Table::new(b"h/");
pub(crate) static BINDING: Table<(), StateOwner> = Table::new(b"f/binding");
pub(crate) static NEXT_INTENT: Table<(), IntentId> = Table::new(b"f/next-intent");
pub(crate) static EMPTY_REMOTE: Table<(), DateTime<Utc>> = Table::new(b"f/empty-remote");
pub(crate) static EPOCH: Table<(), Epoch> = Table::new(b"f/epoch");
/// The freeze in force.
pub(crate) static FREEZE: Table<(), Freeze> = Table::new(b"f/freeze");
/// The last sync.
pub(crate) static SYNC: Table<(), SyncGrant> = Table::new(b"f/sync");
/// Prefix of all entries of alerts.
const EVERY_ALERT: &[u8] = b"b/";
/// The problems that each target of alerts knows.
pub(crate) static ALERTS_REPORTED: Table<(String, Key), ReportedAlert> = Table::new(b"b/t/");
/// The records of each target's message without a result, from 0.
pub(crate) static ALERTS_SENDING: Table<(String, u64), AlertPart> = Table::new(b"b/s/");
/// Resources that a person released, in the present epoch.
pub(crate) static RELEASED: Table<Key, DateTime<Utc>> = Table::new(b"e/r/");
/// Effects that were searched in the present epoch.
pub(crate) const CONFIRMED_ABSENT: &[u8] = b"e/l/";
/// Number of ignored webhooks of the partner interface.
pub(crate) static IGNORED_WEBHOOKS: Table<(), u64> = Table::new(b"v/i");
/// Events and posted ids, by merchant.
pub(crate) static EVENTS: Table<(Key, String), EventEntry> = Table::new(b"v/e/");
/// Ids of a merchant's events, by the numbers that they got as they became known.
pub(crate) static EVENT_NUMBERS: Table<(Key, u64), String> = Table::new(b"v/n/");
/// Pages of ids that wait to be verified.
pub(crate) static EVENTS_WAITING: Table<(Key, u64), Vec<String>> = Table::new(b"v/w/");
/// The number of a merchant's newest page.
pub(crate) static EVENT_PAGES: Table<Key, u64> = Table::new(b"v/p/");
/// Posted ids that the service does not have.
pub(crate) static EVENTS_FORGED: Table<(Key, String), ()> = Table::new(b"v/f/");
/// Malformed bodies, with the time of the last post; entries of fold 9 have no time.
pub(crate) static EVENTS_MALFORMED: Table<(Key, Digest), DateTime<Utc>> = Table::new(b"v/g/");
/// Posted ids that match no event of the merchant's mode, with the time of the first post.
pub(crate) static EVENTS_UNMATCHED: Table<(Key, String), DateTime<Utc>> = Table::new(b"v/h/");
pub(crate) static EVENT_LEDGERS: Table<Key, EventLedger> = Table::new(b"v/l/");
/// The newest version of each object.
pub(crate) static OBJECTS: Table<(Key, String), RemoteObject> = Table::new(b"v/o/");
/// Prefix of all entries of events.
const EVERY_EVENT: &[u8] = b"v/";
/// Prefix of all entries of hooks.
const EVERY_HOOK: &[u8] = b"w/";
/// The index's own progress mark; no part of the state.
pub(crate) static PROGRESS: Table<(), FoldProgress> = Table::new(b"x/applied");

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldProgress {
    pub version: u32,
    /// The last journal record that was folded.
    pub sequence: u64,
    pub hash: [u8; 32],
}

/// A contact that may exist twice: its first creation could not be proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PossibleOrphan {
    /// The intent whose outcome is unknown.
    pub intent: IntentId,
    /// The resource that was created again.
    pub key: Key,
}

table_reads! {
    fn observed_state(key: &Key) -> Option<Observed> = OBSERVED.get(key);
    /// Returns every open intent, oldest first.
    fn open_intents() -> Vec<OpenIntent> = INTENTS.list();
    /// Returns the contacts that may exist twice.
    fn possible_orphans() -> Vec<PossibleOrphan> = ORPHANS.list();
    fn knows_mark(mark: &str) -> bool = MARKS.has(mark);
    /// Returns true if a webhook of the partner interface was stored before.
    fn knows_partner_webhook(id: &Digest) -> bool = PARTNER_WEBHOOKS.has(id);
    /// Returns true if an operator declared that remote objects with unknown marks are not ours.
    fn is_empty_remote() -> bool = EMPTY_REMOTE.has(());
    fn use_of_plan(token: &str) -> Option<PlanUse> = PLANS.get(token);
    /// Returns the latest suspension of a resource, expired or not.
    fn suspension(key: &Key) -> Option<Suspension> = SUSPENDED.get(key);
    fn suspensions() -> Vec<Suspension> = SUSPENDED.list();
    /// Returns the freeze in force.
    fn freeze() -> Option<Freeze> = FREEZE.get(());
    fn sync_grant() -> Option<SyncGrant> = SYNC.get(());
    /// Returns the problems that each target of alerts knows.
    fn reported_alerts() -> Vec<((String, Key), ReportedAlert)> = ALERTS_REPORTED.entries();
    /// Returns the messages without a result, by target, each in one part or several.
    fn alerts_being_sent() -> Vec<((String, u64), AlertPart)> = ALERTS_SENDING.entries();
    fn state_owner() -> Option<StateOwner> = BINDING.get(());
    fn event(merchant: &Key, id: &str) -> Option<EventEntry> = EVENTS.get((merchant, id));
    /// Returns the id of the event that became known as the merchant's `number`-th one; `None` if
    /// it was dropped.
    fn event_numbered(merchant: &Key, number: u64) -> Option<String> =
        EVENT_NUMBERS.get((merchant, number));
    /// Returns true if the same malformed body was posted before.
    fn knows_malformed(merchant: &Key, digest: &Digest) -> bool =
        EVENTS_MALFORMED.has((merchant, digest));
    fn ledgers_by_merchant() -> Vec<(Key, EventLedger)> = EVENT_LEDGERS.entries();
    fn event_merchants() -> Vec<Key> = EVENT_LEDGERS.keys();
    /// Returns the newest version of an object of the service.
    fn remote_object(merchant: &Key, id: &str) -> Option<RemoteObject> =
        OBJECTS.get((merchant, id));
}

impl ReadModel {
    /// Returns the resource that carries a mark, by its present name.
    pub fn resource_of_mark(&self, mark: &str) -> ReadResult<Option<Key>> {
        MARKS.get(self, mark)?.map(|key| self.current_name(&key)).transpose()
    }

    pub fn open_intent(&self, key: &Key) -> ReadResult<Option<OpenIntent>> {
        OPEN_BY_KEY.get(self, key)?.map_or(Ok(None), |id| INTENTS.get(self, id))
    }

    /// Visits every observed resource, in the order of keys, without decoding it. Entries that a
    /// batch changes meanwhile may be visited as they were before it.
    pub fn each_stored(&self, mut take: impl FnMut(Key, StoredObserved)) -> ReadResult {
        let mut last: Option<Vec<u8>> = None;
        loop {
            let page = self.scan_from(OBSERVED.prefix(), last.as_deref(), PAGE_ENTRIES)?;
            let Some((end, _)) = page.last() else { return Ok(()) };
            last = Some(end.clone());
            for (key, value) in page {
                take(OBSERVED.parse(&key)?, StoredObserved(value.into_boxed_slice()));
            }
        }
    }

    /// Returns the observed state of a resource without decoding it.
    pub fn stored_observed(&self, key: &Key) -> ReadResult<Option<StoredObserved>> {
        let value = self.value(&OBSERVED.key(key))?;
        Ok(value.map(|value| StoredObserved(value.into_boxed_slice())))
    }

    /// Visits every observed resource, in the order of keys.
    pub fn each_observed(&self, mut take: impl FnMut(Key, Observed) -> ReadResult) -> ReadResult {
        for (key, value) in self.scan(OBSERVED.prefix())? {
            take(OBSERVED.parse(&key)?, decode(&key, &value)?)?;
        }
        Ok(())
    }

    /// Returns the observed state of every resource of a kind.
    pub fn observed_of(&self, kind: &str) -> ReadResult<Vec<(Key, Observed)>> {
        let entries = self.scan(&[OBSERVED.prefix(), kind.as_bytes(), b"/"].concat())?;
        entries.iter().map(|(key, value)| Ok((OBSERVED.parse(key)?, decode(key, value)?))).collect()
    }

    /// Visits a merchant's observed resources of a kind. Entries that do not name the merchant are not
    /// decoded.
    pub fn each_observed_of(
        &self,
        kind: &str,
        merchant: &Key,
        mut take: impl FnMut(Key, Observed),
    ) -> ReadResult {
        let text = merchant.to_string();
        let search = memmem::Finder::new(&text);
        for (key, value) in self.scan(&[OBSERVED.prefix(), kind.as_bytes(), b"/"].concat())? {
            if search.find(&value).is_some() {
                let known: Observed = decode(&key, &value)?;
                if known.merchant == *merchant {
                    take(OBSERVED.parse(&key)?, known);
                }
            }
        }
        Ok(())
    }

    /// Returns the present name of a resource, following at most [`MOVES_MAX`] moves.
    pub(crate) fn current_name(&self, first: &Key) -> ReadResult<Key> {
        let mut key = first.clone();
        for _ in 0..MOVES_MAX {
            let next = self.observed_state(&key)?.and_then(|known| known.moved_to);
            let Some(next) = next.filter(|next| **next != *first) else { break };
            key = *next;
        }
        Ok(key)
    }

    pub fn next_intent(&self) -> ReadResult<IntentId> {
        Ok(NEXT_INTENT.get(self, ())?.unwrap_or_else(|| IntentId::new(1)))
    }

    pub fn progress_of(index: &dyn Index) -> ReadResult<Option<FoldProgress>> {
        let key = PROGRESS.prefix();
        index.get(key)?.map(|value| decode(key, &value)).transpose()
    }

    /// Returns SHA-256 over the sorted entries of the fold: states with the same digest are equal.
    pub fn digest(&self) -> ReadResult<Digest> {
        let mut all = Vec::new();
        for (key, value) in entries(&*self.index)? {
            for part in [key, value] {
                all.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
                all.extend(part);
            }
        }
        Ok(crate::base::hash::sha256(&all))
    }
}

/// Returns every entry that is part of the state, grouped by prefix and then by key.
pub(crate) fn entries(index: &dyn Index) -> ReadResult<Vec<KeyValue>> {
    let mut all = Vec::new();
    for prefix in [
        BINDING.prefix(),
        EMPTY_REMOTE.prefix(),
        EPOCH.prefix(),
        FREEZE.prefix(),
        SYNC.prefix(),
        CONFIRMED_ABSENT,
        RELEASED.prefix(),
        NEXT_INTENT.prefix(),
        INTENTS.prefix(),
        OPEN_BY_KEY.prefix(),
        PARTNER_WEBHOOKS.prefix(),
        MARKS.prefix(),
        OBSERVED.prefix(),
        ORPHANS.prefix(),
        PUBLIC_KEYS.prefix(),
        SEQUENCE_PAGES.prefix(),
        INTENT_POSITIONS.prefix(),
        REMOTE.prefix(),
        SEQUENCES.prefix(),
        TALLIES,
        USUAL_AMOUNTS,
        PLAN_APPROVALS.prefix(),
        PLANS.prefix(),
        SUSPENDED.prefix(),
        DISOWNED.prefix(),
        UNKNOWN_OBJECTS.prefix(),
        EVERY_ALERT,
        EVERY_EVENT,
        EVERY_HOOK,
    ] {
        all.extend(index.scan(prefix)?);
    }
    Ok(all)
}

/// Returns the resources whose observed state, suspension or records a batch changes.
pub(crate) fn changed_resources(batch: &Batch) -> ReadResult<BTreeSet<Key>> {
    let mut names = BTreeSet::new();
    for prefix in [OBSERVED.prefix(), SEQUENCES.prefix(), SUSPENDED.prefix()] {
        names.extend(batch.changes_under(prefix).filter_map(|(key, _)| key.get(prefix.len()..)));
    }
    names.into_iter().map(Key::parse).collect()
}

impl ReadModel {
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

    /// Returns at most `most` posted ids that wait to be verified, longest waiting first.
    pub fn events_waiting(&self, merchant: &Key, most: usize) -> ReadResult<Vec<String>> {
        // No page is empty.
        let pages = EVENTS_WAITING.under(merchant).entries_after(self, None, most)?;
        Ok(pages.into_iter().flat_map(|(_, ids)| ids).take(most).collect())
    }

    pub fn events_forged(&self, merchant: &Key, most: usize) -> ReadResult<Vec<String>> {
        let forged = EVENTS_FORGED.under(merchant);
        let entries = self.scan_from(forged.prefix(), None, most)?;
        entries.iter().map(|(key, _)| forged.parse(key)).collect()
    }
}

/// Number of entries that are read at once, so that the memory of a visit has a bound.
const PAGE_ENTRIES: usize = 1024;

/// The observed state of a resource in its stored form, which takes a fraction of the memory of its
/// values. `Debug` shows the size alone: the state may hold personal values.
#[derive(Clone, derive_more::Debug)]
#[debug("StoredObserved({} bytes)", _0.len())]
pub struct StoredObserved(Box<[u8]>);

impl StoredObserved {
    /// Decodes the state of this resource.
    ///
    /// # Errors
    /// The entry is damaged.
    pub fn read(&self, key: &Key) -> ReadResult<Observed> {
        decode(&OBSERVED.key(key), &self.0)
    }
}

/// An entry's bytes and the value decoded from them.
#[derive(Debug, Clone)]
pub struct CachedEntry<T> {
    bytes: Arc<[u8]>,
    pub value: Arc<T>,
}

impl ReadModel {
    /// Returns the observed state of a resource; decodes it only if it differs from `before`.
    pub fn observed_cached(
        &self,
        key: &Key,
        before: Option<&CachedEntry<Observed>>,
    ) -> ReadResult<Option<CachedEntry<Observed>>> {
        self.read_cached(&OBSERVED.key(key), before)
    }

    /// Reads an entry and decodes it only if its bytes differ from those of `before`.
    fn read_cached<T: DeserializeOwned + Clone>(
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
