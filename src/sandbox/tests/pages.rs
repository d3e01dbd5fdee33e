//! Pages for people: what they may load, their links, and their style (E16).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::{Reply, TestSandbox};
use crate::base::page_style;
use crate::base::page_style::STYLES;
use crate::sandbox::options::ServiceSurface;

async fn page(house: &TestSandbox, path: &str) -> Reply {
    house.call("GET", path, None, &Value::Null).await
}

/// Closes E16: there is a page at `/`, and it links to the others.
#[tokio::test]
async fn a_start_page_leads_to_what_there_is() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let start = page(&house, "/").await;
    assert_eq!(start.status, 200);
    for path in ["/openapi", "/_sandbox/mailbox", "/_sandbox/credentials"] {
        assert!(start.text.contains(&format!("href=\"{path}\"")), "{path}: {}", start.text);
        assert_eq!(page(&house, path).await.status, 200, "{path}");
    }
    assert!(start.text.contains("reckon sandbox env"));
}

/// GET of a page, as by a browser.
async fn opened(house: &TestSandbox, path: &str) -> Reply {
    let request = Request::get(path).header("host", "localhost");
    let request = request.header("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    house.send(request.body(Body::empty()).unwrap()).await
}

/// POST of a form, as by a browser.
async fn sent(house: &TestSandbox, path: &str, form: &str) -> Reply {
    let request = Request::post(path).header("host", "localhost");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    house.send(request.body(Body::from(form.to_owned())).unwrap()).await
}

/// Returns the consent page of a merchant, and its answer without a choice.
async fn consents(house: &TestSandbox) -> [Reply; 2] {
    let partner = house.credentials().await["partner"].clone();
    let word = |name: &str| partner[name].as_str().unwrap().to_owned();
    let query = format!(
        "response_type=code&client_id={}&redirect_uri={}&scope=payments",
        word("client_id"),
        word("redirect_uri")
    );
    let shown = opened(house, &format!("/oauth/authorize?{query}")).await;
    let wrong = sent(house, "/oauth/authorize", &format!("{query}&answer=allow")).await;
    let policy = shown.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.ends_with("form-action 'self' https://partner.example"), "{policy}");
    [shown, wrong]
}

/// Returns the form of a sign-up, and the same form with its errors.
async fn sign_ups(house: &TestSandbox) -> [Reply; 2] {
    let path = super::sign_ups::start(house, &super::sign_ups::three()).await;
    let form = opened(house, &path).await;
    [form, sent(house, &path, "first_name=Jane&second_owner.first_name=Jo&has_dba=true").await]
}

/// Closes E16: no page refers to a missing element, has a field without a label, a dead link, or a
/// form that may lead elsewhere.
#[tokio::test]
async fn every_page_is_whole_and_guarded() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let (_, invoice) = super::portal::attached(&house).await;
    let mut pages = Vec::from(consents(&house).await);
    pages.extend(sign_ups(&house).await);
    pages.push(super::portal::pay(&house, &invoice, "4000000000000002").await);
    for path in [
        "/",
        "/openapi",
        "/nothing/here",
        &invoice,
        "/invoices/none",
        "/contacts/none",
        "/oauth/authorize",
        "/merchant_applications/sign_up/none",
        "/merchant_applications/thank_you",
        "/_sandbox/mailbox",
        "/_sandbox/mailbox/1",
        "/_sandbox/mailbox/99",
    ] {
        pages.push(opened(&house, path).await);
    }
    for page in pages {
        assert_eq!(
            page_style::tests::outline::faults(&page.text),
            Vec::<String>::new(),
            "{}",
            page.text
        );
        assert_eq!(
            page_style::tests::outline::broken_header_rules(&page.headers),
            Vec::<String>::new(),
            "{}",
            page.text
        );
        for link in page_style::tests::outline::links(&page.text) {
            let there = opened(&house, link).await.status;
            let is_form = link.ends_with("/payments") || link == "/_sandbox/events";
            assert!(there == 200 || is_form, "{link}: {there}");
        }
    }
}

/// Closes E16: an unknown address gives people a page, and programs JSON as before.
#[tokio::test]
async fn a_dead_link_is_a_page_for_people_alone() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let shown = opened(&house, "/nothing/here").await;
    assert!(
        shown.status == 404 && shown.text.contains("no page at this address"),
        "{}",
        shown.text
    );
    assert_eq!(page(&house, "/nothing/here").await.refusal().1, "resource_not_found");
    let request = Request::post("/nothing/here").header("host", "localhost");
    let request = request.header("accept", "text/html").body(Body::empty()).unwrap();
    assert_eq!(house.send(request).await.refusal().1, "resource_not_found");
}

/// Closes E16: without scripts, a page shows nothing that needs them.
#[tokio::test]
async fn without_scripts_the_portal_shows_no_dead_form() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let (_, invoice) = super::portal::attached(&house).await;
    let text = opened(&house, &invoice).await.text;
    let (_, form) = text.split_once("<form id=\"payment\"").unwrap();
    assert!(form.split('>').next().unwrap().ends_with(" novalidate hidden"), "{form}");
    assert!(text.contains("<noscript><p class=\"notice\">Cards are typed into protected fields"));
}

/// Closes E16: an applicant without scripts signs by name, and reads no API field names.
#[tokio::test]
async fn a_sign_up_speaks_to_people_and_can_be_signed_without_scripts() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let path = super::sign_ups::start(&house, &super::sign_ups::three()).await;
    let form = opened(&house, &path).await.text;
    assert!(form.contains("<noscript><p class=\"hint\">Without scripts, type your name"), "{form}");
    let wrong = sent(&house, &path, "signature=Jane+Doe&business_state=Illinois").await.text;
    for words in ["Please fill this in", "Please choose one", "Please write two capital letters"] {
        assert!(wrong.contains(words), "{words}: {wrong}");
    }
    assert!(
        !wrong.contains("cannot be blank") && !wrong.contains("href=\"#signature\""),
        "{wrong}"
    );
}

/// Closes E16: hidden elements stay hidden, and there is a dark look.
#[test]
fn the_styles_hide_what_is_hidden_and_have_a_dark_look() {
    assert!(STYLES.contains("[hidden] { display: none !important; }"));
    assert!(STYLES.contains("@media (prefers-color-scheme: dark)"));
    assert!(STYLES.contains("color-scheme: light dark"));
}

/// Closes E16: the form of a sign-up uses people's words, marks what may stay empty, and folds
/// rarely needed parts.
#[tokio::test]
async fn the_sign_up_speaks_to_people() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let bearer = super::applications::tenant(&house).await;
    let start = json!({"reference": "usr_1", "plan": "basic", "email": "jane@example.com"});
    let path = "/api/v1/merchant_applications/sign_up";
    let made = house.call("POST", path, Some(&bearer), &start).await.ok();
    let link = made["merchant_application"]["redirect_uri"].as_str().unwrap().to_owned();
    let form = page(&house, link.strip_prefix("https://localhost").unwrap()).await.text;
    let labels = form.split("<label").skip(1).filter_map(|rest| rest.split("</label>").next());
    let labels: Vec<&str> =
        labels.filter_map(|label| label.split_once('>')).map(|(_, text)| text).collect();
    assert!(labels.len() > 60 && !labels.iter().any(|label| label.contains('_')), "{labels:?}");
    assert!(labels.contains(&"Suite or floor <span class=\"hint\">optional</span>"), "{labels:?}");
    assert!(form.matches("<details class=\"part\">").count() == 4, "{form}");
    for complete in ["given-name", "organization", "postal-code", "email", "bday"] {
        assert!(form.contains(&format!("autocomplete=\"{complete}\"")), "{complete}");
    }
}

/// Closes E16: the reference has a search and examples.
#[tokio::test]
async fn the_reference_can_be_searched_and_has_examples() {
    let shown = page(&TestSandbox::new(ServiceSurface::Public), "/openapi").await.text;
    assert!(shown.contains("id=\"search\"") && shown.contains("/assets/search.js"));
    assert!(shown.contains("Example of a request") && shown.contains("&quot;amount&quot;: 1000"));
    assert!(shown.contains("&quot;number&quot;: &quot;4242424242424242&quot;"));
}
