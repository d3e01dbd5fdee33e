//! The status at a glance: what is shown, and what is left out.

use crate::engine::protocol::views::{Overview, StandingCounts};
use crate::model::plan::Standing;
use crate::render::status::*;

fn quiet() -> StatusView {
    let standings = StandingCounts { ready: 5, ..StandingCounts::default() };
    let overview = Overview {
        resources: 5,
        ready: 5,
        standings,
        coverage: TreeState::Complete,
        head: "9f86d081884c7d65".to_owned(),
        ..Overview::default()
    };
    StatusView { at: "2030-01-31T10:05:00Z".to_owned(), overview, ..StatusView::default() }
}

fn waiting(name: &str, standing: Standing, next: &[(&str, &str)]) -> ResourceView {
    let item = serde_json::json!({
        "kind": "Invoice", "namespace": "default", "name": name, "ready": false,
        "standing": standing, "reason": "WaitsFor", "message": "waits for Merchant/acme",
        "verdict": "wait", "file": "specs/a.yaml", "line": 3,
        "next": next.iter().map(|(command, purpose)| {
            serde_json::json!({"command": command, "purpose": purpose})
        }).collect::<Vec<_>>(),
    });
    serde_json::from_value(item).unwrap()
}

#[test]
fn a_quiet_daemon_fits_in_a_few_lines() {
    insta::assert_snapshot!(text(&quiet(), true, Screen::PLAIN), @r"
    reckon 0.1.0: the daemon runs, record 0 with head 9f86d081884c
    Service    no call fails
    Resources  5: 5 ready
    Effects    all are settled
    ");
}

#[test]
fn a_target_that_no_alert_reaches_is_named_with_the_reason() {
    let mut status = quiet();
    status.overview.alerts = vec![UndeliveredAlertsView {
        target: "ops".to_owned(),
        since: "2030-01-31T10:02:00.000Z".to_owned(),
        reason: "no connection".to_owned(),
        waiting: 4,
    }];
    let shown = text(&status, true, Screen::PLAIN);
    let line =
        "Alerts     not delivered to `ops` since 10:02Z (3m): no connection; 4 changes to report\n";
    assert!(shown.contains(line), "{shown}");
}

#[test]
fn a_disk_with_little_space_is_told() {
    let mut status = quiet();
    status.overview.disk_low_bytes = Some(20 << 20);
    let shown = text(&status, true, Screen::PLAIN);
    let line = "Disk       only 20 MiB are free for the state; a daemon without space ends\n";
    assert!(shown.contains(line), "{shown}");
}

#[test]
fn without_a_daemon_nothing_is_said_of_the_service() {
    let shown = text(&quiet(), false, Screen::PLAIN);
    assert!(shown.contains("no daemon runs") && !shown.contains("no call fails"), "{shown}");
}

#[test]
fn trouble_is_shown_with_its_age_and_the_way_on() {
    let mut status = quiet();
    let silent = DownHostView {
        host: "pay.example:443".to_owned(),
        since: "2030-01-31T10:02:00.000Z".to_owned(),
        next: "2030-01-31T10:05:40.000Z".to_owned(),
    };
    status.overview.traffic.silent = vec![silent];
    status.overview.resources = 12;
    status.overview.standings.waiting = 7;
    status.intents = [("in_doubt".to_owned(), (1, 250)), ("held".to_owned(), (0, 0))].into();
    status.hooks.scripts = vec!["dunning".to_owned()];
    status.hooks.totals.failed = 2;
    status.hooks.totals.requested = 1;
    let way = [("reckon describe Merchant/acme", "see what it waits for")];
    let mut root = waiting("a", Standing::Waiting, &[("reckon link Invoice/a", "print the link")]);
    root.reason = "AwaitsIntake".to_owned();
    status.not_ready = vec![root, waiting("b", Standing::Waiting, &way)];
    insta::assert_snapshot!(text(&status, true, Screen::PLAIN), @r"
    reckon 0.1.0: the daemon runs, record 0 with head 9f86d081884c
    Service    pay.example:443: silent since 10:02Z (3m), next try in 40s
    Resources  12: 5 ready, 7 waiting
    Effects    1 in doubt (oldest 4m): reckon intents
    Hooks      2 failed runs will be tried again: reckon events failed
               1 requested run not made yet: reckon events failed

    • Invoice/a  AwaitsIntake  specs/a.yaml:3
        waits for Merchant/acme
    • Invoice/b  WaitsFor  specs/a.yaml:3
        waits for Merchant/acme
      and 5 more: reckon get --not-ready

    Next
      reckon link Invoice/a  # print the link
    ");
}

#[test]
fn long_lists_are_cut_and_say_so() {
    let mut status = quiet();
    status.overview.resources = 35;
    status.not_ready = (0..20).map(|n| waiting(&n.to_string(), Standing::Waiting, &[])).collect();
    let shown = text(&status, true, Screen::PLAIN);
    assert!(shown.contains("    and 17 more with this problem\n"), "{shown}");
    assert!(shown.contains("  and 10 more: reckon get --not-ready\n"), "{shown}");
    assert!(shown.lines().count() < 12, "{shown}");
}
