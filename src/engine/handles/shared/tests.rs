use serde_json::json;

use super::*;
use crate::engine::tests::fixture::{StateFixture, complete};
use crate::engine::tests::records::{merchant, observation};
use crate::store::vault::frame::VaultError;

const SUBJECT: &str = "Merchant/default/acme";

/// Returns a known merchant, and the name of its sealed credential.
fn with_credential() -> (StateFixture, String) {
    let mut fixture = StateFixture::with_documents(&[]);
    let reference = fixture.seal(SUBJECT, "sk_secret");
    fixture.record(observation("Merchant/acme", "m_acme", json!({"secret": reference})));
    fixture.shared.merchant(&merchant()).unwrap();
    (fixture, reference)
}

/// Returns the number of credentials that are open in memory.
fn open_count(fixture: &StateFixture) -> usize {
    fixture.shared.merchants.lock().values().map(|known| known.opened.len()).sum()
}

#[test]
fn a_credential_is_opened_once_while_its_merchant_stays_the_same() {
    let (fixture, reference) = with_credential();
    for _ in 0..2 {
        let secret = fixture.shared.credential(&merchant(), &reference).unwrap();
        assert_eq!(secret.expose(), "sk_secret");
        fixture.shared.merchant(&merchant()).unwrap();
        assert_eq!(open_count(&fixture), 1);
    }
}

#[test]
fn an_opened_credential_is_forgotten_when_its_merchant_changes() {
    let (mut fixture, reference) = with_credential();
    fixture.shared.credential(&merchant(), &reference).unwrap();
    fixture.record(observation("Contact/jane", "cont_1", json!({})));
    fixture.shared.merchant(&merchant()).unwrap();
    assert_eq!(open_count(&fixture), 1, "another resource changed");
    fixture.record(observation("Merchant/acme", "m_acme", json!({"name": "Acme"})));
    fixture.shared.merchant(&merchant()).unwrap();
    assert_eq!(open_count(&fixture), 0);
}

#[test]
fn an_opened_credential_is_forgotten_when_its_values_are_erased() {
    let (fixture, reference) = with_credential();
    fixture.shared.credential(&merchant(), &reference).unwrap();
    fixture.shared.erase(SUBJECT).unwrap();
    assert_eq!(open_count(&fixture), 0);
    fixture.shared.merchant(&merchant()).unwrap();
    let again = fixture.shared.credential(&merchant(), &reference);
    assert!(matches!(again, Err(EngineError::Vault(VaultError::Erased { .. }))), "{again:?}");
}

#[test]
fn erasing_one_subject_forgets_no_credential_of_another() {
    let (fixture, reference) = with_credential();
    fixture.shared.credential(&merchant(), &reference).unwrap();
    fixture.shared.erase("Merchant/default/other").unwrap();
    assert_eq!(open_count(&fixture), 1);
}

#[test]
fn a_credential_of_an_unknown_merchant_is_opened_and_not_kept() {
    let fixture = StateFixture::new();
    let reference = fixture.seal(SUBJECT, "sk_secret");
    let secret = fixture.shared.credential(&merchant(), &reference).unwrap();
    assert_eq!((secret.expose(), open_count(&fixture)), ("sk_secret", 0));
}

#[test]
fn a_reference_that_names_nothing_is_an_error_and_not_an_empty_secret() {
    let fixture = StateFixture::new();
    assert!(matches!(fixture.shared.open("no reference"), Err(EngineError::Bug(_))));
}

#[tokio::test(start_paused = true)]
async fn a_sleep_ends_early_once_the_engine_stops_and_leaves_its_room_meanwhile() {
    let fixture = StateFixture::new();
    let shared = fixture.shared.clone();
    assert!(shared.sleep_or_stop(Duration::from_secs(1)).await);
    let sleeper = tokio::spawn({
        let shared = shared.clone();
        async move { shared.sleep_or_stop(Duration::from_hours(1)).await }
    });
    tokio::task::yield_now().await;
    assert_eq!(shared.resting(), 1);
    shared.stop();
    assert!(!sleeper.await.unwrap());
    assert_eq!((shared.resting(), shared.is_stopping()), (0, true));
}

#[test]
fn an_observation_states_its_facts_and_nothing_else() {
    let fixture = StateFixture::new();
    let key = "Contact/jane".parse().unwrap();
    let fact = fixture.shared.observation((&key, &merchant()), FactSource::Read, json!({"a": 1}));
    assert_eq!((fact.remote_id, fact.exists, fact.applied), (None, None, None));
    assert_eq!(fact.at, fixture.now());
}

#[test]
fn a_write_is_durable_and_readable_once_it_returns() {
    let fixture = StateFixture::new();
    let record = observation("Contact/jane", "cont_1", json!({}));
    complete(fixture.shared.write(Vec::new(), vec![record])).unwrap();
    assert_eq!(fixture.length(), 1);
    let key = "Contact/jane".parse().unwrap();
    assert!(fixture.shared.facts.observed_state(&key).unwrap().is_some());
}
