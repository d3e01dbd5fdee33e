#![expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

use chrono::TimeDelta;
use serde_json::json;

use crate::engine::protocol::payers::{Intake, IntakeLink, IntakeTerms};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{card, intake, key, now, open_intent};

fn method() -> StateFixture {
    StateFixture::with_documents(&[&intake("jane"), &card("card")])
}

fn link(generation: u32, replaces: Option<&str>, hours: i64) -> IntakeLink {
    let terms = IntakeTerms { generation, replaces: replaces.map(str::to_owned) };
    IntakeLink { key: key("SavedMethod/jane"), terms, until: now() + TimeDelta::hours(hours) }
}

fn terms(fixture: &StateFixture, name: &str) -> Result<IntakeTerms, String> {
    let Reply::IntakeLink(terms) = fixture.ask(EngineQuery::IntakeLink(key(name))) else {
        panic!("no terms")
    };
    terms
}

#[test]
fn a_link_is_made_only_for_a_method_whose_payer_gives_the_details() {
    let fixture = method();
    assert_eq!(
        terms(&fixture, "SavedMethod/jane"),
        Ok(IntakeTerms { generation: 0, replaces: None })
    );
    let written = terms(&fixture, "SavedMethod/card").unwrap_err();
    assert!(written.contains("does not say `source: intake`"), "{written}");
    let none = terms(&fixture, "SavedMethod/joe").unwrap_err();
    assert_eq!(none, "no good document says SavedMethod/joe");
}

#[test]
fn a_link_asks_for_the_details_of_its_own_generation_until_its_end() {
    let fixture = method();
    let state = |link: IntakeLink| fixture.view().intake(&link);
    let Intake::Requested(page) = state(link(0, None, 1)) else { panic!("nothing is requested") };
    assert_eq!((page.sort, page.tokens, page.replaces), ("card", 1, false));
    assert_eq!(page.public_key, "m_0123456789abcdefghij");
    assert_eq!(state(link(1, None, 1)), Intake::Expired, "another generation");
    assert_eq!(state(link(0, None, 0)), Intake::Expired, "its time is over");
    assert_eq!(state(link(0, Some("abc"), 1)), Intake::Expired, "nothing is saved to replace");
}

#[test]
fn a_link_of_a_method_with_an_effect_under_way_has_received_its_details() {
    let mut fixture = method();
    fixture.record(open_intent(1, "SavedMethod/jane", "card.save"));
    assert_eq!(fixture.view().intake(&link(0, None, 1)), Intake::Received);
    let mut fixture = method();
    fixture.scheduler.busy.insert(key("SavedMethod/jane"));
    assert_eq!(fixture.view().intake(&link(0, None, 1)), Intake::Received);
    let why = terms(&fixture, "SavedMethod/jane").unwrap_err();
    assert!(why.contains("has a token that is being saved"), "{why}");
}

#[test]
fn saved_details_end_a_link_for_the_first_ones_and_permit_one_that_replaces_them() {
    let mut fixture = method();
    fixture.apply("SavedMethod/jane", "card_1", json!({}));
    assert_eq!(fixture.view().intake(&link(0, None, 1)), Intake::Stored);
    assert_eq!(fixture.view().intake(&link(0, Some("other"), 1)), Intake::Stored);
}

#[test]
fn a_method_of_a_merchant_that_is_not_connected_takes_nothing_yet_and_says_why() {
    let mut fixture = StateFixture::new();
    fixture.write(&[crate::engine::tests::records::MERCHANT, &intake("jane")]);
    assert_eq!(fixture.view().intake(&link(0, None, 1)), Intake::NotYet);
    let why = terms(&fixture, "SavedMethod/jane").unwrap_err();
    assert!(why.starts_with("SavedMethod/jane cannot take a token now: "), "{why}");
}
