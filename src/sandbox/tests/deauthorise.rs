//! The end of a merchant's authorization (partner-api, deauthorize application).

use serde_json::{Value, json};

use super::{Reply, TestSandbox, basic};
use crate::sandbox::options::ServiceSurface;

async fn tenant(house: &TestSandbox) -> String {
    let partner = house.credentials().await["partner"].clone();
    let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "client_credentials", "scope": "tenant"});
    let token = house.call("POST", "/oauth/token", None, &body).await.ok();
    format!("Bearer {}", token["access_token"].as_str().unwrap())
}

async fn end(house: &TestSandbox, public_key: &str, auth: Option<&str>) -> Reply {
    let path = format!("/api/v1/merchants/{public_key}/deauthorize_application");
    house.call("DELETE", &path, auth, &Value::Null).await
}

/// Returns the partner's access to a merchant: its bearer header, and an account as its credentials
/// show it.
async fn given(house: &TestSandbox, merchant: &str) -> (String, Value) {
    let bearer = house.bearer(merchant).await;
    let shown = house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
    (bearer, shown["test_accounts"][0].clone())
}

async fn cards(house: &TestSandbox, key: &Value) -> u16 {
    let key = basic(key.as_str().unwrap());
    house.call("GET", "/v1/cards", Some(&key), &Value::Null).await.status.as_u16()
}

#[tokio::test]
async fn what_the_partner_was_given_ends_and_the_merchant_stays() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let (bearer, account) = given(&house, "acme").await;
    let (other, elsewhere) = given(&house, "bolt").await;
    let unused = house.control("POST", "credentials", &json!({"merchant": "acme"})).await;
    let tenant = tenant(&house).await;
    let public_key = account["public_key"].as_str().unwrap();
    let done = end(&house, public_key, Some(&tenant)).await;
    assert_eq!((done.status.as_u16(), done.text.as_str()), (200, ""));
    let credentials = async |bearer: &str| {
        house.call("GET", "/gateway-credentials", Some(bearer), &Value::Null).await.status
    };
    assert_eq!(credentials(&bearer).await, 401);
    assert_eq!(cards(&house, &account["secret_key"]).await, 401);
    let token =
        house.call("POST", "/v1/tokens", Some(&basic(public_key)), &json!({"type": "card"})).await;
    assert_eq!(token.refusal().0, 401);
    let partner = house.credentials().await["partner"].clone();
    let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "authorization_code", "scope": "payments",
        "redirect_uri": partner["redirect_uri"], "code": unused["authorization_code"]});
    assert_eq!(house.call("POST", "/oauth/token", None, &body).await.status, 400);
    let merchants = house.credentials().await["merchants"].clone();
    let acme =
        merchants.as_array().unwrap().iter().find(|one| one["name"] == "acme").unwrap().clone();
    assert_eq!(cards(&house, &acme["test"]["secret_key"]).await, 200, "the merchant's own key");
    assert_eq!(credentials(&other).await, 200);
    assert_eq!(cards(&house, &elsewhere["secret_key"]).await, 200);
    super::covers(&["6.1", "6.2"]);
}

#[tokio::test]
async fn every_token_and_every_key_that_the_credentials_gave_is_refused() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearers = [house.bearer("acme").await, house.bearer("acme").await];
    let path = "/gateway-credentials";
    let shown = house.call("GET", path, Some(&bearers[0]), &Value::Null).await.ok();
    let lists = ["test_accounts", "live_accounts"].map(|name| shown[name].as_array().unwrap());
    let accounts: Vec<&Value> = lists.into_iter().flatten().collect();
    assert_eq!(accounts.len(), 4, "a card and a check account of each mode");
    for account in &accounts {
        assert_eq!(cards(&house, &account["secret_key"]).await, 200);
    }
    let public_key = accounts[0]["public_key"].as_str().unwrap();
    assert_eq!(end(&house, public_key, Some(&tenant(&house).await)).await.status, 200);
    for account in &accounts {
        assert_eq!(cards(&house, &account["secret_key"]).await, 401, "{}", account["id"]);
        let key = basic(account["public_key"].as_str().unwrap());
        let token = house.call("POST", "/v1/tokens", Some(&key), &json!({"type": "card"})).await;
        assert_eq!(token.refusal().0, 401, "{}", account["id"]);
    }
    for bearer in &bearers {
        let reply = house.call("GET", path, Some(bearer.as_str()), &Value::Null).await;
        assert_eq!(reply.refusal().0, 401);
    }
    super::covers(&["6.2"]);
}

#[tokio::test]
async fn an_authorization_ends_once_and_a_fresh_code_begins_another() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let (_, account) = given(&house, "acme").await;
    let tenant = tenant(&house).await;
    let public_key = account["public_key"].as_str().unwrap();
    assert_eq!(end(&house, public_key, Some(&tenant)).await.status, 200);
    let again = end(&house, public_key, Some(&tenant)).await.refusal();
    assert_eq!((again.0, again.1.as_str()), (404, "resource_not_found"));
    let (bearer, same) = given(&house, "acme").await;
    assert_eq!(same, account);
    assert_eq!(cards(&house, &account["secret_key"]).await, 200);
    house.call("GET", "/bank-accounts", Some(&bearer), &Value::Null).await.ok();
    assert_eq!(end(&house, public_key, Some(&tenant)).await.status, 200);
}

#[tokio::test]
async fn only_the_partner_may_end_it_by_a_public_key() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let (bearer, account) = given(&house, "acme").await;
    let public_key = account["public_key"].as_str().unwrap();
    assert_eq!(end(&house, public_key, None).await.refusal().0, 401);
    assert_eq!(end(&house, public_key, Some(&bearer)).await.refusal().0, 401);
    let tenant = tenant(&house).await;
    let secret_key = account["secret_key"].as_str().unwrap();
    for wrong in [secret_key, "m_0000000000000000000000", "a%2Fb"] {
        assert_eq!(end(&house, wrong, Some(&tenant)).await.refusal().0, 404);
    }
    assert_eq!(cards(&house, &account["secret_key"]).await, 200);
    super::covers(&["6.3", "6.4"]);
}
