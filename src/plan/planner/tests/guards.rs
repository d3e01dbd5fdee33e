//! The guards' view of missing documents, and the steps that it changes.

use crate::model::change::{GuardTripped, RemovalStatus};
use crate::model::state::orphan::MissingDocument;
use crate::plan::planner::tests::facts::*;
use crate::plan::planner::tests::removal::allowed;
use crate::plan::planner::tests::*;

/// Returns the guard that stops a removal, with its counts.
fn trip(rig: &Rig, name: &str) -> GuardTripped {
    let Reason::Removal(going) = rig.reason(name) else { panic!("{}", rig.step(name)) };
    let RemovalStatus::Guarded { key: guarded, trip } = *going else {
        panic!("{}", rig.step(name))
    };
    assert_eq!(guarded, key(name));
    trip
}

/// Returns some cards that are removed with their documents.
fn cards(count: usize) -> Vec<Manifest> {
    let names = (0..count).map(|n| format!("c{n}"));
    let cards = names.map(|name| deleted(card(&name)));
    [acme()].into_iter().chain(cards).collect()
}

#[test]
fn the_last_of_a_kind_stays_until_there_is_another_one() {
    let mut rig = Rig::watched(cards(1));
    rig.remove(&["SavedMethod/c0"]);
    assert_eq!(rig.step("SavedMethod/c0"), "Blocked Guarded ready");
    let expected = GuardTripped {
        guard: "policy.prune.empty",
        why: "no document of kind SavedMethod is left, and 1 would be removed".to_owned(),
        set_at: "default".to_owned(),
    };
    assert_eq!(trip(&rig, "SavedMethod/c0"), expected);
    assert_eq!(rig.guarded(), ["SavedMethod/c0"]);
    assert!(rig.planner.may_be_allowed(&key("SavedMethod/c0")));
    let made = rig.write(vec![card("new")]);
    assert_eq!(made, ["SavedMethod/c0", "SavedMethod/new"]);
    assert_eq!(rig.step("SavedMethod/c0"), "Delete Removed");
    assert_eq!(rig.guarded(), Vec::<String>::new());
    assert!(rig.planner.may_be_allowed(&key("SavedMethod/c0")), "a word may be said before");
    assert!(!rig.planner.may_be_allowed(&key("SavedMethod/new")));
}

#[test]
fn a_document_that_nothing_was_made_of_counts_as_one() {
    let mut rig = Rig::watched(cards(1));
    rig.write(vec![card("new")]);
    rig.remove(&["SavedMethod/c0"]);
    assert_eq!(rig.step("SavedMethod/c0"), "Delete Removed");
    assert_eq!(rig.remove(&["SavedMethod/new"]), ["SavedMethod/c0", "SavedMethod/new"]);
    assert_eq!(rig.step("SavedMethod/c0"), "Blocked Guarded ready");
    assert_eq!(rig.step("SavedMethod/new"), "none");
    rig.write(vec![card("new")]);
    assert_eq!(rig.step("SavedMethod/c0"), "Delete Removed");
}

#[test]
fn a_document_that_is_written_again_counts_once() {
    let mut rig = Rig::watched([cards(1), vec![card("other")]].concat());
    for text in ["one", "two", "three"] {
        rig.write(vec![card_of("acme", "other", text)]);
    }
    rig.remove(&["SavedMethod/c0", "SavedMethod/other"]);
    assert_eq!(rig.step("SavedMethod/c0"), "Blocked Guarded ready");
    assert_eq!(trip(&rig, "SavedMethod/c0").guard, "policy.prune.empty");
}

#[test]
fn a_merchant_of_which_nothing_is_left_keeps_what_it_has() {
    let others = vec![merchant("other", "test"), card_of("other", "theirs", "theirs")];
    let mut rig = Rig::watched([cards(1), others].concat());
    rig.remove(&["SavedMethod/c0"]);
    assert_eq!(rig.step("SavedMethod/c0"), "Delete Removed", "its merchant has its own document");
    rig.remove(&["Merchant/acme"]);
    let told = trip(&rig, "SavedMethod/c0").why;
    assert_eq!(told, "no document of Merchant/acme is left, and 1 would be removed");
    rig.write(vec![acme()]);
    assert_eq!(rig.step("SavedMethod/c0"), "Delete Removed");
}

#[test]
fn one_more_removal_than_a_share_stops_all_of_them() {
    let mut rig = Rig::watched(cards(10));
    let three = ["SavedMethod/c0", "SavedMethod/c1", "SavedMethod/c2"];
    rig.remove(&three);
    assert_eq!(three.map(|name| rig.step(name)), ["Delete Removed"; 3]);
    let made = rig.remove(&["SavedMethod/c3"]);
    let four = [three[0], three[1], three[2], "SavedMethod/c3"];
    assert_eq!(made, [&["Merchant/acme"], &four[..]].concat());
    assert_eq!(rig.guarded(), four);
    let told = trip(&rig, "SavedMethod/c0");
    assert_eq!(told.guard, "policy.prune.percent");
    assert_eq!(told.why, "4 of 11 in the whole tree would be removed, which is more than 30 %");
    rig.know("SavedMethod/c3", |known| known.exists = false);
    assert_eq!(rig.guarded(), Vec::<String>::new());
    assert_eq!(three.map(|name| rig.step(name)), ["Delete Removed"; 3]);
}

#[test]
fn a_person_s_word_about_one_lets_that_one_go_and_the_others_stay() {
    let mut rig = Rig::watched(cards(2));
    let (first, second) = ("SavedMethod/c0", "SavedMethod/c1");
    rig.remove(&[first, second]);
    assert_eq!(rig.guarded(), [first, second]);
    let word = MissingDocument { marked: None, allowed: Some(allowed(false)) };
    rig.know(first, |known| known.missing_document = Some(Box::new(word)));
    assert_eq!(
        (rig.step(first).as_str(), rig.guarded()),
        ("Delete Removed", vec![second.to_owned()])
    );
    assert_eq!(rig.step(second), "Blocked Guarded ready");
    let seen = MissingDocument::default();
    rig.know(first, |known| known.missing_document = Some(Box::new(seen)));
    assert_eq!(rig.guarded(), [first, second], "an absence without a word is none");
}

#[test]
fn what_was_moved_or_never_there_is_not_gone() {
    let mut rig = Rig::watched(cards(1));
    let old = key("SavedMethod/c0");
    rig.remove(&["SavedMethod/c0"]);
    rig.write(vec![moved(deleted(card_of("acme", "new", "c0")), "SavedMethod/c0")]);
    assert_eq!(rig.step("SavedMethod/c0"), "none");
    assert_eq!(rig.step("SavedMethod/new"), "Update Moved");
    assert_eq!(rig.guarded(), Vec::<String>::new());
    assert!(!rig.planner.may_be_allowed(&old));
    let mut rig = Rig::watched(cards(1));
    rig.unmade("SavedMethod/c0");
    rig.remove(&["SavedMethod/c0"]);
    assert_eq!((rig.step("SavedMethod/c0").as_str(), rig.guarded()), ("none", Vec::new()));
    assert!(!rig.planner.may_be_allowed(&old));
}

#[test]
fn what_has_its_document_is_neither_gone_nor_held_by_what_it_uses() {
    let mut rig = Rig::watched([cards(1), vec![deleted(charge("club", "c0", 20))]].concat());
    rig.all();
    for name in ["Merchant/acme", "SavedMethod/c0", "RecurringCharge/club"] {
        assert_eq!(rig.step(name), "Settled InSync ready");
        assert!(!rig.planner.may_be_allowed(&key(name)), "{name}");
        assert_eq!(rig.planner.prune_state.holders(&key(name)), Vec::<Key>::new());
    }
}
