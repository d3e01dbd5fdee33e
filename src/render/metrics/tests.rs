//! Checks the exposition against the rules of `promtool check metrics`, and with promtool itself if
//! it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use chrono::DateTime;

use crate::base::histogram::HistogramCounts;
use crate::client::calls::CallTotals;
use crate::control::testing::overview;
use crate::engine::protocol::diagnostics::EventTotals;
use crate::engine::protocol::time_rules::{TimeRuleKind, TimeRuleView};
use crate::engine::protocol::views::Overview;
use crate::model::events::event::EventLedger;
use crate::model::state::health::PaymentCounts;
use crate::render::metrics::*;

/// Returns metrics without an empty family.
fn counts() -> Metrics {
    let ledger = EventLedger { posts: 4, verified: 5, missed: 2, ..EventLedger::default() };
    let (age_seconds, lag_seconds) = (Some(7), Some(3));
    let payments = PaymentCounts { declined: 2, ..PaymentCounts::default() };
    let rule = TimeRuleView {
        name: "office".to_owned(),
        kind: TimeRuleKind::Window,
        merchants: Vec::new(),
        holds: true,
        until: None,
        reason: None,
        waiting: 2,
    };
    Metrics {
        overview: Overview { rules: vec![rule], ..overview() },
        intents: [("held".to_owned(), (1, 7200))].into(),
        reasons: [("OverLimit".to_owned(), 1), ("a \"b\"\\\nc".to_owned(), 2)].into(),
        conditions: [("Synced".to_owned(), [("True".to_owned(), 3)].into())].into(),
        over_limit: 1,
        backoff: 0,
        possible_orphans: 0,
        syncs: HistogramCounts {
            within_us: vec![(100, 3), (250, 5)],
            count: 6,
            total_us: 1_500_001,
        },
        disk_free_bytes: Some(20 << 30),
        events: EventTotals {
            ledger,
            age_seconds,
            lag_seconds,
            horizon_age_seconds: Some(9),
            payments: [("Merchant/acme".to_owned(), payments)].into(),
            ..EventTotals::default()
        },
        calls: CallTotals {
            times: HistogramCounts { within_us: vec![(25_000, 1)], count: 2, total_us: 90_000 },
            by_outcome: [("done".to_owned(), 2)].into(),
        },
        reconciled_at: DateTime::from_timestamp(1_900_000_000, 0),
        posts: [("stored".to_owned(), 4)].into(),
        alerts: [("ops".to_owned(), [("delivered".to_owned(), 3)].into())].into(),
        configuration_refused: false,
    }
}

/// Parsed family of the text format.
#[derive(Debug, Default)]
struct Family<'a> {
    help: &'a str,
    kind: &'a str,
    unit: Option<&'a str>,
    samples: Vec<(&'a str, &'a str)>,
}

/// Parses the families of a text, each in one piece.
#[expect(clippy::disallowed_types, reason = "samples of the text form are floats")]
fn families(text: &str) -> BTreeMap<&str, Family<'_>> {
    let mut families: BTreeMap<&str, Family<'_>> = BTreeMap::new();
    let mut now = "";
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        if let (Some("#"), Some(word), Some(name)) = (words.next(), words.next(), words.next()) {
            let rest = words.next().unwrap_or_default();
            assert!(word != "HELP" || !families.contains_key(name), "{name} is in two pieces");
            now = name;
            let family = families.entry(name).or_default();
            match word {
                "HELP" => family.help = rest,
                "TYPE" => family.kind = rest,
                "UNIT" => family.unit = Some(rest),
                _ => panic!("{line}"),
            }
        } else {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            let family = families.get_mut(now).unwrap();
            let of_histogram = ["_bucket", "_sum", "_count"]
                .iter()
                .any(|end| family.kind == "histogram" && name.strip_suffix(end) == Some(now));
            assert!(name == now || of_histogram, "{name} has no help and no type of its own");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            family.samples.push((sample, value));
        }
    }
    families
}

/// Closes M12: the rules that `promtool check metrics` checks.
#[test]
fn every_family_keeps_the_rules_of_names_and_units() {
    let text = metrics(&counts());
    let families = families(&text);
    assert!(families.len() > 15, "{text}");
    let mut samples = BTreeSet::new();
    for (name, Family { help, kind, unit, samples: own }) in &families {
        assert!(name.starts_with("reckon_") && !help.is_empty() && !own.is_empty(), "{name}");
        assert!(["counter", "gauge", "histogram"].contains(kind), "{name}: {kind}");
        assert_eq!(name.ends_with("_total"), *kind == "counter", "{name}");
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(name.chars().all(plain), "{name}");
        for part in name.split('_') {
            let types = ["counter", "gauge", "histogram", "summary", "untyped"];
            let reserved = ["bucket", "count", "sum"];
            let other_units = [
                "s",
                "sec",
                "ms",
                "us",
                "ns",
                "milliseconds",
                "microseconds",
                "minutes",
                "hours",
                "days",
                "b",
                "kb",
                "mb",
                "kilobytes",
                "percent",
            ];
            for forbidden in [&types[..], &reserved, &other_units] {
                assert!(!forbidden.contains(&part), "{name}: {part}");
            }
        }
        assert!(unit.is_none_or(|unit| name.ends_with(&format!("_{unit}"))), "{name}: {unit:?}");
        assert_eq!(name.ends_with("_seconds"), *unit == Some("seconds"), "{name}");
        assert!(own.iter().all(|(sample, _)| samples.insert(*sample)), "{name} says a thing twice");
    }
    let declined = |merchant: &str| {
        let payments = &families["reckon_payments_total"].samples;
        payments.iter().find(|(sample, _)| sample.contains(merchant) && sample.contains("declined"))
    };
    assert_eq!(declined("merchant=\"Merchant/acme\"").map(|(_, value)| *value), Some("2"));
    let reconciled = &families["reckon_last_reconcile_timestamp_seconds"].samples;
    assert_eq!(reconciled[0].1, "1900000000");
    let sync = &families["reckon_journal_sync_seconds"].samples;
    let value = |of: &str| sync.iter().find(|(sample, _)| sample.ends_with(of)).unwrap().1;
    assert_eq!((value("le=\"0.0001\"}"), value("le=\"0.00025\"}")), ("3", "5"));
    assert_eq!((value("le=\"+Inf\"}"), value("_count"), value("_sum")), ("6", "6", "1.500001"));
}

/// Checks with promtool itself, if it is installed.
#[test]
fn promtool_finds_nothing_to_say() {
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped());
    let Ok(mut running) = promtool.spawn() else { return };
    running.stdin.take().unwrap().write_all(metrics(&counts()).as_bytes()).unwrap();
    assert!(running.wait().unwrap().success(), "promtool says above what is wrong");
}
