//! Positions of records in the journal: the first step of `why`.

mod words;

use serde::{Deserialize, Serialize};

use self::words::{Known, known};
use super::Engine;
use crate::base::id::{IntentId, Key};
use crate::store::facts::{FactError, Facts};
use crate::store::journal::Head;

/// The subject of a question for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    Resource(Key),
    /// An intent, settled or not.
    Intent(IntentId),
    /// Any other word that a command prints: an id of the service, a mark, an event, an approval, a
    /// plan.
    Remote(String),
}

/// The positions of a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sought {
    /// The resources of the subject; empty if the journal does not know it.
    pub resources: Vec<Trail>,
    /// The meaning of the word, in sentences, if it is no resource itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// The last record.
    pub head: Head,
}

/// The records about one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    pub key: Key,
    /// The sequences of all records about it, rising.
    pub sequences: Vec<u64>,
}

impl Engine {
    /// Returns the positions of a subject.
    pub(super) fn trail(&self, wanted: &Wanted) -> Result<Sought, FactError> {
        seek(&self.shared.facts, wanted, self.shared.writer.head())
    }
}

/// Returns the positions of a subject, from the fold.
pub fn seek(facts: &Facts, wanted: &Wanted, head: Head) -> Result<Sought, FactError> {
    let known = match wanted {
        Wanted::Resource(key) => Known { keys: vec![key.clone()], about: Vec::new() },
        Wanted::Intent(id) => {
            let promise = facts.promise(*id)?;
            let keys = promise.map(|promise| promise.key).into_iter().collect();
            Known { keys, about: Vec::new() }
        }
        Wanted::Remote(word) => known(facts, word)?,
    };
    let mut resources: Vec<Trail> = Vec::new();
    for key in known.keys {
        let trail = trail(facts, &key)?;
        if !trail.sequences.is_empty() && !resources.contains(&trail) {
            resources.push(trail);
        }
    }
    Ok(Sought { resources, about: known.about, head })
}

/// Returns the records about a resource, under its present and its former names.
fn trail(facts: &Facts, key: &Key) -> Result<Trail, FactError> {
    let names = facts.names(key)?;
    let mut sequences = Vec::new();
    for name in &names {
        sequences.extend(facts.trail(name)?);
    }
    sequences.sort_unstable();
    sequences.dedup();
    Ok(Trail { key: names.into_iter().next_back().unwrap_or_else(|| key.clone()), sequences })
}
