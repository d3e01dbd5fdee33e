//! Metrics of the journal: its length, and the duration of its syncs.

use std::fmt;
use std::time::Duration;

use super::families::Families;
use crate::engine::protocol::queries::metrics::Metrics;

#[expect(
    clippy::disallowed_types,
    reason = "the library takes spans as floats; none of these is money"
)]
pub(super) fn families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    out.write_one(
        "journal_position",
        "Sequence of the journal's last record.",
        all.overview.position,
    )?;
    let (count, total) = all.syncs;
    let mut before = 0;
    let mut buckets = Vec::new();
    for (end, within) in &all.sync_within_us {
        buckets.push((seconds(*end), within.saturating_sub(before)));
        before = *within;
    }
    buckets.push((f64::INFINITY, count.saturating_sub(before)));
    let help = "How long syncs of the journal take.";
    out.histogram("journal_sync", help, (seconds(total), count), &buckets)
}

/// Converts microseconds to seconds. The library takes only floats here; none of these is money. A
/// number parsed from a text is written as the same text again.
#[expect(
    clippy::disallowed_types,
    reason = "the library takes spans as floats; none of these is money"
)]
fn seconds(micros: u64) -> f64 {
    let whole = Duration::from_micros(micros);
    format!("{}.{:06}", whole.as_secs(), whole.subsec_micros()).parse().unwrap_or_default()
}
