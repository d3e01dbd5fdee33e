//! Money that falls due by a document in a month.

use chrono::NaiveDate;

use crate::base::id::Mode;
use crate::base::money::Currency;

/// The change of one month's due money by one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthlyDue {
    /// The first day of the month.
    pub month: NaiveDate,
    pub currency: Currency,
    pub mode: Mode,
    /// Minor units that are due before the step.
    pub before: i64,
    /// Minor units that are due after the step.
    pub after: i64,
}
