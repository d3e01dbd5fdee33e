//! The steps that are recomputed after one change.

use super::facts::*;
use super::*;

/// A merchant, two contacts of which one depends on the other, a card, and the charge that it pays.
fn household() -> Vec<Manifest> {
    let joe = needing(contact("joe", "Joe"), "Contact/jane");
    vec![acme(), contact("jane", "Jane"), joe, card("card"), charge("club", "card", 20)]
}

fn users(rig: &Rig, name: &str) -> Vec<String> {
    rig.planner.users(&key(name)).map(Key::short).collect()
}

#[test]
fn a_step_is_made_again_with_all_that_depend_on_it_however_far() {
    let mut rig = Rig::applied(household());
    let (jane, joe) = ("Contact/jane", "Contact/joe");
    let (club, card) = ("RecurringCharge/club", "SavedMethod/card");
    for (touched, made) in [
        (club, vec![club]),
        (card, vec![club, card]),
        (joe, vec![joe]),
        (jane, vec![jane, joe]),
        ("Merchant/acme", vec![jane, joe, "Merchant/acme", club, card]),
        ("Contact/nobody", vec!["Contact/nobody"]),
    ] {
        assert_eq!(rig.touch(&[touched]), made, "{touched}");
    }
    assert_eq!(rig.step("Contact/nobody"), "none");
}

#[test]
fn a_document_that_refers_to_something_else_by_now_depends_on_that_alone() {
    let mut rig = Rig::applied([household(), vec![card("gold")]].concat());
    assert_eq!(users(&rig, "SavedMethod/card"), ["RecurringCharge/club"]);
    rig.write(vec![charge("club", "gold", 20)]);
    assert_eq!(rig.touch(&["SavedMethod/card"]), ["SavedMethod/card"]);
    assert_eq!(rig.touch(&["SavedMethod/gold"]), ["RecurringCharge/club", "SavedMethod/gold"]);
    assert_eq!(users(&rig, "SavedMethod/gold"), ["RecurringCharge/club"]);
    rig.remove(&["RecurringCharge/club"]);
    assert_eq!(users(&rig, "SavedMethod/gold"), Vec::<String>::new());
    assert_eq!(rig.touch(&["SavedMethod/gold"]), ["SavedMethod/gold"]);
}

#[test]
fn what_is_to_go_is_made_again_with_what_it_holds_until_it_is_gone() {
    let (club, card) = ("RecurringCharge/club", "SavedMethod/card");
    let mut rig =
        Rig::applied(vec![acme(), facts::card("card"), deleted(charge("club", "card", 20))]);
    assert_eq!(rig.remove(&[club]), ["Merchant/acme", club, card]);
    assert_eq!(rig.touch(&[card]), [club, card]);
    assert_eq!(rig.touch(&["Merchant/acme"]), ["Merchant/acme", club, card]);
    assert_eq!(rig.know(club, |known| known.exists = false), ["Merchant/acme", club, card]);
    assert_eq!(rig.step(club), "none");
    assert_eq!(rig.touch(&[card]), [card]);
}

#[test]
fn what_is_left_as_it_is_holds_nothing() {
    let (club, card) = ("RecurringCharge/club", "SavedMethod/card");
    let mut rig = Rig::applied(vec![acme(), facts::card("card"), charge("club", "card", 20)]);
    assert_eq!(rig.remove(&[club]), [club]);
    assert_eq!(rig.step(club), "Orphan Orphaned ready");
    assert_eq!(rig.touch(&[card]), [card]);
}

#[test]
fn everything_is_what_has_a_document_is_broken_is_known_or_had_a_step() {
    let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane")]);
    rig.known.desired.broken.insert(key("Invoice/bad"));
    rig.known.desired.manifests.remove(&key("Contact/jane"));
    let all = ["Contact/jane", "Invoice/bad", "Merchant/acme"];
    assert_eq!(rig.all(), all);
    let orphan = "Contact/jane: Orphan Orphaned ready";
    let settled = "Merchant/acme: Settled InSync ready";
    assert_eq!(rig.plan(), [orphan, "Invoice/bad: Blocked BrokenDocument", settled]);
    rig.known.desired.broken.clear();
    rig.known.observed.remove(&key("Contact/jane"));
    assert_eq!(rig.all(), all, "they had steps");
    assert_eq!((rig.plan(), rig.planner.count()), (vec![settled.to_owned()], 1));
    assert_eq!(rig.all(), ["Merchant/acme"]);
}

#[test]
fn a_step_does_not_depend_on_the_order_in_which_keys_were_touched() {
    let all = ["Contact/jane", "Contact/joe", "SavedMethod/card", "RecurringCharge/club"];
    let mut rig = Rig::applied(household());
    for name in all {
        rig.known.observed.remove(&key(name));
    }
    rig.all();
    let plan = rig.plan();
    assert!(plan.contains(&"Contact/joe: Create WaitsFor".to_owned()), "{plan:?}");
    for name in all {
        rig.touch(&[name]);
    }
    assert_eq!(rig.plan(), plan);
    for name in all.into_iter().rev() {
        rig.touch(&[name]);
    }
    assert_eq!(rig.plan(), plan);
}

#[test]
fn a_merchant_that_is_connected_lets_what_waits_for_it_go_on() {
    let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane")]);
    let known = rig.known.observed[&key("Merchant/acme")].clone();
    rig.unmade("Contact/jane");
    rig.unmade("Merchant/acme");
    let waiting = ["Merchant/acme: Create NotConnected", "Contact/jane: Create WaitsFor"];
    assert_eq!(rig.plan(), waiting, "what is needed comes first, whatever its name");
    rig.know("Merchant/acme", |acme| *acme = Observed::clone(&known));
    let on = ["Merchant/acme: Settled InSync ready", "Contact/jane: Create NotCreated"];
    assert_eq!(rig.plan(), on);
}
