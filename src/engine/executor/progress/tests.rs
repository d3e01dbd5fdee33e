use serde_json::json;

use super::*;
use crate::base::id::Mode;
use crate::engine::tests::fixture::{StateFixture, complete};
use crate::engine::tests::records::{doubt, intent, merchant, now, observation_of, open_intent};
use crate::model::effect::Exposure;
use crate::model::intent::EffectProof;
use crate::model::outcome::ServiceProblem;

fn done_progress(id: &str, exists: bool) -> IntentProgress {
    let observation =
        Observation { exists: Some(exists), ..observation_of("Contact/jane", id, json!({})) };
    IntentProgress::Done { observation: Box::new(observation), proof: EffectProof::Answer }
}

fn before(id: &str, exists: bool) -> Observed {
    let known = Observed::unknown(merchant(), now());
    Observed { exists, remote_id: Some(id.parse().unwrap()), ..known }
}

#[test]
fn the_verb_of_a_done_effect_follows_from_the_object_before_and_after() {
    let intent = intent(1, "Contact/jane", "contact.create");
    for (before, progress, verb) in [
        (None, done_progress("a", true), EffectVerb::Created),
        (Some(before("a", false)), done_progress("a", true), EffectVerb::Created),
        (Some(before("a", true)), done_progress("a", true), EffectVerb::Changed),
        (Some(before("a", true)), done_progress("b", true), EffectVerb::Created),
        (Some(before("a", true)), done_progress("a", false), EffectVerb::Removed),
        (None, done_progress("a", false), EffectVerb::Prepared),
    ] {
        assert_eq!(effect_verb(&intent, before.as_ref(), &progress), Some(verb), "{before:?}");
    }
}

#[test]
fn an_effect_that_only_prepares_another_one_creates_nothing() {
    for effect in PREPARES {
        let intent = intent(1, "SavedMethod/card", effect);
        assert_eq!(
            effect_verb(&intent, None, &done_progress("a", true)),
            Some(EffectVerb::Prepared)
        );
    }
}

#[test]
fn every_end_of_an_effect_has_a_verb_and_a_repeated_call_has_none() {
    let intent = intent(1, "Contact/jane", "contact.create");
    let reason = || "why".to_owned();
    for (progress, verb) in [
        (IntentProgress::Resent, None),
        (IntentProgress::Doubt { reason: reason(), unsent: true }, Some(EffectVerb::InDoubt)),
        (IntentProgress::NotSent { reason: reason() }, Some(EffectVerb::NotSent)),
        (IntentProgress::GivenUp { reason: reason() }, Some(EffectVerb::GivenUp)),
        (IntentProgress::OnHold { reason: reason(), observation: None }, Some(EffectVerb::OnHold)),
    ] {
        let told = effect_verb(&intent, Some(&before("a", true)), &progress);
        assert_eq!(told, verb, "{progress:?}");
        assert!(told.is_none_or(|verb| !verb.is_done()));
    }
}

/// Returns the report of this progress of an effect that moves 5.00 USD.
fn report(progress: &IntentProgress) -> EffectReport {
    let fixture = StateFixture::with_documents(&[]);
    let exposure: Exposure = crate::engine::tests::records::dollars(500, "invoiced");
    let intent = Intent { exposure, ..intent(1, "Contact/jane", "contact.create") };
    report_effect(&fixture.shared, &intent, Some(&before("a", true)), progress);
    fixture.shared.effect_log.since(0).pop().expect("a report")
}

#[test]
fn a_report_names_money_only_if_it_moved() {
    let moved = report(&done_progress("a", true)).money;
    assert_eq!((moved.len(), moved[0].amount, moved[0].mode), (1, 500, Mode::Test));
    let lost = IntentProgress::Doubt { reason: "lost".to_owned(), unsent: false };
    assert!(report(&lost).money.is_empty());
    let refused = IntentProgress::Refused { status: 422, problem: ServiceProblem::default() };
    let refused = report(&refused);
    assert!(refused.money.is_empty());
    assert!(refused.refusal.unwrap().starts_with("HTTP 422"));
}

#[test]
fn a_report_names_the_new_object_or_else_the_known_one() {
    assert_eq!(report(&done_progress("b", true)).remote_id.as_deref(), Some("b"));
    let lost = IntentProgress::Doubt { reason: "lost".to_owned(), unsent: false };
    assert_eq!(report(&lost).remote_id.as_deref(), Some("a"));
}

#[test]
fn an_amount_is_told_with_currency_and_mode_also_of_an_unknown_currency() {
    let money = |currency: &str| MoneyView {
        currency: currency.to_owned(),
        mode: Mode::Live,
        meaning: "refunded".to_owned(),
        amount: 1000,
    };
    assert_eq!(amount_text(&money("USD")), "10.00 USD refunded (live)");
    assert_eq!(amount_text(&money("???")), "1000 minor units of ??? refunded (live)");
}

#[test]
fn progress_is_durable_before_it_is_reported() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.append(vec![open_intent(1, "Contact/jane", "contact.create"), doubt(1)]);
    let intent = intent(1, "Contact/jane", "contact.create");
    let wallet = fixture.known_state.credential_source(&merchant());
    let row = crate::effects::register::effect_row("contact.create").unwrap();
    let attempt = Attempt { shared: &fixture.shared, row, intent: &intent, wallet: &wallet };
    complete(attempt.put_on_hold("a person looks".to_owned())).unwrap();
    let reports = fixture.shared.effect_log.since(0);
    assert_eq!((reports[0].verb, reports[0].position), (EffectVerb::OnHold, fixture.length()));
    let open = fixture.shared.facts.open_intent(&intent.key).unwrap().unwrap();
    assert_eq!(open.state.word(), "held");
}
