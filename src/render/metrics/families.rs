//! Writes one family of metrics: a value, a value for each label, or a histogram.

use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

use crate::base::histogram::HistogramCounts;

/// End of the name of a counter.
const TOTAL: &str = "_total";

/// Writer of families, one after the other.
#[derive(Debug)]
pub(super) struct Families<'a>(pub(super) DescriptorEncoder<'a>);

impl Families<'_> {
    /// Writes one value without labels: a counter if the name ends in `_total`, else a gauge.
    pub(super) fn write_one(
        &mut self,
        name: &str,
        help: &str,
        value: impl EncodeGaugeValue + Copy,
    ) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, metric_type(name))?.encode_gauge(&value)
    }

    /// Writes one duration in seconds; the unit ends the name.
    pub(super) fn write_seconds(&mut self, name: &str, help: &str, value: i64) -> fmt::Result {
        self.write_unit(name, help, &Unit::Seconds, value)
    }

    /// Writes a number of bytes; the unit ends the name.
    pub(super) fn write_bytes(&mut self, name: &str, help: &str, value: i64) -> fmt::Result {
        self.write_unit(name, help, &Unit::Bytes, value)
    }

    fn write_unit(&mut self, name: &str, help: &str, unit: &Unit, value: i64) -> fmt::Result {
        self.0.encode_descriptor(name, help, Some(unit), MetricType::Gauge)?.encode_gauge(&value)
    }

    /// Writes one value for each value of a label: counters or gauges as [`Self::write_one`].
    pub(super) fn write_by<'w, V: EncodeGaugeValue>(
        &mut self,
        (name, label): (&str, &str),
        help: &str,
        unit: Option<&Unit>,
        values: impl IntoIterator<Item = (&'w str, V)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, unit, metric_type(name))?;
        for (word, value) in values {
            family.encode_family(&[(label, word)])?.encode_gauge(&value)?;
        }
        Ok(())
    }

    /// Writes a histogram of durations in seconds: their sum and count, and the count of each
    /// bucket. A bucket counts the durations up to its bound and above the one before it.
    #[expect(clippy::disallowed_types, reason = "the library takes floats; none of these is money")]
    pub(super) fn histogram(
        &mut self,
        name: &str,
        help: &str,
        all: &HistogramCounts,
    ) -> fmt::Result {
        let mut before = 0;
        let mut buckets = Vec::new();
        for (end, within) in &all.within_us {
            buckets.push((seconds(*end), within.saturating_sub(before)));
            before = *within;
        }
        buckets.push((f64::INFINITY, all.count.saturating_sub(before)));
        let unit = Some(&Unit::Seconds);
        let mut family = self.0.encode_descriptor(name, help, unit, MetricType::Histogram)?;
        let sum = seconds(all.total_us);
        family.encode_histogram::<NoLabelSet>(sum, all.count, &buckets, None)
    }

    /// Writes one value for each pair of values of two labels.
    pub(super) fn write_by_two<'w, V: EncodeGaugeValue>(
        &mut self,
        (name, labels): (&str, [&str; 2]),
        help: &str,
        values: impl IntoIterator<Item = ([&'w str; 2], V)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, metric_type(name))?;
        let [first, second] = labels;
        for ([one, other], value) in values {
            family.encode_family(&[(first, one), (second, other)])?.encode_gauge(&value)?;
        }
        Ok(())
    }
}

/// Returns the type of a metric. The text format names a counter with its ending, which the
/// library's own counters (`OpenMetrics`) omit in the descriptor.
fn metric_type(name: &str) -> MetricType {
    if name.ends_with(TOTAL) { MetricType::Counter } else { MetricType::Gauge }
}

/// Converts microseconds to seconds. A number parsed from a text is written as the same text again.
#[expect(clippy::disallowed_types, reason = "the library takes floats; none of these is money")]
fn seconds(micros: u64) -> f64 {
    let whole = Duration::from_micros(micros);
    format!("{}.{:06}", whole.as_secs(), whole.subsec_micros()).parse().unwrap_or_default()
}
