//! The payment portal: the payer's view and payment, and the effect on the invoice (partner-api,
//! POST /invoices; service-facts, 86).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::partner::new_invoice;
use super::tokens::token;
use super::{Reply, TestSandbox, covers, visa, with};
use crate::sandbox::options::ServiceSurface;

/// Returns an invoice of 130.00 USD and its path in the portal.
async fn invoiced(house: &TestSandbox) -> (Value, String) {
    let bearer = house.bearer("demo").await;
    let body = with(new_invoice(house, &bearer).await, "reference", "Case <7>");
    let made = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    let path = format!("/invoices/{}", made["id"].as_str().unwrap());
    (made, path)
}

/// Returns an invoice with a file, and its path in the portal.
pub(super) async fn attached(house: &TestSandbox) -> (Value, String) {
    let bearer = house.bearer("demo").await;
    let body = with(new_invoice(house, &bearer).await, "reference", "Case <7>");
    let file = super::files::upload(house, &bearer, &body["contact_id"]).await;
    house.advance("PT2S").await;
    let body = with(body, "attachments", json!([{"id": file["id"]}]));
    let made = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    let path = format!("/invoices/{}", made["id"].as_str().unwrap());
    (made, path)
}

async fn page(house: &TestSandbox, path: &str) -> Reply {
    house.call("GET", path, None, &Value::Null).await
}

/// Sends the payment form as the page's script does.
pub(super) async fn pay(house: &TestSandbox, path: &str, number: &str) -> Reply {
    pay_by(house, path, &with(visa(), "number", number)).await
}

/// Sends the payment form with any method.
pub(super) async fn pay_by(house: &TestSandbox, path: &str, method: &Value) -> Reply {
    let token = token(house, method).await;
    let request = Request::post(format!("{path}/payments"))
        .header("host", "localhost")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(format!(
            "token_id={}&name=Jane+%22J%22+Doe&address1=2+Oak+Street&postal_code=62701",
            token["id"].as_str().unwrap()
        )))
        .unwrap();
    house.send(request).await
}

async fn invoice(house: &TestSandbox) -> Value {
    house.objects("invoices").await[0].clone()
}

fn sums(invoice: &Value) -> (&str, i64, i64) {
    let number = |name: &str| invoice[name].as_i64().unwrap();
    (invoice["status"].as_str().unwrap(), number("amount_paid"), number("total_amount_due"))
}

#[tokio::test]
async fn the_link_in_a_mail_shows_the_invoice() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let (made, path) = attached(&house).await;
    let mail = house.control("GET", "mailbox", &Value::Null).await["messages"][0].clone();
    assert!(mail["link"].as_str().unwrap().ends_with(&path));
    let page = page(&house, &path).await;
    assert_eq!(
        (page.status.as_u16(), &page.headers["content-type"]),
        (200, &"text/html; charset=utf-8".parse().unwrap())
    );
    for shown in [
        "Invoice 1001",
        "from demo",
        "Case &lt;7&gt;",
        "Jane Doe",
        "30 November 2026",
        "Retainer",
        "125.00 USD",
        "<td>Fee</td>",
        ">5.00 USD<",
        "Pay 130.00 USD",
        "letter.pdf",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let secret = house.demo().await["test"]["secret_key"].as_str().unwrap().to_owned();
    let public = house.demo().await["test"]["public_key"].as_str().unwrap().to_owned();
    assert!(!page.text.contains(&secret) && page.text.contains(&public));
    assert_eq!(super::portal::page(&house, "/invoices/i_none").await.status, 404);
    assert_eq!(made["total_amount"], 13_000);
    covers(&["22.8", "31.5"]);
}

#[tokio::test]
async fn a_contact_hash_opens_the_contact_s_invoices() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let (made, path) = invoiced(&house).await;
    let bearer = house.bearer("demo").await;
    let hash = format!("/contacts/{}/hash", made["contact_id"].as_str().unwrap());
    let url = house.call("POST", &hash, Some(&bearer), &Value::Null).await.ok()["url"].clone();
    let link = url.as_str().unwrap().strip_prefix("https://127.0.0.1:8700").unwrap().to_owned();
    let opened = page(&house, &link).await;
    assert!(
        opened.status == 200
            && opened.text.contains(&format!("href=\"{path}\""))
            && opened.text.contains("to be paid"),
        "{}",
        opened.text
    );
    assert_eq!(crate::base::page_style::tests::outline::faults(&opened.text), Vec::<String>::new());
    assert_eq!(page(&house, "/contacts/guessed").await.status, 404);
    covers(&["22.7"]);
}

#[tokio::test]
async fn a_payment_pays_the_invoice_once() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let (_, path) = invoiced(&house).await;
    let declined = pay(&house, &path, "4000000000000002").await;
    assert!(declined.status == 422 && declined.text.contains("was declined"), "{}", declined.text);
    // Closes E16: the input beside the card data is shown again.
    for typed in ["value=\"Jane &quot;J&quot; Doe\"", "value=\"2 Oak Street\"", "value=\"62701\""] {
        assert!(declined.text.contains(typed), "{typed}: {}", declined.text);
    }
    assert_eq!(sums(&invoice(&house).await), ("pending", 0, 13_000));
    let paid = pay(&house, &path, "4242424242424242").await;
    assert_eq!(
        (paid.status.as_u16(), paid.headers["location"].to_str().unwrap()),
        (303, path.as_str())
    );
    let now = invoice(&house).await;
    assert_eq!(sums(&now), ("paid", 13_000, 0));
    let payment = now["invoice_payments"][0].clone();
    assert!(payment["id"].as_str().unwrap().starts_with("pmt_"));
    assert_eq!((&payment["amount"], &payment["unallocated_amount"]), (&json!(13_000), &json!(0)));
    assert_eq!(
        (&payment["payment_type"], &payment["card_type"]),
        (&json!("credit_card"), &json!("VISA"))
    );
    assert_eq!(
        (&payment["last4_digits"], &payment["status"]),
        (&json!("4242"), &json!("authorized"))
    );
    assert!(page(&house, &path).await.text.contains("This invoice is paid"));
    assert_eq!(pay(&house, &path, "4242424242424242").await.status, 422, "no amount is due");
    assert_eq!(house.total("CHARGE").await, 13_000);
    covers(&["22.9", "24.3"]);
}

#[tokio::test]
async fn an_invoice_follows_what_becomes_of_its_payments() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let (_, path) = invoiced(&house).await;
    pay(&house, &path, "4242424242424242").await;
    let charge = json!({"id": invoice(&house).await["invoice_payments"][0]["transaction_id"]});
    let refund = house.refund(&charge, 3_000).await;
    assert_eq!(sums(&invoice(&house).await), ("partially_paid", 10_000, 3_000));
    assert!(page(&house, &path).await.text.contains("Pay 30.00 USD"));
    house.void(&refund).await.ok();
    assert_eq!(sums(&invoice(&house).await), ("paid", 13_000, 0));
    house.void(&charge).await.ok();
    let open = invoice(&house).await;
    assert_eq!(
        (sums(&open), &open["invoice_payments"][0]["status"]),
        (("pending", 0, 13_000), &json!("voided"))
    );
    pay(&house, &path, "4242424242424242").await;
    let charge = json!({"id": invoice(&house).await["invoice_payments"][1]["transaction_id"]});
    house.settle(&charge, "failed").await;
    assert_eq!(sums(&invoice(&house).await), ("pending", 0, 13_000));
    covers(&["24.4", "24.5"]);
}
