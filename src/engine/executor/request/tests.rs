use serde_json::json;

use super::*;
use crate::engine::tests::fixture::{DIGEST_KEY, StateFixture, complete};
use crate::engine::tests::records::{contact, intent, key};
use crate::model::effect::StepWork;
use crate::plan::state_view::StateView;

/// Returns the effect that creates a contact, with another body.
fn effect(fixture: &StateFixture, body: Value) -> Effect {
    let step = fixture.planner.full_step(&fixture.known_state, &key("Contact/jane")).unwrap();
    let StepWork::Effect(mut effect) = (*step.work.unwrap()).clone() else { panic!("no effect") };
    effect.request.body = body;
    effect
}

fn fixture() -> StateFixture {
    StateFixture::with_documents(&[&contact("jane")])
}

fn body(fixture: &StateFixture, body: Value) -> Result<Option<Value>, String> {
    let bytes = body_bytes(&fixture.shared, &effect(fixture, body));
    let bytes = bytes.map_err(|error| error.message)?;
    Ok(bytes.map(|bytes| serde_json::from_slice(&bytes).unwrap()))
}

#[test]
fn a_body_is_sent_as_planned_without_fields_that_say_nothing() {
    let fixture = fixture();
    assert_eq!(body(&fixture, Value::Null), Ok(None));
    let sent = body(&fixture, json!({"a": 1, "b": null, "c": [{"d": null}, 0], "e": {}}));
    assert_eq!(sent, Ok(Some(json!({"a": 1, "c": [{}, 0], "e": {}}))));
}

#[test]
fn placeholders_are_replaced_at_any_depth() {
    let fixture = fixture();
    let sealed = fixture.seal("Contact/default/jane", "from the vault");
    let template = json!({
        "list": [{"$secret": {"literal": "from the document"}}],
        "deep": {"one": {"$sealed": sealed}},
    });
    let sent = body(&fixture, template);
    let expected = json!({"list": ["from the document"], "deep": {"one": "from the vault"}});
    assert_eq!(sent, Ok(Some(expected)));
}

#[test]
fn a_secret_that_is_not_set_names_the_resource_that_owns_it() {
    let fixture = fixture();
    let why = body(&fixture, json!({"$secret": {"env": "NO"}})).unwrap_err();
    assert!(why.starts_with("Contact/jane names"), "{why}");
    let other = json!({"$secret": {"env": "NO"}, "$of": "SavedMethod/default/card"});
    let why = body(&fixture, other).unwrap_err();
    assert!(why.starts_with("SavedMethod/card names"), "{why}");
}

#[test]
fn a_missing_file_partner_or_sealed_value_ends_the_request_before_it_is_sent() {
    let fixture = fixture();
    for template in [
        json!({"$file": "letter.pdf"}),
        json!({"$file": "letter.pdf", "sha256": crate::base::hash::sha256(b"x").to_string()}),
        json!({"$partner": "client_id"}),
        json!({"$sealed": "no reference"}),
    ] {
        assert!(body(&fixture, json!({ "field": template })).is_err(), "{template}");
    }
}

#[test]
fn a_private_body_is_stored_sealed_and_rebuilt_byte_for_byte() {
    let fixture = fixture();
    let mut effect = effect(&fixture, json!({"name": "Jane"}));
    let bytes = body_bytes(&fixture.shared, &effect).unwrap().unwrap();
    for sealed in [true, false] {
        effect.sealed = sealed;
        let (request, blobs) = stored_request(&fixture.shared, &effect, Some(&bytes)).unwrap();
        complete(fixture.shared.write(blobs, Vec::new())).unwrap();
        let stored = serde_json::to_string(&request).unwrap();
        assert_eq!(stored.contains("Jane"), !sealed, "{stored}");
        let intent = Intent { request, ..intent(1, "Contact/jane", "contact.create") };
        let call = stored_call(&fixture.shared, &intent).unwrap();
        assert_eq!(call.body.as_deref(), Some(&bytes[..]));
        assert_eq!(call.path, effect.request.path);
    }
}

#[test]
fn the_digest_of_a_sealed_body_is_keyed() {
    let fixture = fixture();
    let effect = Effect { sealed: true, ..effect(&fixture, json!({"name": "Jane"})) };
    let bytes = body_bytes(&fixture.shared, &effect).unwrap().unwrap();
    let (request, _) = stored_request(&fixture.shared, &effect, Some(&bytes)).unwrap();
    let StoredBody::Sealed { digest, .. } = request.body else { panic!("in the open") };
    assert_ne!(digest, crate::base::hash::sha256(&bytes));
    assert_eq!(digest, keyed_digest(&DIGEST_KEY, "body", &bytes));
}

#[test]
fn details_borrowed_from_another_resource_are_sealed_under_a_key_of_their_own() {
    let fixture = fixture();
    let own = effect(&fixture, json!({"number": {"$secret": {"literal": "x"}}}));
    assert_eq!(seal_subject(&own), "Contact/default/jane");
    let lent = json!({"number": {"$secret": {"literal": "x"}, "$of": "SavedMethod/default/card"}});
    assert_eq!(seal_subject(&effect(&fixture, lent)), "Contact/default/jane/borrowed");
    assert!(fixture.known_state.desired().broken.is_empty());
}

#[test]
fn an_effect_that_no_row_describes_is_our_mistake_and_not_sent() {
    assert!(matches!(row_of("contact.create"), Ok(row) if row.name == "contact.create"));
    assert!(matches!(row_of("contact.steal"), Err(EngineError::Bug(_))));
}
