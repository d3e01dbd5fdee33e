//! Money that a document has due in a month.

use chrono::NaiveDate;

use crate::base::id::Mode;
use crate::base::money::Currency;

/// What one step changes about the money of one month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The first day of the month.
    pub month: NaiveDate,
    /// The currency.
    pub currency: Currency,
    /// Test or live.
    pub mode: Mode,
    /// Minor units that are due as things are.
    pub before: i64,
    /// Minor units that are due once the step is done.
    pub after: i64,
}
