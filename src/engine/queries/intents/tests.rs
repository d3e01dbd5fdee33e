use super::*;
use crate::base::money::Money;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{
    MERCHANT, card, contact, doubt, key, open_intent, progress, unknown_object,
};
use crate::model::intent::IntentProgress;

#[test]
fn open_intents_are_listed_oldest_first_each_with_its_state_and_reason() {
    let mut fixture = StateFixture::with_documents(&[&contact("a"), &contact("b"), &contact("c")]);
    let reason = "a person looks".to_owned();
    fixture.append(vec![
        open_intent(3, "Contact/a", "contact.create"),
        open_intent(1, "Contact/b", "contact.create"),
        open_intent(2, "Contact/c", "contact.create"),
        doubt(1),
        progress(3, IntentProgress::OnHold { reason, observation: None }),
    ]);
    let view = fixture.view().intents().unwrap();
    let items: Vec<(&str, Option<&str>)> =
        view.items.iter().map(|one| (one.state.as_str(), one.reason.as_deref())).collect();
    let expected =
        [("in_doubt", Some("no answer")), ("open", None), ("held", Some("a person looks"))];
    assert_eq!(items, expected);
}

#[test]
fn an_effect_that_was_given_up_stays_listed_as_possibly_made_twice() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    fixture.append(vec![
        open_intent(1, "Contact/jane", "contact.create"),
        doubt(1),
        progress(1, IntentProgress::GivenUp { reason: "no lookup".to_owned() }),
    ]);
    let view = fixture.view().intents().unwrap();
    assert!(view.items.is_empty());
    assert_eq!(view.remade.len(), 1);
    assert_eq!(view.remade[0].key, key("Contact/jane"));
}

fn object(id: &str, mark_of: &str, is_duplicate: bool) -> UnknownObject {
    UnknownObject {
        id: id.parse().unwrap(),
        mark: SourceId::new("acme", &key(mark_of), 0).mark(),
        list: "cards".to_owned(),
        is_duplicate,
        collection: None,
    }
}

/// Returns the commands that resolve an unknown object.
fn way_out(found: UnknownObject) -> Vec<String> {
    let mut fixture = StateFixture::with_documents(&[&card("card")]);
    fixture.record(unknown_object("Merchant/acme", "card_9", Some(found)));
    let view = fixture.view().intents().unwrap();
    assert_eq!(view.unknown_objects.len(), 1);
    view.unknown_objects[0].way_out.clone()
}

#[test]
fn an_unknown_object_is_imported_for_the_document_with_its_mark() {
    let out = way_out(object("card_9", "SavedMethod/card", false));
    assert_eq!(out, ["reckon import SavedMethod/card card_9", "reckon forget card_9"]);
    let out = way_out(object("card_9", "SavedMethod/other", false));
    assert_eq!(out[0], "reckon import KIND/NAME card_9");
}

#[test]
fn a_second_object_with_a_known_mark_is_never_imported() {
    let out = way_out(object("card_9", "SavedMethod/card", true));
    assert!(out[0].starts_with("end one of the two objects"), "{out:?}");
    assert!(!out.iter().any(|command| command.contains("import")), "{out:?}");
}

fn charge(id: &str, status: &str) -> UnknownObject {
    let amount = Money::new(2000, Currency::USD);
    let collection = Some(Collection { amount, status: status.to_owned() });
    UnknownObject { collection, ..object(id, "RecurringCharge/club", false) }
}

#[test]
fn the_last_resort_names_the_money_that_goes_on_being_collected() {
    let mut fixture = StateFixture::with_documents(&[]);
    assert_eq!(fixture.view().intents().unwrap().last_resort, None);
    fixture.record(unknown_object("Merchant/acme", "rc_1", Some(charge("rc_1", "ACTIVE"))));
    fixture.record(unknown_object("SavedMethod/x", "rc_2", Some(charge("rc_2", "INACTIVE"))));
    let second = object("card_9", "SavedMethod/card", true);
    fixture.record(unknown_object("SavedMethod/y", "card_9", Some(second)));
    let preview = disown_preview(&fixture.shared.facts).unwrap();
    assert_eq!((preview.active, preview.objects.len()), (1, 2), "a second object stays known");
    assert_eq!(preview.totals, [collected_money(Currency::USD, Mode::Test, 2000)]);
}

#[test]
fn money_of_a_merchant_in_an_unknown_mode_counts_as_live() {
    let mut fixture = StateFixture::new();
    fixture.write(&[MERCHANT]);
    fixture.record(unknown_object("Merchant/acme", "rc_1", Some(charge("rc_1", "ACTIVE"))));
    let preview = disown_preview(&fixture.shared.facts).unwrap();
    assert_eq!(preview.totals[0].mode, Mode::Live);
    assert_eq!(preview.objects[0].status.as_deref(), Some("ACTIVE"));
}
