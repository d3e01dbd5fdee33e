//! Obstacles to a removal after its document disappeared.

use std::time::Duration;

use crate::base::id::Mode;
use crate::model::change::RemovalStatus;
use crate::model::effect::StepWork;
use crate::model::state::orphan::{MarkedForPrune, MissingDocument, PruneAllowed};
use crate::plan::planner::tests::facts::*;
use crate::plan::planner::tests::*;
use crate::policy::prune::Configured;

const CARD: &str = "SavedMethod/card";
const CLUB: &str = "RecurringCharge/club";

pub(super) fn marked(since: &str) -> MarkedForPrune {
    MarkedForPrune { at: at(since), commit: None }
}

pub(super) fn allowed(at_once: bool) -> PruneAllowed {
    PruneAllowed { at: at(NOW), actor: "uid 7".to_owned(), at_once }
}

/// A merchant of this mode with two cards; the document of one, which is removed with it, is
/// missing.
fn gone(prune: PruneGuards, mode: &str) -> Rig {
    let documents = vec![merchant("acme", mode), deleted(card("card")), card("other")];
    let mut rig = Rig::with(prune, documents);
    rig.remove(&[CARD]);
    rig
}

fn going(rig: &Rig, name: &str) -> RemovalStatus {
    let Reason::Removal(going) = rig.reason(name) else { panic!("{}", rig.step(name)) };
    *going
}

#[test]
fn what_is_live_goes_once_it_was_marked_for_long_enough_or_a_person_says_at_once() {
    let (unmarked, waits, goes) = ("Wait Unmarked ready", "Wait Marked ready", "Delete Removed");
    let (late, due) = ("2026-11-21T03:00:01Z", "2026-11-21T03:00:00Z");
    for (mark, word, live) in [
        (None, None, unmarked),
        (None, Some(allowed(false)), unmarked),
        (None, Some(allowed(true)), goes),
        (Some(marked(late)), None, waits),
        (Some(marked(late)), Some(allowed(false)), waits),
        (Some(marked(late)), Some(allowed(true)), goes),
        (Some(marked(due)), None, goes),
        (Some(marked("2026-11-01T00:00:00Z")), None, goes),
    ] {
        for (mode, step) in [("live", live), ("test", goes)] {
            let mut rig = gone(PruneGuards::default(), mode);
            let absence = MissingDocument { marked: mark.clone(), allowed: word.clone() };
            rig.know(CARD, |known| known.missing_document = Some(Box::new(absence)));
            assert_eq!(rig.step(CARD), step, "{mode} {mark:?} {word:?}");
            assert_eq!(rig.planner.date_dependent.contains(&key(CARD)), step == waits);
        }
    }
}

#[test]
fn a_mark_tells_since_when_and_until_when() {
    let mut rig = gone(PruneGuards::default(), "live");
    assert!(rig.whole(CARD).work.is_none());
    let absence = MissingDocument { marked: Some(marked("2026-11-22T01:00:00Z")), allowed: None };
    rig.know(CARD, |known| known.missing_document = Some(Box::new(absence)));
    let (since, until) = (at("2026-11-22T01:00:00Z"), at("2026-11-23T01:00:00Z"));
    assert_eq!(going(&rig, CARD), RemovalStatus::Marked { until, since });
    rig.known.now = until;
    rig.touch(&[CARD]);
    assert_eq!(rig.step(CARD), "Delete Removed");
    assert!(matches!(rig.whole(CARD).work.as_deref(), Some(StepWork::Effect(_))));
}

#[test]
fn a_delay_is_told_in_its_largest_whole_unit_and_none_is_no_delay() {
    for (seconds, told) in
        [(86_400, "24h"), (3600, "1h"), (5400, "90m"), (60, "1m"), (61, "61s"), (3601, "3601s")]
    {
        let delay = Configured::default_of(Duration::from_secs(seconds));
        let rig = gone(PruneGuards { delay, ..PruneGuards::without_guards() }, "live");
        assert_eq!(going(&rig, CARD), RemovalStatus::Unmarked { delay: told.to_owned() });
    }
    assert_eq!(gone(PruneGuards::without_guards(), "live").step(CARD), "Delete Removed");
}

#[test]
fn what_is_to_stay_is_left_as_it_is_whatever_the_guards_say() {
    let mut rig = Rig::watched(vec![merchant("acme", "live"), card("card")]);
    rig.remove(&[CARD]);
    assert_eq!(rig.step(CARD), "Orphan Orphaned ready");
    assert_eq!(rig.guarded(), Vec::<String>::new());
    assert!(!rig.planner.may_be_allowed(&key(CARD)));
}

#[test]
fn a_resource_of_a_merchant_with_another_name_by_now_is_live_as_that_one_is() {
    let other = card_of("apex", "other", "other");
    let documents = vec![merchant("apex", "live"), deleted(card_of("apex", "card", "card")), other];
    let mut rig = Rig::watched(documents);
    rig.remove(&[CARD]);
    rig.know(CARD, |known| known.merchant = key("Merchant/acme"));
    assert_eq!(rig.reason(CARD), Reason::WaitsFor(vec![key("Merchant/acme")]));
    rig.know("Merchant/acme", |known| known.moved_to = Some(Box::new(key("Merchant/apex"))));
    rig.touch(&[CARD]);
    assert_eq!(rig.step(CARD), "Wait Unmarked ready");
    assert_eq!(rig.planner.prune_state.holders(&key("Merchant/apex")), [key(CARD)]);
}

#[test]
fn what_is_used_goes_after_what_uses_it_and_a_merchant_goes_last() {
    let mut rig = Rig::applied(vec![
        deleted(acme()),
        deleted(card("card")),
        deleted(charge("club", "card", 20)),
    ]);
    let public_key = json!("pk_0123456789abcdefghij");
    rig.know("Merchant/acme", |known| known.facts["public_key"] = public_key);
    rig.remove(&["Merchant/acme", CARD, CLUB]);
    let waits = |rig: &Rig, name| {
        let Reason::WaitsFor(keys) = rig.reason(name) else { panic!("{}", rig.step(name)) };
        keys.iter().map(Key::short).collect::<Vec<_>>()
    };
    assert_eq!(rig.step(CLUB), "Delete Neutralised ready");
    assert_eq!(waits(&rig, CARD), [CLUB]);
    assert_eq!(waits(&rig, "Merchant/acme"), [CLUB, CARD]);
    rig.know(CLUB, |known| known.exists = false);
    assert_eq!((rig.step(CLUB), rig.step(CARD)), ("none".to_owned(), "Delete Removed".to_owned()));
    rig.know(CARD, |known| known.exists = false);
    assert_eq!(rig.step("Merchant/acme"), "Delete Deauthorised ready");
    rig.known.unsettled = vec![key(CLUB)];
    rig.touch(&["Merchant/acme"]);
    assert_eq!(waits(&rig, "Merchant/acme"), [CLUB]);
}

#[test]
fn what_a_document_still_uses_stays() {
    let mut rig = Rig::applied(vec![acme(), deleted(card("card")), charge("club", "card", 20)]);
    rig.remove(&[CARD]);
    assert_eq!(rig.reason(CARD), Reason::InUse(vec![key(CLUB)]));
    rig.remove(&[CLUB]);
    rig.touch(&[CARD]);
    assert_eq!(rig.step(CARD), "Delete Removed");
}

#[test]
fn a_removal_that_was_refused_is_not_tried_again_until_it_is_another_one() {
    let mut rig = gone(PruneGuards::without_guards(), "test");
    let Some(StepWork::Effect(effect)) = rig.whole(CARD).work.as_deref().cloned() else { panic!() };
    let refused = refusal(effect.applied.digest);
    rig.know(CARD, |known| known.refusal = Some(refused));
    assert_eq!(rig.reason(CARD), Reason::Refused("no (HTTP 422)".to_owned()));
    assert_eq!(rig.step(CARD), "Blocked Refused");
    assert!(rig.whole(CARD).work.is_none());
    rig.know(CARD, |known| known.refusal = Some(refusal(card("other").digest)));
    assert_eq!(rig.step(CARD), "Delete Removed");
}

#[test]
fn what_is_stopped_still_shows_what_it_would_no_longer_collect() {
    let money = |rig: &Rig| {
        let money = rig.whole(CLUB).money;
        money.iter().map(|one| format!("{} {}", one.amount, one.meaning)).collect::<Vec<_>>()
    };
    let documents =
        vec![merchant("acme", "live"), card("card"), deleted(charge("club", "card", 20))];
    let mut rig = Rig::watched(documents);
    rig.remove(&[CLUB]);
    assert_eq!(rig.step(CLUB), "Blocked Guarded ready");
    assert_eq!(money(&rig), ["20.00 USD no_longer_collected_per_occurrence"]);
    assert!(rig.whole(CLUB).work.is_none());
    assert_eq!(rig.whole(CLUB).money[0].mode, Mode::Live);
    rig.write(vec![charge("gym", "card", 30)]);
    assert_eq!(rig.step(CLUB), "Wait Unmarked ready", "it is not the last one any more");
    assert_eq!(money(&rig), ["20.00 USD no_longer_collected_per_occurrence"]);
}

#[test]
fn a_cancellation_that_was_refused_still_shows_its_money() {
    let mut rig = Rig::applied(vec![acme(), card("card"), deleted(charge("club", "card", 20))]);
    rig.remove(&[CLUB]);
    let look = |known: &mut Observed, after: Value| {
        let charge = known.remote_id.clone();
        let quarter = at(NOW).timestamp().div_euclid(900);
        let about = json!({"charge": charge, "account": null, "ended": false, "after": after, "at": quarter});
        known.facts["looked"] = json!({"about": about, "status": "ACTIVE", "pending": []});
    };
    rig.know(CLUB, |known| look(known, Value::Null));
    let Some(StepWork::Effect(effect)) = rig.whole(CLUB).work.as_deref().cloned() else { panic!() };
    assert_eq!(effect.name, "recurring.cancel");
    rig.know(CLUB, |known| {
        known.refusal = Some(refusal(effect.applied.digest));
        look(known, json!(1));
    });
    assert_eq!(rig.step(CLUB), "Blocked Refused");
    assert_eq!(rig.whole(CLUB).money[0].amount.to_string(), "20.00 USD");
}
