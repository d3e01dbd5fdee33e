//! A plan of some resources alone, selected by path arguments, `--target` and `--exclude`.

use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// A selected name that no resource has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownName {
    pub key: Key,
    /// The most similar name, if there is one.
    pub nearest: Option<String>,
}
