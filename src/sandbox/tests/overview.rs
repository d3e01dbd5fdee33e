//! The sandbox's page: what it shows, its orders, and its guard.

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::{Reply, TestSandbox, basic, visa, with};
use crate::base::page_style::tests::outline;
use crate::sandbox::options::ServiceSurface;

const SCRIPT: &str = "<script>alert('7')</script>";
const HOST: (&str, &str) = ("host", "localhost:8700");
/// Headers of a browser that sends a form of the sandbox's own page.
const OWN_FORM: [(&str, &str); 4] = [
    HOST,
    ("content-type", "application/x-www-form-urlencoded"),
    ("origin", "https://localhost:8700"),
    ("sec-fetch-site", "same-origin"),
];

/// Sends a request of a browser.
async fn browse(
    house: &TestSandbox,
    verb: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let mut request =
        Request::builder().method(verb).uri(path).header("accept", "text/html,*/*;q=0.8");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    house.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

async fn look(house: &TestSandbox, path: &str) -> String {
    let page = browse(house, "GET", path, &[HOST], "").await;
    assert_eq!(page.status, 200, "{path}: {}", page.text);
    assert_eq!(outline::faults(&page.text), Vec::<String>::new(), "{}", page.text);
    assert_eq!(outline::broken_header_rules(&page.headers), Vec::<String>::new());
    page.text
}

/// Sends a form of the page; returns where it leads.
async fn send(house: &TestSandbox, path: &str, form: &str) -> String {
    let reply = browse(house, "POST", path, &OWN_FORM, form).await;
    assert_eq!(reply.status, 303, "{path} {form}: {}", reply.text);
    reply.headers["location"].to_str().unwrap().to_owned()
}

async fn now(house: &TestSandbox) -> String {
    let clock = house.control("GET", "clock", &Value::Null).await;
    clock["now"].as_str().unwrap().to_owned()
}

async fn status_of_cards(house: &TestSandbox) -> u16 {
    house.secret("GET", "/v1/cards", &Value::Null).await.status.as_u16()
}

/// Returns the path of the demo merchant's page.
fn merchant_path(page: &str) -> String {
    let mut links = outline::links(page).into_iter();
    links.find(|link| link.starts_with("/_sandbox/merchants/")).unwrap().to_owned()
}

#[tokio::test]
async fn the_page_shows_time_merchants_money_and_requests_and_leaves_no_trace() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let before = house.control("GET", "requests", &Value::Null).await["total"].clone();
    let empty = look(&house, "/").await;
    for words in
        ["21 Nov 2026, 18:00:00", "demo", "No money moved yet", "No request yet", "0 e-mails"]
    {
        assert!(empty.contains(words), "{words}: {empty}");
    }
    let charge = house.charged(12_550, visa()).await;
    house.refund(&charge, 2_050).await;
    house.secret("GET", "/v1/cards?reference=7", &Value::Null).await;
    let page = look(&house, "/").await;
    for words in ["125.50 USD", "20.50 USD", "<code>/v1/cards</code>", "3 requests, newest first"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let log = house.control("GET", "requests", &Value::Null).await["total"].clone();
    assert_eq!((before, log), (json!(0), json!(3)), "a look at the page is no request");
    let merchant = look(&house, &merchant_path(&page)).await;
    for words in ["CHARGE", "REFUND", "refunded 20.50 USD", "America/Chicago", "1–2 of 2"] {
        assert!(merchant.contains(words), "{words}: {merchant}");
    }
    let redirect = browse(&house, "GET", "/_sandbox", &[HOST], "").await;
    assert_eq!(
        (redirect.status.as_u16(), redirect.headers["location"].to_str().unwrap()),
        (302, "/")
    );
}

#[tokio::test]
async fn a_form_turns_the_clock_and_what_is_due_happens() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.charged(100, visa()).await;
    let back = send(&house, "/_sandbox/clock", "advance=P1M").await;
    assert_eq!(now(&house).await, "2026-12-21T18:00:00.000Z");
    assert_eq!(house.total("CAPTURE").await, 100);
    assert!(look(&house, &back).await.contains("The clock was turned."), "{back}");
    send(&house, "/_sandbox/clock", "until=2027-02-01T09%3A30").await;
    assert_eq!(now(&house).await, "2027-02-01T09:30:00.000Z");
    let past =
        browse(&house, "POST", "/_sandbox/clock", &OWN_FORM, "until=2026-01-01T00%3A00").await;
    assert!(past.status == 400 && past.text.contains("Time does not go back"), "{}", past.text);
    assert_eq!(now(&house).await, "2027-02-01T09:30:00.000Z");
}

#[tokio::test]
async fn a_form_orders_a_fault_which_the_next_request_gets_until_it_is_removed() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let order = "fault=throttle&method=GET&path=%2Fv1%2Fcards&times=&status=503&delay_ms=";
    send(&house, "/_sandbox/faults", order).await;
    assert_eq!(status_of_cards(&house).await, 503);
    let page = look(&house, "/").await;
    assert!(page.contains("throttle 503") && page.contains("⚡ throttle"), "{page}");
    let mut actions = outline::links(&page).into_iter().filter(|link| link.ends_with("/remove"));
    send(&house, actions.next().unwrap(), "").await;
    assert_eq!(status_of_cards(&house).await, 200);
    for (form, words) in
        [("fault=", "Unknown fault"), ("fault=delay&times=often", "`times` is a whole number")]
    {
        let refused = browse(&house, "POST", "/_sandbox/faults", &OWN_FORM, form).await;
        assert!(refused.status == 400 && refused.text.contains(words), "{}", refused.text);
    }
}

#[tokio::test]
async fn forms_send_events_and_decide_about_payments() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let check = house.charged(700, super::story::bank()).await;
    let events = house.objects("events").await.len();
    send(&house, "/_sandbox/events", "merchant=demo&mode=test&type=transaction.failed").await;
    assert_eq!(
        house.events_since(events).await,
        [("transaction.failed".to_owned(), "FAILED".to_owned())]
    );
    let path = merchant_path(&look(&house, "/").await);
    let action = format!("/_sandbox/transactions/{}/settlement", super::story::id(&check));
    assert!(look(&house, &path).await.contains(&action));
    assert!(send(&house, &action, &format!("result=settled&back={path}")).await.starts_with(&path));
    assert_eq!(house.status(&check).await, "COMPLETED");
    assert!(!look(&house, &path).await.contains(&action), "a settled payment waits for no order");
}

/// Another page, another machine or another name can neither see the page nor order anything.
#[tokio::test]
async fn another_page_sees_nothing_and_orders_nothing() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let before = now(&house).await;
    for foreign in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("x-forwarded-for", "192.0.2.7"),
    ] {
        let headers = [HOST, OWN_FORM[1], foreign];
        for (path, form) in
            [("/_sandbox/clock", "advance=P1D"), ("/_sandbox/faults", "fault=reset")]
        {
            let reply = browse(&house, "POST", path, &headers, form).await;
            assert_eq!(reply.status, 404, "{foreign:?} {path}");
        }
        let page = browse(&house, "GET", "/", &[HOST, foreign], "").await;
        assert!(page.status == 200 && !page.text.contains("<form") && !page.text.contains("demo"));
        assert_eq!(
            browse(&house, "GET", "/_sandbox/requests", &[HOST, foreign], "").await.status,
            404
        );
    }
    assert_eq!(now(&house).await, before);
    assert_eq!(house.control("GET", "faults", &Value::Null).await["faults"], json!([]));
    let policy =
        browse(&house, "GET", "/", &[HOST], "").await.headers["content-security-policy"].clone();
    let policy = policy.to_str().unwrap().to_owned();
    assert!(
        !policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'),
        "{policy}"
    );
}

#[tokio::test]
async fn texts_from_outside_are_text_and_secrets_are_not_there() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let token = house.secret("POST", "/v1/tokens", &visa()).await.ok()["id"].clone();
    let token = token.as_str().unwrap();
    house.bearer(SCRIPT).await;
    let bearer = house.bearer("demo").await;
    let credentials = house.credentials().await;
    let odd =
        json!({"amount": 5, "method": visa(), "reference": format!("{SCRIPT} 4242424242424242")});
    house.secret("POST", "/v1/charges", &odd).await.ok();
    house.secret("GET", &format!("/v1/tokens/{token}"), &Value::Null).await;
    let key = credentials["merchants"][0]["test"]["secret_key"].as_str().unwrap();
    let public = credentials["merchants"][0]["test"]["public_key"].as_str().unwrap();
    for path in [
        format!("/v1/cards/{key}?key={key}"),
        "/v1/cards/4242424242424242".to_owned(),
        format!("/api/v1/merchants/{public}/deauthorize_application"),
        "/%3Cscript%3Ealert('7')%3C/script%3E".to_owned(),
    ] {
        house.call("GET", &path, Some(&basic(key)), &Value::Null).await;
    }
    let first = look(&house, "/").await;
    let pages = [
        look(&house, "/_sandbox/requests").await,
        look(&house, &merchant_path(&first)).await,
        first,
    ];
    let partner = credentials["partner"]["client_secret"].as_str().unwrap();
    let bearer = bearer.strip_prefix("Bearer ").unwrap();
    for secret in [key, public, partner, bearer, token, "4242424242424242", "<script>"] {
        for page in &pages {
            assert!(!page.contains(secret), "{secret}: {page}");
        }
    }
    assert!(pages[2].contains("&lt;script&gt;alert"), "{}", pages[2]);
}

#[tokio::test]
async fn lists_are_cut_and_lead_on() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for number in 0..60 {
        house.control("POST", "credentials", &json!({"merchant": format!("m-{number}")})).await;
        house.charged(100, with(visa(), "exp_year", 2035)).await;
    }
    let first = look(&house, "/").await;
    let rows = |page: &str, mark: &str| page.matches(mark).count();
    assert_eq!(rows(&first, "✓ Active"), 50);
    assert!(first.contains("The newest 10 of 60 requests"), "{first}");
    let more =
        outline::links(&first).into_iter().find(|link| link.starts_with("/?after=")).unwrap();
    assert_eq!(rows(&look(&house, more.split('#').next().unwrap()).await, "✓ Active"), 11);
    let newest = look(&house, "/_sandbox/requests").await;
    assert_eq!(rows(&newest, "<code class=\"method\">"), 50);
    let older = look(&house, "/_sandbox/requests?before=11").await;
    assert_eq!(rows(&older, "<code class=\"method\">"), 10);
    assert!(newest.contains("/_sandbox/requests?before=11\"") && !older.contains("rel=\"next\""));
    let programs = house.control("GET", "requests", &Value::Null).await;
    assert_eq!(programs["requests"].as_array().unwrap().len(), 60, "programs get JSON as ever");
}
