//! Stored objects: their kinds, owners, ids and lists, and the timers that name them.
//!
//! Each object is kept once, and listed newest first by owner. The cost of a page depends on its
//! size and the entries skipped, not on the list. Ids, keys and
//! codes are derived from the seed and a counter, so the same scenario gives the same ids.
//!
//! Timers are a queue ordered by moment, processed before every request. An entry is a hint: its
//! handler reads the object's current state, so entries are not removed when an object changes.

use chrono::{DateTime, TimeDelta, Utc};
use data_encoding::BASE64URL_NOPAD;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::base::hash::keyed_digest;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::store::{ChangeUnit, millis, sortable_key};

/// Test or live; separates all data of a merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MerchantMode {
    Test,
    Live,
}

impl MerchantMode {
    pub(crate) fn of_test(test: bool) -> Self {
        if test { Self::Test } else { Self::Live }
    }

    /// Returns the first value in test mode, else the second.
    pub(crate) fn pick<T>(self, test: T, live: T) -> T {
        if self == Self::Test { test } else { live }
    }

    pub(crate) fn other(self) -> Self {
        self.pick(Self::Live, Self::Test)
    }

    pub(crate) fn as_str(self) -> &'static str {
        self.pick("test", "live")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ObjectOwner {
    pub(crate) merchant: String,
    pub(crate) mode: MerchantMode,
}

impl ObjectOwner {
    pub(crate) fn key(&self) -> String {
        [&self.merchant, ".", self.mode.as_str()].concat()
    }

    /// Parses the form of [`Self::key`].
    pub(crate) fn parse(key: &str) -> Option<Self> {
        let (merchant, mode) = key.rsplit_once('.')?;
        let mode =
            [MerchantMode::Test, MerchantMode::Live].into_iter().find(|m| m.as_str() == mode)?;
        Some(Self { merchant: merchant.to_owned(), mode })
    }
}

/// A stored object: the visible object, its owner, and its private part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stored<T, X> {
    #[serde(with = "owner_key")]
    pub(crate) owner: ObjectOwner,
    pub(crate) sequence: u64,
    pub(crate) object: T,
    #[serde(rename = "inside")]
    pub(crate) internal: X,
}

/// The stored form of an owner is its key. Earlier versions stored an object.
mod owner_key {
    use std::fmt;

    use serde::de::value::MapAccessDeserializer;
    use serde::de::{Error, MapAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::ObjectOwner;

    pub(super) fn serialize<S: Serializer>(owner: &ObjectOwner, to: S) -> Result<S::Ok, S::Error> {
        owner.key().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ObjectOwner, D::Error> {
        from.deserialize_any(OwnerVisitor)
    }

    struct OwnerVisitor;

    impl<'de> Visitor<'de> for OwnerVisitor {
        type Value = ObjectOwner;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an owner")
        }

        fn visit_str<E: Error>(self, key: &str) -> Result<ObjectOwner, E> {
            ObjectOwner::parse(key).ok_or_else(|| E::custom("not an owner"))
        }

        fn visit_map<A: MapAccess<'de>>(self, parts: A) -> Result<ObjectOwner, A::Error> {
            ObjectOwner::deserialize(MapAccessDeserializer::new(parts))
        }
    }
}

/// A kind of object: its word in keys, and its type name in a 404.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectKind {
    pub(crate) word: &'static str,
    pub(crate) name: &'static str,
}

impl ObjectKind {
    pub(crate) const APPLICATION: Self = Self::new("application", "MerchantApplication");
    pub(crate) const BANK: Self = Self::new("bank", "Bank");
    pub(crate) const CARD: Self = Self::new("card", "Card");
    pub(crate) const CONTACT: Self = Self::new("contact", "Contact");
    pub(crate) const CONTACT_HASH: Self = Self::new("contact-hash", "ContactHash");
    pub(crate) const EVENT: Self = Self::new("event", "Event");
    pub(crate) const FILE: Self = Self::new("file", "File");
    pub(crate) const INVOICE: Self = Self::new("invoice", "Invoice");
    pub(crate) const OCCURRENCE: Self = Self::new("occurrence", "Occurrence");
    pub(crate) const RECURRING_CHARGE: Self = Self::new("recurring", "RecurringCharge");
    pub(crate) const SIGNATURE: Self = Self::new("signature", "Signature");
    pub(crate) const TOKEN: Self = Self::new("token", "Token");
    pub(crate) const TRANSACTION: Self = Self::new("transaction", "Transaction");
    pub(crate) const VAULT_METHOD: Self = Self::new("payment-method", "PaymentMethod");

    const fn new(word: &'static str, name: &'static str) -> Self {
        Self { word, name }
    }

    /// Returns the name of the list of an owner's or a parent's objects.
    pub(crate) fn list(self, under: &str) -> String {
        [self.word, "/", under].concat()
    }

    /// Returns the key of an object.
    pub(crate) fn object(self, id: &str) -> String {
        ["o/", self.word, "/", id].concat()
    }
}

impl ChangeUnit {
    /// Stores a new object and adds it to the list `under` (an owner or a parent).
    pub(crate) fn create<T: Serialize, X: Serialize>(
        &mut self,
        kind: ObjectKind,
        under: &str,
        id: &str,
        kept: &Stored<T, X>,
    ) -> Result<()> {
        self.update(kind, id, kept)?;
        self.list_add(&kind.list(under), kept.sequence, id)
    }

    pub(crate) fn update<T: Serialize, X: Serialize>(
        &mut self,
        kind: ObjectKind,
        id: &str,
        kept: &Stored<T, X>,
    ) -> Result<()> {
        self.put(&kind.object(id), kept)
    }

    pub(crate) fn delete(&mut self, kind: ObjectKind, under: &str, id: &str, at: u64) {
        self.remove(&kind.object(id));
        self.list_remove(&kind.list(under), at);
    }

    /// Returns an object of this owner. 404 for an unknown object and for one of another owner.
    pub(crate) fn find<T: DeserializeOwned, X: DeserializeOwned>(
        &self,
        kind: ObjectKind,
        owner: &ObjectOwner,
        id: &str,
    ) -> Result<Stored<T, X>> {
        let kept: Stored<T, X> = self.load(kind, id)?;
        if kept.owner == *owner { Ok(kept) } else { Err(SandboxRefusal::not_found(kind.name, id)) }
    }

    /// Returns the visible object of this owner, without its private part. 404 as [`Self::find`].
    pub(crate) fn find_object<T: DeserializeOwned>(
        &self,
        kind: ObjectKind,
        owner: &ObjectOwner,
        id: &str,
    ) -> Result<T> {
        self.find::<T, IgnoredAny>(kind, owner, id).map(|kept| kept.object)
    }

    /// Returns an object of any owner. 404 for an unknown one.
    pub(crate) fn load<S: DeserializeOwned>(&self, kind: ObjectKind, id: &str) -> Result<S> {
        self.look_up(kind, id)?.ok_or_else(|| SandboxRefusal::not_found(kind.name, id))
    }

    /// Returns an object of any owner, if it exists; `S` is the [`Stored`] form of its kind.
    pub(crate) fn look_up<S>(&self, kind: ObjectKind, id: &str) -> Result<Option<S>>
    where
        S: DeserializeOwned,
    {
        self.get(&kind.object(id))
    }

    pub(crate) fn list_add(&mut self, list: &str, at: u64, id: &str) -> Result<()> {
        self.put(&newest_first(list, at), &id)
    }

    pub(crate) fn list_remove(&mut self, list: &str, at: u64) {
        self.remove(&newest_first(list, at));
    }

    /// Returns every object of a kind and any owner, in order of creation.
    pub(crate) fn all<T: DeserializeOwned, X: DeserializeOwned>(
        &self,
        kind: ObjectKind,
    ) -> Result<Vec<Stored<T, X>>> {
        let mut all: Vec<Stored<T, X>> = self.values(&kind.object(""))?;
        all.sort_by_key(|kept| kept.sequence);
        Ok(all)
    }

    pub(crate) fn count(&self, list: &str) -> Result<u64> {
        self.count_under(&["l/", list, "/"].concat())
    }

    /// Returns `take` ids of a list, newest first, after the first `skip`.
    pub(crate) fn ids(&self, list: &str, skip: u64, take: u64) -> Result<Vec<String>> {
        let all = skip.saturating_add(take);
        let entries = self.scan(&["l/", list, "/"].concat(), None, to_usize(all))?;
        let ids = entries.into_iter().skip(to_usize(skip));
        Ok(ids.filter_map(|(_, id)| id.as_str().map(str::to_owned)).collect())
    }
}

/// Returns the key of the list entry that was added as `at`.
pub(crate) fn newest_first(list: &str, at: u64) -> String {
    ["l/", list, "/", &sortable_key(u64::MAX.saturating_sub(at))].concat()
}

pub(crate) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Length of a partner's id and secret, of a bearer token and of a secret key.
pub(crate) const LONG_LENGTH: usize = 64;
/// Length of a merchant's public key (partner-api, Limits).
pub(crate) const PUBLIC_KEY_LENGTH: usize = 24;

/// Derives an id of 22 characters of URL-safe base64 (service-facts, 18).
pub(crate) fn derive_id(seed: &[u8; 32], label: &str, data: &str) -> String {
    let digest = keyed_digest(seed, label, data.as_bytes());
    let (head, _) = digest.as_bytes().split_at(16);
    BASE64URL_NOPAD.encode(head)
}

pub(crate) fn alphanumerics(seed: &[u8; 32], label: &str, data: &str, length: usize) -> String {
    let mut text = String::with_capacity(length);
    let mut block: u32 = 0;
    while text.len() < length {
        let digest = keyed_digest(seed, label, format!("{block}/{data}").as_bytes());
        let letters = digest.as_bytes().iter().filter_map(|byte| {
            let at = usize::from(*byte).checked_rem(ALPHABET.len())?;
            ALPHABET.get(at).copied().map(char::from)
        });
        text.extend(letters.take(length.saturating_sub(text.len())));
        block = block.saturating_add(1);
    }
    text
}

impl ChangeUnit {
    pub(crate) fn fresh_gateway_id(&mut self) -> String {
        let at = self.next();
        derive_id(&self.environment.seed, "id", &sortable_key(at))
    }

    pub(crate) fn id_with_prefix(&mut self, prefix: &str) -> String {
        format!("{prefix}{}", self.fresh_gateway_id())
    }

    pub(crate) fn fresh_secret(&mut self, label: &str, length: usize) -> String {
        let at = self.next();
        alphanumerics(&self.environment.seed, label, &sortable_key(at), length)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TimerEntry {
    /// A one-time token's five minutes are over.
    TokenExpiry { id: String },
    /// The daily run captures a charge.
    Capture { id: String },
    /// A hold's seven days are over.
    HoldEnd { id: String },
    /// An occurrence is to be paid.
    Occurrence { id: String },
    /// The sandbox decides on an application.
    Decision { id: String },
    /// The outcome of a test application is notified.
    TestOutcome { id: u64, reference: String, provisioned: bool },
    /// The processing of an uploaded file ends.
    FileProcessed { id: String },
    /// The card of a recurring charge expires in this month, or expired in the last.
    Expiry { id: String, expired: bool },
    /// A saved card expires in this month, or expired in the last.
    SavedExpiry { id: String, expired: bool },
}

pub(crate) const TIMERS: &str = "due/";

impl ChangeUnit {
    /// Adds an entry to the queue of timers; a past moment becomes now.
    pub(crate) fn schedule(&mut self, time: DateTime<Utc>, due: &TimerEntry) -> Result<()> {
        let number = self.next();
        self.schedule_named(time.max(self.now), number, due)
    }

    /// Adds an entry, or replaces the one of the same moment and number.
    pub(crate) fn schedule_named(
        &mut self,
        time: DateTime<Utc>,
        number: u64,
        due: &TimerEntry,
    ) -> Result<()> {
        self.put(&timer_key(time, number), due)
    }

    pub(crate) fn schedule_in(&mut self, delay: TimeDelta, due: &TimerEntry) -> Result<()> {
        self.schedule(self.after(delay), due)
    }

    /// Returns the prefix of the look-up keys of a reference.
    pub(crate) fn reference_prefix(kind: ObjectKind, owner: &ObjectOwner, text: &str) -> String {
        ["x/", kind.word, "-reference/", &owner.key(), "/", text].concat()
    }

    /// Returns the look-up key of a reference, which lists the newest object first.
    pub(crate) fn reference_key<T, X>(kind: ObjectKind, kept: &Stored<T, X>, text: &str) -> String {
        let newest_first = sortable_key(u64::MAX.saturating_sub(kept.sequence));
        [&Self::reference_prefix(kind, &kept.owner, text), "\0", &newest_first].concat()
    }

    /// Stores the look-up key of an object's reference, if the object has one.
    pub(crate) fn index_reference<T, X>(
        &mut self,
        kind: ObjectKind,
        kept: &Stored<T, X>,
        reference: Option<&str>,
        id: &str,
    ) -> Result<()> {
        let Some(reference) = reference else { return Ok(()) };
        self.put(&Self::reference_key(kind, kept, reference), &id)
    }
}

pub(crate) fn timer_key(time: DateTime<Utc>, number: u64) -> String {
    [TIMERS, &millis(time), "/", &sortable_key(number)].concat()
}

pub(crate) fn timer_moment(key: &str) -> Option<DateTime<Utc>> {
    let text = key.strip_prefix(TIMERS)?.split('/').next()?;
    DateTime::from_timestamp_millis(i64::from_str_radix(text, 16).ok()?)
}
