//! Hosts, paths, origins and bodies (both documents, Authentication and Errors; service-facts,
//! parts 1 and 2).

use axum::body::Body;
use http::{Method, Request};
use serde_json::{Value, json};

use super::{Reply, TestSandbox, covers, visa, with};
use crate::sandbox::options::ServiceSurface;

async fn from_elsewhere(house: &TestSandbox, method: Method, path: &str, body: &Value) -> Reply {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("origin", "https://shop.example")
        .header("content-type", "application/json")
        .header("authorization", house.key("test", "public_key").await);
    house.send(request.body(Body::from(body.to_string())).unwrap()).await
}

#[tokio::test]
async fn other_origins_may_make_tokens_and_nothing_else() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let asks = from_elsewhere(&house, Method::OPTIONS, "/v1/tokens", &Value::Null).await;
    assert_eq!(asks.status, 200);
    assert_eq!(asks.headers["access-control-allow-origin"], "*");
    assert_eq!(asks.headers["access-control-allow-methods"], "POST");
    assert_eq!(asks.headers["access-control-allow-headers"], "authorization, content-type");
    let made = from_elsewhere(&house, Method::POST, "/v1/tokens", &visa()).await;
    assert_eq!(
        (made.status.as_u16(), &made.headers["access-control-allow-origin"]),
        (200, &"*".parse().unwrap())
    );
    let refused = from_elsewhere(&house, Method::POST, "/v1/tokens", &json!({"type": 7})).await;
    assert_eq!(refused.headers["access-control-allow-origin"], "*", "a page may read the reason");
    covers(&["31.3"]);
    for path in ["/v1/charges", "/v1/cards", "/v1/tokens/x", "/oauth/token"] {
        let asks = from_elsewhere(&house, Method::OPTIONS, path, &Value::Null).await;
        assert!(
            asks.status == 400 && asks.headers.get("access-control-allow-origin").is_none(),
            "{path}"
        );
        let reply = from_elsewhere(&house, Method::GET, path, &Value::Null).await;
        assert!(reply.headers.get("access-control-allow-origin").is_none(), "{path}");
    }
    covers(&["31.4"]);
}

#[tokio::test]
async fn paths_of_the_gateway_stand_under_v1_and_the_surcharge_does_not() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for path in [
        "/cards",
        "/charges",
        "/transactions",
        "/v1/bank-accounts/x/surcharge",
        "/v1/oauth/token",
        "/v1/contacts",
    ] {
        let reply = house.secret("GET", path, &Value::Null).await;
        assert_eq!(reply.refusal(), (404, "resource_not_found".to_owned(), None), "{path}");
    }
    let bank = house.demo().await["bank_accounts"][0]["id"].as_str().unwrap().to_owned();
    let public = house.key("test", "public_key").await;
    let path = format!("/bank-accounts/{bank}/surcharge");
    assert_eq!(house.call("GET", &path, Some(&public), &Value::Null).await.status, 200);
    assert_eq!(house.secret("GET", "/v1/cards", &Value::Null).await.status, 200);
    covers(&["28.3"]);
}

#[tokio::test]
async fn the_secret_key_opens_what_the_public_key_does_not() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let public = house.key("test", "public_key").await;
    for path in [
        "/v1/cards",
        "/v1/banks",
        "/v1/transactions",
        "/v1/recurring/charges",
        "/v1/events",
        "/v1/charges/holds",
        "/v1/merchant",
    ] {
        assert_eq!(house.secret("GET", path, &Value::Null).await.status, 200, "{path}");
        assert_eq!(
            house.call("GET", path, Some(&public), &Value::Null).await.refusal().0,
            401,
            "{path}"
        );
    }
    let document = house.call("GET", "/openapi.json", None, &Value::Null).await.ok();
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, said) in methods.as_object().unwrap() {
            let sort = said["security"][0].as_object().and_then(|all| all.keys().next()).cloned();
            let Some(sort) = sort.filter(|sort| sort != "public_key") else { continue };
            let (method, path) = (method.to_uppercase(), path.replace(['{', '}'], ""));
            let refused = house.call(&method, &path, Some(&public), &json!({})).await;
            assert_eq!(refused.refusal().0, 401, "{method} {path}");
            if sort == "secret_key" {
                let reply = house.secret(&method, &path, &json!({})).await;
                assert_ne!(reply.status, 401, "{method} {path}");
            }
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
    covers(&["29.4", "29.5"]);
}

#[tokio::test]
async fn a_wrong_method_or_content_type_is_400_and_a_long_body_413() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (method, path) in [("PUT", "/v1/cards"), ("DELETE", "/v1/charges"), ("PATCH", "/v1/events")]
    {
        let reply = house.secret(method, path, &json!({})).await;
        assert_eq!(
            (reply.refusal().0, reply.refusal().1.as_str()),
            (400, "invalid_request"),
            "{method} {path}"
        );
    }
    let key = house.key("test", "secret_key").await;
    let send = async |kind: &str, body: Vec<u8>| {
        let request =
            Request::post("/v1/cards").header("authorization", &key).header("content-type", kind);
        house.send(request.body(Body::from(body)).unwrap()).await
    };
    let xml = send("application/xml", b"<card/>".to_vec()).await;
    assert_eq!((xml.refusal().0, xml.refusal().1.as_str()), (400, "invalid_request"));
    let plain = send("application/json", visa().to_string().into_bytes()).await;
    assert_eq!(plain.status, 200, "a charset is not needed");
    covers(&["52.5"]);
    let long = send("application/json", vec![b' '; (16 << 20) + 1]).await;
    assert_eq!((long.refusal().0, long.refusal().1.as_str()), (413, "invalid_request"));
    covers(&["52.8"]);
}

#[tokio::test]
async fn nulls_are_absent_both_ways() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let body = json!({"amount": "700", "method": with(visa(), "address2", Value::Null), "currency": null,
        "account_id": null, "reference": null, "data": null, "gratuity": null, "signature": null});
    let made = house.secret("POST", "/v1/charges", &body).await.ok();
    let no_nulls = |value: &Value| !value.to_string().contains(":null");
    assert!(no_nulls(&made), "{made}");
    for absent in ["reference", "data", "failure_code", "void_reference", "charge_id"] {
        assert!(made.get(absent).is_none(), "{absent}");
    }
    let schedule = json!({"start": "2027-01-01", "interval_unit": "DAY", "interval_delay": 1, "end": null, "days": null});
    let recurs = json!({"amount": 5, "method": visa(), "schedule": schedule});
    assert!(no_nulls(&house.secret("POST", "/v1/recurring/charges", &recurs).await.ok()));
    covers(&["52.12"]);
}
