//! Schedules, limits, previews and occurrences in raw JSON (gateway-api, recur object, Preview,
//! Occurrences).

use serde_json::{Value, json};

use super::tokens::token;
use super::{Reply, TestSandbox, covers, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

async fn post(house: &TestSandbox, body: &Value) -> Reply {
    house.secret("POST", "/v1/recurring/charges", body).await
}

fn every(unit: &str, delay: i64, more: &Value) -> Value {
    let mut schedule =
        json!({"start": "2027-01-04", "interval_unit": unit, "interval_delay": delay});
    schedule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"amount": 1000, "method": visa(), "schedule": schedule})
}

/// Returns the first due dates of a schedule that begins on Monday, 4 January 2027.
async fn dates(house: &TestSandbox, body: &Value, count: usize) -> Vec<String> {
    let path = format!("/v1/recurring/charges/schedule?occurrences={count}&start_date=2027-01-04");
    let shown = house.secret("GET", &path, body).await.ok();
    let occurrences = shown["occurrences"].as_array().unwrap().iter();
    occurrences.map(|one| one["due_date"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn units_and_delays_make_the_dates() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (unit, delay, expect) in [
        ("DAY", 1, ["2027-01-04", "2027-01-05", "2027-01-06"]),
        ("DAY", 2, ["2027-01-04", "2027-01-06", "2027-01-08"]),
        ("WEEK", 1, ["2027-01-04", "2027-01-11", "2027-01-18"]),
        ("WEEK", 2, ["2027-01-04", "2027-01-18", "2027-02-01"]),
        ("MONTH", 1, ["2027-01-04", "2027-02-04", "2027-03-04"]),
        ("MONTH", 2, ["2027-01-04", "2027-03-04", "2027-05-04"]),
    ] {
        assert_eq!(
            dates(&house, &every(unit, delay, &json!({})), 3).await,
            expect,
            "{unit} {delay}"
        );
    }
    let year = post(&house, &every("YEAR", 1, &json!({}))).await;
    assert_eq!(fields(&year)[0].0, "schedule.interval_unit");
    covers(&["45.1", "45.2"]);
}

#[tokio::test]
async fn days_of_weeks_and_months() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (unit, days, expect) in [
        ("WEEK", json!(["1", "7"]), ["2027-01-04", "2027-01-10", "2027-01-11", "2027-01-17"]),
        ("MONTH", json!(["15", "LAST"]), ["2027-01-15", "2027-01-31", "2027-02-15", "2027-02-28"]),
        ("MONTH", json!(["1", "31"]), ["2027-01-31", "2027-02-01", "2027-02-28", "2027-03-01"]),
        ("MONTH", json!(["4"]), ["2027-01-04", "2027-02-04", "2027-03-04", "2027-04-04"]),
    ] {
        assert_eq!(dates(&house, &every(unit, 1, &json!({ "days": days })), 4).await, expect);
    }
    for (unit, days) in [
        ("WEEK", "8"),
        ("WEEK", "0"),
        ("WEEK", "LAST"),
        ("MONTH", "32"),
        ("MONTH", "0"),
        ("MONTH", "FIRST"),
    ] {
        let reply = post(&house, &every(unit, 1, &json!({ "days": [days] }))).await;
        assert_eq!(fields(&reply)[0].0, "schedule.days", "{unit} {days}");
    }
    covers(&["45.3", "45.4"]);
    for (unit, delay) in [("DAY", 1), ("WEEK", 2), ("MONTH", 3)] {
        let reply = post(&house, &every(unit, delay, &json!({ "days": ["1"] }))).await;
        assert_eq!(fields(&reply)[0].0, "schedule.days", "{unit} {delay}");
    }
    covers(&["45.5"]);
}

#[tokio::test]
async fn an_end_is_the_last_day_that_may_be() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let until = |end: &str| every("WEEK", 1, &json!({ "end": end }));
    assert_eq!(dates(&house, &until("2027-01-18"), 9).await.len(), 3);
    assert_eq!(dates(&house, &until("2027-01-17"), 9).await.len(), 2);
    let none =
        post(&house, &every("WEEK", 1, &json!({"start": "2026-01-05", "end": "2026-02-01"}))).await;
    assert_eq!(none.refusal().1, "no_occurrences_for_schedule");
    let less = post(&house, &with(every("DAY", 1, &json!({})), "max_amount", 999)).await;
    assert_eq!(fields(&less), [("max_amount".to_owned(), "below_minimum_value".to_owned())]);
    post(&house, &with(every("DAY", 1, &json!({})), "max_amount", 1000)).await.ok();
    covers(&["45.6", "45.9"]);
}

#[tokio::test]
async fn a_recurring_charge_takes_its_fields_and_looks_at_no_method() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let account = house.demo().await["test"]["card_account_id"].clone();
    let declining = token(&house, &with(visa(), "number", "4000000000000002")).await;
    let mut body = every("MONTH", 1, &json!({}));
    body["method"] = declining["id"].clone();
    body["account_id"] = account.clone();
    body["description"] = json!("Rent");
    let made = post(&house, &body).await.ok();
    assert_eq!((&made["status"], &made["description"]), (&json!("ACTIVE"), &json!("Rent")));
    assert_eq!((&made["account_id"], &made["amount"]), (&account, &json!(1000)));
    assert_eq!(made["schedule"], body["schedule"]);
    assert_eq!(made["method"]["number"], "************0002");
    let mut saved = body.clone();
    saved["method"] = super::recurring::card(&house, "4000000000000002").await;
    assert_eq!(post(&house, &saved).await.ok()["method"]["number"], "************0002");
    covers(&["44.1", "44.3"]);
    let path = format!("/v1/recurring/charges/{}", made["id"].as_str().unwrap());
    house.control("POST", "clock", &json!({"set": "2027-01-05T00:00:00Z"})).await;
    let reply = house.secret("PATCH", &path, &json!({"schedule": {"end": "2027-01-10"}})).await;
    assert_eq!(reply.refusal().1, "update_results_in_no_occurrences");
    let none =
        post(&house, &every("DAY", 1, &json!({"start": "2026-01-01", "end": "2026-01-02"}))).await;
    assert_eq!(none.refusal().1, "no_occurrences_for_schedule");
    covers(&["44.13"]);
}

#[tokio::test]
async fn every_field_of_recur_is_taken() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let recur = json!({"description": "Dues", "amount": 300, "interval_unit": "MONTH", "interval_delay": 1,
        "end": "2027-12-31", "days": ["1", "LAST"], "max_occurrences": 9, "max_amount": 9000});
    let body = json!({"amount": 1000, "method": visa(), "recur": recur});
    house.secret("POST", "/v1/charges", &body).await.ok();
    let made = house.objects("recurring_charges").await[0].clone();
    for name in ["description", "amount", "max_occurrences", "max_amount"] {
        assert_eq!(made[name], recur[name], "{name}");
    }
    for name in ["interval_unit", "interval_delay", "end", "days"] {
        assert_eq!(made["schedule"][name], recur[name], "{name}");
    }
    covers(&["42.2"]);
}

#[tokio::test]
async fn a_preview_counts_a_first_payment_and_what_remains() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let body = json!({"amount": 400, "max_occurrences": 3, "max_amount": 1000,
        "schedule": {"interval_unit": "WEEK", "interval_delay": 1, "start": "2027-01-04"}});
    let path = "/v1/recurring/charges/schedule?start_date=2027-01-04";
    let plain = house.secret("GET", path, &body).await.ok();
    assert_eq!(
        plain["occurrences"],
        json!([{"amount": 400, "due_date": "2027-01-04"},
        {"amount": 400, "due_date": "2027-01-11"}, {"amount": 200, "due_date": "2027-01-18"}])
    );
    assert_eq!(
        (&plain["amount"], &plain["max_occurrences"], &plain["max_amount"]),
        (&json!(400), &json!(3), &json!(1000))
    );
    assert_eq!((&plain["total_occurrences"], &plain["total_amount"]), (&json!(0), &json!(0)));
    assert_eq!(
        (&plain["remaining_occurrences"], &plain["remaining_amount"]),
        (&json!(3), &json!(1000))
    );
    assert_eq!(
        (&plain["next_payment"], &plain["schedule"]),
        (&json!("2027-01-04"), &body["schedule"])
    );
    covers(&["46.5"]);
    let week = json!({"amount": 400, "max_occurrences": 3, "schedule": {"interval_unit": "WEEK", "interval_delay": 1}});
    let at = "/v1/recurring/charges/schedule";
    let first = async |query: &str| {
        house.secret("GET", &format!("{at}{query}"), &week).await.ok()["occurrences"][0]["due_date"]
            .clone()
    };
    assert_eq!(first("").await, "2026-11-22", "tomorrow");
    assert_eq!(first("?start_date_charge=false").await, "2026-11-22");
    assert_eq!(first("?start_date_charge=true").await, "2026-11-21", "the charge of today counts");
    let other = house
        .secret("GET", &format!("{at}?start_date_charge=true&start_date=2027-01-01"), &week)
        .await;
    assert_eq!(fields(&other)[0].0, "start_date", "the start must be today");
    covers(&["46.3"]);
}

#[tokio::test]
async fn an_occurrence_is_read_with_its_transactions_and_listed_newest_first() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let made = post(&house, &every("DAY", 1, &json!({}))).await.ok();
    house.control("POST", "clock", &json!({"set": "2027-01-07T00:00:00Z"})).await;
    let list = format!("/v1/recurring/charges/{}/occurrences", made["id"].as_str().unwrap());
    let page = house.secret("GET", &format!("{list}?page_size=2"), &Value::Null).await.ok();
    assert_eq!(
        (&page["page"], &page["page_size"], &page["total_entries"]),
        (&json!(1), &json!(2), &json!(4))
    );
    assert_eq!(
        (&page["results"][0]["status"], &page["results"][0]["due_date"]),
        (&json!("PENDING"), &json!("2027-01-07"))
    );
    let second =
        house.secret("GET", &format!("{list}?page_size=2&page=2"), &Value::Null).await.ok();
    assert_eq!(second["results"][1]["due_date"], "2027-01-04");
    covers(&["47.2"]);
    let paid = second["results"][1].clone();
    let one = house
        .secret("GET", &format!("{list}/{}", paid["id"].as_str().unwrap()), &Value::Null)
        .await
        .ok();
    assert_eq!((&one["id"], &one["due_date"]), (&paid["id"], &json!("2027-01-04")));
    assert_eq!((&one["recurring_charge_id"], &one["amount"]), (&made["id"], &json!(1000)));
    assert_eq!((&one["status"], &one["attempts"]), (&json!("PAID"), &json!(1)));
    assert_eq!(one["last_attempt"], "2027-01-04T18:00:00.000Z");
    assert_eq!(
        (&one["transactions"][0]["amount"], &one["transactions"][0]["type"]),
        (&json!(1000), &json!("CHARGE"))
    );
    assert!(one["created"].is_string() && one["modified"].is_string());
    covers(&["47.1"]);
}
