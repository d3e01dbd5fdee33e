use serde_json::json;

use super::*;
use crate::engine::tests::fixture::{StateFixture, complete};
use crate::engine::tests::records::{MERCHANT, merchant};

fn wallet(fixture: &StateFixture) -> CredentialSource {
    fixture.known_state.credential_source(&merchant())
}

/// Returns the secret of a call, or the reason why there is none.
fn secret(shared: &EngineShared, wallet: &CredentialSource, auth: Auth) -> Result<String, String> {
    match access(shared, wallet, auth) {
        Ok(Access::Bearer(secret) | Access::Basic(secret)) => Ok(secret.expose().to_owned()),
        Ok(Access::None | Access::Tenant) => Ok(String::new()),
        Err(CredentialError::Secret(error)) => Err(error.message),
        Err(CredentialError::Engine(error)) => panic!("{error}"),
    }
}

#[test]
fn each_call_gets_the_credential_of_its_sort() {
    let fixture = StateFixture::with_documents(&[]);
    let wallet = wallet(&fixture);
    for (auth, expected) in [
        (Auth::Payments, "tok_1"),
        (Auth::SecretKey, "sk_1"),
        (Auth::PublicKey, "m_0123456789abcdefghij"),
        (Auth::Tenant, ""),
        (Auth::None, ""),
    ] {
        assert_eq!(secret(&fixture.shared, &wallet, auth), Ok(expected.to_owned()), "{auth:?}");
    }
}

#[test]
fn a_sealed_credential_is_opened_from_the_vault() {
    let mut fixture = StateFixture::with_documents(&[]);
    let sealed = fixture.seal("Merchant/default/acme", "tok_sealed");
    fixture.apply("Merchant/acme", "m_acme", json!({"token": {"sealed": sealed}}));
    let opened = secret(&fixture.shared, &wallet(&fixture), Auth::Payments);
    assert_eq!(opened, Ok("tok_sealed".to_owned()));
}

#[test]
fn an_account_with_keys_of_its_own_uses_them_and_any_other_the_merchant_s() {
    let mut fixture = StateFixture::with_documents(&[]);
    let accounts = json!([{"id": "acc_1", "public_key": "m_account"}, {"id": "acc_2"}]);
    fixture.apply("Merchant/acme", "m_acme", json!({ "accounts": accounts }));
    let of = |account: &str| {
        let wallet = wallet(&fixture).with_account(Some(account.to_owned()));
        secret(&fixture.shared, &wallet, Auth::PublicKey).unwrap()
    };
    assert_eq!(of("acc_1"), "m_account");
    assert_eq!(of("acc_2"), "m_0123456789abcdefghij");
}

#[test]
fn a_merchant_without_a_credential_makes_no_call_and_is_named() {
    let mut fixture = StateFixture::new();
    fixture.write(&[MERCHANT]);
    let why = secret(&fixture.shared, &wallet(&fixture), Auth::SecretKey).unwrap_err();
    assert_eq!(why, "Merchant/acme has no credential for this call yet");
}

#[test]
fn the_document_s_own_credentials_come_first_only_while_they_are_read() {
    let fixture = StateFixture::with_documents(&[]);
    let spec = json!({"access_token": {"literal": "tok_new"}});
    let wallet =
        |is_read| CredentialSource { spec: Some(spec.clone()), is_read, ..wallet(&fixture) };
    let token = |is_read| secret(&fixture.shared, &wallet(is_read), Auth::Payments).unwrap();
    assert_eq!((token(true).as_str(), token(false).as_str()), ("tok_new", "tok_1"));
    let key = secret(&fixture.shared, &wallet(true), Auth::SecretKey).unwrap();
    assert_eq!(key, "sk_1", "the document names no key");
}

#[test]
fn a_refused_merchant_is_recorded_once_until_its_credentials_change() {
    let mut fixture = StateFixture::with_documents(&[]);
    let wallet = wallet(&fixture);
    let note = |fixture: &mut StateFixture, auth| {
        let theirs = complete(note_unauthorised(&fixture.shared, &wallet, auth)).unwrap();
        let length = fixture.length();
        fixture.refresh();
        (theirs, length)
    };
    let before = fixture.length();
    assert_eq!(note(&mut fixture, Auth::Tenant), (false, before), "the partner's own");
    assert!(!awaits_authorization(&fixture.shared, &merchant()).unwrap());
    assert_eq!(note(&mut fixture, Auth::SecretKey), (true, before + 1));
    assert_eq!(note(&mut fixture, Auth::Payments), (true, before + 1));
    assert!(awaits_authorization(&fixture.shared, &merchant()).unwrap());
    assert_eq!(fixture.reason("Merchant/acme"), "AwaitsAuthorization");
}

#[test]
fn the_partner_s_calls_share_one_lane_and_each_merchant_has_its_own() {
    let other: Key = "Merchant/other".parse().unwrap();
    for auth in [Auth::None, Auth::Tenant] {
        assert_eq!(lane_name(&merchant(), auth), lane_name(&other, auth));
    }
    for auth in [Auth::Payments, Auth::PublicKey, Auth::SecretKey] {
        assert_eq!(lane_name(&merchant(), auth), "Merchant/default/acme");
        assert_ne!(lane_name(&merchant(), auth), lane_name(&other, auth));
    }
}
