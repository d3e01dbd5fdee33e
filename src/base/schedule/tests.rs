//! Laws of schedules, and an independent oracle: `tests/data/schedules.jsonl`.

use chrono::Days;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The oracle's result for one schedule: its first dates and amounts, at most
/// [`ORACLE_OCCURRENCES`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OracleCase {
    amount: i64,
    expect: Vec<(NaiveDate, i64)>,
    max_amount: Option<i64>,
    max_occurrences: Option<u32>,
    schedule: Schedule,
}

const ORACLE_OCCURRENCES: usize = 24;
const ORACLE_CASES: usize = 300;

fn schedule(json: serde_json::Value) -> Schedule {
    serde_json::from_value(json).unwrap()
}

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn first_dates(schedule: &Schedule, count: usize) -> Vec<String> {
    schedule.dates().take(count).map(|date| date.to_string()).collect()
}

fn fields(schedule: &Schedule) -> Vec<&'static str> {
    schedule.problems().iter().map(|problem| problem.field).collect()
}

#[test]
fn every_case_of_the_oracle_agrees() {
    let cases = include_str!("../../../tests/data/schedules.jsonl");
    let mut seen = 0;
    for (line, text) in cases.lines().enumerate() {
        let case: OracleCase = serde_json::from_str(text).unwrap();
        let OracleCase { amount, expect, max_amount, max_occurrences, schedule } = case;
        let limits = RecurrenceLimits { max_occurrences, max_amount };
        let got: Vec<_> = occurrences(&schedule, amount, limits).take(ORACLE_OCCURRENCES).collect();
        assert_eq!(got, expect, "line {}: {text}", line.saturating_add(1));
        seen += 1;
    }
    assert_eq!(seen, ORACLE_CASES);
}

#[test]
fn a_short_month_does_not_pull_the_later_ones_forward() {
    let monthly = json!({"start": "2027-01-31", "interval_unit": "MONTH", "interval_delay": 1});
    let expect = ["2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30"];
    assert_eq!(first_dates(&schedule(monthly), 4), expect);
}

#[test]
fn days_that_fall_together_count_once() {
    let ends = json!({"start": "2027-01-30", "interval_unit": "MONTH", "interval_delay": 1,
        "days": ["LAST", "30", "31", "29"]});
    let expect = ["2027-01-30", "2027-01-31", "2027-02-28", "2027-03-29", "2027-03-30"];
    assert_eq!(first_dates(&schedule(ends), 5), expect);
}

#[test]
fn the_end_is_the_last_date_that_may_be_due() {
    let mut daily = schedule(
        json!({"start": "2027-01-01", "interval_unit": "DAY", "interval_delay": 2, "end": "2027-01-05"}),
    );
    assert_eq!(first_dates(&daily, 9), ["2027-01-01", "2027-01-03", "2027-01-05"]);
    assert_eq!(daily.next_on_or_after(date("2027-01-04")), Some(date("2027-01-05")));
    assert_eq!(daily.next_on_or_after(date("2027-01-06")), None);
    daily.end = Some(date("2027-01-04"));
    assert_eq!(first_dates(&daily, 9), ["2027-01-01", "2027-01-03"]);
}

#[test]
fn dates_stop_where_the_calendar_does() {
    let weekly = Schedule {
        start: NaiveDate::MAX.checked_sub_days(Days::new(8)).unwrap(),
        interval_unit: IntervalUnit::Week,
        interval_delay: 1,
        end: None,
        days: Vec::new(),
    };
    assert_eq!(weekly.dates().count(), 2);
    let every_day = Schedule { days: (1..=7).map(Day::Number).collect(), ..weekly.clone() };
    assert_eq!(every_day.dates().count(), 9);
    assert_eq!(weekly.next_on_or_after(NaiveDate::MAX), None);
    assert_eq!(every_day.next_on_or_after(NaiveDate::MAX), Some(NaiveDate::MAX));
}

#[test]
fn every_fault_is_named_by_its_field_and_leaves_no_dates() {
    for (unit, delay, end, days, expect) in [
        ("DAY", 0, "2027-01-01", json!([]), vec!["interval_delay"]),
        ("DAY", 1, "2026-12-31", json!([]), vec!["end"]),
        ("DAY", 1, "2027-01-09", json!(["1"]), vec!["days"]),
        ("WEEK", 2, "2027-02-01", json!(["1"]), vec!["days"]),
        ("WEEK", 1, "2027-02-01", json!(["0"]), vec!["days"]),
        ("WEEK", 1, "2027-02-01", json!(["8", "LAST"]), vec!["days", "days"]),
        ("MONTH", 1, "2027-02-01", json!(["32"]), vec!["days"]),
        ("MONTH", 1, "2027-02-01", json!(["5", "6", "5"]), vec!["days"]),
        ("MONTH", 0, "2026-02-01", json!(["0"]), vec!["interval_delay", "days", "end"]),
        ("MONTH", 1, "2027-01-09", json!(["10"]), vec!["end"]),
    ] {
        let json = json!({"start": "2027-01-01", "interval_unit": unit, "interval_delay": delay,
            "end": end, "days": days});
        let faulty = schedule(json);
        assert_eq!(fields(&faulty), expect, "{faulty:?}");
        assert_eq!(faulty.dates().next(), None);
        assert_eq!(faulty.next_on_or_after(date("2027-01-01")), None);
    }
}

#[test]
fn a_schedule_in_json_has_the_names_of_the_service_and_leaves_out_what_is_empty() {
    let bare = json!({"start": "2027-01-01", "interval_unit": "DAY", "interval_delay": 3});
    assert_eq!(serde_json::to_value(schedule(bare.clone())).unwrap(), bare);
    let full = json!({"start": "2027-01-01", "interval_unit": "MONTH", "interval_delay": 1,
        "end": "2028-01-01", "days": ["15", "LAST"]});
    assert_eq!(serde_json::to_value(schedule(full.clone())).unwrap(), full);
    for bad in ["", "last", "+1", "01", "1.0", "256", "MON"] {
        assert!(bad.parse::<Day>().is_err(), "{bad}");
    }
}

#[test]
fn the_last_payment_is_what_remains() {
    let daily = json!({"start": "2027-01-01", "interval_unit": "DAY", "interval_delay": 1});
    let limits = RecurrenceLimits { max_occurrences: None, max_amount: Some(250) };
    let daily = schedule(daily);
    let amounts: Vec<i64> = occurrences(&daily, 100, limits).map(|(_, amount)| amount).collect();
    assert_eq!(amounts, [100, 100, 50]);
    assert_eq!(occurrences(&daily, 0, limits).next(), None);
}

fn any_date() -> impl Strategy<Value = NaiveDate> {
    (0_u64..40_000).prop_map(|days| date("1970-01-01").checked_add_days(Days::new(days)).unwrap())
}

fn any_schedule() -> impl Strategy<Value = Schedule> {
    let week = prop::collection::btree_set((1_u8..=7).prop_map(Day::Number), 0..5)
        .prop_map(|days| (IntervalUnit::Week, days));
    let month_day = prop_oneof![4 => (1_u8..=31).prop_map(Day::Number), 1 => Just(Day::Last)];
    let month =
        prop::collection::btree_set(month_day, 0..5).prop_map(|days| (IntervalUnit::Month, days));
    let unit =
        prop_oneof![week, month, Just((IntervalUnit::Day, std::collections::BTreeSet::new()))];
    let end = prop::option::of(0_u64..4_000);
    (any_date(), unit, 1_u32..15, end).prop_map(|(start, (interval_unit, days), delay, end)| {
        let interval_delay = if days.is_empty() { delay } else { 1 };
        let end = end.and_then(|days| start.checked_add_days(Days::new(days)));
        Schedule { start, interval_unit, interval_delay, end, days: days.into_iter().collect() }
    })
}

proptest! {
    #[test]
    fn dates_rise_strictly_between_start_and_end(schedule in any_schedule()) {
        let dates: Vec<NaiveDate> = schedule.dates().take(100).collect();
        prop_assert!(dates.is_sorted_by(|a, b| a < b));
        prop_assert!(dates.iter().all(|date| *date >= schedule.start));
        prop_assert!(dates.iter().all(|date| schedule.end.is_none_or(|end| *date <= end)));
    }

    #[test]
    fn a_jump_lands_where_a_walk_does(schedule in any_schedule(), from in any_date()) {
        let walked = schedule.dates().find(|date| *date >= from);
        prop_assert_eq!(schedule.next_on_or_after(from), walked);
    }

    #[test]
    fn what_is_collected_never_passes_the_limits(
        schedule in any_schedule(),
        amount in 1_i64..1_000,
        most in prop::option::of(1_i64..20_000),
        count in prop::option::of(0_u32..50),
    ) {
        let limits = RecurrenceLimits { max_occurrences: count, max_amount: most };
        let taken: Vec<i64> =
            occurrences(&schedule, amount, limits).take(60).map(|(_, amount)| amount).collect();
        prop_assert!(most.is_none_or(|most| taken.iter().sum::<i64>() <= most));
        prop_assert!(count.is_none_or(|count| taken.len() <= usize::try_from(count).unwrap()));
        let whole = taken.len().saturating_sub(1);
        prop_assert!(taken.iter().take(whole).all(|taken| *taken == amount));
    }
}
