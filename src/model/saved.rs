//! That a saved plan was used: what the journal keeps of it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The one use of a saved plan. It is on disk before the first call of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanUse {
    /// The plan's id.
    pub plan: String,
    /// What it used up: no plan with this token is applied again.
    pub token: String,
    /// The plan's checksum, which an approval can name.
    pub checksum: String,
    /// Who applied it.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
}
