//! Documents that take over the state known under another name.

use crate::model::change::RemovalStatus;
use crate::plan::planner::tests::facts::*;
use crate::plan::planner::tests::*;

const JANE: &str = "Contact/jane";
const NEW: &str = "Contact/new";

/// A contact whose document is missing, and one that claims to have been moved from its name.
fn rig() -> Rig {
    let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane"), contact("joe", "Joe")]);
    rig.remove(&[JANE]);
    rig.write(vec![moved(contact("new", "Jane"), JANE)]);
    rig
}

/// Returns the reason why a document cannot take over a name.
fn why(rig: &Rig, name: &str) -> String {
    let Reason::Removal(going) = rig.reason(name) else { panic!("{}", rig.step(name)) };
    let RemovalStatus::CannotMove(why) = *going else { panic!("{}", rig.step(name)) };
    assert_eq!(rig.step(name), "Blocked CannotMove");
    why.strip_prefix("reckon.dev/moved-from: ").unwrap().to_owned()
}

#[test]
fn a_document_takes_over_what_is_known_and_its_old_name_has_no_step_any_more() {
    let mut rig = rig();
    let moved_from = RemovalStatus::Moved { from: key(JANE) };
    assert_eq!(rig.reason(NEW), Reason::Removal(Box::new(moved_from)));
    assert_eq!((rig.step(NEW).as_str(), rig.step(JANE).as_str()), ("Update Moved", "none"));
    let whole = rig.whole(NEW);
    assert!(whole.work.is_none() && whole.changes.is_empty(), "nothing changes on the service");
    rig.write(vec![moved(contact("new", "Joan"), JANE)]);
    let changes: Vec<String> =
        rig.whole(NEW).changes.into_iter().map(|change| change.path).collect();
    assert_eq!(changes, ["first_name"]);
}

#[test]
fn once_it_is_written_down_it_is_a_resource_like_any_other() {
    let mut rig = rig();
    let mut known = Observed::clone(&rig.known.observed[&key(JANE)]);
    known.former = vec![key(JANE)];
    rig.know(NEW, |new| *new = known);
    assert_eq!(rig.step(NEW), "Settled InSync ready");
    rig.know(JANE, |known| {
        *known = Observed::unknown(key("Merchant/acme"), at(NOW));
        known.moved_to = Some(Box::new(key(NEW)));
    });
    assert_eq!(rig.step(JANE), "none");
    rig.write(vec![contact("jane", "Jane")]);
    let away = RemovalStatus::MovedAway { to: key(NEW) };
    assert_eq!(rig.reason(JANE), Reason::Removal(Box::new(away)));
    assert_eq!(rig.step(JANE), "Blocked MovedAway");
}

#[test]
fn a_move_waits_for_what_is_under_way_and_for_every_document() {
    let mut rig = rig();
    rig.known.open.insert(key(JANE), intent(JANE, IntentState::Open { attempt: 1 }));
    rig.touch(&[NEW]);
    assert_eq!(rig.reason(NEW), Reason::WaitsFor(vec![key(JANE)]));
    assert_eq!(rig.step(NEW), "Wait WaitsFor");
    rig.known.desired.tree_state = TreeState::Incomplete;
    rig.touch(&[NEW]);
    assert_eq!(rig.step(NEW), "Wait AbsenceNotBelieved");
}

#[test]
fn a_name_that_is_wanted_itself_is_not_taken_over() {
    let still = "Contact/jane still has a document: remove that document, or the annotation";
    let mut rig = rig();
    rig.write(vec![contact("jane", "Jane")]);
    rig.touch(&[NEW]);
    assert_eq!(why(&rig, NEW), still);
    rig.remove(&[JANE]);
    rig.touch(&[NEW]);
    assert_eq!(rig.step(NEW), "Update Moved");
    rig.known.desired.broken.insert(key(JANE));
    rig.touch(&[NEW]);
    assert_eq!(why(&rig, NEW), still, "a document that cannot be used is one");
    rig.write(vec![moved(contact("joe", "Joe"), "Contact/joe")]);
    assert_eq!(
        why(&rig, "Contact/joe"),
        "Contact/joe is the name of this document itself: remove the annotation"
    );
}

#[test]
fn a_name_is_taken_over_for_nothing_that_is_there_and_from_nothing_that_is_not() {
    let mut rig = rig();
    rig.write(vec![
        moved(contact("joe", "Joe"), JANE),
        moved(contact("new", "Jane"), "Contact/jan"),
    ]);
    let there = "Contact/joe already has an object of its own: remove the annotation";
    assert_eq!(why(&rig, "Contact/joe"), there);
    let unknown = "Contact/jan has no known object to take over: correct the name, or remove the annotation \
                   to create Contact/new";
    assert_eq!(why(&rig, NEW), unknown);
    rig.know("Contact/jan", |known| known.exists = false);
    rig.touch(&[NEW]);
    assert_eq!(why(&rig, NEW), unknown, "it is known not to be there");
    rig.know("Contact/jan", |known| known.moved_to = Some(Box::new(key("Contact/jo"))));
    rig.touch(&[NEW]);
    assert_eq!(why(&rig, NEW), "Contact/jan was moved to Contact/jo before: write that name");
}

#[test]
fn a_name_that_two_claim_is_nobody_s_until_one_of_them_takes_it_back() {
    let mut rig = rig();
    let both = "names Contact/jane as its former name, too: keep the annotation in one document";
    let made = rig.write(vec![moved(contact("two", "Jane"), JANE)]);
    assert_eq!(made, [JANE, NEW, "Contact/two"], "the other claim is looked at again");
    assert_eq!(why(&rig, NEW), format!("Contact/two {both}"));
    assert_eq!(why(&rig, "Contact/two"), format!("Contact/new {both}"));
    assert_eq!(rig.step(JANE), "none");
    let made = rig.write(vec![contact("two", "Two")]);
    assert_eq!(made, [JANE, NEW, "Contact/two"]);
    assert_eq!(rig.step(NEW), "Update Moved");
    assert_eq!(rig.step("Contact/two"), "Create NotCreated");
    assert_eq!(rig.remove(&[NEW]), [JANE, NEW]);
    assert_eq!(rig.step(JANE), "Orphan Orphaned ready", "no document claims it any more");
    assert_eq!(rig.step(NEW), "none");
}

#[test]
fn a_claim_that_stays_the_same_makes_nothing_else_again() {
    let mut rig = rig();
    assert_eq!(rig.touch(&[NEW]), [NEW]);
    assert_eq!(rig.write(vec![moved(contact("new", "Joan"), JANE)]), [NEW]);
    let made = rig.write(vec![moved(contact("new", "Jane"), "Contact/jan")]);
    assert_eq!(made, ["Contact/jan", JANE, NEW], "both names are looked at again");
    assert_eq!(rig.step(JANE), "Orphan Orphaned ready");
}
