//! Money due by month, before a plan and after it.

use serde::{Deserialize, Serialize};

use crate::base::id::Mode;

/// The money of one month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueView {
    /// The month: `2030-01`.
    pub month: String,
    /// ISO 4217.
    pub currency: String,
    pub mode: Mode,
    /// Minor units in the present state.
    pub before: i64,
    /// Minor units once the steps are done.
    pub after: i64,
    /// The difference in minor units; negative if less is due.
    pub difference: i64,
}
