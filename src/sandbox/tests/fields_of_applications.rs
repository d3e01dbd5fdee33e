//! Fields and cross-field rules of an application (partner-api, Merchant application;
//! service-facts, 82, 83).

use serde_json::{Value, json};

use super::applications::{application, contexts, submit, tenant};
use super::{Reply, TestSandbox, covers, with};
use crate::api::onboarding::fields::{ApplicationPrivacy, FIELDS, FieldType};
use crate::sandbox::options::ServiceSurface;

async fn post(house: &TestSandbox, fields: &Value) -> Reply {
    let bearer = tenant(house).await;
    let body = json!({ "merchant_application": fields });
    house.call("POST", "/api/v1/merchant_applications", Some(&bearer), &body).await
}

fn good() -> Value {
    application("usr_1", "Doe LLC", "00-0000001")
}

/// Returns the contexts of the refusal of an application with this field.
async fn refused(house: &TestSandbox, name: &str, value: Value) -> Vec<String> {
    contexts(&post(house, &with(good(), name, value)).await)
}

#[tokio::test]
async fn each_field_has_its_type() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (name, wrong) in [
        ("business_name", json!({"a": 1})),
        ("goods_and_services", json!(7)),
        ("first_name", json!(true)),
        ("email", json!("jane")),
        ("industry_code", json!("law")),
        ("owner_percentage_of_ownership", json!(101)),
        ("owner_years_in_residence", json!("many")),
        ("has_dba", json!("perhaps")),
        ("past_bankruptcy", json!(7)),
        ("owner_date_of_birth", json!("28.02.1970")),
        ("bankruptcy_date", json!("2020-13-01")),
        ("ip_address_timestamp", json!("yesterday")),
        ("owner_drivers_license_expiration", json!("soon")),
    ] {
        assert_eq!(refused(&house, name, wrong.clone()).await, [name], "{wrong}");
    }
    for field in FIELDS.iter().filter(|field| field.name != "test") {
        let named = refused(&house, field.name, json!({"a": 1})).await;
        assert!(named.contains(&field.name.to_owned()), "{}: {named:?}", field.name);
    }
    let house = TestSandbox::new(ServiceSurface::Public);
    let more = json!({"owner_years_in_residence": 4, "past_bankruptcy": true, "bankruptcy_date": "2011-05-31",
        "business_website": "https://doe.example/?a=%20", "ip_address": "192.0.2.1"});
    let mut fields = good();
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    submit(&house, &fields).await;
    covers(&["7.3"]);
}

/// Returns the optional fields of an application.
fn optional() -> Value {
    json!({
        "plan": "trust", "business_address2": "Suite 1", "has_dba": true, "dba_name": "Doe Law",
        "dba_address1": "3 Elm Street", "dba_address2": "Floor 1", "dba_city": "Springfield",
        "dba_state": "IL", "dba_zip_code": "62701", "dba_phone": "217-555-0102",
        "business_website": "https://doe.example/", "past_bankruptcy": true,
        "bankruptcy_date": "2011-05-31", "owner_percentage_of_ownership": 60,
        "owner_address2": "Floor 2", "owner_years_in_residence": 4,
        "operating_account_name": "Doe LLC", "trust_account_name": "Doe Trust",
        "trust_account_routing_number": "000000013",
        "trust_account_bank_name": "FIRST BANK OF TESTING", "trust_account_number": "7654321",
        "signed_by": "Jane Doe", "ip_address": "192.0.2.1", "browser_user_agent": "Browser/1.0",
        "browser_language": "en-US", "number_of_locations": 2, "currently_accepting_cards": true,
        "current_card_processor": "Acme Pay", "wants_to_accept_amex": false,
        "current_amex_merchant_number": "1",
    })
}

#[tokio::test]
async fn every_field_of_the_table_is_taken_and_kept_as_it_was_sent() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mut all = good();
    all.as_object_mut().unwrap().extend(optional().as_object().unwrap().clone());
    submit(&house, &all).await;
    let kept = house.objects("applications").await[0]["fields"].clone();
    let masked = json!("***");
    for field in FIELDS.iter().filter(|field| field.name != "test") {
        assert!(all.get(field.name).is_some(), "{} was not sent", field.name);
        let shown =
            if field.privacy == ApplicationPrivacy::Secret { &masked } else { &all[field.name] };
        assert_eq!(&kept[field.name], shown, "{}", field.name);
    }
    covers(&["7.3", "7.9"]);
}

#[tokio::test]
async fn values_are_plain_text() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for encoded in ["Doe &amp; Sons", "Doe%20LLC", "Doe &#38; Sons", "RG9lIGFuZCBTb25z"] {
        assert_eq!(
            refused(&house, "business_name", json!(encoded)).await,
            ["business_name"],
            "{encoded}"
        );
    }
    for field in FIELDS.iter().filter(|field| field.field_type == FieldType::Text) {
        assert_eq!(refused(&house, field.name, json!("Doe%20LLC")).await, [field.name]);
    }
    submit(&house, &with(good(), "business_name", "Doe & Sons, 100 %")).await;
    covers(&["7.4"]);
}

#[tokio::test]
async fn codes_of_countries_and_states_have_two_letters() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (name, wrong) in [
        ("business_country", "USA"),
        ("owner_country_of_citizenship", "U"),
        ("owner_drivers_license_state", "Illinois"),
        ("business_country", "ZZ"),
        ("dba_state", "Illinois"),
    ] {
        assert_eq!(refused(&house, name, json!(wrong)).await, [name], "{wrong}");
    }
    submit(&house, &with(good(), "dba_state", "IL")).await;
    covers(&["7.7"]);
}

#[tokio::test]
async fn what_is_not_marked_optional_is_required() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for name in good().as_object().unwrap().keys() {
        let mut fields = good();
        fields.as_object_mut().unwrap().shift_remove(name);
        let named = contexts(&post(&house, &fields).await);
        assert!(named.iter().any(|one| one == name), "{name}: {named:?}");
    }
    for name in [
        "business_address2",
        "business_website",
        "past_bankruptcy",
        "bankruptcy_date",
        "owner_address2",
        "owner_years_in_residence",
        "operating_account_name",
        "trust_account_name",
        "ip_address",
        "browser_user_agent",
        "browser_language",
        "owner_percentage_of_ownership",
    ] {
        assert!(!contexts(&post(&house, &json!({})).await).iter().any(|one| one == name), "{name}");
    }
    submit(&house, &good()).await;
    covers(&["7.8"]);
}

#[tokio::test]
async fn the_older_optional_fields_are_taken() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let older = json!({"number_of_locations": 2, "currently_accepting_cards": true,
        "current_card_processor": "Acme Pay", "wants_to_accept_amex": false, "current_amex_merchant_number": "1"});
    let mut fields = good();
    fields.as_object_mut().unwrap().extend(older.as_object().unwrap().clone());
    submit(&house, &fields).await;
    let kept = house.objects("applications").await[0]["fields"].clone();
    for name in ["number_of_locations", "currently_accepting_cards", "current_card_processor"] {
        assert_eq!(kept[name], older[name], "{name}");
    }
    assert_eq!(kept["wants_to_accept_amex"], false);
    assert_eq!(kept["current_amex_merchant_number"], "***", "the number is kept, and never shown");
    covers(&["7.9"]);
}

#[tokio::test]
async fn a_trade_name_is_whole_or_not_there() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let named = refused(&house, "has_dba", json!(true)).await;
    let wanted = ["dba_name", "dba_address1", "dba_city", "dba_state", "dba_zip_code", "dba_phone"];
    assert_eq!(named, wanted);
    submit(&house, &with(good(), "has_dba", false)).await;
    covers(&["8.1"]);
}

fn second() -> Value {
    json!({"first_name": "John", "last_name": "Roe", "home_address1": "2 Oak Street", "home_city": "Salem",
        "home_state": "IL", "home_zip_code": "62701", "job_title": "Partner", "date_of_birth": "1971-01-01",
        "social_security_number": "000-00-0002", "has_significant_ownership": false,
        "has_significant_responsibility": true})
}

#[tokio::test]
async fn somebody_is_responsible_where_nobody_owns_much() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let nobody = with(
        with(good(), "owner_has_significant_ownership", false),
        "owner_has_significant_responsibility",
        false,
    );
    assert_eq!(contexts(&post(&house, &nobody).await), ["owner_has_significant_responsibility"]);
    for name in ["owner_has_significant_ownership", "owner_has_significant_responsibility"] {
        submit(&house, &with(good(), name, false)).await;
    }
    covers(&["8.4"]);
    submit(&house, &with(nobody, "second_owner", second())).await;
    let short = with(good(), "second_owner", json!({"first_name": "John"}));
    let named = contexts(&post(&house, &short).await);
    for name in second().as_object().unwrap().keys().filter(|name| *name != "first_name") {
        assert!(named.contains(&format!("second_owner.{name}")), "{name}: {named:?}");
    }
    covers(&["8.5"]);
}

#[tokio::test]
async fn a_second_owner_is_kept_and_counts_for_as_much_as_is_said_of_them() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let nobody = with(
        with(good(), "owner_has_significant_ownership", false),
        "owner_has_significant_responsibility",
        false,
    );
    let other = with(second(), "has_significant_responsibility", false);
    let both = with(nobody.clone(), "second_owner", other.clone());
    assert_eq!(contexts(&post(&house, &both).await), ["owner_has_significant_responsibility"]);
    let owning = with(other, "has_significant_ownership", true);
    submit(&house, &with(nobody.clone(), "second_owner", owning)).await;
    let full = with(second(), "home_address2", "Floor 1");
    submit(&house, &with(nobody, "second_owner", full.clone())).await;
    let kept = house.objects("applications").await[1]["fields"]["second_owner"].clone();
    for (name, sent) in full.as_object().unwrap() {
        let is_secret = ["date_of_birth", "social_security_number"].contains(&name.as_str());
        let shown = if is_secret { json!("***") } else { sent.clone() };
        assert_eq!(kept[name], shown, "{name}");
    }
    covers(&["8.5"]);
}

#[tokio::test]
async fn a_signature_is_a_text_of_strokes() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for wrong in
        ["Jane Doe", "{}", "[{\"lx\":1}]", "[{\"lx\":1,\"ly\":2,\"mx\":3,\"my\":4.5}]", "[]"]
    {
        assert_eq!(refused(&house, "signature", json!(wrong)).await, ["signature"], "{wrong}");
    }
    let stroke = json!({"lx": 1, "ly": 2, "mx": 3, "my": 4});
    let strokes = json!([stroke, stroke]);
    submit(&house, &with(good(), "signature", strokes.to_string())).await;
    assert_eq!(refused(&house, "signature", strokes).await, ["signature"], "an array is no text");
    for name in ["lx", "ly", "mx", "my"] {
        let mut part = stroke.clone();
        part.as_object_mut().unwrap().shift_remove(name);
        let short = json!(json!([part]).to_string());
        assert_eq!(refused(&house, "signature", short).await, ["signature"], "{name}");
    }
    covers(&["8.6"]);
}

#[tokio::test]
async fn abbreviations_are_those_that_are_known() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (name, words) in [
        ("structure", vec!["SO", "AE", "G", "CP", "CU", "P", "TE", "SM", "MM", "CA", "LP", "PO"]),
        ("business_type", vec!["R", "I", "M", "H", "F"]),
        (
            "owner_title",
            vec![
                "President",
                "V.President",
                "Owner",
                "Partner",
                "Manager",
                "Treasurer",
                "Secretary",
                "Exec.Director",
            ],
        ),
    ] {
        for word in words {
            let probe = with(with(good(), name, word), "test", "validate");
            assert_eq!(post(&house, &probe).await.status, 200, "{word}");
        }
        assert_eq!(refused(&house, name, json!("X Y")).await, [name]);
    }
    covers(&["8.7"]);
    assert_eq!(refused(&house, "owner_title", json!("Vice President")).await, ["owner_title"]);
    covers(&["8.8"]);
}

#[tokio::test]
async fn a_sign_up_is_flat() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let bearer = tenant(&house).await;
    let wrapped = json!({"merchant_application": {"reference": "usr_1", "plan": "basic", "email": "jane@example.com"}});
    let reply =
        house.call("POST", "/api/v1/merchant_applications/sign_up", Some(&bearer), &wrapped).await;
    assert_eq!(contexts(&reply), ["reference", "plan", "email"]);
    covers(&["11.1"]);
}
