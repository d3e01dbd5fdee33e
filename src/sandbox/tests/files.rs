//! Files for invoices, and the portal links of contacts (docs/design/assumptions.md).

use serde_json::{Value, json};

use super::partner::{contact, new_invoice};
use super::{TestSandbox, fields, with};
use crate::sandbox::options::ServiceSurface;

/// Uploads a file for a contact.
pub(super) async fn upload(house: &TestSandbox, bearer: &str, contact: &Value) -> Value {
    let path = format!("/contacts/{}/files", contact.as_str().unwrap());
    let body = json!({"file_name": "letter.pdf", "content": "JVBERi0="});
    house.call("POST", &path, Some(bearer), &body).await.ok()
}

#[tokio::test]
async fn a_file_is_processed_after_a_moment_and_then_attached() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = new_invoice(&house, &bearer).await;
    let file = upload(&house, &bearer, &body["contact_id"]).await;
    assert!(file["id"].as_str().unwrap().starts_with("fref_"));
    assert_eq!(
        [&file["file_name"], &file["processing_state"], &file["type"]],
        ["letter.pdf", "processing", "invoice_file_reference"]
    );
    let body = with(body, "attachments", json!([{"id": file["id"]}]));
    let early = house.call("POST", "/invoices", Some(&bearer), &body).await;
    assert_eq!(fields(&early), [("attachments.0.id".to_owned(), "invalid".to_owned())]);
    assert_eq!(house.objects("invoices").await.len(), 0);
    house.advance("PT2S").await;
    let path = format!(
        "/contacts/{}/files/{}",
        body["contact_id"].as_str().unwrap(),
        file["id"].as_str().unwrap()
    );
    let read = house.call("GET", &path, Some(&bearer), &Value::Null).await.ok();
    assert_eq!(read["processing_state"], "completed");
    assert_eq!(
        [&read["id"], &read["file_name"], &read["type"]],
        [file["id"].as_str().unwrap(), "letter.pdf", "invoice_file_reference"]
    );
    for name in ["created", "modified"] {
        assert!(read[name]["timestamp"].is_string(), "{name}");
    }
    let invoice = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    assert_eq!(invoice["attachments"], json!([read]));
    let (sent, told) = (&invoice["presentment_status"], &invoice["invoice_messages"][0]["status"]);
    assert_eq!((sent, told), (&json!("sent"), &json!("sent")));
    let shown = house.objects("files").await;
    assert_eq!((&shown[0]["size"], &shown[0]["contact_id"]), (&json!(5), &body["contact_id"]));
    assert!(shown[0].get("content").is_none());
    super::covers(&["22.1", "22.2", "22.3", "22.5", "24.2"]);
}

#[tokio::test]
async fn a_file_serves_the_invoices_of_its_own_contact_alone() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = new_invoice(&house, &bearer).await;
    let other = contact(&house, &bearer, true).await;
    let file = upload(&house, &bearer, &other["id"]).await;
    house.advance("PT1M").await;
    for id in [file["id"].clone(), json!("fref_x")] {
        let body = with(body.clone(), "attachments", json!([{"id": id}]));
        let reply = house.call("POST", "/invoices", Some(&bearer), &body).await;
        assert_eq!(fields(&reply), [("attachments.0.id".to_owned(), "invalid".to_owned())]);
    }
    let id = file["id"].as_str().unwrap();
    let path = format!("/contacts/{}/files/{id}", body["contact_id"].as_str().unwrap());
    let reply = house.call("GET", &path, Some(&bearer), &Value::Null).await;
    assert_eq!(reply.refusal().2, Some(format!("File[{id}]")));
    super::covers(&["22.4"]);
}

#[tokio::test]
async fn an_upload_names_its_file_and_holds_bytes() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let contact = contact(&house, &bearer, true).await;
    let path = format!("/contacts/{}/files", contact["id"].as_str().unwrap());
    let reply = house.call("POST", &path, Some(&bearer), &json!({"content": "%"})).await;
    let contexts: Vec<_> = fields(&reply).into_iter().map(|(context, _)| context).collect();
    assert_eq!(contexts, ["file_name", "content"]);
    let stranger = house.bearer("acme").await;
    let body = json!({"file_name": "a", "content": "YQ=="});
    assert_eq!(house.call("POST", &path, Some(&stranger), &body).await.refusal().0, 404);
    let body = json!({"file_name": "a", "content": "YQ=="});
    let path = "/contacts/p_x/files";
    assert_eq!(house.call("POST", path, Some(&bearer), &body).await.refusal().0, 404);
    assert_eq!(house.objects("files").await.len(), 0);
}

#[tokio::test]
async fn a_portal_link_is_given_once_the_contact_has_an_invoice_and_is_shown_masked() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = new_invoice(&house, &bearer).await;
    let path = format!("/contacts/{}/hash", body["contact_id"].as_str().unwrap());
    let early = house.call("POST", &path, Some(&bearer), &Value::Null).await;
    assert_eq!(early.refusal(), (422, "unavailable_for_current_status".to_owned(), None));
    house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    let given = house.call("POST", &path, Some(&bearer), &json!({})).await.ok();
    let url = given["url"].as_str().unwrap();
    let (portal, hash) = url.rsplit_once('/').unwrap();
    assert_eq!((portal, hash.len()), ("https://127.0.0.1:8700/contacts", 64));
    let other = house.call("POST", &path, Some(&bearer), &Value::Null).await.ok();
    assert_ne!(other["url"], given["url"]);
    let shown = house.objects("contact_hashes").await;
    assert_eq!((shown.len(), &shown[0]["contact_id"]), (2, &body["contact_id"]));
    let everything = format!("{shown:?}{}", house.control("GET", "requests", &Value::Null).await);
    assert!(!everything.contains(hash), "the link shows");
    let stranger = house.bearer("acme").await;
    assert_eq!(house.call("POST", &path, Some(&stranger), &Value::Null).await.refusal().0, 404);
    super::covers(&["22.6"]);
}

#[tokio::test]
async fn the_default_subject_holds_the_brand_of_the_merchant() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let mut subjects = Vec::new();
    for (name, brand) in [("one", json!("")), ("two", json!("Chambers Pay")), ("three", json!(""))]
    {
        house.control("POST", "policy", &json!({"merchant": "demo", "brand": brand})).await;
        let body = with(new_invoice(&house, &bearer).await, "source_id", name);
        let invoice = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
        let subject = invoice["invoice_messages"][0]["subject"].as_str().unwrap().to_owned();
        subjects.push(subject.replace(invoice["invoice_number"].as_str().unwrap(), "N"));
    }
    let plain = "Sandbox Payments Invoice N";
    assert_eq!(subjects, [plain, "Chambers Pay Invoice N", plain]);
    super::covers(&["21.3"]);
}
