//! Charges, transactions and events (gateway-api; service-facts, parts 2, 3, 6, 9).

use serde_json::{Value, json};

use crate::api::transaction::TransactionStatus;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::payments::transactions::{TransactionTransition, step};
use crate::sandbox::tests::story::movements;
use crate::sandbox::tests::{TestSandbox, fields, visa, with};

async fn charge(house: &TestSandbox, body: Value) -> super::Reply {
    house.secret("POST", "/v1/charges", &body).await
}

fn bank() -> Value {
    json!({"type": "bank", "routing_number": "000000013", "account_number": "1234567890",
        "account_type": "CHECKING", "account_holder_type": "business", "name": "Acme"})
}

#[tokio::test]
async fn a_charge_is_authorized_and_captured_by_the_daily_run() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let body = json!({"amount": "1250", "method": visa(), "reference": "r", "currency": null});
    let made = charge(&house, body).await.ok();
    assert_eq!(made["type"], "CHARGE");
    assert_eq!(made["id"].as_str().unwrap().len(), 22);
    for name in ["created", "modified"] {
        assert_eq!(made[name], "2026-11-21T18:00:00.000Z", "{name}");
    }
    assert_eq!(made["status"], "AUTHORIZED");
    assert_eq!(made["amount"], 1250);
    assert_eq!(made["currency"], "USD");
    assert_eq!(made["auto_capture"], true);
    assert_eq!(made["amount_refunded"], 0);
    assert_eq!(made["authorization_code"].as_str().unwrap().len(), 6);
    assert_eq!(made["cvv_result"], "MATCHED");
    assert_eq!(made["avs_result"], "ADDRESS_AND_POSTAL_CODE");
    assert_eq!(made["method"]["number"], "************4242");
    assert!(made["method"].get("cvv").is_none());
    assert_eq!(made["account_id"], house.demo().await["test"]["card_account_id"]);
    let path = format!("/v1/transactions/{}", made["id"].as_str().unwrap());
    assert_eq!(house.secret("GET", &path, &Value::Null).await.ok(), made);
    house.advance("P1D").await;
    let later = house.secret("GET", &path, &Value::Null).await.ok();
    assert_eq!(later["status"], "COMPLETED");
    assert_eq!(later["completion_timestamp"], "2026-11-22T04:00:00.000Z");
    super::covers(&["33.2", "33.12", "35.2"]);
}

#[tokio::test]
async fn the_daily_run_comes_at_the_hour_that_the_tenant_set() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.allow("capture_hour", 9).await;
    let made = charge(&house, json!({"amount": 5, "method": visa()})).await.ok();
    house.advance("PT20H59M59S").await;
    assert_eq!(house.status(&made).await, "AUTHORIZED");
    house.advance("PT1S").await;
    let settled = house.fetch(&made).await;
    assert_eq!(settled["status"], "COMPLETED");
    assert_eq!(settled["completion_timestamp"], "2026-11-22T15:00:00.000Z", "nine in Chicago");
    super::covers(&["35.2"]);
}

#[tokio::test]
async fn a_settlement_by_hand_completes_a_payment_or_takes_it_back() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let made = charge(&house, json!({"amount": 700, "method": bank()})).await.ok();
    let path = format!("/_sandbox/transactions/{}/settlement", made["id"].as_str().unwrap());
    let settle = async |order: Value| house.call("POST", &path, None, &order).await;
    assert_eq!(settle(json!({"result": "perhaps"})).await.status, 400);
    assert_eq!(settle(json!({"result": "settled"})).await.ok()["status"], "COMPLETED");
    assert_eq!(settle(json!({"result": "settled"})).await.status, 422, "it is settled already");
    let back = settle(json!({"result": "failed", "code": "account_closed"})).await.ok();
    assert_eq!(
        (&back["status"], &back["failure_code"]),
        (&json!("FAILED"), &json!("account_closed"))
    );
    let expect = ["CHARGE", "CAPTURE", "RETURN"].map(|kind| (kind, "CHARGE", 700));
    assert_eq!(house.ledger_movements().await, movements(&expect));
    let (none, order) = ("/_sandbox/transactions/none/settlement", json!({"result": "settled"}));
    assert_eq!(house.call("POST", none, None, &order).await.status, 404);
}

#[tokio::test]
async fn a_hold_is_for_cards_and_is_voided_after_seven_days() {
    let house = TestSandbox::new(ServiceSurface::Public);
    // The merchant's clocks go forward the night after: seven days on them are 167 hours.
    house.control("POST", "clock", &json!({"set": "2027-03-13T18:00:00Z"})).await;
    let plain = charge(&house, json!({"amount": 5, "method": visa()})).await.ok();
    assert_eq!(plain["auto_capture"], true);
    let held = json!({"amount": 5, "method": visa(), "auto_capture": false});
    let made = charge(&house, held).await.ok();
    assert_eq!((&made["status"], &made["auto_capture"]), (&json!("AUTHORIZED"), &json!(false)));
    let path = format!("/v1/transactions/{}", made["id"].as_str().unwrap());
    house.advance("P6DT23H59M59S").await;
    assert_eq!(house.status(&plain).await, "COMPLETED", "the daily run captured it");
    assert_eq!(house.secret("GET", &path, &Value::Null).await.ok()["status"], "AUTHORIZED");
    house.advance("PT1S").await;
    assert_eq!(house.secret("GET", &path, &Value::Null).await.ok()["status"], "VOIDED");
    let reply = charge(&house, json!({"amount": 5, "method": bank(), "auto_capture": false})).await;
    assert_eq!(reply.refusal().1, "unavailable_for_merchant_policy");
    super::covers(&["33.10", "35.4"]);
}

#[tokio::test]
async fn a_decline_names_the_transaction_that_it_left() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (number, code) in [
        ("4000000000000002", "card_declined"),
        ("4000000000000044", "card_declined_insufficient_funds"),
        ("4000000000000051", "card_declined_limit_exceeded"),
        ("4000000000000069", "card_expired"),
        ("4000000000000119", "card_declined_processing_error"),
        ("4000000000000127", "card_declined_hold"),
        ("4000000000000135", "card_type_not_accepted"),
    ] {
        let body = json!({"amount": 100, "method": with(visa(), "number", number)});
        let reply = charge(&house, body).await;
        assert_eq!(reply.refusal(), (422, code.to_owned(), None));
        assert!(reply.json().get("id").is_none());
        let entity = reply.json()["messages"][0]["entity_id"].as_str().unwrap().to_owned();
        let kept = house.secret("GET", &format!("/v1/transactions/{entity}"), &Value::Null).await;
        assert_eq!(kept.ok()["status"], "FAILED");
        assert_eq!(kept.json()["failure_code"], code);
    }
    let ledger = house.control("GET", "ledger", &Value::Null).await;
    assert_eq!(ledger["entries"], json!([]));
    super::covers(&["33.16"]);
}

#[tokio::test]
async fn a_bank_pays_through_the_electronic_check_account() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let made = charge(&house, json!({"amount": 7, "method": bank()})).await.ok();
    assert_eq!(made["account_id"], house.demo().await["test"]["ach_account_id"]);
    assert_eq!(made["method"]["routing_number"], "******013");
    assert_eq!(made["method"]["account_number"], "******7890");
    assert_eq!(made["method"]["bank_name"], "FIRST BANK OF TESTING");
    let wrong = with(bank(), "account_number", "1000000007");
    let reply = charge(&house, json!({"amount": 7, "method": wrong})).await;
    assert_eq!(reply.refusal().1, "ach_account_closed");
    let broken = with(bank(), "account_number", "1000000010");
    let reply = charge(&house, json!({"amount": 7, "method": broken})).await;
    assert_eq!((reply.refusal().0, reply.refusal().1.as_str()), (500, "ach_processing_error"));
    assert!(reply.json()["messages"][0]["entity_id"].is_string());
    super::covers(&["33.3", "33.7", "34.2", "34.6"]);
}

#[tokio::test]
async fn an_account_must_fit_method_and_mode() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let demo = house.demo().await;
    for (method, account, code) in [
        (visa(), &demo["test"]["ach_account_id"], "incorrect_payment_type"),
        (bank(), &demo["test"]["card_account_id"], "incorrect_payment_type"),
        (visa(), &demo["live"]["card_account_id"], "unavailable_for_merchant_mode"),
        (visa(), &json!("nobody's"), "no_account_for_payment_method"),
    ] {
        let body = json!({"amount": 100, "method": method, "account_id": account});
        assert_eq!(charge(&house, body).await.refusal(), (422, code.to_owned(), None));
    }
    let euro = json!({"amount": 100, "method": visa(), "currency": "EUR"});
    assert_eq!(charge(&house, euro).await.refusal().1, "unsupported_currency");
    let live = house.key("live", "secret_key").await;
    let body =
        json!({"amount": 100, "method": visa(), "account_id": demo["test"]["card_account_id"]});
    let reply = house.call("POST", "/v1/charges", Some(&live), &body).await;
    assert_eq!(reply.refusal().1, "unavailable_for_merchant_mode");
    assert_eq!(house.objects("transactions").await.len(), 0);
    let dollars = json!({"amount": 100, "method": visa(), "currency": "USD"});
    assert_eq!(charge(&house, dollars).await.ok()["currency"], "USD");
    super::covers(&["30.3", "33.8", "33.14"]);
}

#[tokio::test]
async fn wrong_fields_of_charge_and_method_come_together() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = json!({"amount": 0, "reference": "r".repeat(129),
        "method": {"type": "card", "number": "4242424242424242", "exp_month": 13}});
    let contexts: Vec<_> = fields(&charge(&house, body).await).into_iter().map(|f| f.0).collect();
    assert_eq!(contexts, ["amount", "reference", "method.exp_month", "method.exp_year"]);
    let absent = [("amount", "not_null"), ("method", "not_null")];
    let absent = absent.map(|(context, code)| (context.to_owned(), code.to_owned()));
    assert_eq!(fields(&charge(&house, json!({})).await), absent);
    let wrong = charge(&house, json!({"amount": "ten", "method": visa()})).await;
    assert_eq!(fields(&wrong), [("amount".to_owned(), "invalid".to_owned())]);
    for amount in [json!(700), json!("700")] {
        let made = charge(&house, json!({"amount": amount, "method": visa()})).await.ok();
        assert_eq!(made["amount"], 700);
    }
    super::covers(&["33.1"]);
}

#[tokio::test]
async fn test_and_live_do_not_see_each_other() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let recurs = json!({"amount": 5, "method": visa(),
        "schedule": {"start": "2027-01-01", "interval_unit": "DAY", "interval_delay": 1}});
    let (test, live) =
        (house.key("test", "secret_key").await, house.key("live", "secret_key").await);
    let ask = async |key: &str, verb: &str, path: &str, body: &Value| {
        house.call(verb, &format!("/v1/{path}"), Some(key), body).await
    };
    for key in [&test, &live] {
        ask(key, "POST", "charges", &json!({"amount": 100, "method": visa()})).await.ok();
        ask(key, "POST", "cards", &visa()).await.ok();
        ask(key, "POST", "banks", &bank()).await.ok();
        ask(key, "POST", "recurring/charges", &recurs).await.ok();
    }
    for kind in ["transactions", "cards", "banks", "recurring/charges", "events"] {
        for (own, other) in [(&test, &live), (&live, &test)] {
            let list = ask(own, "GET", kind, &Value::Null).await.ok();
            let seen = list["results"].as_array().unwrap();
            assert!(!seen.is_empty(), "{kind}");
            for one in seen {
                let path = format!("{kind}/{}", one["id"].as_str().unwrap());
                assert_eq!(ask(own, "GET", &path, &Value::Null).await.ok()["id"], one["id"]);
                let hidden = ask(other, "GET", &path, &Value::Null).await.refusal();
                assert_eq!((hidden.0, hidden.1.as_str()), (404, "resource_not_found"), "{path}");
            }
        }
    }
    super::covers(&["30.1", "30.2"]);
}

#[tokio::test]
async fn transactions_are_searched_by_text_field_and_date() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (amount, reference) in [(100, "alpha"), (200, "alphabet"), (300, "beta")] {
        charge(&house, json!({"amount": amount, "method": visa(), "reference": reference}))
            .await
            .ok();
        house.advance("PT1H").await;
    }
    for (query, expect) in [
        ("", vec![300, 200, 100]),
        ("?qf=reference:alpha", vec![200, 100]),
        ("?qf=reference:alpha&qf=amount:200", vec![200]),
        ("?qf=method.name:jane", vec![300, 200, 100]),
        ("?q=BETA", vec![300]),
        ("?order_by=amount", vec![100, 200, 300]),
        ("?start_date=2026-11-21T19:00:00.000Z", vec![300, 200]),
        ("?end_date=2026-11-21T18:30:00.000Z", vec![100]),
        ("?page_size=1&page=2", vec![200]),
    ] {
        let path = format!("/v1/transactions{query}");
        let found = house.secret("GET", &path, &Value::Null).await.ok();
        let amounts: Vec<_> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["amount"].as_i64().unwrap())
            .collect();
        assert_eq!(amounts, expect, "{query}");
    }
}

#[tokio::test]
async fn events_tell_created_pending_and_authorized_without_secrets() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    charge(&house, json!({"amount": 100, "method": visa()})).await.ok();
    house.advance("P2D").await;
    let list = house.secret("GET", "/v1/events", &Value::Null).await.ok();
    let events = list["results"].as_array().unwrap();
    let told: Vec<_> =
        events.iter().map(|event| (&event["type"], &event["data"]["status"])).collect();
    assert_eq!(
        told,
        [
            (&json!("transaction.authorized"), &json!("AUTHORIZED")),
            (&json!("transaction.created"), &json!("PENDING")),
        ]
    );
    assert_eq!(events[0]["data"]["method"]["cvv"], "***");
    assert!(!list.to_string().contains("4242424242424242"));
    let path = format!("/v1/events/{}", events[0]["id"].as_str().unwrap());
    assert_eq!(&house.secret("GET", &path, &Value::Null).await.ok(), &events[0]);
    charge(&house, json!({"amount": 100, "method": bank()})).await.ok();
    let shown = house.secret("GET", "/v1/events", &Value::Null).await.ok().to_string();
    assert!(shown.contains("******7890") && !shown.contains("1234567890"), "{shown}");
    assert!(!shown.contains("000000013"), "{shown}");
    super::covers(&["35.1", "50.1", "50.3", "50.4"]);
}

#[tokio::test]
async fn events_from_a_date_rise_and_leave_no_gap() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for amount in [1, 2, 3] {
        charge(&house, json!({"amount": amount, "method": visa()})).await.ok();
        house.advance("PT1M").await;
    }
    let all = house.secret("GET", "/v1/events", &Value::Null).await.ok();
    assert_eq!(
        (&all["results"][0]["data"]["amount"], &all["total_entries"]),
        (&json!(3), &json!(6))
    );
    let path = "/v1/events?start_date=2026-11-21T18:01:00.000Z&page_size=3";
    let first = house.secret("GET", path, &Value::Null).await.ok();
    let second = house.secret("GET", &format!("{path}&page=2"), &Value::Null).await.ok();
    let told = |page: &Value| -> Vec<(i64, String)> {
        let of = |event: &Value| {
            (
                event["data"]["amount"].as_i64().unwrap(),
                event["data"]["status"].as_str().unwrap().to_owned(),
            )
        };
        page["results"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!(first["total_entries"], 4);
    assert_eq!(
        [told(&first), told(&second)].concat(),
        [(2, "PENDING"), (2, "AUTHORIZED"), (3, "PENDING"), (3, "AUTHORIZED")]
            .map(|(amount, status)| (amount, status.to_owned()))
    );
    super::covers(&["50.2", "50.5"]);
}

#[test]
fn a_transaction_moves_along_its_table_only() {
    use TransactionStatus as S;
    use TransactionTransition as C;
    let other = S::Other("LOST".to_owned());
    let statuses = [S::Pending, S::Authorized, S::Completed, S::Voided, S::Failed, other];
    let mut moves = Vec::new();
    for status in &statuses {
        for change in [C::Authorize, C::Decline, C::Capture, C::Expire, C::Void, C::Return] {
            moves.extend(step(status, change).map(|next| (status.clone(), change, next)));
        }
    }
    assert_eq!(
        moves,
        [
            (S::Pending, C::Authorize, S::Authorized),
            (S::Pending, C::Decline, S::Failed),
            (S::Pending, C::Void, S::Voided),
            (S::Authorized, C::Capture, S::Completed),
            (S::Authorized, C::Expire, S::Voided),
            (S::Authorized, C::Void, S::Voided),
            (S::Authorized, C::Return, S::Failed),
            (S::Completed, C::Return, S::Failed),
        ]
    );
    super::covers(&["35.9"]);
}
