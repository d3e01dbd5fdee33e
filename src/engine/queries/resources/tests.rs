use chrono::TimeDelta;
use serde_json::json;

use super::*;
use crate::base::id::Kind;
use crate::base::timers::visits;
use crate::engine::protocol::resources::{LabelTerm, ListPart};
use crate::engine::protocol::views::Confidence;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records;
use crate::engine::tests::records::{
    CONTACT, annotated_document, card, contact, key, merchant, now, observation, recurring_charge,
    suspension_record,
};
use crate::model::record::Record;
use crate::model::state::health::PaymentResult;

#[test]
fn a_resource_is_shown_with_its_facts_and_without_its_sealed_ones() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    let facts = json!({"status": "ACTIVE", "number": {"sealed": "00"}});
    fixture.apply("Contact/jane", "cont_1", facts);
    let view = fixture.view().resource(&key("Contact/jane")).unwrap();
    assert_eq!(view.facts.keys().collect::<Vec<_>>(), ["status"]);
    assert_eq!((view.remote_id.as_deref(), view.ready), (Some("cont_1"), true));
    assert!(fixture.view().resource(&key("Contact/none")).is_none());
}

#[test]
fn a_contact_that_the_service_never_shows_is_not_said_to_be_verified() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    assert_eq!(fixture.view().resource(&key("Contact/jane")).unwrap().confidence, None);
    fixture.apply("Contact/jane", "cont_1", json!({}));
    let view = fixture.view().resource(&key("Contact/jane")).unwrap();
    assert_eq!(view.confidence, Some(Confidence::CannotBeVerified));
    assert_eq!(view.verified_at, None);
    assert!(view.message.contains("last known to match"), "{}", view.message);
}

#[test]
fn a_suspended_merchant_suspends_its_resources_with_and_without_a_document() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    fixture.record(observation("Contact/gone", "cont_2", json!({})));
    let suspends = |fixture: &StateFixture, name: &str| {
        blocks::is_suspended(fixture.view().known_state, &key(name))
    };
    assert!(!suspends(&fixture, "Contact/jane"));
    fixture.record(suspension_record("Merchant/acme", Some("2029-12-01T11:00:00Z")));
    assert!(suspends(&fixture, "Contact/jane") && suspends(&fixture, "Contact/gone"));
    assert!(!suspends(&fixture, "Merchant/other"));
    fixture.pass(TimeDelta::hours(1));
    assert!(!suspends(&fixture, "Contact/jane"));
}

#[test]
fn a_document_suspends_its_resource_alone() {
    let by_document = annotated_document("Contact", "joe", "reckon.dev/suspend: \"true\"", CONTACT);
    let fixture = StateFixture::with_documents(&[&contact("jane"), &by_document]);
    let view = fixture.view();
    assert!(
        blocks::is_suspended(view.known_state, &key("Contact/joe"))
            && blocks::active_suspension(view.known_state, &key("Contact/joe")).is_none()
    );
    assert!(!blocks::is_suspended(view.known_state, &key("Contact/jane")));
}

#[test]
fn the_suspension_of_a_merchant_plans_its_resources_without_documents_again() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    fixture.record(observation("Contact/gone", "cont_2", json!({})));
    let affected = |name: &str| Vec::from_iter(fixture.view().affected_resources(&key(name)));
    assert_eq!(affected("Merchant/acme"), [key("Contact/gone"), merchant()]);
    assert_eq!(affected("Contact/jane"), [key("Contact/jane")]);
}

#[tokio::test(start_paused = true)]
async fn the_engine_wakes_at_the_next_end_of_a_suspension_and_at_least_hourly() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane"), &contact("joe")]);
    let wait = |fixture: &StateFixture| {
        fixture.view().next_resumption().map(|at| at.duration_since(Instant::now()))
    };
    assert_eq!(wait(&fixture), None);
    fixture.record(suspension_record("Contact/jane", Some("2029-12-03T10:00:00Z")));
    assert_eq!(wait(&fixture), Some(LOOK_EVERY));
    fixture.record(suspension_record("Contact/joe", Some("2029-12-01T10:10:00Z")));
    assert_eq!(wait(&fixture), Some(Duration::from_mins(10)));
    fixture.pass(TimeDelta::days(3));
    assert_eq!(wait(&fixture), None, "both are over");
}

fn payment(currency: Option<&str>) -> Payments {
    let last = Payment {
        id: "tx_1".to_owned(),
        result: PaymentResult::Declined,
        amount: Some(2000),
        currency: currency.map(str::to_owned),
        reason: Some("declined".to_owned()),
        at: now(),
    };
    Payments { last, failures: 2, since: now() }
}

#[test]
fn what_collects_nothing_has_no_payments_and_a_missing_currency_is_the_object_s() {
    let mut known = Observed::unknown(merchant(), now());
    assert_eq!(payments_view(&known), None);
    known.facts = json!({"currency": "USD"});
    known.payments = Some(Box::new(payment(None)));
    let view = payments_view(&known).unwrap();
    assert_eq!((view.failures, view.next.as_deref()), (2, None));
    assert_eq!(view.last.unwrap().currency.as_deref(), Some("USD"));
    known.payments = Some(Box::new(payment(Some("EUR"))));
    assert_eq!(payments_view(&known).unwrap().last.unwrap().currency.as_deref(), Some("EUR"));
}

#[test]
fn a_next_payment_is_shown_before_the_first_one() {
    let facts = json!({"next_payment": "2030-02-01"});
    let known = Observed { facts, ..Observed::unknown(merchant(), now()) };
    let view = payments_view(&known).unwrap();
    assert_eq!((view.last, view.next.as_deref()), (None, Some("2030-02-01")));
}

/// Returns a state of resources of four kinds, one of them without a document.
fn mixed_state() -> StateFixture {
    let labelled = contact("joe").replace("{name: joe,", "{name: joe, labels: {team: a},");
    let rent = recurring_charge("rent", "card");
    let documents = [contact("jane"), labelled, card("card"), rent];
    let mut fixture = StateFixture::with_documents(&documents.each_ref().map(String::as_str));
    fixture.apply("Contact/jane", "cont_1", json!({}));
    fixture.record(observation("Contact/gone", "cont_2", json!({})));
    fixture
}

fn selected(fixture: &StateFixture, filter: &ResourceFilter) -> Vec<String> {
    let list = fixture.view().resources(filter).unwrap();
    list.items.iter().map(|item| format!("{}/{}", item.kind, item.name)).collect()
}

#[test]
fn a_list_holds_what_its_filter_selects() {
    let fixture = mixed_state();
    let none = ResourceFilter::default;
    let contacts = ["Contact/gone", "Contact/jane", "Contact/joe"];
    let all = selected(&fixture, &none());
    assert_eq!(all.len(), fixture.planner.count());
    let kind = Some(Kind::new("Contact"));
    assert_eq!(selected(&fixture, &ResourceFilter { kind: kind.clone(), ..none() }), contacts);
    let not_ready = ResourceFilter { kind, not_ready: true, ..none() };
    assert_eq!(selected(&fixture, &not_ready), ["Contact/gone", "Contact/joe"]);
    let labels = LabelTerm::parse_list("team=a").unwrap();
    assert_eq!(selected(&fixture, &ResourceFilter { labels, ..none() }), ["Contact/joe"]);
    let key = Some(key("Contact/jane"));
    assert_eq!(selected(&fixture, &ResourceFilter { key, ..none() }), ["Contact/jane"]);
    let namespace = Some("team-b".parse().unwrap());
    assert!(selected(&fixture, &ResourceFilter { namespace, ..none() }).is_empty());
}

#[test]
fn a_part_of_a_list_has_its_resources_and_the_total() {
    let fixture = mixed_state();
    let all = selected(&fixture, &ResourceFilter::default());
    let part = |offset, limit| {
        let part = ListPart { offset, limit: Some(limit) };
        let filter = ResourceFilter { part, ..ResourceFilter::default() };
        let list = fixture.view().resources(&filter).unwrap();
        let names = list.items.iter().map(|item| format!("{}/{}", item.kind, item.name));
        (names.collect::<Vec<_>>(), list.total)
    };
    assert_eq!(part(1, 2), (all[1..3].to_vec(), all.len()));
    assert_eq!(part(all.len(), 2), (Vec::new(), all.len()));
}

#[test]
fn a_name_is_found_by_a_part_of_it_and_attention_selects_what_needs_a_person() {
    let mut fixture = mixed_state();
    let search =
        |text: &str| ResourceFilter { search: Some(text.to_owned()), ..ResourceFilter::default() };
    assert_eq!(selected(&fixture, &search(" JO")), ["Contact/joe"]);
    assert!(selected(&fixture, &search("nobody")).is_empty());
    let attention = ResourceFilter { attention: true, ..ResourceFilter::default() };
    let before = selected(&fixture, &attention);
    let (key, at) = (key("Contact/joe"), now());
    fixture.record(Record::OnHold { key, reason: "two objects".to_owned(), at });
    let after = selected(&fixture, &attention);
    assert_eq!(after.len(), before.len() + 1);
    assert!(after.contains(&"Contact/joe".to_owned()), "{after:?}");
}

#[test]
fn a_list_of_a_merchant_holds_the_merchant_and_its_resources_with_and_without_a_document() {
    let fixture = mixed_state();
    let merchant = Some(key("Merchant/acme"));
    let mine = selected(&fixture, &ResourceFilter { merchant, ..ResourceFilter::default() });
    assert_eq!(mine, selected(&fixture, &ResourceFilter::default()));
    assert!(
        mine.contains(&"Merchant/acme".to_owned()) && mine.contains(&"Contact/gone".to_owned())
    );
    let merchant = Some(key("Merchant/acne"));
    let unknown = ResourceFilter { merchant, ..ResourceFilter::default() };
    let unknown = fixture.view().resources(&unknown).unwrap_err();
    assert_eq!(unknown[0].nearest.as_deref(), Some("Merchant/acme"));
}

#[test]
fn a_card_number_in_a_label_is_masked() {
    let labelled = contact("joe")
        .replace("{name: joe,", "{name: joe, labels: {note: \"4242 4242 4242 4242\"},");
    let fixture = StateFixture::with_documents(&[&labelled]);
    let labels = fixture.view().resource(&key("Contact/joe")).unwrap().labels;
    assert!(
        labels.contains_key("note") && !labels["note"].contains("4242 4242 4242"),
        "{labels:?}"
    );
}

#[test]
fn a_name_and_a_kind_look_at_no_other_resource() {
    let fixture = mixed_state();
    let one = ResourceFilter { key: Some(key("Contact/jane")), ..ResourceFilter::default() };
    assert_eq!(visits(|| drop(selected(&fixture, &one))), 0);
    let kind = ResourceFilter { kind: Some(Kind::new("Merchant")), ..ResourceFilter::default() };
    assert!(visits(|| drop(selected(&fixture, &kind))) <= 2);
}

#[test]
fn a_resource_shows_its_money_with_and_without_a_document() {
    let mut fixture = mixed_state();
    let money = |fixture: &StateFixture| {
        let view = fixture.view().resource(&key("RecurringCharge/rent")).unwrap();
        (view.amount, view.currency, view.merchant)
    };
    let wanted = (Some(2000), Some("USD".to_owned()), Some("Merchant/acme".to_owned()));
    assert_eq!(money(&fixture), wanted);
    fixture.apply("RecurringCharge/rent", "rc_1", json!({}));
    fixture.write(&[records::MERCHANT, &contact("jane")]);
    assert_eq!(money(&fixture), wanted);
    assert_eq!(fixture.view().resource(&key("Contact/jane")).unwrap().amount, None);
}
