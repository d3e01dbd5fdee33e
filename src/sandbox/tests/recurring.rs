//! Recurring charges, occurrences, previews (gateway-api; service-facts, part 7).

use serde_json::{Value, json};

use crate::api::recurring::OccurrenceStatus;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::recurring::state::{OccurrenceTransition, step_occurrence};
use crate::sandbox::tests::tokens::token;
use crate::sandbox::tests::{TestSandbox, fields, visa, with};

pub(super) fn monthly(method: &Value) -> Value {
    json!({"description": "Rent", "amount": 1000, "method": method, "reference": "rk1",
        "schedule": {"start": "2026-12-31", "interval_unit": "MONTH", "interval_delay": 1}})
}

pub(super) async fn create(house: &TestSandbox, body: &Value) -> Value {
    house.secret("POST", "/v1/recurring/charges", body).await.ok()
}

pub(super) async fn card(house: &TestSandbox, number: &str) -> Value {
    let card = with(visa(), "number", number);
    house.secret("POST", "/v1/cards", &card).await.ok()["id"].clone()
}

pub(super) fn path(charge: &Value) -> String {
    format!("/v1/recurring/charges/{}", charge["id"].as_str().unwrap())
}

/// Returns status and due date of every occurrence, newest first.
pub(super) async fn occurrences(house: &TestSandbox, charge: &Value) -> Vec<(String, String)> {
    let list = format!("{}/occurrences", path(charge));
    let page = house.secret("GET", &list, &Value::Null).await.ok();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let results = page["results"].as_array().unwrap();
    results.iter().map(|one| (text(&one["status"]), text(&one["due_date"]))).collect()
}

pub(super) async fn act(
    house: &TestSandbox,
    charge: &Value,
    at: usize,
    action: &str,
) -> super::Reply {
    let list = format!("{}/occurrences", path(charge));
    let page = house.secret("GET", &list, &Value::Null).await.ok();
    let id = page["results"][at]["id"].as_str().unwrap().to_owned();
    house.secret("POST", &format!("{list}/{id}/{action}"), &Value::Null).await
}

pub(super) fn check(found: &[(String, String)], expect: &[(&str, &str)]) {
    let found: Vec<_> = found.iter().map(|(one, other)| (one.as_str(), other.as_str())).collect();
    assert_eq!(found, expect);
}

#[tokio::test]
async fn a_new_recurring_charge_is_active_with_one_pending_occurrence() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = monthly(&card(&house, "4242424242424242").await);
    let made = create(&house, &body).await;
    assert_eq!(made["status"], "ACTIVE");
    assert_eq!(made["schedule"], body["schedule"]);
    assert_eq!(made["amount"], 1000);
    assert_eq!(made["next_payment"], "2026-12-31");
    assert_eq!((&made["total_occurrences"], &made["total_amount"]), (&json!(0), &json!(0)));
    assert_eq!(made["method"]["number"], "************4242");
    assert_eq!(made["occurrences"].as_array().unwrap().len(), 1);
    assert_eq!(made["occurrences"][0]["status"], "PENDING");
    assert_eq!(made["occurrences"][0]["due_date"], "2026-12-31");
    assert_eq!(made["occurrences"][0]["attempts"], 0);
    assert!(made.get("reference").is_none());
    super::covers(&["44.4"]);
}

#[tokio::test]
async fn occurrences_are_paid_on_their_dates_and_months_keep_their_anchor() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let made = create(&house, &monthly(&card(&house, "4242424242424242").await)).await;
    house.control("POST", "clock", &json!({"set": "2027-03-31T18:00:00Z"})).await;
    check(
        &occurrences(&house, &made).await,
        &[
            ("PENDING", "2027-04-30"),
            ("PAID", "2027-03-31"),
            ("PAID", "2027-02-28"),
            ("PAID", "2027-01-31"),
            ("PAID", "2026-12-31"),
        ],
    );
    let now = house.secret("GET", &path(&made), &Value::Null).await.ok();
    assert_eq!((&now["total_occurrences"], &now["total_amount"]), (&json!(4), &json!(4000)));
    assert!(now.get("occurrences").is_none());
    let paid = house.secret("GET", "/v1/transactions", &Value::Null).await.ok();
    assert_eq!(paid["total_entries"], 4);
    assert_eq!(paid["results"][0]["reference"], "rk1");
    assert_eq!(paid["results"][0]["recurring_charge_id"], made["id"]);
    assert_eq!(paid["results"][0]["created"], "2027-03-31T17:00:00.000Z");
    let list = format!("{}/occurrences", path(&made));
    let newest = house.secret("GET", &list, &Value::Null).await.ok()["results"][1].clone();
    assert_eq!((&newest["attempts"], &newest["due_date"]), (&json!(1), &json!("2027-03-31")));
    assert_eq!(newest["transactions"].as_array().unwrap().len(), 1);
    assert_eq!(newest["transactions"][0]["id"], paid["results"][0]["id"]);
    super::covers(&["47.10"]);
}

#[tokio::test]
async fn a_start_today_is_refused_and_one_in_the_past_is_moved_on() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let method = card(&house, "4242424242424242").await;
    let mut body = monthly(&method);
    body["schedule"]["start"] = json!("2026-11-21");
    let reply = house.secret("POST", "/v1/recurring/charges", &body).await;
    assert_eq!(reply.refusal().1, "first_occurrence_due_immediately");
    house.advance("PT11H59M").await;
    let reply = house.secret("POST", "/v1/recurring/charges", &body).await;
    assert_eq!(reply.refusal().1, "first_occurrence_due_immediately", "still today in Chicago");
    body["schedule"]["start"] = json!("2026-01-05");
    assert_eq!(create(&house, &body).await["next_payment"], "2026-12-05");
    body["schedule"]["end"] = json!("2026-02-05");
    let reply = house.secret("POST", "/v1/recurring/charges", &body).await;
    assert_eq!(reply.refusal().1, "no_occurrences_for_schedule");
    assert_eq!(house.objects("recurring_charges").await.len(), 1);
    super::covers(&["44.2"]);
}

#[tokio::test]
async fn limits_end_a_recurring_charge() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let method = card(&house, "4242424242424242").await;
    let by_count = create(&house, &with(monthly(&method), "max_occurrences", 2)).await;
    let by_amount = create(&house, &with(monthly(&method), "max_amount", 2500)).await;
    house.advance("P1Y").await;
    for (charge, amount, count, rest) in [(by_count, 2000, 2, 1000), (by_amount, 2500, 3, 500)] {
        let now = house.secret("GET", &path(&charge), &Value::Null).await.ok();
        assert_eq!(now["status"], "COMPLETED");
        assert_eq!(now["status_reason"], "schedule_complete");
        assert_eq!(now["total_amount"], amount);
        assert_eq!(now["total_occurrences"], count);
        assert!(now.get("next_payment").is_none());
        let list = format!("{}/occurrences", path(&charge));
        let list = house.secret("GET", &list, &Value::Null).await.ok();
        assert_eq!(list["results"][0]["amount"], rest, "the lesser of amount and remainder");
        assert_eq!(occurrences(&house, &charge).await.len(), usize::try_from(count).unwrap());
    }
    let declining = card(&house, "4000000000000002").await;
    let mut retried = with(monthly(&declining), "max_occurrences", 2);
    retried["schedule"]["start"] = json!("2027-12-31");
    let retried = create(&house, &retried).await;
    house.control("POST", "clock", &json!({"set": "2028-01-01T00:00:00Z"})).await;
    for _ in 0..3 {
        act(&house, &retried, 1, "pay").await.refusal();
    }
    check(
        &occurrences(&house, &retried).await,
        &[("PENDING", "2028-01-31"), ("FAILED", "2027-12-31")],
    );
    house.control("POST", "clock", &json!({"set": "2028-02-01T00:00:00Z"})).await;
    let now = house.secret("GET", &path(&retried), &Value::Null).await.ok();
    assert_eq!(now["status"], "COMPLETED", "a retry counts once");
    super::covers(&["45.7", "45.8", "45.10"]);
}

#[tokio::test]
async fn a_declined_occurrence_fails_and_can_be_paid_again() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let made = create(&house, &monthly(&card(&house, "4000000000000002").await)).await;
    house.control("POST", "clock", &json!({"set": "2027-01-01T00:00:00Z"})).await;
    check(
        &occurrences(&house, &made).await,
        &[("PENDING", "2027-01-31"), ("FAILED", "2026-12-31")],
    );
    let reply = act(&house, &made, 1, "pay").await;
    assert_eq!(reply.refusal().1, "card_declined");
    assert!(reply.json()["messages"][0]["entity_id"].is_string());
    let good = token(&house, &visa()).await;
    house.secret("PATCH", &path(&made), &json!({"method": good["id"]})).await.ok();
    let paid = act(&house, &made, 1, "pay").await.ok();
    assert_eq!(paid["status"], "PAID");
    assert_eq!(paid["attempts"], 3);
    let statuses: Vec<_> =
        paid["transactions"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["FAILED", "FAILED", "AUTHORIZED"]);
    assert_eq!(occurrences(&house, &made).await.len(), 2);
    let now = house.secret("GET", &path(&made), &Value::Null).await.ok();
    assert_eq!((&now["total_occurrences"], &now["total_amount"]), (&json!(1), &json!(1000)));
    super::covers(&["47.4", "47.11"]);
}

#[tokio::test]
async fn paying_or_ignoring_the_pending_one_opens_the_next() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let made = create(&house, &monthly(&card(&house, "4242424242424242").await)).await;
    assert_eq!(act(&house, &made, 0, "pay").await.ok()["status"], "PAID");
    let ignored = act(&house, &made, 0, "ignore").await.ok();
    assert_eq!((&ignored["status"], &ignored["attempts"]), (&json!("IGNORED"), &json!(0)));
    let expect = [("PENDING", "2027-02-28"), ("IGNORED", "2027-01-31"), ("PAID", "2026-12-31")];
    check(&occurrences(&house, &made).await, &expect);
    assert_eq!(act(&house, &made, 2, "pay").await.refusal().1, "unavailable_for_current_status");
    assert_eq!(act(&house, &made, 2, "ignore").await.refusal().1, "unavailable_for_current_status");
    assert_eq!(act(&house, &made, 1, "pay").await.ok()["status"], "PAID");
    assert_eq!(occurrences(&house, &made).await.len(), 3);
    house.control("POST", "clock", &json!({"set": "2027-01-31T23:00:00Z"})).await;
    let moves = house.ledger_movements().await;
    assert_eq!(moves.iter().filter(|(kind, _, _)| kind == "CHARGE").count(), 2);
    assert_eq!(house.total("CHARGE").await, 2000);
    super::covers(&["47.3", "47.5", "47.6", "47.7", "47.8", "47.9"]);
}

#[tokio::test]
async fn a_change_of_schedule_moves_the_pending_occurrence() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = json!({"amount": 500, "method": card(&house, "4242424242424242").await,
        "schedule": {"start": "2027-01-01", "interval_unit": "MONTH", "interval_delay": 1}});
    let made = create(&house, &body).await;
    act(&house, &made, 0, "pay").await.ok();
    act(&house, &made, 0, "ignore").await.ok();
    let patch = json!({"schedule": {"days": ["15"]}, "amount": 700});
    let changed = house.secret("PATCH", &path(&made), &patch).await.ok();
    assert_eq!(changed["next_payment"], "2027-02-15");
    assert_eq!(changed["schedule"]["days"], json!(["15"]));
    assert_eq!(changed["schedule"]["start"], "2027-01-01");
    let expect = [("PENDING", "2027-02-15"), ("IGNORED", "2027-02-01"), ("PAID", "2027-01-01")];
    check(&occurrences(&house, &made).await, &expect);
    house.control("POST", "clock", &json!({"set": "2027-02-20T00:00:00Z"})).await;
    let moves = house.ledger_movements().await;
    let charges = moves.iter().filter(|(kind, _, _)| kind == "CHARGE");
    assert_eq!(charges.map(|(_, _, amount)| *amount).collect::<Vec<_>>(), [500, 700]);
    let none = json!({"schedule": {"end": "2027-02-21"}});
    let reply = house.secret("PATCH", &path(&made), &none).await;
    assert_eq!(reply.refusal().1, "update_results_in_no_occurrences");
    super::covers(&["44.7"]);
}

#[tokio::test]
async fn an_occurrence_that_was_moved_is_not_paid_on_its_old_date() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let made = create(&house, &monthly(&card(&house, "4242424242424242").await)).await;
    let later = json!({"schedule": {"start": "2027-01-10"}});
    house.secret("PATCH", &path(&made), &later).await.ok();
    house.control("POST", "clock", &json!({"set": "2027-01-10T17:59:59Z"})).await;
    check(&occurrences(&house, &made).await, &[("PENDING", "2027-01-10")]);
    house.advance("PT1S").await;
    let expect = [("PENDING", "2027-02-10"), ("PAID", "2027-01-10")];
    check(&occurrences(&house, &made).await, &expect);
    assert_eq!(house.objects("transactions").await.len(), 1);
}

#[tokio::test]
async fn sensitive_data_of_a_method_changes_by_a_token_only() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let saved = card(&house, "4242424242424242").await;
    let made = create(&house, &monthly(&saved)).await;
    let plain = json!({"method": {"type": "card", "exp_month": 1, "exp_year": 2035}});
    let changed = house.secret("PATCH", &path(&made), &plain).await.ok();
    assert_eq!(changed["method"]["exp_month"], 1);
    assert_eq!(changed["method"]["exp_year"], 2035);
    assert_eq!(changed["method"]["number"], "************4242");
    for (method, context) in [
        (json!({"type": "card", "number": "4111111111111111"}), "method.number"),
        (json!({"type": "card", "cvv": "123"}), "method.cvv"),
        (json!({"type": "bank", "name": "x"}), "method.type"),
        (json!({"type": "card", "exp_month": 13}), "method.exp_month"),
    ] {
        let reply = house.secret("PATCH", &path(&made), &json!({"method": method})).await;
        assert_eq!(fields(&reply)[0].0, context);
    }
    let reply = house.secret("PATCH", &path(&made), &json!({"method": saved})).await;
    assert_eq!(reply.refusal().0, 404);
    let other = token(&house, &with(visa(), "number", "5105105105105100")).await;
    let changed = house.secret("PATCH", &path(&made), &json!({"method": other["id"]})).await.ok();
    assert_eq!(changed["method"]["card_type"], "MASTERCARD");
    assert_eq!(changed["method"]["number"], "************5100");
    let holder = json!({"type": "card", "name": "Joe", "address1": "2 Oak Street"});
    let changed = house.secret("PATCH", &path(&made), &json!({"method": holder})).await.ok();
    assert_eq!(changed["method"]["name"], "Joe");
    assert_eq!(changed["method"]["address1"], "2 Oak Street");
    let bank = token(&house, &super::story::bank()).await;
    let changed = house.secret("PATCH", &path(&made), &json!({"method": bank["id"]})).await.ok();
    assert_eq!(changed["method"]["type"], "bank");
    let account = json!({"type": "bank", "account_number": "1234567891"});
    let reply = house.secret("PATCH", &path(&made), &json!({"method": account})).await;
    assert_eq!(fields(&reply)[0].0, "method.account_number");
    super::covers(&["44.5", "44.6"]);
}

#[tokio::test]
async fn wrong_fields_of_a_recurring_charge_come_together() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = json!({"amount": 100, "max_amount": 50, "schedule":
        {"start": "2027-01-01", "interval_unit": "YEAR", "interval_delay": 0, "days": ["1"]}});
    let reply = house.secret("POST", "/v1/recurring/charges", &body).await;
    let contexts: Vec<_> = fields(&reply).into_iter().map(|field| field.0).collect();
    let expect = [
        "method",
        "schedule.interval_unit",
        "schedule.interval_delay",
        "schedule.days",
        "max_amount",
    ];
    assert_eq!(contexts, expect);
    let reply = house.secret("POST", "/v1/recurring/charges", &monthly(&json!("gone"))).await;
    assert_eq!(reply.refusal().0, 404);
}

#[tokio::test]
async fn a_list_is_newest_first_and_filtered_and_put_replaces() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let method = card(&house, "4242424242424242").await;
    let first = create(&house, &monthly(&method)).await;
    house.advance("PT1S").await;
    let second = create(&house, &with(monthly(&method), "reference", "rk2")).await;
    let list = |query: &'static str| {
        let house = &house;
        async move {
            let path = format!("/v1/recurring/charges{query}");
            let page = house.secret("GET", &path, &Value::Null).await.ok();
            let results = page["results"].as_array().unwrap().clone();
            results.into_iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
        }
    };
    assert_eq!(list("").await, [second["id"].clone(), first["id"].clone()]);
    assert_eq!(list("?reference=rk1").await, [first["id"].clone()]);
    assert!(list("?status=COMPLETED").await.is_empty());
    assert_eq!(list("?status=ACTIVE").await.len(), 2);
    assert_eq!(list("?order_by=created").await, [first["id"].clone(), second["id"].clone()]);
    assert_eq!(list("?page_size=1&page=2").await, [first["id"].clone()]);
    assert!(list("?account_id=other").await.is_empty());
    let own = format!("/v1/recurring/charges?account_id={}", first["account_id"].as_str().unwrap());
    let own = house.secret("GET", &own, &Value::Null).await.ok();
    assert_eq!(own["total_entries"], 2);
    let shown = house.secret("GET", &path(&first), &Value::Null).await.ok();
    assert!(shown["id"] == first["id"] && shown.get("occurrences").is_none());
    let put = json!({"amount": 900, "method": null, "schedule":
        {"start": "2027-05-01", "interval_unit": "WEEK", "interval_delay": 2}});
    let now = house.secret("PUT", &path(&first), &put).await.ok();
    assert_eq!((&now["amount"], &now["next_payment"]), (&json!(900), &json!("2027-05-01")));
    assert!(now.get("description").is_none());
    super::covers(&["44.8", "44.9"]);
}

#[tokio::test]
async fn a_put_takes_the_complete_content_and_no_part_of_it() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let made = create(&house, &with(monthly(&visa()), "max_occurrences", 9)).await;
    let whole = json!({"description": "Dues", "amount": 900, "max_amount": 9000,
        "method": with(visa(), "number", "5105105105105100"),
        "schedule": {"start": "2027-05-01", "interval_unit": "WEEK", "interval_delay": 2}});
    for part in ["amount", "schedule"] {
        let rest = with(whole.clone(), part, Value::Null);
        let reply = house.secret("PUT", &path(&made), &rest).await;
        assert_eq!(fields(&reply), [(part.to_owned(), "not_null".to_owned())]);
    }
    let now = house.secret("PUT", &path(&made), &whole).await.ok();
    for name in ["description", "amount", "max_amount", "schedule"] {
        assert_eq!(now[name], whole[name], "{name}");
    }
    assert_eq!(now["method"]["number"], "************5100");
    assert!(now.get("max_occurrences").is_none());
    super::covers(&["44.8"]);
}

#[test]
fn an_occurrence_moves_along_its_table_only() {
    use OccurrenceStatus as S;
    use OccurrenceTransition as C;
    let mut refused = Vec::new();
    for status in [S::Pending, S::Paying, S::Paid, S::Failed, S::Ignored] {
        for change in [C::Begin, C::Pay, C::Decline, C::Ignore] {
            let expect = match change {
                C::Begin => S::Paying,
                C::Pay => S::Paid,
                C::Decline => S::Failed,
                C::Ignore => S::Ignored,
            };
            match step_occurrence(&status, change) {
                Ok(next) => assert_eq!(next, expect),
                Err(_) => refused.push((status.clone(), change)),
            }
        }
    }
    let mut expect = vec![(S::Paying, C::Begin), (S::Paying, C::Ignore)];
    expect.extend([C::Begin, C::Pay, C::Decline, C::Ignore].map(|change| (S::Paid, change)));
    expect.extend([S::Failed, S::Ignored].map(|status| (status, C::Begin)));
    assert_eq!(refused, expect);
}
