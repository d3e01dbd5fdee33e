//! New documents with the essence of an object without document.

use crate::model::change::RemovalStatus;
use crate::model::state::orphan::MissingDocument;
use crate::plan::planner::tests::facts::*;
use crate::plan::planner::tests::removal::allowed;
use crate::plan::planner::tests::*;

const CLUB: &str = "RecurringCharge/club";
const GYM: &str = "RecurringCharge/gym";

/// A charge with some known payments, and its card.
fn club(charge: Manifest) -> Rig {
    Rig::watched(vec![acme(), card("card"), charge])
}

/// Returns these contacts, all of one person.
fn people(names: &[&str]) -> Vec<Manifest> {
    names.iter().map(|name| contact(name, "Jane")).collect()
}

fn renamed(name: &str, from: &str) -> Reason {
    Reason::Removal(Box::new(RemovalStatus::LooksRenamed { key: key(name), from: key(from) }))
}

#[test]
fn what_would_collect_the_same_twice_looks_renamed_whichever_change_came_first() {
    let gym = || charge("gym", "card", 20);
    let mut first = club(charge("club", "card", 20));
    first.write(vec![gym()]);
    assert_eq!(first.step(GYM), "Create NotCreated", "the other one is still wanted");
    assert_eq!(first.remove(&[CLUB]), [CLUB, GYM]);
    let mut last = club(charge("club", "card", 20));
    last.remove(&[CLUB]);
    last.write(vec![gym()]);
    let mut both = club(charge("club", "card", 20));
    both.known.desired.manifests.remove(&key(CLUB));
    both.write(vec![gym()]);
    both.all();
    for mut rig in [first, last, both] {
        for _ in 0..2 {
            assert_eq!(rig.reason(GYM), renamed(GYM, CLUB));
            assert_eq!((rig.step(GYM), rig.step(CLUB)), told("Blocked LooksRenamed"));
            assert_eq!(rig.guarded(), [GYM], "what is gone stays as it is anyway");
            rig.touch(&[GYM]);
        }
        let whole = rig.whole(GYM);
        assert!(whole.work.is_none() && whole.money.is_empty() && !whole.changes.is_empty());
        assert!(rig.planner.may_be_allowed(&key(GYM)));
    }
}

/// Returns a step, and the one of an object that is left unchanged.
fn told(step: &str) -> (String, String) {
    (step.to_owned(), "Orphan Orphaned ready".to_owned())
}

#[test]
fn what_looks_renamed_is_made_once_it_says_something_else_or_the_old_one_is_back() {
    let mut rig = club(charge("club", "card", 20));
    rig.remove(&[CLUB]);
    rig.write(vec![charge("gym", "card", 20)]);
    rig.write(vec![charge("gym", "card", 25)]);
    assert_eq!((rig.step(GYM), rig.step(CLUB)), told("Create NotCreated"));
    rig.write(vec![charge("gym", "card", 20)]);
    assert_eq!((rig.step(GYM), rig.step(CLUB)), told("Blocked LooksRenamed"));
    assert_eq!(rig.write(vec![charge("club", "card", 20)]), [CLUB, GYM]);
    assert_eq!(rig.step(GYM), "Create NotCreated");
    assert_eq!(rig.step(CLUB), "Settled InSync ready");
    assert_eq!(rig.guarded(), Vec::<String>::new());
}

#[test]
fn the_old_one_of_a_rename_does_not_go() {
    let mut rig = club(deleted(charge("club", "card", 20)));
    rig.remove(&[CLUB]);
    rig.write(vec![charge("gym", "card", 20)]);
    let Reason::Removal(going) = rig.reason(CLUB) else { panic!("{}", rig.step(CLUB)) };
    let RemovalStatus::Guarded { key: _, trip } = *going else { panic!("{}", rig.step(CLUB)) };
    assert_eq!((trip.guard, trip.set_at.as_str()), ("policy.prune.renames", "default"));
    let why = "RecurringCharge/gym is new and has the same content; a new name takes the object over by reckon.dev/moved-from";
    assert_eq!(trip.why, why);
    assert_eq!(rig.guarded(), [CLUB, GYM]);
    let mut open = Rig::applied(vec![acme(), card("card"), deleted(charge("club", "card", 20))]);
    open.remove(&[CLUB]);
    open.write(vec![charge("gym", "card", 20)]);
    assert_eq!(open.step(CLUB), "Delete Neutralised ready", "no guard, no rename");
    assert_eq!(open.step(GYM), "Create NotCreated");
}

#[test]
fn what_moves_no_money_looks_renamed_from_three_on() {
    let mut rig = Rig::watched([vec![acme()], people(&["o1", "o2", "o3"])].concat());
    rig.remove(&["Contact/o1", "Contact/o2"]);
    rig.write(people(&["n1", "n2"]));
    for _ in 0..2 {
        assert_eq!(rig.step("Contact/n1"), "Create NotCreated");
        rig.touch(&["Contact/n1", "Contact/n2"]);
    }
    rig.remove(&["Contact/o3"]);
    rig.write(people(&["n3", "n4"]));
    for (new, old) in [("n1", "o1"), ("n2", "o2"), ("n3", "o3")] {
        let (new, old) = (format!("Contact/{new}"), format!("Contact/{old}"));
        assert_eq!(rig.reason(&new), renamed(&new, &old));
    }
    assert_eq!(rig.step("Contact/n4"), "Create NotCreated", "each is taken once");
    assert_eq!(rig.guarded(), ["Contact/n1", "Contact/n2", "Contact/n3"]);
}

#[test]
fn all_that_went_at_once_are_looked_for_among_what_was_new_before() {
    let mut rig = club(charge("club", "card", 20));
    let more = vec![charge("pool", "card", 30)];
    let known = Rig::watched([vec![acme(), card("card")], more.clone()].concat()).known;
    rig.known.observed.extend(known.observed);
    rig.write(more);
    rig.write(vec![charge("gym", "card", 20), charge("swim", "card", 30)]);
    rig.remove(&[CLUB, "RecurringCharge/pool"]);
    assert_eq!(rig.guarded(), [GYM, "RecurringCharge/swim"]);
}

#[test]
fn what_is_there_allowed_moved_or_different_does_not_look_renamed() {
    let word = MissingDocument { marked: None, allowed: Some(allowed(false)) };
    let mut rig = club(charge("club", "card", 20));
    rig.remove(&[CLUB]);
    rig.know(GYM, |known| known.missing_document = Some(Box::new(word)));
    rig.write(vec![charge("gym", "card", 20)]);
    assert_eq!(rig.step(GYM), "Create NotCreated", "a person said that it is another one");
    let both = vec![acme(), card("card"), charge("club", "card", 20), charge("gym", "card", 20)];
    let mut rig = Rig::watched(both);
    rig.remove(&[CLUB]);
    assert_eq!(rig.step(GYM), "Settled InSync ready", "it is there");
    assert_eq!(rig.guarded(), Vec::<String>::new());
}

#[test]
fn what_names_what_it_was_is_not_looked_for_among_others() {
    let old = ["a1", "a2", "a3", "b1", "b2", "b3"];
    let mut rig = Rig::watched([vec![acme()], people(&old)].concat());
    rig.remove(&old.map(|name| format!("Contact/{name}")).each_ref().map(String::as_str));
    let new =
        ["1", "2", "3"].map(|n| moved(contact(&format!("c{n}"), "Jane"), &format!("Contact/a{n}")));
    rig.write(new.to_vec());
    for n in ["1", "2", "3"] {
        assert_eq!(rig.step(&format!("Contact/c{n}")), "Update Moved");
    }
    assert_eq!(rig.guarded(), Vec::<String>::new());
}
