//! Bookkeeping records that precede the effects: marks of documents that are missing, moves to new
//! names, and a person's permission of a removal.

use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// A person's permission of removals: `apply --allow-prune`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowPrune {
    /// Everything that a guard stops now.
    pub all: bool,
    /// These resources; live ones among them do not wait, either.
    pub keys: Vec<Key>,
}

impl AllowPrune {
    /// Returns true if nothing is permitted.
    pub fn is_empty(&self) -> bool {
        !self.all && self.keys.is_empty()
    }
}
