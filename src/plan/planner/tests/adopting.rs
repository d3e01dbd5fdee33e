//! The conditions under which an object is adopted for a document.

use super::facts::*;
use super::*;

#[test]
fn what_is_wanted_of_an_object_is_what_its_document_says() {
    let mut rig = Rig::applied(vec![acme(), card("card")]);
    rig.write(vec![charge("club", "card", 20)]);
    let card = rig.planner.adoption_target(&rig.known, &key("SavedMethod/card")).unwrap();
    assert_eq!((card.row.name, &card.manifest.key), ("SavedMethod", &key("SavedMethod/card")));
    assert!(card.expects.is_ok_and(|expects| expects.is_empty()));
    let club = rig.planner.adoption_target(&rig.known, &key("RecurringCharge/club")).unwrap();
    assert_eq!(club.assumed.text("status"), Some("ACTIVE"));
    assert!(club.assumed.exists && club.assumed.merchant == key("Merchant/acme"));
    let wants: Vec<(&str, Value)> =
        club.expects.unwrap().into_iter().map(|one| (one.path, one.expected)).collect();
    let start = ("schedule.start", json!("2030-02-01"));
    assert_eq!(wants, [("amount", json!("USD")), start]);
}

#[test]
fn nothing_is_taken_over_without_a_good_document_or_for_a_merchant() {
    let mut rig = Rig::applied(vec![acme(), card("card")]);
    rig.remove(&["SavedMethod/card"]);
    assert!(rig.planner.adoption_target(&rig.known, &key("SavedMethod/card")).is_none());
    let acme = rig.planner.adoption_target(&rig.known, &key("Merchant/acme")).unwrap();
    assert!(acme.expects.is_err_and(|why| why.starts_with("a merchant cannot be imported")));
}

#[test]
fn what_still_uses_something_without_a_document_is_told() {
    let used = |rig: &Rig, name| {
        let keys = rig.planner.prune_state.holders(&key(name));
        keys.iter().map(Key::short).collect::<Vec<_>>()
    };
    let (club, none) = ("RecurringCharge/club", Vec::<String>::new());
    let mut rig = Rig::applied(vec![acme(), card("card"), deleted(charge("club", "card", 20))]);
    assert_eq!(used(&rig, "SavedMethod/card"), none);
    rig.remove(&[club]);
    assert_eq!(used(&rig, "SavedMethod/card"), [club]);
    assert_eq!(used(&rig, "Merchant/acme"), [club]);
    assert_eq!(used(&rig, club), none);
}
