//! Money due by month, before a plan and after it.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::base::id::Mode;
use crate::base::money::Currency;
use crate::engine::protocol::queries::due::DueView;
use crate::engine::protocol::queries::views::StepView;

/// Key of separate sums; the date is the first day of a month.
type DueMonth = (Currency, Mode, NaiveDate);

/// Sums steps by currency, mode and month. Blocked steps change nothing.
pub(crate) fn due(steps: &[StepView]) -> Vec<DueView> {
    let mut sums: BTreeMap<DueMonth, (i64, i64)> = BTreeMap::new();
    for due in steps.iter().flat_map(|step| &step.due) {
        let (before, after) = sums.entry((due.currency, due.mode, due.month)).or_default();
        *before = before.saturating_add(due.before);
        *after = after.saturating_add(due.after);
    }
    let view = |((currency, mode, month), (before, after)): (DueMonth, (i64, i64))| DueView {
        month: month.format("%Y-%m").to_string(),
        currency: currency.to_string(),
        mode,
        before,
        after,
        difference: after.saturating_sub(before),
    };
    sums.into_iter().map(view).filter(|due| due.difference != 0).collect()
}
