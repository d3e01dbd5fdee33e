//! Renders metrics in the text format that Prometheus reads: families of resources, intents, the
//! service, the journal, events and hooks.

use std::fmt;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::engine::protocol::diagnostics::Metrics;
use crate::model::events::scripts::{ALL_BYTES_MAX, ALL_KEYS_MAX};

const PREFIX: &str = "reckon";

pub fn metrics(all: &Metrics) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(MetricsCollector(all.clone())));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _written = encode_registry(&mut text, &registry);
    text
}

#[derive(Debug)]
struct MetricsCollector(Metrics);

impl Collector for MetricsCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (out, all) = (&mut Families(encoder), &self.0);
        resource_families(out, all)?;
        intent_families(out, all)?;
        service_families(out, all)?;
        journal_families(out, all)?;
        event_families(out, all)?;
        hook_families(out, all)
    }
}

/// End of the name of a counter.
const TOTAL: &str = "_total";

/// Writer of families, one after the other.
#[derive(Debug)]
struct Families<'a>(DescriptorEncoder<'a>);

impl Families<'_> {
    /// Writes one value without labels: a counter if the name ends in `_total`, else a gauge.
    fn write_one(
        &mut self,
        name: &str,
        help: &str,
        value: impl EncodeGaugeValue + Copy,
    ) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, metric_type(name))?.encode_gauge(&value)
    }

    /// Writes one duration in seconds; the unit ends the name.
    fn write_seconds(&mut self, name: &str, help: &str, value: i64) -> fmt::Result {
        let unit = Some(&Unit::Seconds);
        self.0.encode_descriptor(name, help, unit, MetricType::Gauge)?.encode_gauge(&value)
    }

    /// Writes one value for each value of a label: counters or gauges as [`Self::write_one`].
    fn write_by<'w, V: EncodeGaugeValue>(
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
    fn histogram(
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

    /// Writes one value for each pair of values of two labels.
    fn write_by_two<'w, V: EncodeGaugeValue>(
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

fn resource_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let now = &all.overview;
    let states = [
        ("all", now.resources),
        ("ready", now.ready),
        ("changing", now.changes),
        ("stuck", now.stuck),
        ("orphaned", now.orphaned),
        ("suspended", now.suspended),
        ("under_way", now.under_way),
        ("broken", now.broken),
    ];
    let help = "Resources by state; those in state `stuck` need attention.";
    out.write_by(("resources", "state"), help, None, states)?;
    let reasons = all.reasons.iter().map(|(reason, number)| (reason.as_str(), *number));
    let help = "Resources that differ from their document or are not ready, by reason.";
    out.write_by(("unready", "reason"), help, None, reasons)?;
    let conditions = all.conditions.iter().flat_map(|(kind, statuses)| {
        statuses.iter().map(move |(status, count)| ([kind.as_str(), status.as_str()], *count))
    });
    let help = "Resources by condition and its status.";
    out.write_by_two(("conditions", ["type", "status"]), help, conditions)?;
    let help = "Resources that a limit of the configuration blocks.";
    out.write_one("over_limit", help, all.over_limit)?;
    out.write_one("backoff", "Resources that wait for another try.", all.backoff)?;
    let help =
        "Objects that may exist twice: created again without proof that the first call failed.";
    out.write_one("possible_orphans", help, all.possible_orphans)
}

fn intent_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let counts = all.intents.iter().map(|(state, (number, _))| (state.as_str(), *number));
    let help = "Effects that are not settled, by state; those on hold need attention.";
    out.write_by(("intents", "state"), help, None, counts)?;
    let ages = all.intents.iter().map(|(state, (_, age))| (state.as_str(), *age));
    let help = "Age of the oldest effect in each state.";
    out.write_by(("intents_oldest", "state"), help, Some(&Unit::Seconds), ages)
}

fn service_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let traffic = &all.overview.traffic;
    let help = "Answers 429 of the service since the process began.";
    out.write_one("service_throttled_total", help, traffic.throttled)?;
    let help = "Merchants whose calls are slowed down.";
    out.write_one("service_slowed_merchants", help, traffic.slowed)?;
    let help = "Hosts of the service that do not answer.";
    out.write_one("service_silent_hosts", help, traffic.silent.len())
}

#[expect(clippy::disallowed_types, reason = "the library takes floats; none of these is money")]
fn journal_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let help = "Sequence of the journal's last record.";
    out.write_one("journal_position", help, all.overview.position)?;
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

/// Converts microseconds to seconds. A number parsed from a text is written as the same text again.
#[expect(clippy::disallowed_types, reason = "the library takes floats; none of these is money")]
fn seconds(micros: u64) -> f64 {
    let whole = Duration::from_micros(micros);
    format!("{}.{:06}", whole.as_secs(), whole.subsec_micros()).parse().unwrap_or_default()
}

fn event_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let (events, ledger) = (&all.events, &all.events.ledger);
    let posts = all.posts.iter().map(|(answer, number)| (answer.as_str(), *number));
    let help = "Posts to our webhook addresses since the process began, by answer.";
    out.write_by(("posts_total", "answer"), help, None, posts)?;
    let ways =
        [("posted", ledger.verified.saturating_sub(ledger.missed)), ("listed", ledger.missed)];
    let help = "Events that the service showed, by where their ids came from first.";
    out.write_by(("events_total", "way"), help, None, ways)?;
    let help = "Events that were older than the known version of their object.";
    out.write_one("events_stale_total", help, ledger.stale)?;
    let odd = [
        ("repeated", ledger.repeated),
        ("garbled", ledger.malformed),
        ("other_mode", ledger.other_mode),
    ];
    let help = "Posts that were stored without any effect.";
    out.write_by(("posts_odd_total", "what"), help, None, odd)?;
    let help = "Posts whose event the service does not have: forged ones.";
    out.write_one("events_forged", help, ledger.forged)?;
    let help = "Events that were posted and wait to be read from the service.";
    out.write_one("events_waiting", help, ledger.waiting)?;
    out.write_one("events_held", "Events that are kept.", ledger.stored_count())?;
    let help = "Settled events that retention dropped.";
    out.write_one("events_dropped_total", help, ledger.dropped)?;
    if let Some(age) = events.horizon_age_seconds {
        let help = "Time since the horizon of retention, of the merchant that is furthest behind.";
        out.write_seconds("events_horizon_age", help, age)?;
    }
    if let Some(age) = events.age_seconds {
        let help = "Age of the newest event: our time minus the service's.";
        out.write_seconds("events_newest_age", help, age)?;
    }
    if let Some(lag) = events.lag_seconds {
        let help = "Time since the list of events was last read to its end, of the merchant that waits longest.";
        out.write_seconds("events_lag", help, lag)?;
    }
    Ok(())
}

fn hook_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let (events, ledger) = (&all.events, &all.events.ledger);
    let runs = [("well", ledger.runs), ("failed", ledger.failures)];
    out.write_by(("hook_runs_total", "end"), "Hook runs, by outcome.", None, runs)?;
    let fates = ledger.actions;
    let fates = [
        ("done", fates.done),
        ("refused", fates.refused),
        ("invalid", fates.invalid),
        ("unknown", fates.unknown),
        ("skipped", fates.skipped),
    ];
    out.write_by(("hook_actions_total", "fate"), "Actions of hooks, by outcome.", None, fates)?;
    let help = "Actions of hooks that are not settled.";
    out.write_one("hook_actions_waiting", help, events.actions_waiting)?;
    let failed = [("again", events.hooks_again), ("dead", events.hooks_dead)];
    let help = "Failed hook runs; those in state `dead` need attention.";
    out.write_by(("hooks_failed", "stands"), help, None, failed)?;
    out.write_one("hooks_kept_keys", "Keys that scripts store.", events.kept.keys)?;
    out.write_one("hooks_kept_keys_max", "Keys that scripts may store.", ALL_KEYS_MAX)?;
    out.write_one("hooks_kept_bytes", "Bytes that scripts store.", events.kept.bytes)?;
    out.write_one("hooks_kept_bytes_max", "Bytes that scripts may store.", ALL_BYTES_MAX)?;
    let help = "Partner webhooks that match no submission of this state.";
    out.write_one("notices_ignored_total", help, events.notices_ignored)?;
    let help = "Scripts whose file is missing; their events wait.";
    out.write_one("hooks_absent", help, events.hooks_absent)?;
    let help = "Pairs of script and merchant whose events wait, since too many runs failed.";
    out.write_one("hooks_stopped", help, events.hooks_stopped)
}

#[cfg(test)]
mod tests;
