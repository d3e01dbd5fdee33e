//! What the emulator knows, and how a request changes it.
//!
//! Everything is in an [`Index`] as JSON under readable keys. A request works on a [`Cx`]: it sees the
//! index through its own unapplied changes, and its changes are applied as one batch before it is
//! answered, or dropped. So an answered effect is whole, and a refused one left nothing.
//!
//! Keys: `o/KIND/ID` objects · `l/…` lists, newest first, `n/…` how long they are · `x/…` look-ups ·
//! `due/TIME/SEQ` what time will do · `meta/…` counters and settings.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::hash::{Digest, keyed};
use crate::sandbox::options::Options;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::shelf::{Shelf, Shelves};
use crate::store::index::{Batch, Entry, Index};

/// What never changes while a sandbox is open.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) options: Options,
    /// All ids, keys and fingerprints come from it.
    pub(crate) seed: [u8; 32],
    /// What is parsed once.
    pub(crate) shelves: Shelves,
}

/// One unit of change: a request, or one thing that fell due.
pub(crate) struct Cx<'a> {
    pub(crate) world: &'a World,
    pub(crate) now: DateTime<Utc>,
    pub(crate) settings: Settings,
    index: &'a dyn Index,
    batch: Batch,
    sequence: u64,
    /// What is stored is written here first, so that it is kept in just as many bytes as it has.
    draft: Vec<u8>,
}

/// What control paths can set, and what must survive a restart with it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// Milliseconds that the sandbox's time is ahead of its base clock.
    pub(crate) offset_ms: i64,
    /// What a second invoice with a known `source_id` is answered.
    pub(crate) duplicate_source_id: Duplicate,
    /// Minutes for which an occurrence whose date has come is `PAYING`.
    pub(crate) paying_minutes: u32,
    /// Where partner notifications go.
    pub(crate) event_url: String,
    /// What an authorization-code exchange must name.
    pub(crate) redirect_uri: String,
    /// Is the service enabled for the partner application?
    pub(crate) enabled: bool,
    /// Is it a partner of the service, as invoices need?
    pub(crate) is_partner: bool,
    /// The plans that the partner was given; while nobody says, every plan is one of them.
    pub(crate) plans: Option<Vec<Plan>>,
}

/// A plan of merchant applications.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Plan {
    pub(crate) id: String,
    /// Does it bring a trust account?
    #[serde(default)]
    pub(crate) trust: bool,
}

impl Settings {
    /// Is the plan of this id a trust plan? `None` for an unknown one. While nobody has said which plans there
    /// are, one with `trust` in its id is.
    pub(crate) fn plan(&self, id: &str) -> Option<bool> {
        match &self.plans {
            None => Some(id.to_ascii_lowercase().contains("trust")),
            Some(plans) => plans.iter().find(|plan| plan.id == id).map(|plan| plan.trust),
        }
    }
}

/// The counter and the settings: read once, written with every change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meta {
    sequence: u64,
    pub(crate) settings: Settings,
}

impl Meta {
    /// As stored; the defaults in an empty index.
    pub(crate) fn load(index: &dyn Index) -> Result<Self, Refusal> {
        let stored = |key: &str| index.get(key.as_bytes());
        let sequence = stored(SEQUENCE)?.map(|bytes| serde_json::from_slice(&bytes)).transpose()?;
        let settings = stored(SETTINGS)?.map(|bytes| serde_json::from_slice(&bytes)).transpose()?;
        Ok(Self { sequence: sequence.unwrap_or(0), settings: settings.unwrap_or_default() })
    }
}

/// The answer to a second invoice with a known `source_id`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Duplicate {
    /// The first invoice again; no second e-mail.
    #[default]
    Same,
    /// 422.
    Refuse,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            offset_ms: 0,
            duplicate_source_id: Duplicate::Same,
            paying_minutes: 0,
            event_url: "https://partner.example/events/".to_owned(),
            redirect_uri: "https://partner.example/callback".to_owned(),
            enabled: true,
            is_partner: true,
            plans: None,
        }
    }
}

const SEQUENCE: &str = "meta/sequence";
const SETTINGS: &str = "meta/settings";

/// A key part that sorts as its number does.
pub(crate) fn ordered(number: u64) -> String {
    format!("{number:016x}")
}

impl<'a> Cx<'a> {
    /// Opens a unit of change at `now`.
    pub(crate) fn open(
        world: &'a World,
        index: &'a dyn Index,
        meta: &Meta,
        now: DateTime<Utc>,
    ) -> Self {
        let Meta { sequence, settings } = meta.clone();
        Self { world, now, settings, index, batch: Batch::new(), sequence, draft: Vec::new() }
    }

    /// The changes, to be applied at once, and what follows from them once they are.
    pub(crate) fn close(mut self) -> Result<(Batch, Meta), Refusal> {
        if !self.batch.is_empty() {
            let sequence = self.sequence;
            self.put(SEQUENCE, &sequence)?;
        }
        Ok((self.batch, Meta { sequence: self.sequence, settings: self.settings }))
    }

    /// Has anything changed?
    pub(crate) fn is_changed(&self) -> bool {
        !self.batch.is_empty()
    }

    /// A number greater than every one before it.
    pub(crate) fn next(&mut self) -> u64 {
        self.sequence = self.sequence.saturating_add(1);
        self.sequence
    }

    /// Stores the settings as they stand in `self.settings`.
    pub(crate) fn save_settings(&mut self) -> Result<(), Refusal> {
        let settings = self.settings.clone();
        self.put(SETTINGS, &settings)
    }

    /// Reads a value.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Refusal> {
        let mut found = None;
        let read = &mut |bytes: &[u8]| found = Some(serde_json::from_slice(bytes));
        self.batch.see(self.index, key.as_bytes(), read)?;
        Ok(found.transpose()?)
    }

    /// Reads a value that is asked for often: parsed once, until it is stored again.
    pub(crate) fn often<T: DeserializeOwned>(
        &self,
        known: &Shelf<T>,
        key: &str,
    ) -> Result<Option<Arc<T>>, Refusal> {
        if self.batch.touches(key.as_bytes()) {
            return Ok(self.get(key)?.map(Arc::new));
        }
        known.get(key, || self.get(key))
    }

    /// Stores a value.
    pub(crate) fn put<T: Serialize>(&mut self, key: &str, value: &T) -> Result<(), Refusal> {
        self.draft.clear();
        serde_json::to_writer(&mut self.draft, value)?;
        self.batch.put(key.as_bytes(), self.draft.as_slice());
        Ok(())
    }

    /// Forgets a value.
    pub(crate) fn remove(&mut self, key: &str) {
        self.batch.remove(key.as_bytes());
    }

    /// Up to `limit` entries under a prefix, behind the key `after`, as this unit sees them.
    pub(crate) fn scan(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Value)>, Refusal> {
        let entries = self.merged(prefix.as_bytes(), after.map(str::as_bytes), limit)?;
        entries.into_iter().map(read_entry).collect()
    }

    fn merged(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Entry>, Refusal> {
        let behind = |key: &Vec<u8>| after.is_none_or(|at| key.as_slice() > at);
        let own: Vec<_> = self.batch.under(prefix).filter(|(key, _)| behind(key)).collect();
        let enough = limit.saturating_add(own.len());
        let stored = self.index.scan_from(prefix, after, enough)?;
        if own.is_empty() {
            return Ok(stored);
        }
        let mut all: std::collections::BTreeMap<_, _> = stored.into_iter().collect();
        for (key, change) in own {
            match change {
                Some(value) => all.insert(key.clone(), value.clone()),
                None => all.remove(key),
            };
        }
        Ok(all.into_iter().take(limit).collect())
    }

    /// A digest under the seed: equal inputs give equal digests, in this world only.
    pub(crate) fn digest(&self, label: &str, data: &[u8]) -> Digest {
        keyed(&self.world.seed, label, data)
    }
}

fn read_entry((key, value): Entry) -> Result<(String, Value), Refusal> {
    Ok((String::from_utf8_lossy(&key).into_owned(), serde_json::from_slice(&value)?))
}
