//! Pages for people: what they may load, where they lead, and how they look (E16).

use serde_json::{Value, json};

use super::{House, Reply};
use crate::base::look::STYLES;
use crate::sandbox::Surface;

async fn page(house: &House, path: &str) -> Reply {
    house.call("GET", path, None, &Value::Null).await
}

/// Closes E16: there is a page at `/`, and it leads to the others.
#[tokio::test]
async fn a_start_page_leads_to_what_there_is() {
    let house = House::new(Surface::Documented);
    let start = page(&house, "/").await;
    assert_eq!(start.status, 200);
    for path in ["/openapi", "/_sandbox/mailbox", "/_sandbox/credentials"] {
        assert!(start.text.contains(&format!("href=\"{path}\"")), "{path}: {}", start.text);
        assert_eq!(page(&house, path).await.status, 200, "{path}");
    }
    assert!(start.text.contains("reckon sandbox env"));
}

/// Closes E16: forms lead nowhere else, and nothing is taken for what it is not.
#[tokio::test]
async fn a_page_loads_and_sends_nothing_elsewhere() {
    let house = House::new(Surface::Public);
    for path in
        ["/", "/openapi", "/invoices/none", "/oauth/authorize", "/merchant_applications/thank_you"]
    {
        let shown = page(&house, path).await;
        let policy = shown.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("form-action 'self'"), "{path}: {policy}");
        assert_eq!(shown.headers["x-content-type-options"], "nosniff", "{path}");
        assert!(shown.text.contains("name=\"viewport\""), "{path}");
    }
    let partner = house.credentials().await["partner"].clone();
    let word = |name: &str| partner[name].as_str().unwrap().to_owned();
    let consent = format!(
        "/oauth/authorize?response_type=code&client_id={}&redirect_uri={}&scope=payments",
        word("client_id"),
        word("redirect_uri")
    );
    let shown = page(&house, &consent).await;
    let policy = shown.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.ends_with("form-action 'self' https://partner.example"), "{policy}");
}

/// Closes E16: what is hidden stays hidden, and there is a dark look.
#[test]
fn the_styles_hide_what_is_hidden_and_have_a_dark_look() {
    assert!(STYLES.contains("[hidden] { display: none !important; }"));
    assert!(STYLES.contains("@media (prefers-color-scheme: dark)"));
    assert!(STYLES.contains("color-scheme: light dark"));
}

/// Closes E16: the form of a sign-up speaks to people, says what may stay empty, and folds what few need.
#[tokio::test]
async fn the_sign_up_speaks_to_people() {
    let house = House::new(Surface::Public);
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
    let shown = page(&House::new(Surface::Public), "/openapi").await.text;
    assert!(shown.contains("id=\"search\"") && shown.contains("/assets/search.js"));
    assert!(shown.contains("Example of a request") && shown.contains("&quot;amount&quot;: 1000"));
    assert!(shown.contains("&quot;number&quot;: &quot;4242424242424242&quot;"));
}
