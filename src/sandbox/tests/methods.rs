//! Payment methods: masks, brands, lengths, the published test numbers (gateway-api, Payment
//! method; service-facts, parts 3 and 4).

use serde_json::{Value, json};

use super::story::bank;
use super::{Reply, TestSandbox, covers, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

async fn charge(house: &TestSandbox, method: Value) -> Reply {
    house.secret("POST", "/v1/charges", &json!({"amount": 100, "method": method})).await
}

async fn card(house: &TestSandbox, name: &str, value: impl Into<Value>) -> Reply {
    house.secret("POST", "/v1/cards", &with(visa(), name, value)).await
}

#[tokio::test]
async fn every_published_card_has_its_brand_and_is_accepted() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (number, brand) in [
        ("4242424242424242", "VISA"),
        ("4012888888881881", "VISA"),
        ("4012000010000", "VISA"),
        ("4111111111111111", "VISA"),
        ("5105105105105100", "MASTERCARD"),
        ("5499740000000057", "MASTERCARD"),
        ("378282246310005", "AMERICAN_EXPRESS"),
        ("371449635398431", "AMERICAN_EXPRESS"),
        ("6011111111111117", "DISCOVER"),
        ("6011000990139424", "DISCOVER"),
        ("30569309025904", "DINERS_CLUB"),
        ("38520000023237", "DINERS_CLUB"),
        ("3530111333300000", "JCB"),
        ("3566002020360505", "JCB"),
        ("9900000000000010", "UNKNOWN"),
    ] {
        let made = charge(&house, with(visa(), "number", number)).await.ok();
        assert_eq!(
            (&made["status"], &made["method"]["card_type"]),
            (&json!("AUTHORIZED"), &json!(brand))
        );
        let masked = format!("{}{}", "*".repeat(number.len() - 4), &number[number.len() - 4..]);
        assert_eq!(made["method"]["number"], masked);
    }
    let short = with(with(visa(), "number", "378282246310005"), "cvv", "123");
    assert_eq!(charge(&house, short).await.status, 200, "this brand also accepts three digits");
    covers(&["34.1", "34.5", "34.14"]);
}

#[tokio::test]
async fn every_published_card_that_fails_fails_as_it_is_published() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (number, code) in [
        ("4000000000000002", "card_declined"),
        ("4000000000000044", "card_declined_insufficient_funds"),
        ("4000000000000051", "card_declined_limit_exceeded"),
        ("4000000000000069", "card_expired"),
        ("4000000000000119", "card_declined_processing_error"),
        ("4000000000000127", "card_declined_hold"),
        ("4000000000000135", "card_type_not_accepted"),
        ("4242424242424241", "card_number_invalid"),
    ] {
        let (status, found, _) = charge(&house, with(visa(), "number", number)).await.refusal();
        assert_eq!((status, found.as_str()), (422, code), "{number}");
    }
    let whole = json!({"address1": "1 Main Street", "postal_code": "62701"});
    for (number, given, cvv, avs) in [
        ("4000000000000077", whole.clone(), "UNAVAILABLE", "ADDRESS_AND_POSTAL_CODE"),
        ("4000000000000101", whole.clone(), "NOT_MATCHED", "ADDRESS_AND_POSTAL_CODE"),
        ("4000000000000010", whole.clone(), "MATCHED", "NO_MATCH"),
        ("4000000000000085", whole.clone(), "MATCHED", "UNAVAILABLE"),
        ("4000000000000093", whole.clone(), "MATCHED", "AVS_ERROR_INELIGIBLE"),
        ("4000000000000028", json!({"address1": "1 Main Street"}), "MATCHED", "NO_MATCH"),
        ("4000000000000028", whole.clone(), "MATCHED", "POSTAL_CODE"),
        ("4000000000000036", json!({"postal_code": "62701"}), "MATCHED", "NO_MATCH"),
        ("4000000000000036", whole.clone(), "MATCHED", "ADDRESS"),
        ("4242424242424242", whole, "MATCHED", "ADDRESS_AND_POSTAL_CODE"),
    ] {
        let mut method = json!({"type": "card", "number": number, "exp_month": 10, "exp_year": 2030, "cvv": "123"});
        method.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let made = charge(&house, method).await.ok();
        assert_eq!(
            (&made["cvv_result"], &made["avs_result"]),
            (&json!(cvv), &json!(avs)),
            "{number}"
        );
    }
    covers(&["34.14"]);
}

#[tokio::test]
async fn every_published_bank_account_has_its_result() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (routing, name) in
        [("000000013", "FIRST BANK OF TESTING"), ("000000000", "TEST FEDERAL CREDIT UNION")]
    {
        let made = charge(&house, with(bank(), "routing_number", routing)).await.ok();
        assert_eq!(made["method"]["bank_name"], name);
    }
    assert_eq!(charge(&house, with(bank(), "routing_number", "111000025")).await.status, 200);
    for (last, status, code) in [
        ("01", 422, "ach_declined"),
        ("02", 422, "ach_declined_hold"),
        ("03", 422, "ach_declined_duplicate"),
        ("04", 422, "ach_invalid_account_number"),
        ("05", 422, "ach_insufficient_funds"),
        ("06", 422, "ach_account_not_found"),
        ("07", 422, "ach_account_closed"),
        ("08", 422, "ach_account_frozen"),
        ("09", 422, "ach_limit_exceeded"),
        ("10", 500, "ach_processing_error"),
    ] {
        let reply = charge(&house, with(bank(), "account_number", format!("10000000{last}"))).await;
        assert_eq!((reply.refusal().0, reply.refusal().1.as_str()), (status, code));
        assert!(reply.json()["messages"][0]["entity_id"].is_string());
    }
    let reply = charge(&house, with(bank(), "routing_number", "000000001")).await;
    assert_eq!(reply.refusal().1, "ach_invalid_routing_number");
    covers(&["34.6", "34.15"]);
}

#[tokio::test]
async fn a_card_code_is_seen_by_nobody_but_as_stars_in_tokens_and_events() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let made = charge(&house, visa()).await.ok();
    assert!(made["method"].get("cvv").is_none());
    let saved = card(&house, "name", "Jane").await.ok();
    assert!(saved.get("cvv").is_none());
    let token = super::tokens::token(&house, &visa()).await;
    assert_eq!(token["cvv"], "***");
    let events = house.secret("GET", "/v1/events", &Value::Null).await.ok();
    assert_eq!(events["results"][0]["data"]["method"]["cvv"], "***");
    let kept = house.control("GET", "snapshot", &Value::Null).await.to_string();
    assert!(kept.contains("************4242"), "the snapshot holds the methods");
    assert!(!kept.contains("4242424242424242") && !kept.contains("\"123\""));
    covers(&["34.3", "34.16"]);
}

#[tokio::test]
async fn lengths_and_characters_of_a_card_are_checked() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for (name, long) in [
        ("name", 64),
        ("address1", 64),
        ("address2", 64),
        ("city", 64),
        ("phone", 22),
        ("reference", 64),
        ("description", 64),
    ] {
        assert_eq!(card(&house, name, "x".repeat(long)).await.status, 200, "{name}");
        let reply = card(&house, name, "x".repeat(long + 1)).await;
        assert_eq!(fields(&reply), [(name.to_owned(), "invalid_length".to_owned())]);
    }
    for (name, wrong) in [
        ("cvv", "12"),
        ("cvv", "12345"),
        ("number", "42424242424"),
        ("number", "42424242424242424242"),
        ("postal_code", "12"),
        ("postal_code", "1234567890X"),
        ("exp_month", "13"),
        ("exp_year", "203"),
        ("country", "USA"),
    ] {
        assert_eq!(fields(&card(&house, name, wrong).await)[0].0, name, "{wrong}");
    }
    assert_eq!(card(&house, "exp_year", 31).await.ok()["exp_year"], 2031);
    covers(&["34.9", "34.10"]);
}

#[tokio::test]
async fn the_shortest_and_the_longest_of_a_method_are_taken() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for (name, value) in [
        ("number", "424242424242"),
        ("number", "4242424242424242428"),
        ("cvv", "123"),
        ("cvv", "1234"),
        ("postal_code", "627"),
        ("postal_code", "627012345"),
    ] {
        assert_eq!(card(&house, name, value).await.status, 200, "{name} {value}");
    }
    let reply = card(&house, "postal_code", "6270123456").await;
    assert_eq!(fields(&reply), [("postal_code".to_owned(), "invalid_length".to_owned())]);
    let save = async |digits: usize| {
        let account = with(bank(), "account_number", "1".repeat(digits));
        house.secret("POST", "/v1/banks", &account).await
    };
    for taken in [4, 17] {
        assert_eq!(save(taken).await.status, 200, "{taken}");
    }
    for refused in [3, 18] {
        let told = fields(&save(refused).await);
        assert_eq!(told, [("account_number".to_owned(), "invalid_length".to_owned())]);
    }
    covers(&["34.9"]);
}

#[tokio::test]
async fn a_state_fits_its_country() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for (country, state, status) in [
        ("US", "IL", 200),
        ("US", "ON", 422),
        ("CA", "ON", 200),
        ("CA", "IL", 422),
        ("FR", "Bretagne", 200),
    ] {
        let reply = house
            .secret("POST", "/v1/cards", &with(with(visa(), "country", country), "state", state))
            .await;
        assert_eq!(reply.status, status, "{country} {state}");
        if status == 422 {
            assert_eq!(fields(&reply), [("state".to_owned(), "invalid".to_owned())]);
        }
    }
    covers(&["34.11"]);
}

#[tokio::test]
async fn a_bank_account_has_a_type_a_holder_and_masked_numbers() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for (name, wrong) in [
        ("account_type", "GIRO"),
        ("account_number", "123"),
        ("account_number", "123456789012345678"),
    ] {
        let reply = house.secret("POST", "/v1/banks", &with(bank(), name, wrong)).await;
        assert_eq!(fields(&reply)[0].0, name, "{wrong}");
    }
    let checking = house.secret("POST", "/v1/banks", &bank()).await.ok();
    assert_eq!(checking["account_type"], "CHECKING");
    let person = json!({"type": "bank", "routing_number": "000000013", "account_number": "1234567890",
        "account_type": "SAVINGS", "given_name": "Jane", "surname": "Doe"});
    let saved = house.secret("POST", "/v1/banks", &person).await.ok();
    assert_eq!(
        (&saved["routing_number"], &saved["account_number"]),
        (&json!("******013"), &json!("******7890"))
    );
    assert_eq!((&saved["given_name"], &saved["account_type"]), (&json!("Jane"), &json!("SAVINGS")));
    covers(&["34.2", "34.7", "34.8"]);
}

#[tokio::test]
async fn an_account_demands_fields_and_takes_some_brands_alone() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.allow("required_payment_fields", json!(["cvv", "postal_code"])).await;
    let bare =
        json!({"type": "card", "number": "4242424242424242", "exp_month": 10, "exp_year": 2030});
    let told = fields(&charge(&house, bare.clone()).await);
    let expect = [("method.cvv", "not_blank"), ("method.postal_code", "not_blank")];
    assert_eq!(told, expect.map(|(one, two)| (one.to_owned(), two.to_owned())));
    assert_eq!(charge(&house, visa()).await.status, 200);
    let saved = house.secret("POST", "/v1/cards", &with(bare, "postal_code", "62701")).await.ok();
    assert_eq!(
        charge(&house, saved["id"].clone()).await.status,
        200,
        "no code of a saved card is kept"
    );
    assert_eq!(charge(&house, bank()).await.status, 200);
    house.allow("accepted_card_types", json!(["MASTERCARD"])).await;
    let refused = charge(&house, visa()).await;
    assert_eq!(refused.refusal().1, "card_type_not_accepted");
    assert!(refused.json()["messages"][0]["entity_id"].is_string());
    assert_eq!(charge(&house, with(visa(), "number", "5105105105105100")).await.status, 200);
    covers(&["34.12", "34.13"]);
}
