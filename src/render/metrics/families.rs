//! Families of metrics: a name, its meaning, its unit and its numbers.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

/// What ends the name of a counter.
const TOTAL: &str = "_total";

/// Writes families, one after the other.
#[derive(Debug)]
pub(super) struct Families<'a>(DescriptorEncoder<'a>);

impl<'a> Families<'a> {
    pub(super) fn new(encoder: DescriptorEncoder<'a>) -> Self {
        Self(encoder)
    }

    /// One number without labels. It is a counter where the name ends in `_total`, else a gauge.
    pub(super) fn one(
        &mut self,
        name: &str,
        help: &str,
        value: impl EncodeGaugeValue + Copy,
    ) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, kind(name))?.encode_gauge(&value)
    }

    /// One span in seconds; the unit ends the name.
    pub(super) fn seconds(&mut self, name: &str, help: &str, value: i64) -> fmt::Result {
        let unit = Some(&Unit::Seconds);
        self.0.encode_descriptor(name, help, unit, MetricType::Gauge)?.encode_gauge(&value)
    }

    /// One number for each word of a label: counters where the name ends in `_total`, else gauges.
    pub(super) fn by<'w, V: EncodeGaugeValue>(
        &mut self,
        (name, label): (&str, &str),
        help: &str,
        values: impl IntoIterator<Item = (&'w str, V)>,
    ) -> fmt::Result {
        self.labelled((name, label), help, None, values)
    }

    /// One span in seconds for each word of a label; the unit ends the name.
    pub(super) fn seconds_by<'w>(
        &mut self,
        (name, label): (&str, &str),
        help: &str,
        values: impl IntoIterator<Item = (&'w str, i64)>,
    ) -> fmt::Result {
        self.labelled((name, label), help, Some(&Unit::Seconds), values)
    }

    /// How long things took, in seconds: their sum and count, and how many took no longer than each bound and longer than
    /// the one before it.
    #[expect(
        clippy::disallowed_types,
        reason = "the library takes spans as floats; none of these is money"
    )]
    pub(super) fn histogram(
        &mut self,
        name: &str,
        help: &str,
        (sum, count): (f64, u64),
        buckets: &[(f64, u64)],
    ) -> fmt::Result {
        let unit = Some(&Unit::Seconds);
        let mut family = self.0.encode_descriptor(name, help, unit, MetricType::Histogram)?;
        family.encode_histogram::<NoLabelSet>(sum, count, buckets, None)
    }

    /// One number for each pair of words of two labels.
    pub(super) fn by_two<'w, V: EncodeGaugeValue>(
        &mut self,
        (name, labels): (&str, [&str; 2]),
        help: &str,
        values: impl IntoIterator<Item = ([&'w str; 2], V)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, kind(name))?;
        let [first, second] = labels;
        for ([one, other], value) in values {
            family.encode_family(&[(first, one), (second, other)])?.encode_gauge(&value)?;
        }
        Ok(())
    }

    fn labelled<'w, V: EncodeGaugeValue>(
        &mut self,
        (name, label): (&str, &str),
        help: &str,
        unit: Option<&Unit>,
        values: impl IntoIterator<Item = (&'w str, V)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, unit, kind(name))?;
        for (word, value) in values {
            family.encode_family(&[(label, word)])?.encode_gauge(&value)?;
        }
        Ok(())
    }
}

/// The text form names a counter with its ending, which the library's own counters (`OpenMetrics`) leave out of the
/// descriptor.
fn kind(name: &str) -> MetricType {
    if name.ends_with(TOTAL) { MetricType::Counter } else { MetricType::Gauge }
}
