//! Reads of where in the journal things stand.

use serde::{Deserialize, Serialize};

use super::{FactError, Facts, OBSERVED, PAGES, PROMISES, REMOTE, TRAILS, decode, parse_key, read};
use crate::base::id::{IntentId, Key};
use crate::model::observed::Observed;
use crate::store::index::Batch;

/// Where an intent was written down, and for which resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// The sequence of its record.
    pub sequence: u64,
    /// The resource.
    pub key: Key,
}

/// The newest sequences of a resource's records, and how many full pages stand before them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Page {
    /// Full pages.
    pub(in crate::store) full: u32,
    /// Sequences, rising.
    pub(in crate::store) sequences: Vec<u64>,
}

impl Facts {
    /// Where an intent was written down, whether it is settled or not.
    pub fn promise(&self, intent: IntentId) -> Result<Option<Promise>, FactError> {
        read(&*self.index, &Batch::new(), &promise_key(intent))
    }

    /// The resources that an id of the service belongs to, each with the record that first said so. One that took another
    /// name since is there by both.
    pub fn remote(&self, id: &str) -> Result<Vec<(Key, u64)>, FactError> {
        let prefix = remote_prefix(id);
        // An id is any text: a longer one may begin with this one and a zero byte. No key holds such a byte.
        let own = |key: &[u8]| key.get(prefix.len()..).is_some_and(|rest| !rest.contains(&0));
        let entries = self.index.scan(&prefix)?.into_iter().filter(|(key, _)| own(key));
        let one = |(key, value): (Vec<u8>, Vec<u8>)| {
            Ok((parse_key(key.get(prefix.len()..).unwrap_or_default())?, decode(&key, &value)?))
        };
        let mut all = entries.map(one).collect::<Result<Vec<(Key, u64)>, FactError>>()?;
        for (key, sequence) in all.clone() {
            let now = self.current(&key)?;
            if !all.iter().any(|(one, _)| *one == now) {
                all.push((now, sequence));
            }
        }
        Ok(all)
    }

    /// The names of a resource: the former ones, and last the present one.
    pub fn names(&self, key: &Key) -> Result<Vec<Key>, FactError> {
        let now = self.current(key)?;
        let mut names = self.observed(&now)?.map(|known| known.former).unwrap_or_default();
        names.retain(|name| *name != now);
        names.push(now);
        Ok(names)
    }

    /// What is known of every resource of a kind.
    pub fn observed_of(&self, kind: &str) -> Result<Vec<(Key, Observed)>, FactError> {
        let prefix = [OBSERVED, kind.as_bytes(), b"/"].concat();
        let entries = self.index.scan(&prefix)?.into_iter();
        let one = |(key, value): (Vec<u8>, Vec<u8>)| {
            Ok((parse_key(key.get(OBSERVED.len()..).unwrap_or_default())?, decode(&key, &value)?))
        };
        entries.map(one).collect()
    }

    /// The sequences of every record about a resource, rising.
    pub fn trail(&self, key: &Key) -> Result<Vec<u64>, FactError> {
        let newest: Option<Page> = read(&*self.index, &Batch::new(), &trail_key(key))?;
        let Some(newest) = newest else { return Ok(Vec::new()) };
        let mut sequences = Vec::new();
        for number in 0..newest.full {
            let page: Option<Vec<u64>> = read(&*self.index, &Batch::new(), &page_key(key, number))?;
            sequences.extend(page.unwrap_or_default());
        }
        sequences.extend(newest.sequences);
        Ok(sequences)
    }
}

/// The entry of an intent's place.
pub(in crate::store) fn promise_key(intent: IntentId) -> Vec<u8> {
    [PROMISES, &intent.get().to_be_bytes()].concat()
}

/// The entry of an id of the service and a resource it belongs to.
pub(in crate::store) fn remote_key(id: &str, key: &Key) -> Vec<u8> {
    [remote_prefix(id).as_slice(), key.to_string().as_bytes()].concat()
}

fn remote_prefix(id: &str) -> Vec<u8> {
    [REMOTE, id.as_bytes(), b"\0"].concat()
}

/// The entry of the newest sequences of a resource.
pub(in crate::store) fn trail_key(key: &Key) -> Vec<u8> {
    [TRAILS, key.to_string().as_bytes()].concat()
}

/// The entry of a full page of sequences.
pub(in crate::store) fn page_key(key: &Key, number: u32) -> Vec<u8> {
    [PAGES, key.to_string().as_bytes(), b"\0", &number.to_be_bytes()].concat()
}
