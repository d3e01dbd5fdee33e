//! Where in the journal something stands: what `why` begins with.

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::base::id::{IntentId, Key};
use crate::store::facts::{FactError, Facts};
use crate::store::journal::Head;

/// What somebody wants to know the reason of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// A resource.
    Resource(Key),
    /// An intent, settled or not.
    Intent(IntentId),
    /// An id of the service, or a mark.
    Remote(String),
}

/// Where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sought {
    /// The resources that it is, or belongs to; none if the journal does not know it.
    pub resources: Vec<Trail>,
    /// The last record.
    pub head: Head,
}

/// The records about one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    /// The resource.
    pub key: Key,
    /// The sequences of all records about it, rising.
    pub sequences: Vec<u64>,
}

impl Engine {
    /// Where something stands.
    pub(super) fn trail(&self, wanted: &Wanted) -> Result<Sought, FactError> {
        seek(&self.shared.facts, wanted, self.shared.writer.head())
    }
}

/// Where something stands, by the fold.
pub fn seek(facts: &Facts, wanted: &Wanted, head: Head) -> Result<Sought, FactError> {
    let keys = match wanted {
        Wanted::Resource(key) => vec![key.clone()],
        Wanted::Intent(id) => facts.promise(*id)?.map(|promise| promise.key).into_iter().collect(),
        Wanted::Remote(id) => {
            let known = facts.remote(id)?;
            let mut keys: Vec<Key> = known.into_iter().map(|(key, _)| key).collect();
            keys.extend(facts.marked(id)?);
            keys.dedup();
            keys
        }
    };
    let trail = |key: Key| Ok(Trail { sequences: facts.trail(&key)?, key });
    let resources: Vec<Trail> = keys.into_iter().map(trail).collect::<Result<_, FactError>>()?;
    let resources = resources.into_iter().filter(|trail| !trail.sequences.is_empty()).collect();
    Ok(Sought { resources, head })
}
