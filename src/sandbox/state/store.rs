//! State of the emulator, and the unit of change.
//!
//! All state is in an [`Index`] in memory, as JSON under readable keys. A request works on a
//! [`ChangeUnit`], which reads the index through its own unapplied changes. The changes are applied
//! as one batch before the answer, or dropped. An answered effect is therefore complete, and a
//! refused request changes nothing.
//!
//! Values that nearly every request reads are cached in parsed form. The index stays the source of
//! truth: applied changes are evicted and read again.
//!
//! Keys: `o/KIND/ID` objects · `l/…` lists, newest first · `x/…` look-ups ·
//! `due/TIME/SEQ` timers · `meta/…` counters and settings.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use data_encoding::HEXLOWER;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::{Digest, keyed_digest};
use crate::sandbox::answer::Result;
use crate::sandbox::options::{SandboxOptions, ServiceSurface};
use crate::store::index::ordered::{Batch, Index, KeyValue};
use crate::store::index::paths::PathIndex;

/// Beginnings of keys that are looked up, and seldom read in order: objects.
pub const LOOKED_UP: &[&str] = &["o/"];

/// Returns an empty index for a state in memory alone.
pub fn in_memory() -> Arc<dyn Index> {
    Arc::new(PathIndex::new(LOOKED_UP))
}

/// Data that is constant while a sandbox is open, and its caches.
#[derive(Debug)]
pub(crate) struct SandboxEnvironment {
    pub(crate) options: SandboxOptions,
    /// Source of all ids, keys and fingerprints.
    pub(crate) seed: [u8; 32],
    /// Id of the partner's application (partner-api, `OAuth2` flow).
    pub(crate) client_id: String,
    pub(crate) parsed: ParsedCache,
}

/// One unit of change: a request, a control request, or one timer.
pub(crate) struct ChangeUnit {
    pub(crate) environment: Arc<SandboxEnvironment>,
    pub(crate) now: DateTime<Utc>,
    pub(crate) settings: Arc<SandboxSettings>,
    index: Arc<dyn Index>,
    batch: Batch,
    /// The counter when the unit was opened.
    first_sequence: u64,
    sequence: u64,
    /// Buffer for serialisation, so that stored values have their exact size.
    draft: Vec<u8>,
}

/// Settings that control paths can change, and state that must survive a restart with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SandboxSettings {
    /// Lead of the sandbox's clock over its base clock.
    pub(crate) offset_ms: i64,
    /// Answer to a second invoice with a known `source_id`.
    pub(crate) duplicate_source_id: DuplicateSourceId,
    /// Minutes for which a due occurrence stays `PAYING`.
    pub(crate) paying_minutes: u32,
    /// Target of the webhooks to the partner.
    pub(crate) event_url: String,
    /// Redirect URI that a code exchange must name.
    pub(crate) redirect_uri: String,
    /// True while the service is enabled for the partner application.
    pub(crate) enabled: bool,
    /// True for a partner of the service; invoices require it.
    pub(crate) is_partner: bool,
    /// Plans of the partner; `None` allows every plan.
    pub(crate) plans: Option<Vec<ApplicationPlan>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ApplicationPlan {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) trust: bool,
}

impl SandboxSettings {
    /// Returns true for a trust plan, by its id where none is configured; `None` if it is unknown.
    pub(crate) fn plan(&self, id: &str) -> Option<bool> {
        match &self.plans {
            None => Some(id.to_ascii_lowercase().contains("trust")),
            Some(plans) => plans.iter().find(|plan| plan.id == id).map(|plan| plan.trust),
        }
    }
}

/// The counter and the settings in memory; the counter is stored with every change of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SandboxMeta {
    sequence: u64,
    pub(crate) settings: Arc<SandboxSettings>,
}

impl SandboxMeta {
    /// Loads the stored values; an empty index gives the defaults.
    pub(crate) fn load(index: &dyn Index) -> Result<Self> {
        let stored = |key: &str| index.get(key.as_bytes());
        let sequence = stored(SEQUENCE)?.map(|bytes| serde_json::from_slice(&bytes)).transpose()?;
        let settings = stored(SETTINGS)?.map(|bytes| serde_json::from_slice(&bytes)).transpose()?;
        let settings = Arc::new(settings.unwrap_or_default());
        Ok(Self { sequence: sequence.unwrap_or(0), settings })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DuplicateSourceId {
    /// Answers the first invoice, and sends no second e-mail.
    #[default]
    Same,
    /// Answers 422.
    Refuse,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            offset_ms: 0,
            duplicate_source_id: DuplicateSourceId::Same,
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

/// Returns a key part that sorts like its number.
pub(crate) fn sortable_key(number: u64) -> String {
    HEXLOWER.encode(&number.to_be_bytes())
}

impl ChangeUnit {
    pub(crate) fn open(
        environment: Arc<SandboxEnvironment>,
        index: Arc<dyn Index>,
        meta: &SandboxMeta,
        now: DateTime<Utc>,
    ) -> Self {
        let SandboxMeta { sequence, settings } = meta.clone();
        let (batch, draft) = (Batch::new(), Vec::new());
        let first_sequence = sequence;
        Self { environment, now, settings, index, batch, first_sequence, sequence, draft }
    }

    /// Closes the unit: returns its changes, to be applied at once, and the new counter and settings.
    pub(crate) fn close(mut self) -> Result<(Batch, SandboxMeta)> {
        if self.sequence != self.first_sequence {
            let sequence = self.sequence;
            self.put(SEQUENCE, &sequence)?;
        }
        Ok((self.batch, SandboxMeta { sequence: self.sequence, settings: self.settings }))
    }

    pub(crate) fn is_changed(&self) -> bool {
        !self.batch.is_empty()
    }

    /// Returns a number greater than all before it.
    pub(crate) fn next(&mut self) -> u64 {
        self.sequence = self.sequence.saturating_add(1);
        self.sequence
    }

    /// Returns the settings to change them; [`Self::save_settings`] stores them.
    pub(crate) fn settings_mut(&mut self) -> &mut SandboxSettings {
        Arc::make_mut(&mut self.settings)
    }

    pub(crate) fn save_settings(&mut self) -> Result<()> {
        let settings = self.settings.clone();
        self.put(SETTINGS, &*settings)
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let mut found = None;
        let read = &mut |bytes: &[u8]| found = Some(serde_json::from_slice(bytes));
        self.batch.with_value(self.index.as_ref(), key.as_bytes(), read)?;
        Ok(found.transpose()?)
    }

    /// Reads a frequently used value through a cache.
    pub(crate) fn get_cached<T: DeserializeOwned + Send + Sync + 'static>(
        &self,
        key: &str,
    ) -> Result<Option<Arc<T>>> {
        if self.batch.changes_key(key.as_bytes()) {
            return Ok(self.get(key)?.map(Arc::new));
        }
        self.environment.parsed.get(key, || self.get(key))
    }

    /// Reads a frequently used value through a cache; an absent one is the default.
    pub(crate) fn get_cached_or_default<T>(&self, key: &str) -> Result<Arc<T>>
    where
        T: DeserializeOwned + Default + Send + Sync + 'static,
    {
        if self.batch.changes_key(key.as_bytes()) {
            return Ok(Arc::new(self.get(key)?.unwrap_or_default()));
        }
        let read = || self.get(key).map(|found| Some(found.unwrap_or_default()));
        Ok(self.environment.parsed.get(key, read)?.unwrap_or_default())
    }

    pub(crate) fn put<T: Serialize>(&mut self, key: &str, value: &T) -> Result<()> {
        self.draft.clear();
        serde_json::to_writer(&mut self.draft, value)?;
        self.batch.put(key.as_bytes(), self.draft.as_slice());
        Ok(())
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.batch.remove(key.as_bytes());
    }

    /// Returns true if the sandbox also serves the additions of public material.
    pub(crate) fn is_public(&self) -> bool {
        self.environment.options.surface == ServiceSurface::Public
    }

    pub(crate) fn after(&self, delay: TimeDelta) -> DateTime<Utc> {
        self.now.checked_add_signed(delay).unwrap_or(self.now)
    }

    pub(crate) fn count_under(&self, prefix: &str) -> Result<u64> {
        let count = self.batch.count(self.index.as_ref(), prefix.as_bytes())?;
        Ok(u64::try_from(count).unwrap_or(u64::MAX))
    }

    pub(crate) fn entries(&self, prefix: &str) -> Result<Vec<(String, Value)>> {
        self.scan(prefix, None, usize::MAX)
    }

    pub(crate) fn values<T: DeserializeOwned>(&self, prefix: &str) -> Result<Vec<T>> {
        let all = self.entries(prefix)?.into_iter();
        all.map(|(_, value)| Ok(serde_json::from_value(value)?)).collect()
    }

    pub(crate) fn remove_all(&mut self, prefix: &str, fits: impl Fn(&Value) -> bool) -> Result<()> {
        for (key, _) in self.entries(prefix)?.iter().filter(|(_, value)| fits(value)) {
            self.remove(key);
        }
        Ok(())
    }

    /// Returns up to `limit` entries under a prefix, behind the key `after`, with this unit's changes.
    pub(crate) fn scan(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Value)>> {
        let entries = self.scan_with_batch(prefix.as_bytes(), after.map(str::as_bytes), limit)?;
        let read = |(key, value): KeyValue| -> Result<(String, Value)> {
            Ok((String::from_utf8_lossy(&key).into_owned(), serde_json::from_slice(&value)?))
        };
        entries.into_iter().map(read).collect()
    }

    fn scan_with_batch(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<KeyValue>> {
        let behind = |key: &Vec<u8>| after.is_none_or(|at| key.as_slice() > at);
        let own: Vec<_> = self.batch.changes_under(prefix).filter(|(key, _)| behind(key)).collect();
        let enough = limit.saturating_add(own.len());
        let stored = self.index.scan_from(prefix, after, enough)?;
        if own.is_empty() {
            return Ok(stored);
        }
        let mut all: BTreeMap<_, _> = stored.into_iter().collect();
        for (key, change) in own {
            match change {
                Some(value) => all.insert(key.clone(), value.clone()),
                None => all.remove(key),
            };
        }
        Ok(all.into_iter().take(limit).collect())
    }

    /// Returns a digest keyed by the seed: equal inputs give equal digests only within one seed.
    pub(crate) fn digest(&self, label: &str, data: &[u8]) -> Digest {
        keyed_digest(&self.environment.seed, label, data)
    }
}

pub(crate) fn millis(time: DateTime<Utc>) -> String {
    sortable_key(u64::try_from(time.timestamp_millis()).unwrap_or(0))
}

type ParsedValues = BTreeMap<Vec<u8>, Arc<dyn Any + Send + Sync>>;

/// Parsed values by key; each key has one type.
#[derive(Default, derive_more::Debug)]
#[debug("ParsedCache {{ .. }}")]
pub(crate) struct ParsedCache(Mutex<ParsedValues>);

impl ParsedCache {
    pub(crate) fn get<T: Any + Send + Sync>(
        &self,
        key: &str,
        read: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<Option<Arc<T>>> {
        let known = self.0.lock().get(key.as_bytes()).cloned();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return Ok(Some(known));
        }
        let found = read()?.map(Arc::new);
        if let Some(found) = &found {
            self.0.lock().insert(key.as_bytes().to_vec(), found.clone());
        }
        Ok(found)
    }

    /// Evicts the keys that a batch changes; called before it is applied: nothing reads in between.
    pub(crate) fn forget(&self, batch: &Batch) {
        let mut parsed = self.0.lock();
        for (key, _) in batch.changes_under(b"") {
            parsed.remove(key);
        }
    }

    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
