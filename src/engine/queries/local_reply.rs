//! An answer from another part of the process beside the engine, as JSON.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The value. It may hold secrets, such as addresses that are given to the service, so `Debug`
/// shows nothing of it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LocalReply(pub Value);

impl fmt::Debug for LocalReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Told(…)")
    }
}
