//! Every row of the table.

use serde_json::json;

use super::*;
use crate::api::call::Endpoint;
use crate::api::merchant::PurgeTestData;
use crate::api::saved_method::CreateCard;
use crate::base::outside_text::{ServicePlace, ServiceText};

fn now() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-20T08:00:00Z").unwrap().to_utc()
}

fn check(status: u16, body: &str) -> Outcome {
    let answer = HttpAnswer { status, retry_after: None, date: None, body: body.into() };
    classify(Ok(answer), &KnownValues::default(), now()).outcome
}

#[test]
fn every_status_has_its_proof() {
    let refusals = [
        400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421,
        422, 423, 424, 425, 426, 428, 431, 451,
    ];
    for status in 100..=999 {
        let expected = match status {
            200 => StatusProof::Success,
            429 => StatusProof::Throttled,
            refusal if refusals.contains(&refusal) => StatusProof::Refusal,
            _ => StatusProof::Nothing,
        };
        assert_eq!(proof(status), expected, "{status}");
    }
}

#[test]
fn only_a_readable_200_is_done() {
    assert_eq!(check(200, r#"{"id":1}"#), Outcome::Done { reply: serde_json::json!({"id": 1}) });
    assert_eq!(check(200, ""), Outcome::Done { reply: Value::Null });
    assert_eq!(check(200, " \n"), Outcome::Done { reply: Value::Null });
    for (status, body) in [(200, "{\"id\":"), (200, "<html>"), (201, "{}"), (204, ""), (302, "")] {
        assert!(matches!(check(status, body), Outcome::InDoubt { .. }), "{status} {body}");
    }
}

#[test]
fn a_204_without_a_body_is_done_for_the_one_path_that_has_nothing_to_say() {
    let outcome = |endpoint: &str, status: u16, body: &str| {
        let call = Call { endpoint: endpoint.to_owned(), ..Call::to::<PurgeTestData>(&[]) };
        let answer = HttpAnswer { status, retry_after: None, date: None, body: body.into() };
        classify(Ok(answer.with_call(&call)), &KnownValues::default(), now()).outcome
    };
    let purge = PurgeTestData::NAME;
    for status in [200, 204] {
        assert_eq!(outcome(purge, status, ""), Outcome::Done { reply: Value::Null });
    }
    for (endpoint, status, body) in
        [("card.delete", 204, ""), (purge, 204, "{}"), (purge, 201, ""), (purge, 503, "")]
    {
        let told = outcome(endpoint, status, body);
        assert!(matches!(told, Outcome::InDoubt { .. }), "{endpoint} {status} {body}: {told:?}");
    }
}

#[test]
fn a_server_error_is_in_doubt_and_names_its_code() {
    let reason = |outcome| {
        let Outcome::InDoubt { reason } = outcome else {
            panic!("{outcome:?}");
        };
        reason.to_string()
    };
    let body = r#"{"messages":[{"code":"server_error"}]}"#;
    assert_eq!(reason(check(500, body)), "the service answered 500 server_error");
    let odd = r#"{"messages":[{"code":"4242 4242"}]}"#;
    assert_eq!(reason(check(503, odd)), "the service answered 503");
    assert_eq!(reason(check(408, "{}")), "the service answered 408");
}

#[test]
fn a_refusal_carries_its_problem_or_none() {
    let declined = r#"{"messages":[{"code":"card_declined","entity_id":"tx1"}]}"#;
    let Outcome::Refused { status: 422, problem } = check(422, declined) else {
        panic!("a decline is a refusal");
    };
    assert_eq!(problem.messages[0].entity_id.as_ref().map(ServicePlace::as_str), Some("tx1"));
    let bare = Outcome::Refused { status: 404, problem: ServiceProblem::default() };
    assert_eq!(check(404, ""), bare);
    assert_eq!(check(404, "<html>"), bare);
}

#[test]
fn every_failure_has_its_outcome() {
    let outcome = |failure| classify(Err(failure), &KnownValues::default(), now()).outcome;
    let text = || "why".to_owned();
    assert_eq!(
        outcome(TransportFailure::NotConnected(text())),
        Outcome::NotSent { reason: "why".into(), retry_after_s: None }
    );
    assert_eq!(
        outcome(TransportFailure::Broken(text())),
        Outcome::InDoubt { reason: "why".into() }
    );
    for failure in [TransportFailure::TimedOut, TransportFailure::TooLarge] {
        assert!(matches!(outcome(failure), Outcome::InDoubt { .. }));
    }
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let cases = [
        ("7", Some(7)),
        (" 0 ", Some(0)),
        ("Fri, 20 Nov 2026 08:01:30 GMT", Some(90)),
        ("Fri, 20 Nov 2026 07:00:00 GMT", Some(0)),
        ("-1", None),
        ("soon", None),
    ];
    for (text, expected) in cases {
        assert_eq!(retry_after_seconds(text, now()), expected, "{text}");
    }
}

#[test]
fn a_429_waits_as_asked_and_a_503_remembers_the_wait() {
    let asked = |status| {
        let retry_after = Some("9".to_owned());
        classify(
            Ok(HttpAnswer { status, retry_after, date: None, body: Vec::new() }),
            &KnownValues::default(),
            now(),
        )
    };
    let throttled = asked(429);
    assert!(matches!(throttled.outcome, Outcome::NotSent { retry_after_s: Some(9), .. }));
    assert_eq!(throttled.retry_after_s, Some(9));
    let unavailable = asked(503);
    assert!(matches!(unavailable.outcome, Outcome::InDoubt { .. }));
    assert_eq!(unavailable.retry_after_s, Some(9));
}

/// Closes S2: an answer that repeats its request reveals none of the request's secrets.
#[test]
fn an_answer_that_repeats_a_number_does_not_hold_it() {
    let mut known = KnownValues::default();
    known.hide_secret("4012000010000");
    let reply = json!({"id": "c1", "status": "for 4012 0000 1000 0", "4012000010000": [4_012_000_010_000_u64]});
    let told = without_secrets(reply, &known);
    assert_eq!(told, json!({"id": "c1", "status": "for ***", "***": ["***"]}));
    let plain = json!({"id": "c1"});
    assert_eq!(without_secrets(plain.clone(), &KnownValues::default()), plain);
}

/// Closes S2: quoted parts of a request are removed, and the service's own words stay.
#[test]
fn what_a_request_carries_is_known() {
    let body = json!({
        "type": "card", "number": "4012000010000", "exp_month": 12, "exp_year": 2031, "cvv": "987", "name": "Jane Doe",
        "address1": "12 Elm Road", "email": "jane@payer.example", "currency": "USD", "reference": "rkabc",
    });
    let call = Call::to::<CreateCard>(&[]).body(body.to_string().into_bytes());
    let key = format!("Basic {}", STANDARD.encode("sk_test_Zx81:"));
    let known = sensitive_values(&call, Some(&HeaderValue::from_str(&key).unwrap()));
    let quoted = format!("card in USD for rkabc: {key} sk_test_Zx81 {body}");
    let told = ServiceText::clean(&quoted, &known).to_string();
    for secret in ["sk_test", "4012", "2031", "987", "Jane", "Doe", "Elm", "payer"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
    assert!(told.starts_with("card in USD for rkabc: Basic ***"), "{told}");
}

#[test]
fn every_name_has_its_sort() {
    assert!(
        field_privacy("account_number") == FieldPrivacy::Secret
            && field_privacy("client_secret") == FieldPrivacy::Secret
    );
    assert!(
        field_privacy("first_name") == FieldPrivacy::Named
            && field_privacy("address1") == FieldPrivacy::Named
    );
    assert!(
        field_privacy("currency") == FieldPrivacy::Open
            && field_privacy("phone") == FieldPrivacy::Personal
    );
}

#[test]
fn a_clock_is_ahead_or_behind_only_if_the_date_lies_outside_the_call() {
    let call = (now(), now() + TimeDelta::seconds(20));
    for (date, expected) in [
        ("Fri, 20 Nov 2026 08:00:10 GMT", Some(0)),
        ("Fri, 20 Nov 2026 07:59:31 GMT", Some(0)),
        ("Fri, 20 Nov 2026 07:58:00 GMT", Some(120)),
        ("Fri, 20 Nov 2026 08:02:20 GMT", Some(-120)),
        ("yesterday", None),
    ] {
        assert_eq!(clock_ahead_s(date, call), expected, "{date}");
    }
}
