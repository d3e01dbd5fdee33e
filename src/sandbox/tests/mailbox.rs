//! The mailbox and its e-mails, as programs and people see them (partner-api, POST /invoices).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::partner::new_invoice;
use super::portal::pay_by;
use super::story::bank;
use super::{Reply, TestSandbox, visa, with};
use crate::base::page_style::STYLES;
use crate::sandbox::options::ServiceSurface;

/// The `Accept` header of browsers.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const SCRIPT: &str = "<script>alert('7')</script>";

async fn asked(house: &TestSandbox, path: &str, accept: &str) -> Reply {
    let request = Request::get(path).header("host", "localhost").header("accept", accept);
    house.send(request.body(Body::empty()).unwrap()).await
}

/// GET of a page of the mailbox, as by a browser.
async fn look(house: &TestSandbox, rest: &str) -> Reply {
    asked(house, &format!("/_sandbox/mailbox{rest}"), BROWSER).await
}

/// Makes an invoice with a message, extended by `more`; its e-mails are sent.
async fn invoiced(house: &TestSandbox, source: &str, more: Value) -> Value {
    let bearer = house.bearer("demo").await;
    let mut body = with(new_invoice(house, &bearer).await, "source_id", source);
    body["invoice_messages"] = json!([{"email_addresses": [format!("{source}@example.com")]}]);
    let message = body["invoice_messages"][0].as_object_mut().unwrap();
    message.extend(more.as_object().unwrap().clone());
    house.call("POST", "/invoices", Some(&bearer), &body).await.ok()
}

async fn mails(house: &TestSandbox) -> Vec<Value> {
    let mailbox = house.control("GET", "mailbox", &Value::Null).await;
    mailbox["messages"].as_array().unwrap().clone()
}

fn text<'a>(mail: &'a Value, name: &str) -> &'a str {
    mail[name].as_str().unwrap()
}

/// Returns the only e-mail of a house with one invoice.
async fn only(house: &TestSandbox, more: Value) -> Value {
    invoiced(house, "jane", more).await;
    let mut mails = mails(house).await;
    assert_eq!(mails.len(), 1);
    mails.remove(0)
}

/// Returns the texts between a mark and the next quote.
fn texts_after<'a>(html: &'a str, mark: &str) -> Vec<&'a str> {
    html.split(mark).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[tokio::test]
async fn an_empty_mailbox_says_so_and_what_fills_it() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let page = look(&house, "").await;
    assert_eq!(page.status, 200);
    for words in ["No e-mail was sent yet", "invoice_messages", "POST /invoices"] {
        assert!(page.text.contains(words), "{words}: {}", page.text);
    }
    only(&house, json!({})).await;
    assert!(!look(&house, "").await.text.contains("No e-mail was sent yet"));
}

#[tokio::test]
async fn browsers_see_the_newest_e_mail_first_and_programs_json_as_ever() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for subject in ["First", "Second", "Third"] {
        invoiced(&house, subject, json!({ "subject": subject })).await;
        house.advance("PT90M").await;
    }
    let page = look(&house, "").await;
    let places = ["Third", "Second", "First"].map(|subject| page.text.find(subject).unwrap());
    assert!(places.is_sorted(), "{}", page.text);
    for words in ["3 e-mails", "to Second@example.com", "21 November 2026, 19:30 UTC"] {
        assert!(page.text.contains(words), "{words}: {}", page.text);
    }
    for accept in ["*/*", "application/json", "application/json, text/plain;q=0.5, */*"] {
        let reply = asked(&house, "/_sandbox/mailbox", accept).await;
        let told = reply.ok()["messages"].clone();
        let subjects: Vec<&str> =
            told.as_array().unwrap().iter().map(|mail| text(mail, "subject")).collect();
        assert_eq!(subjects, ["First", "Second", "Third"], "{accept}");
        assert_eq!(reply.headers["vary"], "accept");
    }
    for mail in mails(&house).await {
        let path = text(&mail, "page");
        assert!(page.text.contains(&format!("href=\"{path}\"")), "{path}");
        assert_eq!(asked(&house, path, "*/*").await.ok(), mail);
    }
}

#[tokio::test]
async fn an_e_mail_has_the_fields_it_always_had_and_two_forms() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mail = only(&house, json!({})).await;
    let names: Vec<&String> = mail.as_object().unwrap().keys().collect();
    let former = ["id", "time", "merchant", "to", "subject", "body", "invoice_id", "link"];
    assert_eq!(names[..8], former);
    assert_eq!(names[8..], ["from_name", "from", "html", "text", "page"]);
    assert_eq!(text(&mail, "from_name"), "demo via Sandbox Payments");
    for form in ["html", "text"] {
        for words in [
            "demo has sent a payment request.",
            "Billed by",
            "1001",
            "30 November 2026",
            "130.00 USD",
            text(&mail, "link"),
        ] {
            assert!(text(&mail, form).contains(words), "{words} in {form}: {}", mail[form]);
        }
        assert!(!text(&mail, form).contains("Reference"), "the invoice has no reference");
    }
    assert!(text(&mail, "html").contains("<h1") && !text(&mail, "text").contains('<'));
}

#[tokio::test]
async fn one_e_mail_is_shown_with_its_heads_both_its_forms_and_the_way_back() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mail = only(&house, json!({"subject": "Yours", "message": "One\r\nTwo\nThree"})).await;
    let path = text(&mail, "page");
    let page = asked(&house, path, BROWSER).await;
    assert_eq!(
        (page.status.as_u16(), &page.headers["content-type"]),
        (200, &"text/html; charset=utf-8".parse().unwrap())
    );
    for shown in [
        "<dt>From</dt><dd>demo via Sandbox Payments &lt;invoices@sandbox.example&gt;</dd>",
        "<dt>To</dt><dd>jane@example.com</dd>",
        "<dt>Subject</dt><dd>Yours</dd>",
        "21 November 2026, 18:00 UTC",
        "One\nTwo\nThree\n",
        "href=\"/_sandbox/mailbox\"",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert_eq!(
        texts_after(&page.text, "<iframe class=\"mail\" title=\"The e-mail\" src=\""),
        [format!("{path}/html")]
    );
    let document = asked(&house, &format!("{path}/html"), BROWSER).await;
    assert_eq!(document.text, mail["html"]);
    assert!(document.text.contains("One<br>Two<br>Three"), "{}", document.text);
}

#[tokio::test]
async fn the_html_of_an_e_mail_loads_and_runs_nothing() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mail = only(&house, json!({})).await;
    let html = text(&mail, "html");
    for part in
        ["<script", "<style", "<link", "<img", "<table", "src=", "url(", "@import", "class="]
    {
        assert!(!html.contains(part), "{part}: {html}");
    }
    let addresses: Vec<&str> = html.match_indices("http").map(|(at, _)| &html[at..]).collect();
    assert!(addresses.iter().all(|rest| rest.starts_with(text(&mail, "link"))), "{html}");
    assert!(html.contains("max-width:600px"));
    let document = asked(&house, &format!("{}/html", text(&mail, "page")), "*/*").await;
    let policy = document.headers["content-security-policy"].to_str().unwrap();
    let directives: Vec<&str> = policy.split("; ").collect();
    assert!(
        directives.contains(&"default-src 'none'")
            && directives.contains(&"frame-ancestors 'self'")
    );
    assert!(
        policy.contains("sandbox ")
            && !policy.contains("allow-scripts")
            && !policy.contains("script-src")
    );
    let page = asked(&house, text(&mail, "page"), BROWSER).await;
    let frame = texts_after(&page.text, "sandbox=\"");
    assert!(frame.len() == 1 && !frame[0].contains("allow-scripts"), "{frame:?}");
}

#[tokio::test]
async fn an_e_mail_has_the_colours_of_the_pages() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mail = only(&house, json!({})).await;
    let colours = text(&mail, "html").split('#').skip(1).map(|rest| {
        let digits = rest.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap();
        format!("#{};", &rest[..digits])
    });
    let colours: std::collections::BTreeSet<String> = colours.collect();
    assert!(colours.len() >= 5, "{colours:?}");
    let foreign: Vec<&String> = colours.iter().filter(|one| !STYLES.contains(*one)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

#[tokio::test]
async fn nothing_that_somebody_wrote_is_markup() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    house.control("POST", "policy", &json!({"merchant": "demo", "brand": SCRIPT})).await;
    let bearer = house.bearer("demo").await;
    let body = with(new_invoice(&house, &bearer).await, "reference", SCRIPT);
    let message = json!({"email_addresses": ["\"><script>@example.com"],
        "subject": format!("\">{SCRIPT}"), "message": format!("Pay\n{SCRIPT}&amp;")});
    let body = with(body, "invoice_messages", json!([message]));
    house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    let mail = mails(&house).await.remove(0);
    let path = text(&mail, "page");
    let pages = [
        look(&house, "").await.text,
        asked(&house, path, BROWSER).await.text,
        asked(&house, &format!("{path}/html"), BROWSER).await.text,
    ];
    for page in &pages {
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"), "{page}");
    }
    let html = text(&mail, "html");
    assert_eq!(
        html.matches("&lt;script&gt;").count(),
        6,
        "title, heading, message, reference, brand twice: {html}"
    );
    assert!(html.contains("Pay<br>&lt;script&gt;alert('7')&lt;/script&gt;&amp;amp;"), "{html}");
    assert!(text(&mail, "text").contains(SCRIPT), "the plain text keeps the message unchanged");
}

#[tokio::test]
async fn the_button_of_an_e_mail_leads_to_the_portal() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mail = only(&house, json!({})).await;
    let links = texts_after(text(&mail, "html"), "href=\"");
    assert_eq!(links, [text(&mail, "link")], "one button");
    let path = links[0].strip_prefix("https://127.0.0.1:8700").unwrap();
    let portal = asked(&house, path, BROWSER).await;
    assert!(portal.status == 200 && portal.text.contains("Invoice 1001"), "{}", portal.text);
    assert_eq!(
        text(&mail, "html").matches(links[0]).count(),
        2,
        "the link, once as button and once as text"
    );
}

#[tokio::test]
async fn an_e_mail_keeps_the_brand_and_the_sums_that_it_was_sent_with() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.control("POST", "policy", &json!({"merchant": "demo", "brand": "Chambers Pay"})).await;
    let before = only(&house, json!({})).await;
    assert!(text(&before, "html").contains("Chambers Pay Invoice 1001"));
    house.control("POST", "policy", &json!({"merchant": "demo", "brand": "Other"})).await;
    pay_by(&house, &format!("/invoices/{}", text(&before, "invoice_id")), &visa()).await;
    assert_eq!(mails(&house).await, [before]);
}

#[tokio::test]
async fn an_unknown_e_mail_is_404() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    only(&house, json!({})).await;
    for rest in ["/0", "/999", "/none", "/999/html"] {
        let page = look(&house, rest).await;
        assert_eq!(page.status, 404, "{rest}");
        assert!(page.text.contains("This e-mail does not exist"), "{}", page.text);
    }
    let reply = asked(&house, "/_sandbox/mailbox/999", "*/*").await;
    assert_eq!(
        reply.refusal(),
        (404, "resource_not_found".to_owned(), Some("Mail[999]".to_owned()))
    );
    assert_eq!(look(&house, "/1/2/3").await.status, 404);
}

#[tokio::test]
async fn no_number_of_a_card_or_an_account_is_in_the_mailbox() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.secret("POST", "/v1/cards", &visa()).await.ok();
    for (source, method) in [("card", visa()), ("bank", bank())] {
        let invoice = invoiced(&house, source, json!({})).await;
        let paid = pay_by(&house, &format!("/invoices/{}", text(&invoice, "id")), &method).await;
        assert_eq!(paid.status, 303, "{}", paid.text);
    }
    invoiced(&house, "after", json!({})).await;
    let mut seen = vec![look(&house, "").await.text];
    for mail in mails(&house).await {
        let path = text(&mail, "page");
        seen.extend([mail.to_string(), asked(&house, path, BROWSER).await.text]);
        seen.push(asked(&house, &format!("{path}/html"), BROWSER).await.text);
    }
    assert_eq!(seen.len(), 10);
    let demo = house.demo().await;
    let keys = ["test", "live"].map(|mode| text(&demo[mode], "secret_key").to_owned());
    for one in seen {
        for number in [
            "4242424242424242",
            "4242",
            "1234567890",
            "7890",
            "000000013",
            "*****",
            &keys[0],
            &keys[1],
        ] {
            assert!(!one.contains(number), "{number}: {one}");
        }
    }
}

#[tokio::test]
async fn looking_at_the_mailbox_is_no_request_to_the_service() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let mail = only(&house, json!({})).await;
    house.control("POST", "faults", &json!({"fault": "error_before", "times": 1})).await;
    let before = house.control("GET", "requests", &Value::Null).await["total"].clone();
    let page = asked(&house, text(&mail, "page"), BROWSER).await;
    let mut loaded = texts_after(&page.text, "rel=\"stylesheet\" href=\"");
    loaded.extend(texts_after(&page.text, "src=\""));
    assert_eq!(loaded.len(), 3, "styles, script and frame: {loaded:?}");
    for path in loaded {
        assert!(path.starts_with("/_sandbox/"), "{path}");
        assert_eq!(asked(&house, path, "*/*").await.status, 200, "{path}");
    }
    assert_eq!(house.control("GET", "requests", &Value::Null).await["total"], before);
    assert_eq!(asked(&house, "/_sandbox/assets/none.css", "*/*").await.status, 404);
    assert_eq!(asked(&house, "/status", "*/*").await.status, 500, "the fault waited");
}
