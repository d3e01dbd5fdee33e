//! The surface of the two documents against the public one: the refusals of each
//! (docs/design/assumptions.md).

use http::Request;
use serde_json::{Value, json};

use super::applications::{application, contexts, tenant};
use super::clients::{bank, wrong};
use super::recurring::{act, card, create, monthly, path};
use super::{TestSandbox, visa, with};
use crate::sandbox::options::ServiceSurface;

/// Closes E11 for requests: the documented surface refuses each, the public surface accepts it.
#[tokio::test]
async fn the_documented_surface_allows_what_the_documents_allow() {
    let (strict, open) =
        (TestSandbox::new(ServiceSurface::Documented), TestSandbox::new(ServiceSurface::Public));
    let both = async |path: &str, body: &Value, context: &str| {
        let refused = strict.secret("POST", path, body).await;
        assert_eq!(wrong(&refused), [context], "{body}");
        assert_eq!(open.secret("POST", path, body).await.status, 200, "{body}");
    };
    both("/v1/recurring/charges", &monthly(&visa()), "method").await;
    let mut untyped = visa();
    untyped.as_object_mut().unwrap().remove("type");
    both("/v1/charges", &json!({"amount": 1, "method": untyped}), "method.type").await;
    let texts = with(visa(), "exp_month", "10");
    both("/v1/charges", &json!({"amount": 1, "method": texts}), "method.exp_month").await;
    let (bearers, person) = (
        [strict.bearer("demo").await, open.bearer("demo").await],
        json!({"first_name": "Jane", "last_name": "Doe", "type": "person", "test_mode": true}),
    );
    let mut invoice = super::partner::new_invoice(&strict, &bearers[0]).await;
    invoice["line_items"][0]["rate_per_quantity"] = json!(12500);
    let address = json!([{"address": "jane@example.com"}]);
    let listed = with(person.clone(), "email_addresses", json!({"0": address[0]}));
    let mut nobody = with(person.clone(), "email_addresses", address);
    nobody.as_object_mut().unwrap().remove("type");
    for (path, body, context) in [
        ("/contacts", &person, "email_addresses"),
        ("/contacts", &listed, "email_addresses"),
        ("/contacts", &nobody, "type"),
        ("/invoices", &invoice, "line_items.0.rate_per_quantity"),
    ] {
        let refused = strict.call("POST", path, Some(&bearers[0]), body).await;
        assert_eq!(wrong(&refused), [context], "{body}");
    }
    for body in [&person, &listed, &nobody] {
        open.call("POST", "/contacts", Some(&bearers[1]), body).await.ok();
    }
    let mut invoice = super::partner::new_invoice(&open, &bearers[1]).await;
    invoice["line_items"][0]["rate_per_quantity"] = json!(12500);
    open.call("POST", "/invoices", Some(&bearers[1]), &invoice).await.ok();
}

/// Closes E11 for changes of a recurring charge's method.
#[tokio::test]
async fn a_method_is_changed_with_its_type_and_replaced_whole_where_clients_do() {
    let strict = TestSandbox::new(ServiceSurface::Documented);
    let made = create(&strict, &monthly(&card(&strict, "4242424242424242").await)).await;
    let untyped = json!({"method": {"exp_year": 2033}});
    assert_eq!(wrong(&strict.secret("PATCH", &path(&made), &untyped).await), ["method.type"]);
    let typed = json!({"method": {"type": "card", "exp_year": 2033}});
    let now = strict.secret("PATCH", &path(&made), &typed).await.ok();
    assert_eq!(now["method"]["exp_year"], 2033);
    let open = TestSandbox::new(ServiceSurface::Public);
    let made = create(&open, &monthly(&card(&open, "4242424242424242").await)).await;
    open.secret("PATCH", &path(&made), &untyped).await.ok();
    let other = with(visa(), "number", "5105105105105100");
    let raw = json!({"method": other});
    assert_eq!(wrong(&open.secret("PATCH", &path(&made), &raw).await), ["method.number"]);
    let whole = monthly(&other);
    let now = open.secret("PUT", &path(&made), &whole).await.ok();
    assert_eq!(now["method"]["number"], "************5100");
    assert_eq!(now["method"]["card_type"], "MASTERCARD");
    assert!(now["method"].get("cvv").is_none());
    let now = open.secret("PUT", &path(&made), &monthly(&bank())).await.ok();
    assert_eq!(now["method"]["type"], "bank");
    assert_eq!(now["account_id"], open.demo().await["test"]["ach_account_id"]);
    let broken = monthly(&with(visa(), "number", "1"));
    assert_eq!(wrong(&open.secret("PUT", &path(&made), &broken).await), ["method.number"]);
}

/// Closes E11 for the token endpoint.
#[tokio::test]
async fn the_documents_know_two_scopes_and_json() {
    for (surface, expect) in [(ServiceSurface::Documented, 400), (ServiceSurface::Public, 200)] {
        let house = TestSandbox::new(surface);
        let partner = house.credentials().await["partner"].clone();
        for scope in [Value::Null, json!("chargeio")] {
            let code = house.control("POST", "credentials", &json!({"merchant": "demo"})).await;
            let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
                "grant_type": "authorization_code", "redirect_uri": partner["redirect_uri"],
                "code": code["authorization_code"], "scope": scope});
            let reply = house.call("POST", "/oauth/token", None, &body).await;
            assert_eq!(reply.status, expect, "{scope}");
        }
        let word = |name: &str| partner[name].as_str().unwrap().to_owned();
        let form = format!(
            "client_id={}&client_secret={}&grant_type=client_credentials&scope=tenant",
            word("client_id"),
            word("client_secret")
        );
        let request = Request::post("/oauth/token")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form.into())
            .unwrap();
        assert_eq!(house.send(request).await.status, expect, "a form");
        let document = house.call("GET", "/openapi.json", None, &Value::Null).await.ok();
        let content = &document["paths"]["/oauth/token"]["post"]["requestBody"]["content"];
        let forms = content.get("application/x-www-form-urlencoded").is_some();
        assert_eq!(forms, surface == ServiceSurface::Public);
    }
    super::covers(&["1.6", "2.6"]);
}

/// Closes E11 for the statuses of occurrences.
#[tokio::test]
async fn the_documents_know_three_statuses_of_an_occurrence() {
    for (surface, expect) in
        [(ServiceSurface::Documented, "PENDING"), (ServiceSurface::Public, "FAILED")]
    {
        let house = TestSandbox::new(surface);
        let made = create(&house, &monthly(&card(&house, "4000000000000002").await)).await;
        act(&house, &made, 0, "pay").await.refusal();
        let list = format!("{}/occurrences", path(&made));
        let page = house.secret("GET", &list, &Value::Null).await.ok();
        let tried = page["results"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&tried["status"], &tried["attempts"]), (&json!(expect), &json!(1)));
        let one = format!("{list}/{}", tried["id"].as_str().unwrap());
        assert_eq!(house.secret("GET", &one, &Value::Null).await.ok()["status"], expect);
        assert_eq!(act(&house, &made, 1, "ignore").await.ok()["status"], "IGNORED");
    }
}

/// Closes E12: a field that PATCH does not change is refused, not ignored.
#[tokio::test]
async fn details_of_a_saved_method_are_changed_by_a_token_alone() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let house = TestSandbox::new(surface);
        let saved = house.secret("POST", "/v1/cards", &visa()).await.ok();
        let at = format!("/v1/cards/{}", saved["id"].as_str().unwrap());
        let change = json!({"exp_year": 2031, "name": "Jane Roe", "description": "new"});
        assert_eq!(wrong(&house.secret("PATCH", &at, &change).await), ["exp_year", "name"]);
        let now = house.secret("GET", &at, &Value::Null).await.ok();
        assert_eq!((&now["exp_year"], now.get("description")), (&json!(2030), None));
        let harmless = json!({"type": "card", "exp_year": null, "description": "new"});
        assert_eq!(house.secret("PATCH", &at, &harmless).await.ok()["description"], "new");
    }
}

/// Closes E11 for applications: numbers and booleans sent as text are refused.
#[tokio::test]
async fn a_number_and_a_truth_of_an_application_are_no_texts() {
    let (strict, open) =
        (TestSandbox::new(ServiceSurface::Documented), TestSandbox::new(ServiceSurface::Public));
    let post = async |house: &TestSandbox, fields: &Value| {
        let (bearer, body) = (tenant(house).await, json!({ "merchant_application": fields }));
        house.call("POST", "/api/v1/merchant_applications", Some(&bearer), &body).await
    };
    let cases = [("industry_code", "8111", "00-0000001"), ("has_dba", "false", "00-0000002")];
    for (name, text, tax) in cases {
        let fields = with(application(name, "Doe LLC", tax), name, text);
        assert_eq!(contexts(&post(&strict, &fields).await), [name]);
        post(&open, &fields).await.ok();
    }
    super::covers(&["7.3"]);
}
