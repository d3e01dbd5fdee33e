use super::*;
use crate::engine::tests::records::key;
use crate::model::alerts::AlertChoices;

const HELD: Option<AlertClass> = Some(AlertClass::Held);

fn target(choices: AlertChoices) -> TargetAlerts {
    TargetAlerts::new(AlertTarget { name: "ops".to_owned(), choices, is_program: false })
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap()
}

fn change(name: &str, before: Option<AlertClass>, after: Option<AlertClass>) -> AlertChange {
    AlertChange { key: key(name), before, after }
}

/// Takes the one message that is due, and keeps it as open.
fn tell(target: &mut TargetAlerts, now: DateTime<Utc>) -> Vec<AlertChange> {
    let work = target.take_work(now);
    let [TargetWork::Send(changes)] = work.as_slice() else { panic!("{work:?}") };
    let (message, changes) = ("m".to_owned(), changes.clone());
    let open = OpenMessage { message, began: now, changes: changes.clone(), is_under_way: true };
    target.open = Some(open);
    changes
}

fn end(target: &mut TargetAlerts, outcome: Option<AlertOutcome>, now: DateTime<Utc>) {
    target.end(outcome, "why".to_owned(), now);
}

#[test]
fn changes_are_gathered_and_two_messages_are_a_minute_apart() {
    let mut target = target(AlertChoices::all());
    target.note(&key("Invoice/a"), HELD, at(0));
    target.note(&key("Invoice/b"), Some(AlertClass::Drift), at(10));
    assert_eq!(target.next_due(), Some(at(15)));
    assert_eq!(target.take_work(at(14)), []);
    assert_eq!(tell(&mut target, at(15)).len(), 2);
    assert_eq!(target.next_due(), None, "it is under way");
    end(&mut target, Some(AlertOutcome::Delivered), at(16));
    target.note(&key("Invoice/b"), None, at(17));
    assert_eq!(target.next_due(), Some(at(76)));
    let recovered = [change("Invoice/b", Some(AlertClass::Drift), None)];
    assert_eq!(tell(&mut target, at(76)), recovered);
    assert!(target.undelivered.is_none());
}

#[test]
fn what_did_not_arrive_is_sent_later_and_the_wait_grows_to_a_bound() {
    let mut target = target(AlertChoices::all());
    target.note(&key("Invoice/a"), HELD, at(0));
    let mut now = at(15);
    let mut waits = Vec::new();
    for _ in 0..8 {
        assert_eq!(tell(&mut target, now), [change("Invoice/a", None, HELD)]);
        end(&mut target, Some(AlertOutcome::NotSent), now);
        let due = target.next_due().unwrap();
        waits.push(due.signed_duration_since(now).num_minutes());
        now = due;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30]);
    let since = target.undelivered.as_ref().map(|undelivered| undelivered.since);
    assert_eq!((since, target.waiting()), (Some(at(15)), 1));
    tell(&mut target, now);
    end(&mut target, Some(AlertOutcome::Delivered), now);
    assert_eq!((&target.undelivered, target.next_due()), (&None, None));
}

#[test]
fn a_problem_that_ended_before_it_could_be_told_is_never_told() {
    let mut target = target(AlertChoices::all());
    target.note(&key("Invoice/a"), HELD, at(0));
    tell(&mut target, at(15));
    target.note(&key("Invoice/a"), None, at(20));
    end(&mut target, Some(AlertOutcome::NotSent), at(25));
    assert_eq!((target.next_due(), target.reported.len()), (None, 0));
}

#[test]
fn a_refused_message_and_a_lost_answer_count_as_told() {
    for outcome in [AlertOutcome::Refused, AlertOutcome::InDoubt] {
        let mut target = target(AlertChoices::all());
        target.note(&key("Invoice/a"), HELD, at(0));
        tell(&mut target, at(15));
        end(&mut target, Some(outcome), at(16));
        assert!(!target.is_news(&key("Invoice/a"), HELD));
        assert_eq!(target.next_due(), None);
        assert!(target.undelivered.is_some(), "the operator can see it");
    }
}

#[test]
fn a_lost_answer_is_repeated_where_the_target_drops_repeats() {
    let mut target = target(AlertChoices::all());
    target.note(&key("Invoice/a"), HELD, at(0));
    tell(&mut target, at(15));
    end(&mut target, None, at(16));
    assert_eq!(target.take_work(at(75)), []);
    assert_eq!(target.take_work(at(76)), [TargetWork::Repeat]);
    let open = target.open.as_ref().unwrap();
    assert!(open.message == "m" && !open.is_expired(at(76)) && open.is_expired(at(86_415)));
}

#[test]
fn a_class_that_is_not_chosen_is_no_news_and_its_end_goes_without_a_message() {
    let classes = [AlertClass::Held].into();
    let mut target = target(AlertChoices { classes, recovered: false });
    let invoice = key("Invoice/a");
    assert!(!target.is_news(&invoice, Some(AlertClass::Drift)));
    target.note(&invoice, HELD, at(0));
    tell(&mut target, at(15));
    end(&mut target, Some(AlertOutcome::Delivered), at(16));
    assert!(!target.is_news(&invoice, Some(AlertClass::Drift)));
    target.note(&invoice, None, at(20));
    assert_eq!(target.take_work(at(200)), [TargetWork::Drop(vec![invoice])]);
    assert_eq!((target.reported.len(), target.next_due()), (0, None));
}
