//! Use of a saved plan, as the journal records it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The one use of a saved plan. It is on disk before the first call of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanUse {
    /// The plan's id.
    pub plan: String,
    /// The consumed token: no plan with this token is applied again.
    pub token: String,
    /// The plan's checksum, which an approval can name.
    pub checksum: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}
