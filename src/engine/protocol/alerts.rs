//! Alerts that do not arrive, as plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A target whose last alert did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndeliveredAlertsView {
    pub target: String,
    /// Time since which none arrived.
    pub since: String,
    /// The reason of the last one.
    pub reason: String,
    /// Changes that wait for the next message.
    pub waiting: usize,
}
