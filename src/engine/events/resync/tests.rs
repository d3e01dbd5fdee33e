#![expect(clippy::wildcard_enum_match_arm, reason = "every other value fails the test")]

use chrono::TimeDelta;

use super::*;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{key, merchant, now};
use crate::model::record::Record;
use crate::model::state::lifecycle::EventsDropped;

fn request(name: Option<&str>) -> ResyncEvents {
    ResyncEvents { merchant: name.map(key), since: now(), without_hooks: true }
}

fn merchants() -> [Key; 2] {
    [key("Merchant/zeta"), merchant()]
}

fn begin(schedule: &mut EventSchedule, name: Option<&str>) -> oneshot::Receiver<Reply> {
    let (reply, answer) = oneshot::channel();
    let request = ResyncRequest { asked: request(name), done: Vec::new() };
    schedule.begin_resync(request, &merchants(), reply);
    answer
}

fn poll(merchant: Key, trouble: Option<&str>) -> PollResult {
    PollResult {
        merchant,
        done: trouble.is_none(),
        listed_at: None,
        again: true,
        count: ResyncCount { read: 3, new: 1, oldest: Some(now()) },
        trouble: trouble.map(str::to_owned),
        read_backs: 0,
        touched: BTreeSet::new(),
    }
}

fn lists(answer: &mut oneshot::Receiver<Reply>) -> Option<Vec<ResyncedEvents>> {
    match answer.try_recv().ok()? {
        Reply::Recovered(Ok(lists)) => Some(lists),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_resync_is_answered_once_every_list_was_read_in_the_order_of_names() {
    let (fixture, mut schedule) = (StateFixture::new(), EventSchedule::default());
    let mut answer = begin(&mut schedule, None);
    assert_eq!(schedule.due.in_order().count(), 2, "both lists are due at once");
    schedule.list_resynced(&poll(key("Merchant/zeta"), Some("no answer")), &fixture.shared);
    assert!(answer.try_recv().is_err(), "one list is left");
    schedule.list_resynced(&poll(merchant(), None), &fixture.shared);
    let lists = lists(&mut answer).unwrap();
    let told: Vec<(&str, u64, Option<&str>)> = lists
        .iter()
        .map(|list| (list.merchant.as_str(), list.read, list.trouble.as_deref()))
        .collect();
    assert_eq!(told, [("Merchant/acme", 3, None), ("Merchant/zeta", 3, Some("no answer"))]);
}

#[tokio::test(start_paused = true)]
async fn the_next_engine_reads_what_is_left_of_a_resync() {
    let (fixture, mut first) = (StateFixture::new(), EventSchedule::default());
    let mut answer = begin(&mut first, None);
    first.list_resynced(&poll(merchant(), None), &fixture.shared);
    let (request, reply) = first.take_resync().unwrap();
    assert!(first.take_resync().is_none());
    let mut next = EventSchedule::default();
    next.begin_resync(request, &merchants(), reply);
    assert_eq!(next.resync_start(&merchant()), None, "this list was read");
    next.list_resynced(&poll(key("Merchant/zeta"), Some("no answer")), &fixture.shared);
    let counts: Vec<u64> = lists(&mut answer).unwrap().iter().map(|list| list.new).collect();
    assert_eq!(counts, [1, 1], "what the first engine found counts");

    let mut first = EventSchedule::default();
    let _answer = begin(&mut first, None);
    first.list_resynced(&poll(merchant(), Some("the daemon ends")), &fixture.shared);
    assert!(first.take_resync().unwrap().0.done.is_empty(), "a list read in part is read again");
}

#[tokio::test(start_paused = true)]
async fn only_a_list_of_the_resync_is_read_from_further_back() {
    let mut schedule = EventSchedule::default();
    assert_eq!(schedule.resync_start(&merchant()), None);
    let _answer = begin(&mut schedule, Some("Merchant/acme"));
    assert_eq!(schedule.resync_start(&merchant()), Some((now(), true)));
    assert_eq!(schedule.resync_start(&key("Merchant/zeta")), None);
}

#[tokio::test(start_paused = true)]
async fn a_resync_of_an_unknown_merchant_or_beside_another_one_is_refused() {
    let mut schedule = EventSchedule::default();
    let refusal = |mut answer: oneshot::Receiver<Reply>| match answer.try_recv().unwrap() {
        Reply::Recovered(Err(why)) => why,
        other => panic!("{other:?}"),
    };
    let why = refusal(begin(&mut schedule, Some("Merchant/acne")));
    assert_eq!(why, "there is no merchant Merchant/acne; did you mean Merchant/acme?");
    assert_eq!(schedule.due.in_order().count(), 0, "nothing is read");
    let _running = begin(&mut schedule, None);
    let why = refusal(begin(&mut schedule, Some("Merchant/acme")));
    assert_eq!(why, "a recovery of events is already running");
}

#[tokio::test(start_paused = true)]
async fn a_merchant_that_cannot_be_read_yet_is_told_and_holds_up_nothing() {
    let (fixture, mut schedule) = (StateFixture::new(), EventSchedule::default());
    let mut answer = begin(&mut schedule, Some("Merchant/acme"));
    schedule.list_unreadable(&merchant(), "not connected".to_owned(), &fixture.shared);
    let lists = lists(&mut answer).unwrap();
    assert_eq!((lists[0].waits.as_deref(), lists[0].read), (Some("not connected"), 0));
    schedule.list_resynced(&poll(merchant(), None), &fixture.shared);
}

#[tokio::test(start_paused = true)]
async fn a_horizon_is_told_only_if_the_resync_reaches_behind_it() {
    for (hours, told) in [(1, true), (-1, false)] {
        let (mut fixture, mut schedule) = (StateFixture::new(), EventSchedule::default());
        fixture.record(crate::engine::tests::records::poll_record(now()));
        fixture.record(Record::EventsDropped(Box::new(EventsDropped {
            merchant: merchant(),
            horizon: now() + TimeDelta::hours(hours),
            events: (0, 0),
            forged: Vec::new(),
            malformed: Vec::new(),
            actions: Vec::new(),
            at: now(),
        })));
        let mut answer = begin(&mut schedule, Some("Merchant/acme"));
        schedule.list_resynced(&poll(merchant(), None), &fixture.shared);
        assert_eq!(lists(&mut answer).unwrap()[0].horizon.is_some(), told, "{hours}");
    }
}
