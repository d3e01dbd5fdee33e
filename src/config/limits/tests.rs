//! Laws of `policy.limits` and `policy.approvals`.

use std::path::Path;

use super::*;
use crate::base::id::Mode;
use crate::base::money::Currency;
use crate::config::settings::Config;
use crate::policy::PolicyRules;

const HEAD: &str = "apiVersion: reckon.dev/v1\nkind: Config\n";

fn parse(policy: &str) -> Result<Config, Vec<String>> {
    let text = format!("{HEAD}policy:\n{policy}");
    let parsed = Config::parse("reckon.yaml", Path::new("/work"), text.into_bytes());
    parsed.map_err(|broken| {
        let told = broken.problems.into_iter();
        told.map(|one| format!("{}:{} {}; {}", one.line, one.column, one.message, one.help))
            .collect()
    })
}

#[test]
fn a_mode_has_its_own_limits_or_those_of_both_and_each_knows_its_line() {
    let config = parse(
        "  limits:\n    per_object: [\"5000.00 USD\", {env: EUROS}]\n    deletes_per_run: 3\n    \
         test: {per_object: [], emails_per_day: 7}\n    \
         merchants:\n      books/acme: {per_day: [\"70.00 USD\"]}\n  \
         approvals: {above: [\"1000.00 USD\"], approvers: 3, valid_for: 2d}\n",
    )
    .unwrap();
    let env = |name: &str| (name == "EUROS").then(|| "40 EUR".to_owned());
    let PolicyRules { limits, approvals, .. } = config.rules(&env).unwrap();
    let euro: Currency = "EUR".parse().unwrap();
    let live = limits.live.per_object.as_ref().unwrap();
    assert_eq!(&*live.name, "policy.limits.per_object");
    assert_eq!(live.allowed_in(Currency::USD), Some((500_000, "reckon.yaml:5")));
    assert_eq!(live.allowed_in(euro), Some((4000, "reckon.yaml:5")));
    assert_eq!(live.allowed_in("GBP".parse().unwrap()), Some((0, "reckon.yaml:5")), "not listed");
    assert_eq!(limits.test.per_object.as_ref().unwrap().allowed_in(Currency::USD), None, "lifted");
    let deletes = limits.general(Mode::Test).deletes_per_run.as_ref().unwrap();
    assert_eq!((deletes.maximum, &*deletes.place), (3, "reckon.yaml:6"), "of both");
    assert!(limits.live.emails_per_day.is_none());
    let books = &limits.merchants[&"Merchant/books/acme".parse::<Key>().unwrap()];
    let day = books.per_day.as_ref().unwrap();
    assert_eq!(&*day.name, "policy.limits.merchants.books/acme.per_day");
    assert_eq!(day.allowed_in(Currency::USD), Some((7000, "reckon.yaml:9")));
    assert_eq!((approvals.approvers, approvals.above[&Currency::USD]), (3, 100_000));
    assert_eq!(approvals.valid_for, Duration::from_hours(48));
    let unset = config.rules(&|_: &str| None).unwrap_err().to_string();
    assert!(unset.contains("EUROS") && unset.contains("reckon.yaml:5"), "{unset}");
}

#[test]
fn without_a_word_nothing_is_limited() {
    let rules = parse("  amounts: decimal\n").unwrap().rules(&|_: &str| None).unwrap();
    assert!(rules.limits.is_empty());
    assert_eq!(rules.approvals, ApprovalRules::default());
}

#[test]
fn every_mistake_has_its_place_and_says_what_to_write() {
    let told = parse(
        "  limits:\n    per_object: [\"5000\", \"-1.00 USD\", \"1 USD\", \"2 USD\"]\n    per_year: []\n    \
         per_day: 5\n    deletes_per_run: few\n    merchants: {\"a b\": {}, acme: {live: {}}}\n  \
         approvals: {approvers: 0}\n",
    )
    .unwrap_err();
    let starts: Vec<&str> =
        told.iter().filter_map(|one| one.split_once(' ')).map(|(place, _)| place).collect();
    assert_eq!(starts, ["5:18", "5:26", "5:48", "6:5", "7:14", "8:22", "9:17", "9:35", "10:26"]);
    assert!(told[0].contains("has no currency"), "{told:?}");
    assert!(told[3].contains("`per_day`") || told[3].contains("`per_run`"), "{told:?}");
}
