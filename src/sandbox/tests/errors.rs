//! Credentials, unknown paths and bodies (service-facts, parts 1 and 2).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::{TestSandbox, basic, visa};
use crate::sandbox::options::ServiceSurface;

#[tokio::test]
async fn a_wrong_or_missing_credential_is_401() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let demo = house.demo().await;
    let secret = demo["test"]["secret_key"].as_str().unwrap().to_owned();
    let public = demo["test"]["public_key"].as_str().unwrap();
    let encoded = |pair: &str| format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()));
    let bearer = house.bearer("demo").await;
    let wrong = [
        None,
        Some(basic("nothing")),
        Some(basic("")),
        Some(basic(public)),
        Some(encoded(&format!("{secret}:x"))),
        Some(encoded(&format!(":{secret}"))),
        Some(encoded(&secret)),
        Some(bearer),
        Some(secret.clone()),
    ];
    for auth in wrong {
        let reply = house.call("GET", "/v1/cards", auth.as_deref(), &Value::Null).await;
        assert_eq!(reply.refusal(), (401, "not_authorized".to_owned(), None), "{auth:?}");
        assert_eq!(reply.json()["messages"][0]["message"], "Not authorized");
    }
    let right = encoded(&format!("{secret}:"));
    assert_eq!(house.call("GET", "/v1/cards", Some(&right), &Value::Null).await.status, 200);
    let reply = house.call("GET", "/gateway-credentials", Some(&right), &Value::Null).await;
    assert_eq!(reply.refusal().0, 401);
    super::covers(&["29.1", "29.2", "29.4", "52.7"]);
}

#[tokio::test]
async fn an_unknown_path_is_404_without_a_context_and_a_wrong_method_400() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let reply = house.secret("GET", "/v1/nothing", &Value::Null).await;
    assert_eq!(reply.refusal(), (404, "resource_not_found".to_owned(), None));
    let reply = house.secret("GET", "/v1/cards/absent", &Value::Null).await;
    let context = Some("Card[absent]".to_owned());
    assert_eq!(reply.refusal(), (404, "resource_not_found".to_owned(), context));
    let reply = house.secret("PUT", "/v1/cards", &json!({})).await;
    assert_eq!(reply.refusal().0, 400);
    super::covers(&["52.4"]);
}

#[tokio::test]
async fn the_documented_surface_lacks_what_the_documents_lack() {
    for (surface, status) in [(ServiceSurface::Public, 200), (ServiceSurface::Documented, 404)] {
        let house = TestSandbox::new(surface);
        for path in ["/v1/recurring/charges", "/v1/transactions", "/v1/merchant", "/status"] {
            let reply = house.secret("GET", path, &Value::Null).await;
            assert_eq!(reply.status, status, "{path}");
        }
        assert_eq!(house.secret("GET", "/v1/events", &Value::Null).await.status, 200);
    }
    let house = TestSandbox::new(ServiceSurface::Documented);
    let reply = house.secret("GET", "/v1/recurring/charges/x", &Value::Null).await;
    assert_eq!(reply.refusal(), (404, "resource_not_found".to_owned(), None));
}

#[tokio::test]
async fn a_body_that_is_no_json_object_is_400() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let key = house.key("test", "secret_key").await;
    for (body, kind) in [
        ("{", "application/json"),
        ("[]", "application/json"),
        ("amount=1", "application/x-www-form-urlencoded"),
    ] {
        let request = Request::post("/v1/cards")
            .header("authorization", &key)
            .header("content-type", kind)
            .body(Body::from(body))
            .unwrap();
        assert_eq!(house.send(request).await.refusal().0, 400, "{body}");
    }
    let request = Request::post("/v1/cards")
        .header("authorization", &key)
        .body(Body::from(vec![b' '; (16 << 20) + 1]))
        .unwrap();
    assert_eq!(house.send(request).await.refusal().0, 413);
    super::covers(&["52.6"]);
}

#[tokio::test]
async fn a_doubled_slash_changes_nothing() {
    let house = TestSandbox::new(ServiceSurface::Public);
    assert_eq!(house.secret("GET", "/v1//merchant/", &Value::Null).await.ok()["name"], "demo");
}

#[tokio::test]
async fn a_merchant_sees_its_own_objects_only() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let card = house.secret("POST", "/v1/cards", &visa()).await.ok();
    house.bearer("acme").await;
    let acme = house.credentials().await["merchants"][0].clone();
    assert_eq!(acme["name"], "acme");
    let key = basic(acme["test"]["secret_key"].as_str().unwrap());
    let path = format!("/v1/cards/{}", card["id"].as_str().unwrap());
    assert_eq!(house.call("GET", &path, Some(&key), &Value::Null).await.refusal().0, 404);
    let list = house.call("GET", "/v1/cards", Some(&key), &Value::Null).await.ok();
    assert_eq!(list["total_entries"], 0);
}
