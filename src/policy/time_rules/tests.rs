use chrono::FixedOffset;
use chrono_tz::Europe::Paris;

use super::*;

const WORKDAYS: [Weekday; 5] =
    [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri];
const ALL_DAYS: [Weekday; 7] = [
    Weekday::Mon,
    Weekday::Tue,
    Weekday::Wed,
    Weekday::Thu,
    Weekday::Fri,
    Weekday::Sat,
    Weekday::Sun,
];

fn pattern(text: &str) -> MerchantPattern {
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    let prefix = name.strip_suffix('*');
    MerchantPattern {
        namespace: namespace.parse().unwrap(),
        name: prefix.unwrap_or(name).to_owned(),
        is_prefix: prefix.is_some(),
    }
}

fn rule(name: &str, span: RuleSpan, merchants: &[&str]) -> TimeRule {
    let merchants = merchants.iter().map(|text| pattern(text)).collect();
    TimeRule { name: name.into(), zone: Paris, merchants, span }
}

fn window(days: &[Weekday], from: &str, to: &str) -> RuleSpan {
    let time = |text: &str| NaiveTime::parse_from_str(text, "%H:%M").unwrap();
    RuleSpan::Window { days: days.to_vec(), from: time(from), to: time(to) }
}

fn freeze(from: &str, to: &str) -> RuleSpan {
    let moment = |text| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap();
    RuleSpan::Freeze { from: moment(from), to: moment(to), reason: Some("books".to_owned()) }
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse::<DateTime<FixedOffset>>().unwrap().to_utc()
}

fn merchant(name: &str) -> Key {
    format!("Merchant/{name}").parse().unwrap()
}

/// Returns the rule and the end of a merchant's hold.
fn held(rules: &TimeRules, name: &str, now: &str) -> Option<String> {
    let hold = rules.hold(Some(&merchant(name)), at(now))?;
    let (Hold::ScheduledFreeze(timed) | Hold::OutsideWindow(timed)) = hold else {
        panic!("{hold:?}")
    };
    Some(format!("{} {}", timed.rule, timed.until.to_rfc3339()))
}

fn state(span: RuleSpan, now: &str) -> (bool, String) {
    let state = rule("one", span, &[]).state(at(now));
    (state.holds, state.until.map(|until| until.to_rfc3339()).unwrap_or_default())
}

#[test]
fn a_window_opens_and_closes_by_the_clock_of_its_zone() {
    let office = || window(&WORKDAYS, "09:00", "17:00");
    let opens = |at: &str| (true, at.to_owned());
    let closes = |at: &str| (false, at.to_owned());
    assert_eq!(state(office(), "2026-12-14T07:59:59Z"), opens("2026-12-14T08:00:00+00:00"));
    assert_eq!(state(office(), "2026-12-14T08:00:00Z"), closes("2026-12-14T16:00:00+00:00"));
    assert_eq!(state(office(), "2026-12-14T16:00:00Z"), opens("2026-12-15T08:00:00+00:00"));
    assert_eq!(state(office(), "2026-12-18T16:00:00Z"), opens("2026-12-21T08:00:00+00:00"));
    assert_eq!(state(office(), "2026-07-14T07:00:00Z"), closes("2026-07-14T15:00:00+00:00"));
}

#[test]
fn a_window_over_midnight_belongs_to_the_day_of_its_beginning() {
    let night = || window(&[Weekday::Fri], "22:00", "06:00");
    assert_eq!(state(night(), "2026-12-19T04:59:59Z"), (false, "2026-12-19T05:00:00+00:00".into()));
    assert_eq!(state(night(), "2026-12-19T05:00:00Z"), (true, "2026-12-25T21:00:00+00:00".into()));
    assert_eq!(state(night(), "2026-12-18T03:00:00Z"), (true, "2026-12-18T21:00:00+00:00".into()));
}

#[test]
fn whole_days_that_adjoin_are_one_interval() {
    let week = window(&WORKDAYS, "00:00", "00:00");
    assert_eq!(state(week, "2026-12-15T12:00:00Z"), (false, "2026-12-18T23:00:00+00:00".into()));
    let always = window(&ALL_DAYS, "00:00", "00:00");
    assert!(!state(always, "2026-12-15T12:00:00Z").0);
}

/// Paris skips 02:00 to 03:00 on 2027-03-28, and has 02:00 to 03:00 twice on 2026-10-25.
#[test]
fn a_skipped_time_is_the_first_moment_after_the_gap() {
    let opens = || window(&[Weekday::Sun], "02:30", "05:00");
    assert_eq!(state(opens(), "2027-03-28T00:59:59Z"), (true, "2027-03-28T01:00:00+00:00".into()));
    assert_eq!(state(opens(), "2027-03-28T01:00:00Z"), (false, "2027-03-28T03:00:00+00:00".into()));
    let closes = window(&[Weekday::Sun], "01:00", "02:30");
    assert_eq!(state(closes, "2027-03-28T00:30:00Z"), (false, "2027-03-28T01:00:00+00:00".into()));
    let inside = window(&[Weekday::Sun], "02:10", "02:50");
    assert_eq!(state(inside, "2027-03-28T00:30:00Z"), (true, "2027-04-04T00:10:00+00:00".into()));
}

#[test]
fn of_a_time_that_occurs_twice_a_rule_begins_at_the_first_and_ends_at_the_second() {
    let opens = || window(&[Weekday::Sun], "02:30", "05:00");
    assert_eq!(state(opens(), "2026-10-25T00:29:00Z"), (true, "2026-10-25T00:30:00+00:00".into()));
    assert!(!state(opens(), "2026-10-25T00:30:00Z").0);
    let frozen = || freeze("2026-10-24 12:00", "2026-10-25 02:30");
    assert_eq!(state(frozen(), "2026-10-25T01:29:59Z"), (true, "2026-10-25T01:30:00+00:00".into()));
    assert_eq!(state(frozen(), "2026-10-25T01:30:00Z"), (false, String::new()), "over");
    let begins = freeze("2026-10-25 02:30", "2026-10-26 00:00");
    assert_eq!(state(begins, "2026-10-25T00:00:00Z"), (false, "2026-10-25T00:30:00+00:00".into()));
}

#[test]
fn a_rule_holds_the_merchants_that_it_names_and_no_others() {
    let rules = TimeRules::new(vec![
        rule("day", window(&ALL_DAYS, "09:00", "17:00"), &["shop", "cafe-*"]),
        rule("books", freeze("2026-12-01 00:00", "2026-12-10 00:00"), &["books/*"]),
    ]);
    let night = "2026-12-05T20:00:00Z";
    let morning = Some("day 2026-12-06T09:00:00+01:00".to_owned());
    assert_eq!(held(&rules, "shop", night), morning);
    assert_eq!(held(&rules, "cafe-nord", night), morning);
    assert_eq!(held(&rules, "shop-2", night), None);
    assert_eq!(held(&rules, "team/shop", night), None);
    assert_eq!(
        held(&rules, "books/any", night).as_deref(),
        Some("books 2026-12-10T00:00:00+01:00")
    );
    assert_eq!(rules.hold(None, at(night)), None, "no rule covers what has no merchant");
    let application = "MerchantApplication/shop".parse().unwrap();
    assert_eq!(rules.hold(Some(&application), at(night)), None);
    let texts: Vec<String> = rules.rules()[0].merchants.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["shop", "cafe-*"]);
}

#[test]
fn a_merchant_is_free_inside_any_of_its_windows_and_in_no_freeze() {
    let rules = TimeRules::new(vec![
        rule("office", window(&WORKDAYS, "09:00", "17:00"), &[]),
        rule("evening", window(&ALL_DAYS, "20:00", "22:00"), &["shop"]),
        rule("short", freeze("2026-12-21 00:00", "2026-12-24 00:00"), &[]),
        rule("long", freeze("2026-12-20 18:00", "2027-01-02 08:00"), &["shop"]),
    ]);
    let says = |name, now: &str| held(&rules, name, now).unwrap_or_default();
    assert_eq!(says("shop", "2026-12-14T20:30:00+01:00"), "", "inside one of its two windows");
    let (cafe, shop) =
        (says("cafe", "2026-12-14T18:00:00+01:00"), says("shop", "2026-12-14T18:00:00+01:00"));
    assert_eq!(cafe, "office 2026-12-15T09:00:00+01:00");
    assert_eq!(shop, "evening 2026-12-14T20:00:00+01:00", "the first one to open");
    assert_eq!(says("shop", "2026-12-22T10:00:00+01:00"), "long 2027-01-02T08:00:00+01:00");
    assert_eq!(says("cafe", "2026-12-22T10:00:00+01:00"), "short 2026-12-24T00:00:00+01:00");
    assert_eq!(says("cafe", "2026-12-24T10:00:00+01:00"), "");
    assert_eq!(held(&TimeRules::default(), "shop", "2026-12-22T10:00:00Z"), None);
}

#[test]
fn a_hold_says_its_rule_its_reason_and_its_end_in_the_zone() {
    let year_end = rule("year-end", freeze("2026-12-20 18:00", "2027-01-02 08:00"), &[]);
    let office = rule("office", window(&WORKDAYS, "09:00", "17:00"), &[]);
    let rules = TimeRules::new(vec![office, year_end]);
    let said = |now: &str| rules.hold(None, at(now)).unwrap().sentence();
    assert_eq!(
        said("2026-12-20T17:00:00Z"),
        "freeze `year-end` (books): nothing is sent until 2027-01-02 08:00 +01:00"
    );
    assert_eq!(
        said("2026-12-20T16:59:00Z"),
        "outside window `office`: nothing is sent until 2026-12-21 09:00 +01:00"
    );
}
