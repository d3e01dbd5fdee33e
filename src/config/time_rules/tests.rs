//! Laws of `policy.windows` and `policy.freezes`.

use std::path::Path;

use chrono::{DateTime, Utc};

use crate::base::id::Key;
use crate::config::settings::Config;
use crate::policy::TimeRules;

const HEAD: &str = "apiVersion: reckon.dev/v1\nkind: Config\n";

fn parse(policy: &str) -> Result<TimeRules, Vec<String>> {
    let text = format!("{HEAD}policy:\n{policy}");
    match Config::parse("reckon.yaml", Path::new("/work"), text.into_bytes()) {
        Ok(config) => Ok(config.rules(&|_: &str| None).unwrap().times),
        Err(broken) => Err(broken
            .problems
            .iter()
            .map(|one| format!("{}:{} {}; {}", one.line, one.column, one.message, one.help))
            .collect()),
    }
}

fn sentence(rules: &TimeRules, merchant: &str, at: &str) -> Option<String> {
    let merchant: Key = format!("Merchant/{merchant}").parse().unwrap();
    let at: DateTime<Utc> = at.parse().unwrap();
    rules.hold(Some(&merchant), at).map(|hold| hold.sentence())
}

#[test]
fn windows_and_freezes_are_read_with_the_zone_of_the_rule_or_of_the_policy() {
    let rules = parse(
        "  zone: Europe/Paris\n  windows:\n    - {name: office, days: [mon, fri], from: \"09:00\", to: \"17:00\", merchants: [shop, \"cafe-*\"]}\n    \
         - name: all-day\n      from: 00:00\n      to: 24:00\n      zone: America/New_York\n      merchants: [books/shop]\n  \
         freezes:\n    - name: year-end\n      from: 2026-12-20 18:00\n      to: 2027-01-02\n      reason: books are closed\n",
    )
    .unwrap();
    let says = |merchant, at| sentence(&rules, merchant, at);
    let until = |text: &str| Some(format!("outside window `office`: nothing is sent until {text}"));
    assert_eq!(says("shop", "2026-12-14T07:59:00Z"), until("2026-12-14 09:00 +01:00"));
    assert_eq!(says("shop", "2026-12-14T08:00:00Z"), None);
    assert_eq!(says("cafe-nord", "2026-12-15T08:00:00Z"), until("2026-12-18 09:00 +01:00"));
    assert_eq!(
        (says("other", "2026-12-15T08:00:00Z"), says("books/shop", "2026-12-15T08:00:00Z")),
        (None, None)
    );
    assert_eq!(
        says("other", "2026-12-20T17:00:00Z").unwrap(),
        "freeze `year-end` (books are closed): nothing is sent until 2027-01-02 00:00 +01:00"
    );
}

#[test]
fn every_mistake_has_its_place_and_the_text_to_write() {
    let wrong = parse(
        "  zone: Europe/Pari\n  windows:\n    - {name: a, days: [monday], from: 9, to: \"25:00\", zone: Europe/Pariss}\n    \
         - {name: b, days: [], from: \"24:00\", to: \"09:00\"}\n    - {from: \"09:00\", to: \"09:00\", merchants: [\"*\", \"a b\"]}\n    - office\n  \
         freezes:\n    - {name: a, from: 2026-12-20, to: 2026-12-19 18:00}\n    - {name: c, from: tomorrow, until: 2027-01-01}\n    \
         - {name: d, from: {env: FROM}, to: 2027-01-01, merchants: []}\n",
    )
    .unwrap_err();
    let places = [
        ("4:9 unknown time zone `Europe/Pari`", "`Europe/Paris`"),
        ("6:24 unknown value `monday`", "`mon`"),
        ("6:39 `9` is not a time of day", "`\"09:00\"`"),
        ("6:46 `25:00` is not a time of day", "`\"24:00\"`"),
        ("6:61 unknown time zone `Europe/Pariss`", "`Europe/Paris`"),
        ("7:17 with no day, the window never opens", "every day"),
        ("7:33 a window cannot open at the end of a day", "`\"00:00\"`"),
        ("8:7 `name` is missing", "`name: office`"),
        ("8:27 the window closes at the time at which it opens", "`\"24:00\"`"),
        ("8:48 `*` would cover only merchants of the default namespace", "`default/*`"),
        ("8:53 `a b` is not the name of a merchant", "`cafe-*`"),
        ("9:7 a window or freeze must be a mapping", "{name: office"),
        ("11:14 two windows or freezes have the name `a`", "another name"),
        ("11:39 the freeze ends before it begins", "later time"),
        ("12:23 `tomorrow` is not a local time", "2026-12-20 18:00"),
        ("12:33 unknown key `until`", "`to`"),
        ("12:7 `to` is missing", "2027-01-02 08:00"),
        ("13:23 a window or freeze cannot name a variable", "itself"),
        ("13:52 the rule covers no merchant", "leave out"),
    ];
    for (problem, help) in places {
        let found = wrong.iter().find(|one| one.starts_with(problem));
        assert!(found.is_some_and(|one| one.contains(help)), "{problem}: {wrong:#?}");
    }
    assert_eq!(wrong.len(), places.len(), "{wrong:#?}");
}

#[test]
fn a_rule_without_any_zone_is_refused() {
    let wrong = parse("  freezes: [{name: a, from: 2026-12-20, to: 2026-12-21}]\n").unwrap_err();
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with("4:13 the rule has no time zone"), "{wrong:?}");
    assert!(parse("  zone: {env: ZONE}\n").is_err());
    assert!(parse("  amounts: minor\n").unwrap().rules().is_empty());
}
