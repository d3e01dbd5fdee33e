use super::*;
use crate::engine::tests::records::key;
use crate::model::alerts::AlertChoices;

const HELD: AlertVerdict = AlertVerdict::Problem(AlertClass::Held);
const BLOCKED: AlertVerdict = AlertVerdict::Problem(AlertClass::Blocked);

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap()
}

fn alerts() -> Alerts {
    let choices = AlertChoices::all();
    Alerts::new(vec![AlertTarget { name: "ops".to_owned(), choices, is_program: true }])
}

/// Notes states of a resource, each at its time, and returns the number of changes to tell.
fn waiting(states: &[(i64, AlertVerdict)], until: i64) -> usize {
    let mut alerts = alerts();
    for (seconds, verdict) in states {
        alerts.hand_over(at(*seconds));
        alerts.note(key("Invoice/a"), *verdict, at(*seconds));
    }
    alerts.hand_over(at(until));
    alerts.targets.values().map(TargetAlerts::waiting).sum()
}

#[test]
fn a_state_is_sent_once_it_has_stood_for_a_minute() {
    assert_eq!(waiting(&[(0, HELD)], 59), 0);
    assert_eq!(waiting(&[(0, HELD)], 60), 1);
    assert_eq!(waiting(&[(0, HELD), (30, HELD)], 60), 1, "its time goes on");
    assert_eq!(waiting(&[(0, HELD), (30, BLOCKED)], 60), 0, "another one begins anew");
    assert_eq!(waiting(&[(0, HELD), (30, BLOCKED)], 90), 1);
    assert_eq!(waiting(&[(0, HELD), (59, AlertVerdict::Over)], 600), 0);
}

#[test]
fn an_undecided_state_waits_for_the_decision() {
    let undecided = AlertVerdict::Undecided;
    assert_eq!(waiting(&[(0, HELD), (30, undecided)], 600), 0);
    assert_eq!(waiting(&[(0, HELD), (30, undecided), (61, HELD)], 61), 1);
    assert_eq!(waiting(&[(0, HELD), (30, undecided), (61, AlertVerdict::Over)], 600), 0);
}

#[test]
fn what_waits_for_a_message_is_discarded_when_it_changes() {
    assert_eq!(waiting(&[(0, HELD), (62, AlertVerdict::Over)], 62), 0);
    assert_eq!(waiting(&[(0, HELD), (62, BLOCKED)], 121), 0);
    assert_eq!(waiting(&[(0, HELD), (62, BLOCKED)], 122), 1);
}

#[test]
fn nothing_is_due_while_nothing_is_new() {
    let mut alerts = alerts();
    alerts.note(key("Invoice/a"), AlertVerdict::Over, at(0));
    assert_eq!(alerts.next_due(), None);
    let told = ReportedAlert { class: AlertClass::Held, at: at(0) };
    let known = vec![(("ops".to_owned(), key("Invoice/a")), told)];
    assert_eq!(alerts.load(known, Vec::new()), BTreeSet::new());
    assert_eq!(alerts.take_touched().len(), 1);
    alerts.note(key("Invoice/a"), HELD, at(1));
    assert_eq!(alerts.next_due(), None, "it was reported before the restart");
    alerts.note(key("Invoice/a"), AlertVerdict::Over, at(2));
    assert_eq!(alerts.next_due(), Some(at(62)));
}

#[test]
fn a_target_that_takes_no_alerts_any_more_is_named() {
    let mut alerts = alerts();
    let told = ReportedAlert { class: AlertClass::Held, at: at(0) };
    let known = vec![(("chat".to_owned(), key("Invoice/a")), told)];
    let part = AlertPart { message: "m".to_owned(), at: at(0), changes: Vec::new() };
    let forgotten = alerts.load(known, vec![(("ops".to_owned(), 0), part)]);
    assert_eq!(forgotten, BTreeSet::from(["chat".to_owned()]));
    assert_eq!(alerts.next_due(), Some(DateTime::<Utc>::MIN_UTC), "the message has no result");
}

#[test]
fn without_a_target_nothing_is_noted() {
    let mut alerts = Alerts::new(Vec::new());
    alerts.touch(&[key("Invoice/a")]);
    assert_eq!((alerts.take_touched().len(), alerts.next_due()), (0, None));
}
