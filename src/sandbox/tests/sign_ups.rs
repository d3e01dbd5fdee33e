//! The sign-up and its page (partner-api, States and transitions, Sign-up redirect page).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::applications::{application, contexts, notices, submit, tenant};
use super::{Reply, TestSandbox, with};
use crate::api::call::encode;
use crate::api::onboarding::fields::{ApplicationPrivacy, FIELDS, FieldType};
use crate::sandbox::options::ServiceSurface;

const PATH: &str = "/api/v1/merchant_applications/sign_up";

pub(super) fn three() -> Value {
    json!({"reference": "usr_1", "plan": "basic", "email": "jane@example.com"})
}

async fn post(house: &TestSandbox, fields: &Value) -> Reply {
    let bearer = tenant(house).await;
    house.call("POST", PATH, Some(&bearer), fields).await
}

/// Starts a sign-up; returns the path of its page.
pub(super) async fn start(house: &TestSandbox, fields: &Value) -> String {
    let answer = post(house, fields).await.ok();
    let url = answer["merchant_application"]["redirect_uri"].as_str().unwrap().to_owned();
    url.strip_prefix("https://localhost").unwrap().to_owned()
}

async fn open(house: &TestSandbox, path: &str) -> Reply {
    house.call("GET", path, None, &Value::Null).await
}

/// Sends a form as a browser does.
async fn send(house: &TestSandbox, path: &str, fields: &Value) -> Reply {
    let pairs = fields.as_object().unwrap().iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{}={}", encode(name), encode(&value))
    });
    let request = Request::post(path)
        .header("host", "localhost")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("user-agent", "Browser/1.0")
        .header("accept-language", "en-US")
        .body(Body::from(pairs.collect::<Vec<_>>().join("&")))
        .unwrap();
    house.send(request).await
}

#[tokio::test]
async fn a_sign_up_is_flat_needs_three_fields_and_answers_a_page() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    assert_eq!(contexts(&post(&house, &json!({})).await), ["reference", "plan", "email"]);
    assert_eq!(contexts(&post(&house, &with(three(), "test", "fail")).await), ["test"]);
    let wrong = with(three(), "business_state", "Illinois");
    assert_eq!(contexts(&post(&house, &wrong).await), ["business_state"]);
    let answer = post(&house, &three()).await.ok();
    assert!(answer["merchant_application"]["id"].is_u64());
    let url = answer["merchant_application"]["redirect_uri"].as_str().unwrap();
    assert!(url.starts_with("https://localhost/merchant_applications/sign_up/"), "{url}");
    assert_eq!(house.call("POST", PATH, None, &three()).await.refusal().0, 401);
    let kept = house.objects("applications").await;
    assert_eq!((kept.len(), &kept[0]["state"]), (1, &json!("started")));
    house.advance("P1D").await;
    assert!(notices(&house).await.is_empty());
    super::covers(&["10.8", "11.2", "11.3", "11.5"]);
}

#[tokio::test]
async fn the_page_opens_once_prefilled_and_without_secrets() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let fields = with(three(), "business_name", "Doe \"<b>\" & Sons");
    let fields = with(fields, "federal_tax_id", "00-0000001");
    let path = start(&house, &with(fields, "structure", "LP")).await;
    let page = open(&house, &path).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert!(page.text.contains("value=\"Doe &quot;&lt;b&gt;&quot; &amp; Sons\""), "{}", page.text);
    assert!(page.text.contains("<option value=\"LP\" selected>LP</option>"));
    assert!(page.text.contains("name=\"second_owner.home_state\""));
    assert!(!page.text.contains("00-0000001") && page.text.contains("placeholder=\"given\""));
    assert!(!page.text.contains("name=\"reference\"") && !page.text.contains("name=\"test\""));
    assert_eq!(open(&house, &path).await.status, 410);
    assert_eq!(open(&house, "/merchant_applications/sign_up/unknown").await.status, 410);
    super::covers(&["11.4", "12.2"]);
}

#[tokio::test]
async fn the_page_opens_for_five_minutes() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let (early, late) = (start(&house, &three()).await, start(&house, &three()).await);
    house.advance("PT4M59S").await;
    assert_eq!(open(&house, &early).await.status, 200);
    house.advance("PT1S").await;
    assert_eq!(open(&house, &late).await.status, 410);
    assert_eq!(send(&house, &late, &application("", "Doe LLC", "1")).await.status, 410);
    // A form opened in time may be filled in slowly.
    house.advance("PT1H").await;
    assert_eq!(send(&house, &early, &application("", "Doe LLC", "1")).await.status, 303);
    super::covers(&["12.1"]);
}

#[tokio::test]
async fn the_applicant_completes_and_submits_once() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let path = start(&house, &with(three(), "owner_social_security_number", "000-00-0007")).await;
    open(&house, &path).await;
    let mut form = application("usr_9", "Doe LLC", "00-0000001");
    form["plan"] = json!("trust");
    form["test"] = json!("fail");
    form["owner_social_security_number"] = json!("");
    form["has_dba"] = json!(true);
    form.as_object_mut().unwrap().shift_remove("ip_address_timestamp");
    let wrong = send(&house, &path, &form).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.text.contains("data-field=\"dba_name\""), "{}", wrong.text);
    assert!(wrong.text.contains("value=\"Doe LLC\""));
    assert_eq!(house.objects("applications").await[0]["state"], "started");
    // Closes E16: the input is shown again, and secrets are kept though no page shows them.
    assert!(wrong.text.contains("href=\"#dba_name\"") && wrong.text.contains("autofocus"));
    assert!(!wrong.text.contains("00-0000001"), "{}", wrong.text);
    for secret in ["federal_tax_id", "owner_drivers_license_number", "operating_account_number"] {
        form[secret] = json!("");
    }
    form["has_dba"] = json!(false);
    for (name, value) in [("first_name", "John"), ("home_state", "IL")] {
        form[format!("second_owner.{name}")] = json!(value);
    }
    let wrong = send(&house, &path, &form).await;
    assert!(wrong.text.contains("data-field=\"second_owner.home_city\""));
    for name in ["first_name", "home_state"] {
        form[format!("second_owner.{name}")] = json!("");
    }
    let sent = send(&house, &path, &form).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    let thanks = sent.headers["location"].to_str().unwrap();
    assert_eq!(thanks, "https://localhost/merchant_applications/thank_you");
    let thanks = open(&house, "/merchant_applications/thank_you").await;
    assert!(thanks.status == 200 && thanks.text.contains("Thank you"));
    assert_eq!(send(&house, &path, &form).await.status, 410);
    assert_eq!(open(&house, &path).await.status, 410);
    let kept = house.objects("applications").await[0].clone();
    assert_eq!((&kept["state"], &kept["plan"]), (&json!("submitted"), &json!("basic")));
    assert_eq!(kept["fields"]["browser_user_agent"], "Browser/1.0");
    assert_eq!(kept["fields"]["browser_language"], "en-US");
    assert_eq!(kept["fields"]["ip_address_timestamp"], "2026-11-21T18:00:00.000Z");
    house.advance("PT6S").await;
    let sent = notices(&house).await;
    assert_eq!(sent[0].1["events"][0]["data"]["reference"], "usr_1");
    assert_eq!(sent[0].1["events"][0]["type"], "merchant.provisioned");
    super::covers(&["12.3", "12.4", "12.5"]);
}

#[tokio::test]
async fn what_was_typed_is_there_again_and_what_is_wrong_stands_beside_its_field() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let path = start(&house, &three()).await;
    open(&house, &path).await;
    let form = with(application("", "Doe LLC", "00-0000001"), "owner_title", "");
    let wrong = send(&house, &path, &form).await;
    assert_eq!(wrong.status, 422);
    let beside = |name: &str| {
        let rest = wrong.text.split(&format!("name=\"{name}\"")).nth(1).unwrap_or_default();
        rest.split("</div>").next().unwrap_or_default().to_owned()
    };
    assert!(beside("owner_title").contains("data-field=\"owner_title\""), "{}", wrong.text);
    // Two are the partner's, and one is the time of the signature: these have no input. The last
    // was left empty.
    let unasked = ["reference", "plan", "ip_address_timestamp", "owner_title"];
    for field in FIELDS.iter().filter(|field| !unasked.contains(&field.name)) {
        let Some(typed) =
            form.get(field.name).filter(|_| field.privacy != ApplicationPrivacy::Secret)
        else {
            continue;
        };
        let typed = typed.as_str().map_or_else(|| typed.to_string(), str::to_owned);
        let is_chosen = matches!(field.field_type, FieldType::Boolean | FieldType::Choice(_));
        let end = if is_chosen { " selected" } else { "" };
        let shown = format!("value=\"{typed}\"{end}");
        assert!(beside(field.name).contains(&shown), "{}: {shown}", field.name);
    }
    super::covers(&["12.4"]);
}

#[tokio::test]
async fn the_test_of_the_sign_up_is_submitted_once_and_provisioned_by_hand() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let test = "sandbox partner - TEST";
    let path = start(&house, &with(three(), "business_name", test)).await;
    let form = application("", test, "00-0000001");
    assert_eq!(send(&house, &path, &form).await.status, 303);
    house.advance("P1D").await;
    assert!(notices(&house).await.is_empty());
    let again = with(three(), "business_name", "Another - TEST");
    assert_eq!(contexts(&post(&house, &again).await), ["business_name"]);
    let same = with(three(), "business_name", test);
    assert_eq!(contexts(&post(&house, &same).await), ["business_name"]);
    let id = house.objects("applications").await[0]["id"].to_string();
    house
        .control("POST", &format!("applications/{id}/decision"), &json!({"decision": "approve"}))
        .await;
    assert_eq!(notices(&house).await[0].1["events"][0]["type"], "merchant.provisioned");
    house.control("DELETE", &format!("applications/{id}"), &Value::Null).await;
    assert!(house.objects("applications").await.is_empty());
    assert_eq!(contexts(&post(&house, &again).await), ["business_name"]);
    submit(&house, &application("usr_2", "Roe LLC", "2")).await;
    super::covers(&["12.6", "12.7", "12.8"]);
}
