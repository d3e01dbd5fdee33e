//! Consent of an existing merchant, and the rights of each of the two tokens (partner-api,
//! Authentication; service-facts, 78, 80, 81).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::applications::{application, tenant};
use super::{Reply, TestSandbox, covers};
use crate::api::call::encode;
use crate::sandbox::options::ServiceSurface;

const BACK: &str = "https://partner.example/callback";

/// Returns the address of the page, with these parameters over the right ones.
async fn address(house: &TestSandbox, other: &[(&str, &str)]) -> String {
    let partner = house.credentials().await["partner"].clone();
    let client = partner["client_id"].as_str().unwrap().to_owned();
    let mut all = vec![
        ("response_type", "code"),
        ("client_id", client.as_str()),
        ("redirect_uri", BACK),
        ("scope", "payments"),
        ("state", "a b&c"),
        ("code_challenge", "x"),
    ];
    all.retain(|(name, _)| !other.iter().any(|(one, _)| one == name));
    all.extend(other);
    let pairs = all.iter().map(|(name, value)| format!("{name}={}", encode(value)));
    format!("/oauth/authorize?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// Sends the page's form with the owner's answer.
async fn answer(house: &TestSandbox, address: &str, said: &str) -> Reply {
    let query = address.split_once('?').unwrap().1;
    let request = Request::post("/oauth/authorize")
        .header("host", "localhost")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(format!("{query}&{said}")))
        .unwrap();
    house.send(request).await
}

async fn exchange(house: &TestSandbox, code: &str, other: Value) -> Reply {
    let partner = house.credentials().await["partner"].clone();
    let mut body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "authorization_code", "redirect_uri": BACK, "code": code});
    body.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    house.call("POST", "/oauth/token", None, &body).await
}

#[tokio::test]
async fn an_owner_who_agrees_sends_a_code_back_to_the_partner() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let address = address(&house, &[]).await;
    let page = house.call("GET", &address, None, &Value::Null).await;
    assert_eq!(page.status, 200);
    assert!(
        page.text.contains("sandbox partner")
            && page.text.contains("<option value=\"demo\">demo</option>")
    );
    assert!(
        page.headers["content-security-policy"].to_str().unwrap().contains("default-src 'none'")
    );
    for (scope, said) in [
        ("payments", json!({"scope": "payments"})),
        ("payments", json!({})),
        ("payments", json!({"scope": "chargeio"})),
    ] {
        let back = answer(&house, &address, "answer=allow&merchant=demo").await;
        assert_eq!(back.status, 303);
        let location = back.headers["location"].to_str().unwrap().to_owned();
        let code = location.strip_prefix(&format!("{BACK}?code=")).unwrap();
        let (code, state) = code.split_once('&').unwrap();
        assert_eq!((code.len(), state), (64, "state=a%20b%26c"));
        let token = exchange(&house, code, said).await.ok();
        assert_eq!(token["scope"], scope);
        let bearer = format!("Bearer {}", token["access_token"].as_str().unwrap());
        let shown =
            house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
        assert_eq!(shown["merchant"]["name"], "demo");
        let older =
            house.call("GET", "/api/v1/chargeio_credentials", Some(&bearer), &Value::Null).await;
        assert_eq!(older.ok(), shown);
    }
    let moved = json!({"redirect_uri": "https://partner.example/moved"});
    house.control("POST", "partner", &moved).await;
    let partner = house.control("GET", "partner", &Value::Null).await;
    assert_eq!(partner["redirect_uri"], moved["redirect_uri"]);
    assert_eq!(house.call("GET", &address, None, &Value::Null).await.status, 400, "the old one");
    covers(&["2.3", "2.6", "3.3", "3.5", "5.7"]);
}

#[tokio::test]
async fn an_owner_may_say_no_and_has_to_say_for_whom() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let address = address(&house, &[]).await;
    let back = answer(&house, &address, "answer=deny&merchant=demo").await;
    let location = back.headers["location"].to_str().unwrap();
    assert_eq!(location, format!("{BACK}?error=access_denied&state=a%20b%26c"));
    let blank = answer(&house, &address, "answer=allow&merchant=").await;
    assert_eq!(blank.status, 422);
    assert!(blank.text.contains("Choose the business that you act for"));
}

#[tokio::test]
async fn nobody_is_sent_to_an_address_that_is_not_the_partner_s() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for wrong in [
        ("redirect_uri", "https://elsewhere.example/"),
        ("client_id", "x"),
        ("response_type", "token"),
        ("scope", "tenant"),
    ] {
        let address = address(&house, &[wrong]).await;
        let page = house.call("GET", &address, None, &Value::Null).await;
        assert_eq!(page.status, 400, "{wrong:?}");
        let back = answer(&house, &address, "answer=allow&merchant=demo").await;
        assert!(back.status == 400 && back.headers.get("location").is_none(), "{wrong:?}");
    }
}

#[tokio::test]
async fn a_tenant_token_is_for_applications_and_a_payments_token_is_not() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let (tenant, payments) = (tenant(&house).await, house.bearer("acme").await);
    let keys = house.call("GET", "/gateway-credentials", Some(&payments), &Value::Null).await.ok();
    let key = keys["test_accounts"][0]["public_key"].as_str().unwrap().to_owned();
    let complete = json!({"merchant_application": application("usr_1", "Doe LLC", "1")});
    let start = json!({"reference": "usr_2", "plan": "basic", "email": "jane@example.com"});
    let calls = [
        ("POST", "/api/v1/merchant_applications".to_owned(), complete),
        ("POST", "/api/v1/merchant_applications/sign_up".to_owned(), start),
        ("DELETE", format!("/api/v1/merchants/{key}/deauthorize_application"), Value::Null),
    ];
    for (method, path, body) in &calls {
        assert_eq!(
            house.call(method, path, Some(&payments), body).await.refusal().0,
            401,
            "{path}"
        );
    }
    for (method, path, body) in &calls {
        assert_eq!(house.call(method, path, Some(&tenant), body).await.status, 200, "{path}");
    }
    covers(&["4.1", "4.2"]);
}

#[tokio::test]
async fn the_partner_application_is_set_up_by_three_roles_alone() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mut expected = Value::Null;
    for (role, status) in
        [("administrator", 200), ("developer", 200), ("owner", 200), ("viewer", 401)]
    {
        let order = json!({"role": role, "event_url": format!("https://{role}.example/"),
            "redirect_uri": format!("https://{role}.example/back")});
        let reply = house.call("POST", "/_sandbox/partner", None, &order).await;
        assert_eq!(reply.status, status, "{role}");
        if status == 200 {
            expected = order;
        }
        let shown = house.control("GET", "partner", &Value::Null).await;
        for name in ["event_url", "redirect_uri"] {
            assert_eq!(shown[name], expected[name], "{role}: {name}");
        }
    }
    let shown = house.control("GET", "partner", &Value::Null).await;
    assert_eq!(shown["event_url"], "https://owner.example/");
    covers(&["3.6"]);
}
