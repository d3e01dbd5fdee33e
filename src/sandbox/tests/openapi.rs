//! The `OpenAPI` document: it describes the served routes, and a request without a required field
//! is refused.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Reply, TestSandbox};
use crate::api::reads::READS;
use crate::sandbox::options::ServiceSurface;

async fn document(surface: ServiceSurface) -> Value {
    TestSandbox::new(surface).call("GET", "/openapi.json", None, &Value::Null).await.ok()
}

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let each = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, said)| (method.clone(), path.clone(), said.clone()))
    });
    each.collect()
}

#[tokio::test]
async fn the_document_lists_what_the_two_documents_and_public_material_know() {
    let listed = |document: &Value| -> BTreeSet<String> {
        let all = operations(document).into_iter();
        all.map(|(method, path, _)| format!("{} {path}", method.to_uppercase())).collect()
    };
    let documented = listed(&document(ServiceSurface::Documented).await);
    let public = listed(&document(ServiceSurface::Public).await);
    for one in [
        "POST /oauth/token",
        "GET /gateway-credentials",
        "POST /api/v1/merchant_applications",
        "POST /contacts",
        "POST /invoices",
        "POST /v1/charges",
        "POST /v1/charges/{id}/refund",
        "GET /v1/recurring/charges/schedule",
        "GET /v1/events",
    ] {
        assert!(documented.contains(one), "{one} in {documented:#?}");
    }
    let more: Vec<&str> = public.difference(&documented).map(String::as_str).collect();
    let expect = [
        "DELETE /v1/recurring/charges/{id}",
        "GET /api/v1/chargeio_credentials",
        "GET /status",
        "GET /v1/merchant",
        "GET /v1/recurring/charges",
        "GET /v1/recurring/charges/{id}",
        "GET /v1/signatures/{id}",
        "GET /v1/transactions",
        "GET /v1/transactions/{id}",
        "PATCH /v1/accounts/{id}",
        "PATCH /v1/ach-accounts/{id}",
        "PATCH /v1/merchant",
        "POST /contacts/{contact_id}/payment-methods",
        "POST /v1/merchant/purge-test-data",
        "POST /v1/recurring/charges/{id}/cancel",
        "PUT /v1/accounts/{id}",
        "PUT /v1/ach-accounts/{id}",
        "PUT /v1/merchant",
        "PUT /v1/recurring/charges/{id}",
    ];
    assert_eq!(more, expect);
}

#[tokio::test]
async fn every_operation_has_a_name_of_its_own_a_text_and_an_answer() {
    let document = document(ServiceSurface::Public).await;
    let mut names = BTreeSet::new();
    for (method, path, said) in operations(&document) {
        assert!(names.insert(said["operationId"].to_string()), "{path}");
        let summary = said["summary"].as_str().unwrap();
        assert!(summary.ends_with('.') && summary.len() > 10, "{method} {path}: {summary}");
        let answers = said["responses"].as_object().unwrap().keys();
        let success: Vec<&String> = answers.filter(|status| status.starts_with('2')).collect();
        let expect = if path.ends_with("/purge-test-data") { "204" } else { "200" };
        assert_eq!(success, [expect], "{method} {path}");
    }
    super::covers(&["52.13"]);
}

#[tokio::test]
async fn every_read_that_is_served_can_be_shown_to_a_person() {
    let document = document(ServiceSurface::Public).await;
    let reads = operations(&document).into_iter().filter(|(method, _, _)| method == "get");
    let served: BTreeSet<String> =
        reads.map(|(_, _, said)| said["operationId"].as_str().unwrap().to_owned()).collect();
    let mut shown: BTreeSet<String> = READS.iter().map(|read| read.name.to_owned()).collect();
    shown.insert("credentials.get_by_older_path".to_owned());
    assert_eq!(served, shown);
}

#[tokio::test]
async fn every_reference_of_the_document_leads_somewhere() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|inner| references(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = document(ServiceSurface::Public).await;
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for reference in found {
        let pointer = reference.trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let each =
        operations(&document).into_iter().map(|(_, _, said)| said["operationId"].to_string());
    let names: BTreeSet<String> = each.collect();
    for (_, path, said) in operations(&document) {
        for (_, link) in said["responses"]["200"]["links"].as_object().into_iter().flatten() {
            assert!(names.contains(&link["operationId"].to_string()), "{path}: {link}");
        }
    }
}

/// Returns the required fields of a body.
fn required(document: &Value, path: &str) -> BTreeSet<String> {
    let body = &document["paths"][path]["post"]["requestBody"];
    let required = &body["content"]["application/json"]["schema"]["required"];
    required.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn refused(reply: &Reply) -> BTreeSet<String> {
    assert_eq!(reply.status, 422, "{}", reply.text);
    let body = reply.json();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(|one| one["context"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn what_the_document_requires_is_refused_when_it_is_left_out() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let document = house.call("GET", "/openapi.json", None, &Value::Null).await.ok();
    for path in ["/v1/charges", "/v1/credits", "/v1/recurring/charges"] {
        let reply = house.secret("POST", path, &json!({})).await;
        assert_eq!(refused(&reply), required(&document, path), "{path}");
    }
    let bearer = house.bearer("demo").await;
    for path in ["/contacts", "/invoices"] {
        let reply = house.call("POST", path, Some(&bearer), &json!({})).await;
        assert_eq!(refused(&reply), required(&document, path), "{path}");
    }
}

#[tokio::test]
async fn the_document_can_be_read_by_people() {
    let page =
        TestSandbox::new(ServiceSurface::Public).call("GET", "/openapi", None, &Value::Null).await;
    assert_eq!(page.status, 200);
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'"), "{policy}");
    for text in ["/v1/charges/{id}/refund", "Refunds a charge", "secret_key"] {
        assert!(page.text.contains(text), "{text}");
    }
}
