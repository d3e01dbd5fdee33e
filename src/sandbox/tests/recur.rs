//! Charges that start a recurring charge, recurring charges from earlier charges, ends, and the
//! tenant's permissions (gateway-api, POST /v1/charges and …/schedule; service-facts, 56, 57, 72,
//! 73).

use serde_json::{Value, json};

use crate::api::recurring::RecurringStatus;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::recurring::state::{RecurringTransition, step_charge};
use crate::sandbox::tests::{Reply, TestSandbox, basic, fields, visa, with};

async fn charge(house: &TestSandbox, body: &Value) -> Reply {
    house.secret("POST", "/v1/charges", body).await
}

/// Returns a charge of 10.00 that recurs every month on the 15th.
fn monthly(method: &Value) -> Value {
    json!({"amount": "1000", "method": method, "reference": "rk1", "recur": {"description": "Rent",
        "interval_unit": "MONTH", "interval_delay": 1, "days": ["15"]}})
}

fn recur(mut body: Value, field: &str, value: impl Into<Value>) -> Value {
    body["recur"][field] = value.into();
    body
}

async fn only(house: &TestSandbox, kind: &str) -> Value {
    let all = house.objects(kind).await;
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

async fn events(house: &TestSandbox) -> Vec<String> {
    let page = house.secret("GET", "/v1/events?page_size=100", &Value::Null).await.ok();
    let types = page["results"].as_array().unwrap().iter().rev();
    types.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_charge_starts_a_recurring_charge_whose_first_occurrence_it_pays() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let paid = charge(&house, &monthly(&visa())).await.ok();
    let made = only(&house, "recurring_charges").await;
    assert_eq!(paid["recurring_charge_id"], made["id"]);
    assert_eq!((&made["status"], &made["amount"]), (&json!("ACTIVE"), &json!(1000)));
    assert_eq!((&made["description"], &made["currency"]), (&json!("Rent"), &json!("USD")));
    assert_eq!(made["schedule"]["start"], "2026-11-21");
    assert_eq!(made["next_payment"], "2026-12-15");
    assert_eq!((&made["total_occurrences"], &made["total_amount"]), (&json!(1), &json!(1000)));
    let list = format!("/v1/recurring/charges/{}/occurrences", made["id"].as_str().unwrap());
    let page = house.secret("GET", &list, &Value::Null).await.ok();
    let told = page["results"].as_array().unwrap().iter().map(|one| {
        (
            one["status"].as_str().unwrap(),
            one["due_date"].as_str().unwrap(),
            one["attempts"].clone(),
        )
    });
    let told = told.collect::<Vec<_>>();
    assert_eq!(told[0], ("PENDING", "2026-12-15", json!(0)));
    assert_eq!(told[1], ("PAID", "2026-11-21", json!(1)));
    assert_eq!(page["results"][1]["id"], paid["recurring_charge_occurrence_id"]);
    assert_eq!(page["results"][1]["transactions"][0]["id"], paid["id"]);
    let told = events(&house).await;
    assert_eq!(
        told,
        [
            "transaction.created",
            "transaction.authorized",
            "recurring_charge.created",
            "recurring_charge.occurrence.created",
            "recurring_charge.occurrence.paid",
            "recurring_charge.occurrence.created",
        ]
    );
    house.advance("P60D").await;
    assert_eq!(house.total("CHARGE").await, 3000, "today, 15 December and 15 January");
    super::covers(&["42.5", "42.6"]);
}

#[tokio::test]
async fn a_declined_first_charge_leaves_no_recurring_charge() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let card = with(visa(), "number", "4000000000000002");
    let reply = charge(&house, &monthly(&card)).await;
    assert_eq!(reply.refusal().1, "card_declined");
    assert_eq!(house.objects("recurring_charges").await.len(), 0);
    assert_eq!(house.objects("occurrences").await.len(), 0);
    let failed = only(&house, "transactions").await;
    assert_eq!(failed["status"], "FAILED");
    assert!(failed.get("recurring_charge_id").is_none());
    assert_eq!(events(&house).await, ["transaction.created", "transaction.failed"]);
    super::covers(&["42.4"]);
}

#[tokio::test]
async fn the_schedule_is_checked_before_any_money_moves() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let good = monthly(&visa());
    let expect = |reply: &Reply, expect: &[(&str, &str)]| {
        let found = fields(reply);
        let found: Vec<_> = found.iter().map(|(one, two)| (one.as_str(), two.as_str())).collect();
        assert_eq!(found, expect);
    };
    for (body, field, code) in [
        (with(good.clone(), "auto_capture", false), "auto_capture", "invalid"),
        (recur(good.clone(), "interval_unit", "YEAR"), "recur.interval_unit", "invalid"),
        (recur(good.clone(), "interval_unit", Value::Null), "recur.interval_unit", "not_null"),
        (recur(good.clone(), "interval_delay", Value::Null), "recur.interval_delay", "not_null"),
        (recur(good.clone(), "days", json!(["32"])), "recur.days", "invalid"),
        (recur(good.clone(), "end", "2026-11-20"), "recur.end", "invalid"),
        (recur(good.clone(), "amount", 0), "recur.amount", "below_minimum_value"),
        (recur(good.clone(), "max_occurrences", 0), "recur.max_occurrences", "below_minimum_value"),
        (recur(good.clone(), "max_amount", 999), "recur.max_amount", "below_minimum_value"),
    ] {
        let mut found = fields(&charge(&house, &body).await);
        found.retain(|(context, _)| context != "recur.days" || field == "recur.days");
        let found: Vec<_> = found.iter().map(|(one, two)| (one.as_str(), two.as_str())).collect();
        assert_eq!(found, [(field, code)]);
    }
    expect(
        &charge(&house, &json!({"recur": {}})).await,
        &[
            ("amount", "not_null"),
            ("method", "not_null"),
            ("recur.interval_unit", "not_null"),
            ("recur.interval_delay", "not_null"),
        ],
    );
    assert_eq!(house.objects("transactions").await.len(), 0);
    super::covers(&["42.1", "42.3"]);
}

#[tokio::test]
async fn what_recurs_may_differ_and_limits_count_the_first_payment() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let body = recur(monthly(&visa()), "amount", "300");
    let body = recur(recur(body, "max_amount", "1500"), "end", "2030-01-01");
    charge(&house, &body).await.ok();
    let once = recur(monthly(&visa()), "max_occurrences", 1);
    charge(&house, &once).await.ok();
    house.advance("P1Y").await;
    let ended = house.objects("recurring_charges").await;
    for (charge, amount, count) in [(&ended[0], 1500, 3), (&ended[1], 1000, 1)] {
        assert_eq!(charge["status"], "COMPLETED");
        assert_eq!(
            (&charge["total_amount"], &charge["total_occurrences"]),
            (&json!(amount), &json!(count))
        );
    }
    assert_eq!((&ended[0]["amount"], &ended[1]["amount"]), (&json!(300), &json!(1000)));
    super::covers(&["42.7"]);
}

#[tokio::test]
async fn a_recurring_charge_is_made_from_an_earlier_charge() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let earlier = charge(&house, &json!({"amount": 500, "method": visa()})).await.ok();
    let path = format!("/v1/charges/{}/schedule", earlier["id"].as_str().unwrap());
    let body = json!({"amount": "700", "schedule": {"start": "2026-01-05", "interval_unit": "MONTH",
        "interval_delay": 1, "end": "2027-12-31"}});
    let made = house.secret("POST", &path, &body).await.ok();
    assert_eq!((&made["amount"], &made["account_id"]), (&json!(700), &earlier["account_id"]));
    assert_eq!(made["method"]["name"], "Jane Doe");
    assert_eq!(made["method"]["number"], "************4242");
    assert_eq!(made["next_payment"], "2026-12-05", "a start in the past is moved on");
    assert_eq!(made["occurrences"].as_array().unwrap().len(), 1);
    assert_eq!(made["occurrences"][0]["status"], "PENDING");
    let empty = fields(&house.secret("POST", &path, &json!({})).await);
    assert_eq!(empty.iter().map(|one| one.0.as_str()).collect::<Vec<_>>(), ["amount", "schedule"]);
    let bare = fields(&house.secret("POST", &path, &json!({"amount": 1, "schedule": {}})).await);
    let expect = ["schedule.interval_unit", "schedule.interval_delay", "schedule.start"];
    assert_eq!(bare.iter().map(|one| one.0.as_str()).collect::<Vec<_>>(), expect);
    let none = house.secret("POST", "/v1/charges/none/schedule", &body).await;
    let missing = (404, "resource_not_found".to_owned(), Some("Transaction[none]".to_owned()));
    assert_eq!(none.refusal(), missing);
    house.advance("P30D").await;
    assert_eq!(house.total("CHARGE").await, 1200);
    super::covers(&["43.1", "43.2", "43.3", "43.4", "43.5"]);
}

#[tokio::test]
async fn a_start_in_the_past_may_lead_to_today() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let earlier = charge(&house, &json!({"amount": 500, "method": visa()})).await.ok();
    let path = format!("/v1/charges/{}/schedule", earlier["id"].as_str().unwrap());
    for (start, next) in [("2026-10-20", "2026-12-20"), ("2026-10-21", "2026-11-21")] {
        let schedule = json!({"start": start, "interval_unit": "MONTH", "interval_delay": 1});
        let body = json!({"amount": 700, "schedule": schedule});
        let made = house.secret("POST", &path, &body).await.ok();
        assert_eq!(made["next_payment"], next, "{start}");
        assert_eq!(made["occurrences"][0]["due_date"], next, "{start}");
    }
    super::covers(&["43.3"]);
}

#[tokio::test]
async fn a_cancelled_one_stays_listed_and_a_deleted_one_leaves_the_list() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let ids = [
        charge(&house, &monthly(&visa())).await.ok()["recurring_charge_id"].clone(),
        charge(&house, &monthly(&visa())).await.ok()["recurring_charge_id"].clone(),
    ];
    let path = |at: usize| format!("/v1/recurring/charges/{}", ids[at].as_str().unwrap());
    let cancelled = house.secret("POST", &format!("{}/cancel", path(0)), &Value::Null).await.ok();
    assert_eq!(cancelled["status"], "COMPLETED");
    assert_eq!(cancelled["status_reason"], "user_canceled");
    assert!(cancelled.get("next_payment").is_none());
    let again = house.secret("POST", &format!("{}/cancel", path(0)), &Value::Null).await;
    assert_eq!(again.refusal().1, "unavailable_for_current_status");
    let deleted = house.secret("DELETE", &path(1), &Value::Null).await.ok();
    assert_eq!(deleted["status"], "DELETED");
    assert_eq!(house.secret("GET", &path(1), &Value::Null).await.ok()["status"], "DELETED");
    assert_eq!(house.secret("DELETE", &path(1), &Value::Null).await.refusal().0, 422);
    let list = house.secret("GET", "/v1/recurring/charges", &Value::Null).await.ok();
    assert_eq!((&list["total_entries"], &list["results"][0]["id"]), (&json!(1), &ids[0]));
    let told = events(&house).await;
    assert!(told.contains(&"recurring_charge.completed".to_owned()));
    assert!(told.contains(&"recurring_charge.deleted".to_owned()));
    house.advance("P1Y").await;
    assert_eq!(house.total("CHARGE").await, 2000, "no more is collected");
    super::covers(&["44.10", "44.11"]);
}

#[tokio::test]
async fn ends_by_request_are_not_on_the_documented_surface() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let id = charge(&house, &monthly(&visa())).await.ok()["recurring_charge_id"].clone();
    let path = format!("/v1/recurring/charges/{}", id.as_str().unwrap());
    assert_eq!(house.secret("POST", &format!("{path}/cancel"), &Value::Null).await.status, 404);
    assert_eq!(house.secret("DELETE", &path, &Value::Null).await.status, 404);
    assert_eq!(events(&house).await, ["transaction.created", "transaction.authorized"]);
}

#[test]
fn the_table_of_a_recurring_charge() {
    use {RecurringStatus as S, RecurringTransition as C};
    let statuses = [S::Active, S::Completed, S::Deleted];
    let changes = [C::Update, C::Complete, C::Cancel, C::Delete];
    let pairs = statuses.iter().flat_map(|status| changes.map(|change| (status.clone(), change)));
    let allowed = pairs.filter_map(|(status, change)| {
        Some((status.clone(), change, step_charge(&status, change).ok()?))
    });
    assert_eq!(
        allowed.collect::<Vec<_>>(),
        [
            (S::Active, C::Update, S::Active),
            (S::Active, C::Complete, S::Completed),
            (S::Active, C::Cancel, S::Completed),
            (S::Active, C::Delete, S::Deleted),
            (S::Completed, C::Delete, S::Deleted),
        ]
    );
}

/// GET /bank-accounts/{id}/surcharge of the demo merchant's `Operating` account, with the public
/// key.
async fn surcharge(house: &TestSandbox, query: &str) -> Reply {
    let demo = house.demo().await;
    let banks = demo["bank_accounts"].as_array().unwrap();
    let bank = banks.iter().find(|bank| bank["name"] == "Operating" && bank["mode"] == "test");
    let path = format!("/bank-accounts/{}/surcharge{query}", bank.unwrap()["id"].as_str().unwrap());
    let key = basic(demo["test"]["public_key"].as_str().unwrap());
    house.call("GET", &path, Some(&key), &Value::Null).await
}

#[tokio::test]
async fn a_surcharge_is_told_by_type_and_reckoned_for_an_amount() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    assert_eq!(surcharge(&house, "?amount=10000").await.ok(), Value::Null);
    let rates = json!([
        {"type": "card", "surcharge_rate": 300, "surcharge_fee": 25},
        {"type": "card", "surcharge_rate": 900},
        {"type": "bank", "surcharge_fee": 50},
    ]);
    let body = json!({"merchant": "demo", "surcharges": rates});
    house.control("POST", "policy", &body).await;
    assert_eq!(
        surcharge(&house, "").await.ok(),
        json!([
            {"type": "card", "surcharge_rate": 300, "surcharge_fee": 25},
            {"type": "bank", "surcharge_rate": 0, "surcharge_fee": 50},
        ])
    );
    let told = surcharge(&house, "?amount=10050").await.ok();
    assert_eq!(told[0]["amount"], 10050);
    assert_eq!(told[0]["surcharge_amount"], 327, "301.5 is rounded up, and 25");
    assert_eq!(told[0]["total_amount"], 10377);
    assert_eq!(told[1]["total_amount"], 10100);
    assert_eq!(surcharge(&house, "?amount=x").await.refusal().2.as_deref(), Some("amount"));
    let body = json!({"amount": 10377, "surcharge_amount": 327, "method": visa()});
    assert_eq!(charge(&house, &body).await.ok()["surcharge_amount"], 327);
    let live = house.key("live", "public_key").await;
    let banks = house.demo().await["bank_accounts"].clone();
    let path = format!("/bank-accounts/{}/surcharge", banks[0]["id"].as_str().unwrap());
    assert_eq!(house.call("GET", &path, Some(&live), &Value::Null).await.refusal().0, 404);
}

#[tokio::test]
async fn what_the_tenant_forbids_is_shown_and_refused() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let card = house.demo().await["test"]["card_account_id"].as_str().unwrap().to_owned();
    let off = json!({"merchant": "demo", "reference_required": true,
        "recurring_charges_enabled": {card.clone(): false}});
    let told = house.control("POST", "policy", &off).await;
    assert_eq!(told["recurring_charges_enabled"][&card], false);
    let bearer = house.bearer("demo").await;
    let shown = house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
    assert_eq!(shown["merchant"]["reference_required"], true);
    assert_eq!(shown["test_accounts"][0]["recurring_charges_enabled"], false);
    assert_eq!(shown["test_accounts"][1]["recurring_charges_enabled"], true);
    let bare = charge(&house, &json!({"amount": 1, "method": visa()})).await;
    assert_eq!(fields(&bare), [("reference".to_owned(), "not_blank".to_owned())]);
    charge(&house, &json!({"amount": 1, "method": visa(), "reference": "x"})).await.ok();
    let refused = "unavailable_for_merchant_policy";
    assert_eq!(charge(&house, &monthly(&visa())).await.refusal().1, refused);
    let body = json!({"amount": 1, "method": visa(), "reference": "x",
        "schedule": {"start": "2027-01-01", "interval_unit": "DAY", "interval_delay": 1}});
    let reply = house.secret("POST", "/v1/recurring/charges", &body).await;
    assert_eq!(reply.refusal().1, refused);
    let earlier = house.objects("transactions").await[0]["id"].as_str().unwrap().to_owned();
    let clone = json!({"amount": 1, "schedule": body["schedule"]});
    let reply = house.secret("POST", &format!("/v1/charges/{earlier}/schedule"), &clone).await;
    assert_eq!(reply.refusal().1, refused);
    let on = json!({"merchant": "demo", "recurring_charges_enabled": true});
    house.control("POST", "policy", &on).await;
    charge(&house, &monthly(&visa())).await.ok();
    let unknown = json!({"merchant": "demo", "recurring_charges_enabled": {"x": true}});
    let reply = house.call("POST", "/_sandbox/policy", None, &unknown).await;
    assert_eq!(reply.status, 400);
    super::covers(&["44.12"]);
}

#[tokio::test]
async fn the_end_of_the_card_that_pays_is_told_on_two_days() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let card = with(with(visa(), "exp_month", 1), "exp_year", 2027);
    let kept = charge(&house, &monthly(&card)).await.ok()["recurring_charge_id"].clone();
    let path = format!("/v1/recurring/charges/{}", kept.as_str().unwrap());
    let moved = json!({"method": {"type": "card", "postal_code": "60601"}});
    house.secret("PATCH", &path, &moved).await.ok();
    let replaced = charge(&house, &monthly(&card)).await.ok()["recurring_charge_id"].clone();
    let path = format!("/v1/recurring/charges/{}", replaced.as_str().unwrap());
    let longer = json!({"method": {"type": "card", "exp_year": 2040}});
    house.secret("PATCH", &path, &longer).await.ok();
    let told = async |word: &str| {
        let all = house.objects("events").await;
        let kind = format!("recurring_charge.payment_method.{word}");
        let told = all.iter().filter(|event| event["type"] == kind.as_str());
        told.map(|event| event["created"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    house.control("POST", "clock", &json!({"set": "2027-01-31T00:00:00Z"})).await;
    assert_eq!(told("expiring").await, ["2027-01-01T06:00:00.000Z"]);
    assert_eq!(told("expired").await, Vec::<String>::new());
    house.control("POST", "clock", &json!({"set": "2027-03-01T00:00:00Z"})).await;
    assert_eq!(told("expired").await, ["2027-02-01T06:00:00.000Z"]);
}
