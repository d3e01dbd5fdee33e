//! The records of absences and names, and the counts of removals.

use crate::model::change::Removal;
use crate::model::record::Record;
use crate::model::state::orphan::{
    MarkedForPrune, MissingDocument, MissingDocumentChange, MissingDocumentRecord, MovedRecord,
};
use crate::plan::planner::tests::facts::*;
use crate::plan::planner::tests::removal::{allowed, marked};
use crate::plan::planner::tests::*;

const CARD: &str = "SavedMethod/card";

fn booked(rig: &Rig) -> Vec<Record> {
    rig.planner.pending_records(&rig.known, at(NOW), Some("c0ffee"))
}

fn said(name: &str, said: MissingDocumentChange) -> Record {
    Record::MissingDocument(Box::new(MissingDocumentRecord { key: key(name), change: said }))
}

fn mark(name: &str) -> Record {
    said(
        name,
        MissingDocumentChange::Marked(MarkedForPrune {
            at: at(NOW),
            commit: Some("c0ffee".to_owned()),
        }),
    )
}

/// A merchant of this mode with this card, whose document is missing.
fn gone(mode: &str, card: Manifest) -> Rig {
    let mut rig = Rig::applied(vec![merchant("acme", mode), card]);
    rig.remove(&[CARD]);
    rig
}

fn removed(rig: &Rig) -> Vec<(Removal, usize)> {
    rig.planner.removal_counts.iter().map(|(removal, count)| (*removal, *count)).collect()
}

#[test]
fn what_is_live_and_goes_is_marked_once() {
    let mut rig = gone("live", deleted(card("card")));
    assert_eq!(booked(&rig), [mark(CARD)]);
    let word = MissingDocument { marked: None, allowed: Some(allowed(true)) };
    rig.know(CARD, |known| known.missing_document = Some(Box::new(word)));
    assert_eq!(booked(&rig), [mark(CARD)], "a word is no mark");
    let seen = MissingDocument { marked: Some(marked(NOW)), allowed: None };
    rig.know(CARD, |known| known.missing_document = Some(Box::new(seen)));
    assert_eq!(booked(&rig), []);
    assert_eq!(booked(&gone("test", deleted(card("card")))), [], "a test waits for nothing");
}

#[test]
fn what_stays_is_marked_in_either_mode_unless_a_guard_holds_what_the_same_change_lost() {
    for mode in ["test", "live"] {
        assert_eq!(booked(&gone(mode, card("card"))), [mark(CARD)]);
    }
    let cards = (0..10).map(|n| format!("c{n}")).map(|name| match name.as_str() {
        "c0" => deleted(card(&name)),
        _ => card(&name),
    });
    let mut rig = Rig::watched([acme()].into_iter().chain(cards).collect());
    rig.remove(&["SavedMethod/c0", "SavedMethod/c1", "SavedMethod/c2", "SavedMethod/c3"]);
    assert_eq!(rig.step("SavedMethod/c0"), "Blocked Guarded ready");
    assert_eq!(booked(&rig), [], "the three go on counting");
    let word = MissingDocument { marked: None, allowed: Some(allowed(false)) };
    rig.know("SavedMethod/c0", |known| known.missing_document = Some(Box::new(word)));
    let kept = ["SavedMethod/c1", "SavedMethod/c2", "SavedMethod/c3"];
    assert_eq!(booked(&rig), kept.map(mark));
    for name in kept {
        let seen = MissingDocument { marked: Some(marked(NOW)), allowed: None };
        rig.know(name, |known| known.missing_document = Some(Box::new(seen)));
    }
    rig.know("SavedMethod/c0", |known| known.missing_document = None);
    assert_eq!(rig.step("SavedMethod/c0"), "Delete Removed", "earlier losses do not count");
}

#[test]
fn a_document_that_is_back_is_written_down_once() {
    let mut rig = gone("live", deleted(card("card")));
    let seen = MissingDocument { marked: Some(marked(NOW)), allowed: None };
    rig.know(CARD, |known| known.missing_document = Some(Box::new(seen)));
    rig.write(vec![deleted(card("card"))]);
    let back = said(CARD, MissingDocumentChange::Returned { at: at(NOW) });
    assert_eq!(booked(&rig), std::slice::from_ref(&back));
    rig.known.desired.tree_state = TreeState::Incomplete;
    assert_eq!(booked(&rig), [back], "it is there whatever else cannot be read");
    rig.know(CARD, |known| known.missing_document = None);
    assert_eq!(booked(&rig), []);
    rig.know(CARD, |known| (known.missing_document, known.exists) = (Some(Box::default()), false));
    assert_eq!(booked(&rig), [], "there is nothing that could have been away");
}

#[test]
fn a_move_is_written_down_until_it_is_known() {
    let mut rig = gone("live", deleted(card("card")));
    rig.write(vec![moved(card_of("acme", "new", "card"), CARD)]);
    let (from, to) = (key(CARD), key("SavedMethod/new"));
    let record = MovedRecord { from, to, at: at(NOW), commit: Some("c0ffee".to_owned()) };
    assert_eq!(booked(&rig), [Record::Moved(Box::new(record))]);
    rig.known.desired.tree_state = TreeState::Incomplete;
    assert_eq!(booked(&rig), [], "its old name may have a document");
    rig.known.desired.tree_state = TreeState::Complete;
    let known = rig.known.observed.remove(&key(CARD)).unwrap();
    rig.know("SavedMethod/new", |new| {
        *new = Observed { former: vec![key(CARD)], ..Observed::clone(&known) };
    });
    assert_eq!(booked(&rig), []);
    assert_eq!(rig.step("SavedMethod/new"), "Settled InSync ready");
}

#[test]
fn moves_come_first_then_what_is_back_then_marks() {
    let names = ["a", "b", "c"].map(|name| deleted(card(name)));
    let mut rig = Rig::applied([vec![merchant("acme", "live")], names.to_vec()].concat());
    rig.remove(&["SavedMethod/a", "SavedMethod/b"]);
    rig.write(vec![moved(card_of("acme", "d", "b"), "SavedMethod/b")]);
    rig.know("SavedMethod/c", |known| known.missing_document = Some(Box::default()));
    let booked = booked(&rig);
    assert!(matches!(booked[0], Record::Moved(_)));
    let rest = [
        said("SavedMethod/c", MissingDocumentChange::Returned { at: at(NOW) }),
        mark("SavedMethod/a"),
    ];
    assert_eq!(booked[1..], rest);
    rig.known.desired.tree_state = TreeState::Incomplete;
    assert_eq!(self::booked(&rig), [rest[0].clone()]);
}

#[test]
fn what_everything_is_right_about_is_not_written_down() {
    let mut rig = Rig::applied(vec![merchant("acme", "live"), deleted(card("card"))]);
    assert_eq!(booked(&rig), []);
    rig.write(vec![card("new")]);
    assert_eq!(booked(&rig), []);
}

#[test]
fn what_was_removed_is_counted_by_what_that_meant() {
    let charge = deleted(charge("club", "other", 20));
    let cards = ["card", "more", "other"].map(|name| deleted(card(name)));
    let mut rig = Rig::applied([vec![acme(), charge], cards.to_vec()].concat());
    rig.remove(&[CARD, "SavedMethod/more", "RecurringCharge/club"]);
    assert_eq!(removed(&rig), []);
    for name in [CARD, "SavedMethod/more", "RecurringCharge/club"] {
        rig.know(name, |known| known.exists = false);
    }
    assert_eq!(removed(&rig), [(Removal::Delete, 2), (Removal::Neutralise, 1)]);
    rig.touch(&[CARD]);
    assert_eq!(removed(&rig), [(Removal::Delete, 2), (Removal::Neutralise, 1)]);
}

#[test]
fn what_is_forgotten_taken_over_or_wanted_again_was_not_removed() {
    let mut rig = gone("test", card("card"));
    assert_eq!(rig.step(CARD), "Orphan Orphaned ready");
    rig.unmade(CARD);
    assert_eq!((rig.step(CARD).as_str(), removed(&rig)), ("none", vec![]));
    let mut rig = gone("test", deleted(card("card")));
    assert_eq!(rig.step(CARD), "Delete Removed");
    rig.write(vec![moved(card_of("acme", "new", "card"), CARD)]);
    assert_eq!((rig.step(CARD).as_str(), removed(&rig)), ("none", vec![]));
    let mut rig = gone("test", deleted(card("card")));
    rig.write(vec![card("card")]);
    assert_eq!(removed(&rig), []);
}
