use serde_json::{Value, json};

use crate::engine::hooks::notify::{DeliveryAttempt, NotificationSender};
use crate::engine::protocol::payers::IntakeLink;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{
    MERCHANT, action_request, contact, intake, key, merchant, now,
};
use crate::model::events::hook::NOTIFY;
use crate::model::events::hook_run::{ActionRequestId, PendingAction};
use crate::notify::message::{DeliveryResult, OutgoingNotification};

/// Sends nothing, and permits any address to the target `open`.
struct NoSender;

impl NotificationSender for NoSender {
    fn deliver<'a>(&'a self, _: &'a OutgoingNotification) -> DeliveryAttempt<'a> {
        Box::pin(async { DeliveryResult::Done })
    }

    fn intake_address(&self, link: &IntakeLink) -> String {
        format!("https://pay.example/{}?a=1&b=2", link.key.name)
    }

    fn allows_any_address(&self, target: &str) -> bool {
        target == "open"
    }
}

fn fixture() -> StateFixture {
    let other = MERCHANT.replace("name: acme", "name: other");
    let foreign = contact("foreign").replace("merchant: acme", "merchant: other");
    StateFixture::with_documents(&[&contact("jane"), &intake("card"), &other, &foreign])
}

fn notification(fixture: &StateFixture, fields: Value) -> Result<OutgoingNotification, String> {
    let request = action_request("tell", NOTIFY, fields);
    let id = ActionRequestId {
        merchant: merchant(),
        event: "e1".to_owned(),
        name: request.name.clone(),
    };
    let script = "a".to_owned();
    let pending = PendingAction { id, request, script, maybe_done: false, at: now() };
    fixture.view().notification(&pending, &NoSender)
}

fn to(fixture: &StateFixture, target: &str, to: &str) -> Result<Vec<String>, String> {
    let fields = json!({"target": target, "body": "x", "to": to});
    notification(fixture, fields).map(|one| one.to.unwrap_or_default())
}

#[test]
fn a_contact_of_the_event_s_merchant_stands_for_its_addresses() {
    assert_eq!(to(&fixture(), "mail", "Contact/jane"), Ok(vec!["jane@example.com".to_owned()]));
}

#[test]
fn a_script_writes_to_no_address_of_its_own_unless_the_target_permits_any() {
    let fixture = fixture();
    let why = to(&fixture, "mail", "eve@example.com").unwrap_err();
    assert_eq!(why, "a mail of a script goes to contacts of the event's merchant alone");
    assert_eq!(to(&fixture, "open", "eve@example.com"), Ok(vec!["eve@example.com".to_owned()]));
}

#[test]
fn a_script_writes_to_no_contact_of_another_merchant() {
    let fixture = fixture();
    let why = to(&fixture, "mail", "Contact/foreign").unwrap_err();
    assert!(why.starts_with("Contact/foreign is no contact of the event's merchant"), "{why}");
    let why = to(&fixture, "mail", "Contact/nobody").unwrap_err();
    assert!(why.starts_with("Contact/nobody is no contact of the event's merchant"), "{why}");
}

#[test]
fn a_notification_without_a_target_is_invalid() {
    let fixture = fixture();
    assert_eq!(notification(&fixture, json!({"body": "x"})).unwrap_err(), "it names no target");
}

#[test]
fn a_placeholder_becomes_a_link_and_is_escaped_in_html() {
    let fields = json!({
        "target": "ops", "subject": "S",
        "body": "pay: {{intake:SavedMethod/card}}!", "html": "<a href='{{intake:SavedMethod/card}}'>",
    });
    let told = notification(&fixture(), fields).unwrap();
    assert_eq!(told.body, json!("pay: https://pay.example/card?a=1&b=2!"));
    assert_eq!(told.html.as_deref(), Some("<a href='https://pay.example/card?a=1&amp;b=2'>"));
    assert_eq!(told.subject.as_deref(), Some("S"));
}

#[test]
fn a_notification_makes_a_bounded_number_of_links_and_none_of_what_is_no_method() {
    let fixture = fixture();
    let with = |body: String| notification(&fixture, json!({"target": "ops", "body": body}));
    let one = "{{intake:SavedMethod/card}}";
    assert!(with(one.repeat(15)).is_ok());
    assert_eq!(with(one.repeat(17)).unwrap_err(), "it asks for more than 16 links");
    assert!(with("{{intake:Contact/jane}}".to_owned()).is_err());
    let unfinished = with("{{intake:SavedMethod/card".to_owned()).unwrap();
    assert_eq!(unfinished.body, json!("{{intake:SavedMethod/card"));
}

#[test]
fn a_busy_resource_and_a_stopping_engine_offer_nothing_to_a_visitor() {
    let mut fixture = fixture();
    fixture.scheduler.busy.insert(key("Contact/jane"));
    assert!(fixture.view().offered_effect(&key("Contact/jane")).is_none());
    fixture.stopping = true;
    assert!(fixture.view().offered_effect(&key("SavedMethod/card")).is_none());
}
