//! Every rule of the Merchant application table, a wrong value for each, typed from the reference
//! text.

use serde_json::{Map, Value, json};

use super::*;
use crate::api::onboarding::fields::{FIELDS, SECOND_OWNER, SECOND_OWNER_FIELDS, find};
use crate::api::onboarding::rules::rules;

/// Returns a complete application as the reference describes it; no field is optional there but
/// those left out.
fn complete() -> Value {
    json!({
        "reference": "usr_1", "plan": "basic", "first_name": "Jane", "last_name": "Doe",
        "email": "jane@example.com", "business_name": "Doe & Sons LLC",
        "business_address1": "1 Main Street", "business_city": "Springfield",
        "business_state": "IL", "business_zip_code": "62701", "business_phone": "217-555-0100",
        "business_country": "US", "industry_code": 8111, "goods_and_services": "50% off AT&T law",
        "structure": "SO", "business_type": "R", "federal_tax_id": "00-0000001",
        "years_in_business": "7", "owner_first_name": "Jane", "owner_last_name": "Doe",
        "owner_title": "V.President", "owner_date_of_birth": "1970-02-28",
        "owner_social_security_number": "000-00-0001", "owner_has_significant_ownership": true,
        "owner_has_significant_responsibility": true, "owner_address1": "2 Oak Street",
        "owner_city": "Springfield", "owner_state": "IL", "owner_zip_code": "62701",
        "owner_phone_number": "217-555-0101", "owner_email": "jane@example.com",
        "owner_drivers_license_number": "D000", "owner_drivers_license_state": "IL",
        "owner_drivers_license_expiration": "2030-01-31", "owner_country_of_citizenship": "US",
        "operating_account_routing_number": "000000013",
        "operating_account_bank_name": "FIRST BANK OF TESTING",
        "operating_account_number": "1234567", "ip_address_timestamp": "2026-11-21T18:00:00Z",
        "signature": r#"[{"lx":1,"ly":2,"mx":3,"my":-4}]"#,
    })
}

fn second_owner() -> Value {
    json!({
        "first_name": "John", "last_name": "Doe", "home_address1": "3 Elm Street",
        "home_city": "Springfield", "home_state": "IL", "home_zip_code": "62701",
        "job_title": "Partner", "date_of_birth": "1971-01-01",
        "social_security_number": "000-00-0002", "has_significant_ownership": false,
        "has_significant_responsibility": false,
    })
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn found(submission: Submission, fields: &Value, trust: bool) -> Vec<(String, String)> {
    let problems = rules(submission, &map(fields), trust);
    assert!(problems.iter().all(|one| !one.message.is_empty()));
    problems.into_iter().map(|one| (one.context, one.sub_code)).collect()
}

/// Returns the complete application with this value at this path.
fn with(path: &str, value: Value) -> Value {
    let mut fields = complete();
    match path.split_once('.') {
        Some((SECOND_OWNER, name)) => {
            fields[SECOND_OWNER] = second_owner();
            fields[SECOND_OWNER][name] = value;
        }
        _ => fields[path] = value,
    }
    fields
}

fn check(fields: &Value, trust: bool, expect: &[(&str, &str)]) {
    let found = found(Submission::Complete, fields, trust);
    let found: Vec<_> = found.iter().map(|(path, code)| (path.as_str(), code.as_str())).collect();
    assert_eq!(found, expect, "{fields}");
}

#[test]
fn a_complete_application_is_right_with_and_without_what_is_optional() {
    check(&complete(), false, &[]);
    check(&with(SECOND_OWNER, second_owner()), false, &[]);
    let mut all = complete();
    for (name, value) in [
        ("business_address2", json!("Suite 5")),
        ("business_website", json!("https://doe.example/a%20b")),
        ("has_dba", json!(true)),
        ("dba_name", json!("Doe's")),
        ("dba_address1", json!("1 Main Street")),
        ("dba_city", json!("Springfield")),
        ("dba_state", json!("IL")),
        ("dba_zip_code", json!("62701-1234")),
        ("dba_phone", json!("2175550100")),
        ("past_bankruptcy", json!(true)),
        ("bankruptcy_date", json!("2001-01-01")),
        ("owner_percentage_of_ownership", json!(100)),
        ("owner_years_in_residence", json!(3)),
        ("operating_account_name", json!("Operating")),
        ("trust_account_name", json!("Trust")),
        ("trust_account_routing_number", json!("000000013")),
        ("trust_account_bank_name", json!("FIRST BANK OF TESTING")),
        ("trust_account_number", json!("7654321")),
        ("signed_by", json!("Jane Doe")),
        ("ip_address", json!("203.0.113.7")),
        ("browser_user_agent", json!("Mozilla/5.0 (X11; Linux x86_64)")),
        ("browser_language", json!("en-US,en;q=0.9")),
        ("test", json!("validate")),
    ] {
        all[name] = value;
    }
    check(&all, true, &[]);
}

/// Path, wrong value, the finer code of its problem.
const WRONG: &[(&str, &str, &str)] = &[
    // Text fields, where only an encoded value or a value that is no text is wrong.
    ("reference", "17", "invalid"),
    ("plan", "true", "invalid"),
    ("first_name", "\"J%C3%A9an\"", "invalid"),
    ("last_name", "\"Doe &amp; Co\"", "invalid"),
    ("business_name", "\"Doe%20%26%20Sons\"", "invalid"),
    ("business_address1", "\"MSBNYWluIFN0cmVldA==\"", "invalid"),
    ("business_address2", "5", "invalid"),
    ("business_city", "\"Spring%20field\"", "invalid"),
    ("goods_and_services", "[\"law\"]", "invalid"),
    ("dba_name", "\"Doe&#39;s\"", "invalid"),
    ("dba_address1", "{}", "invalid"),
    ("dba_address2", "1", "invalid"),
    ("dba_city", "false", "invalid"),
    ("federal_tax_id", "123456789", "invalid"),
    ("years_in_business", "7", "invalid"),
    ("business_website", "\"https%3A%2F%2Fdoe.example\"", "invalid"),
    ("owner_first_name", "1", "invalid"),
    ("owner_last_name", "1", "invalid"),
    ("owner_social_security_number", "1", "invalid"),
    ("owner_address1", "1", "invalid"),
    ("owner_address2", "1", "invalid"),
    ("owner_city", "1", "invalid"),
    ("owner_drivers_license_number", "1", "invalid"),
    ("operating_account_name", "1", "invalid"),
    ("operating_account_routing_number", "13", "invalid"),
    ("operating_account_bank_name", "1", "invalid"),
    ("operating_account_number", "1234567", "invalid"),
    ("trust_account_name", "1", "invalid"),
    ("trust_account_routing_number", "1", "invalid"),
    ("trust_account_bank_name", "1", "invalid"),
    ("trust_account_number", "1", "invalid"),
    ("signed_by", "\"SmFuZSBEb2U=\"", "invalid"),
    ("ip_address", "1", "invalid"),
    ("browser_user_agent", "\"Mozilla%2F5.0\"", "invalid"),
    ("browser_language", "1", "invalid"),
    ("current_card_processor", "1", "invalid"),
    ("current_amex_merchant_number", "1", "invalid"),
    // E-mail, phones, postal codes.
    ("email", "\"jane\"", "invalid"),
    ("email", "\"jane@two words\"", "invalid"),
    ("owner_email", "\"@example.com\"", "invalid"),
    ("business_phone", "\"01234567890123456789012\"", "invalid_length"),
    ("dba_phone", "\"01234567890123456789012\"", "invalid_length"),
    ("owner_phone_number", "\"01234567890123456789012\"", "invalid_length"),
    ("business_zip_code", "\"6\"", "invalid_length"),
    ("dba_zip_code", "\"62701-12345\"", "invalid_length"),
    ("owner_zip_code", "\"62_01\"", "invalid"),
    // Two-letter codes.
    ("business_state", "\"Illinois\"", "invalid_length"),
    ("business_state", "\"il\"", "invalid"),
    ("dba_state", "\"I1\"", "invalid"),
    ("owner_state", "\"I\"", "invalid_length"),
    ("owner_drivers_license_state", "\"ILL\"", "invalid_length"),
    ("business_country", "\"USA\"", "invalid_length"),
    ("business_country", "\"XX\"", "invalid"),
    ("owner_country_of_citizenship", "\"us\"", "invalid"),
    // Abbreviations; a title has no spaces.
    ("structure", "\"LLC\"", "invalid"),
    ("structure", "\"ZZ\"", "invalid"),
    ("business_type", "\"X\"", "invalid"),
    ("business_type", "\"RI\"", "invalid"),
    ("owner_title", "\"Vice President\"", "invalid"),
    ("owner_title", "\"V. President\"", "invalid"),
    ("test", "\"true\"", "invalid"),
    // Integers and booleans.
    ("industry_code", "\"8111\"", "invalid"),
    ("industry_code", "81.5", "invalid"),
    ("industry_code", "0", "number_out_of_range"),
    ("industry_code", "10000", "number_out_of_range"),
    ("owner_percentage_of_ownership", "\"100\"", "invalid"),
    ("owner_percentage_of_ownership", "101", "number_out_of_range"),
    ("owner_percentage_of_ownership", "-1", "number_out_of_range"),
    ("owner_years_in_residence", "\"three\"", "invalid"),
    ("owner_years_in_residence", "-1", "number_out_of_range"),
    ("number_of_locations", "\"1\"", "invalid"),
    ("has_dba", "\"true\"", "invalid"),
    ("past_bankruptcy", "0", "invalid"),
    ("owner_has_significant_ownership", "\"yes\"", "invalid"),
    ("owner_has_significant_responsibility", "1", "invalid"),
    ("currently_accepting_cards", "\"no\"", "invalid"),
    ("wants_to_accept_amex", "1", "invalid"),
    // Dates and times.
    ("bankruptcy_date", "\"2001\"", "invalid"),
    ("owner_date_of_birth", "\"02/28/1970\"", "invalid"),
    ("owner_date_of_birth", "\"1970-02-29\"", "invalid"),
    ("owner_date_of_birth", "\"1970-2-28\"", "invalid"),
    ("owner_drivers_license_expiration", "20300131", "invalid"),
    ("ip_address_timestamp", "\"2026-11-21\"", "invalid"),
    ("ip_address_timestamp", "\"21.11.2026 18:00\"", "invalid"),
    // jSignature: JSON text, an array of strokes, each with integer lx, ly, mx, my.
    ("signature", "[{\"lx\":1,\"ly\":2,\"mx\":3,\"my\":4}]", "invalid"),
    ("signature", "\"Jane Doe\"", "invalid"),
    ("signature", "\"[]\"", "invalid"),
    ("signature", "\"{\\\"lx\\\":1}\"", "invalid"),
    ("signature", "\"[[1,2,3,4]]\"", "invalid"),
    ("signature", "\"[{\\\"lx\\\":1,\\\"ly\\\":2,\\\"mx\\\":3}]\"", "invalid"),
    ("signature", "\"[{\\\"lx\\\":1.5,\\\"ly\\\":2,\\\"mx\\\":3,\\\"my\\\":4}]\"", "invalid"),
    ("signature", "\"[{\\\"lx\\\":\\\"1\\\",\\\"ly\\\":2,\\\"mx\\\":3,\\\"my\\\":4}]\"", "invalid"),
    // The second owner.
    ("second_owner", "\"John Doe\"", "invalid"),
    ("second_owner.first_name", "1", "invalid"),
    ("second_owner.last_name", "\"D%C3%B6e\"", "invalid"),
    ("second_owner.home_address1", "1", "invalid"),
    ("second_owner.home_address2", "1", "invalid"),
    ("second_owner.home_city", "1", "invalid"),
    ("second_owner.home_state", "\"Illinois\"", "invalid_length"),
    ("second_owner.home_zip_code", "\"6\"", "invalid_length"),
    ("second_owner.job_title", "1", "invalid"),
    ("second_owner.date_of_birth", "\"1971-13-01\"", "invalid"),
    ("second_owner.social_security_number", "1", "invalid"),
    ("second_owner.has_significant_ownership", "\"false\"", "invalid"),
    ("second_owner.has_significant_responsibility", "0", "invalid"),
];

#[test]
fn every_field_has_a_wrong_value_that_is_told_at_the_field() {
    for (path, wrong, code) in WRONG {
        let fields = with(path, serde_json::from_str(wrong).unwrap());
        check(&fields, false, &[(path, code)]);
    }
    let has_case = |path: &str| WRONG.iter().any(|(tested, ..)| *tested == path);
    let own = FIELDS.iter().map(|field| field.name.to_owned());
    let second = SECOND_OWNER_FIELDS.iter().map(|field| format!("{SECOND_OWNER}.{}", field.name));
    for path in own.chain(second) {
        assert!(has_case(&path), "{path} has no wrong value");
        assert!(find(&path).is_some_and(|field| path.ends_with(field.name)), "{path}");
    }
    assert_eq!(SECOND_OWNER_FIELDS.len(), 12);
}

#[test]
fn what_the_reference_does_not_mark_optional_is_required_in_a_complete_application() {
    let fields = complete();
    for (name, _) in map(&fields) {
        let mut without = map(&fields);
        without.shift_remove(&name);
        let is_text = find(&name).is_some_and(|field| field.field_type.word() == "string");
        let code = if is_text { "not_blank" } else { "not_null" };
        check(&Value::Object(without), false, &[(&name, code)]);
        check(&with(&name, Value::Null), false, &[(&name, code)]);
        check(&with(&name, json!(" ")), false, &[(&name, code)]);
    }
    for (name, _) in map(&second_owner()) {
        let path = format!("{SECOND_OWNER}.{name}");
        let problems = found(Submission::Complete, &with(&path, Value::Null), false);
        assert_eq!(problems.len(), 1, "{path}");
        assert_eq!(problems[0].0, path);
    }
}

#[test]
fn a_sign_up_needs_three_fields_and_no_test() {
    let missing: Vec<_> = found(Submission::SignUp, &json!({}), true);
    let missing: Vec<_> = missing.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(missing, ["reference", "plan", "email"]);
    let mut fields = json!({"reference": "r", "plan": "p", "email": "a@b.example"});
    assert_eq!(found(Submission::SignUp, &fields, true), []);
    fields["business_country"] = json!("USA");
    fields["second_owner"] = json!({"home_state": "il"});
    fields["test"] = json!("validate");
    let paths: Vec<_> = found(Submission::SignUp, &fields, false);
    let paths: Vec<_> = paths.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["business_country", "second_owner.home_state", "test"]);
}

#[test]
fn a_dba_needs_its_name_address_and_phone() {
    let dba = ["dba_name", "dba_address1", "dba_city", "dba_state", "dba_zip_code", "dba_phone"];
    let needed: Vec<_> = dba.iter().map(|name| (*name, "not_blank")).collect();
    check(&with("has_dba", json!(true)), false, &needed);
    check(&with("has_dba", json!(false)), false, &[]);
    check(&with("has_dba", Value::Null), false, &[]);
}

#[test]
fn a_trust_plan_needs_the_trust_account_and_who_signs() {
    let trust = [
        "trust_account_routing_number",
        "trust_account_bank_name",
        "trust_account_number",
        "signed_by",
    ];
    let needed: Vec<_> = trust.iter().map(|name| (*name, "not_blank")).collect();
    check(&complete(), true, &needed);
    check(&complete(), false, &[]);
}

#[test]
fn someone_is_responsible_when_nobody_owns_more_than_a_quarter() {
    let says = |own: bool, run: bool, second: Option<(bool, bool)>| {
        let mut fields = complete();
        fields["owner_has_significant_ownership"] = json!(own);
        fields["owner_has_significant_responsibility"] = json!(run);
        if let Some((own, run)) = second {
            fields[SECOND_OWNER] = second_owner();
            fields[SECOND_OWNER]["has_significant_ownership"] = json!(own);
            fields[SECOND_OWNER]["has_significant_responsibility"] = json!(run);
        }
        found(Submission::Complete, &fields, false).len()
    };
    for (own, run, expect) in
        [(true, true, 0), (true, false, 0), (false, true, 0), (false, false, 1)]
    {
        assert_eq!(says(own, run, None), expect);
        assert_eq!(says(own, run, Some((false, false))), expect);
        assert_eq!(says(own, run, Some((true, false))), 0);
        assert_eq!(says(own, run, Some((false, true))), 0);
    }
}

#[test]
fn every_problem_is_told_at_once_and_no_value_is_repeated() {
    let fields = json!({"federal_tax_id": 987_654_321, "owner_title": "Vice President",
        "signature": "987654321", "email": "987654321"});
    let problems = rules(Submission::Complete, &map(&fields), true);
    assert!(problems.len() > 40, "{}", problems.len());
    for problem in problems {
        assert!(!problem.message.contains("98765") && !problem.message.contains("Vice"));
    }
}

#[test]
fn an_id_is_an_integer_or_a_text_of_digits_and_is_written_as_an_integer() {
    for id in [json!(42), json!("42"), json!("0042")] {
        let reply: SubmittedApplication =
            serde_json::from_value(json!({"merchant_application": {"id": id, "more": 1}})).unwrap();
        assert_eq!(reply.merchant_application.id, ApplicationId(42));
        assert_eq!(
            serde_json::to_value(reply).unwrap(),
            json!({"merchant_application": {"id": 42}})
        );
    }
    for id in [json!(-1), json!(""), json!("4x"), json!(4.5), Value::Null] {
        let reply = json!({ "merchant_application": { "id": id } });
        assert!(serde_json::from_value::<SubmittedApplication>(reply).is_err());
    }
}

#[test]
fn bodies_are_wrapped_or_flat_and_show_no_value() {
    let fields = ApplicationFields(map(&complete()));
    let body = NewApplication { merchant_application: fields.clone() };
    let written = serde_json::to_value(&body).unwrap();
    assert_eq!(written, json!({ "merchant_application": complete() }));
    assert_eq!(serde_json::to_value(&fields).unwrap(), complete());
    let shown = format!("{body:?}");
    assert!(shown.contains("federal_tax_id") && !shown.contains("00-0000001"), "{shown}");
    let page: StartedSignUp = serde_json::from_value(
        json!({"merchant_application": {"id": 1, "redirect_uri": "https://w.example/s/abc"}}),
    )
    .unwrap();
    assert!(!format!("{page:?}").contains("abc"));
}

#[test]
fn the_two_defaults_stand_where_nothing_is_given() {
    let mut fields = ApplicationFields(map(&json!({"has_dba": null, "plan": "p"})));
    fields.fill_defaults();
    let expect = json!({"has_dba": false, "plan": "p", "owner_percentage_of_ownership": 100});
    assert_eq!(serde_json::to_value(&fields).unwrap(), expect);
    let given = json!({"has_dba": true, "owner_percentage_of_ownership": 30});
    let mut fields = ApplicationFields(map(&given));
    fields.fill_defaults();
    assert_eq!(serde_json::to_value(&fields).unwrap(), given);
}

#[test]
fn a_test_of_the_sign_up_is_known_by_its_business_name() {
    assert!(is_test_name("Acme - TEST"));
    assert!(!is_test_name("Acme - TESTING") && !is_test_name("TEST") && !is_test_name("Acme-TEST"));
}
