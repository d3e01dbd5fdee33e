//! Previews of recurring charges (gateway-api, GET /v1/recurring/charges/schedule).

use serde_json::json;

use super::{TestSandbox, fields};
use crate::sandbox::options::ServiceSurface;

#[tokio::test]
async fn a_preview_follows_schedule_and_limits() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let path = "/v1/recurring/charges/schedule";
    let body = json!({"amount": 1000, "max_amount": 2500, "schedule":
        {"interval_unit": "MONTH", "interval_delay": 1, "days": ["15", "LAST"], "start": "2027-01-20"}});
    let shown = house.secret("GET", path, &body).await.ok();
    let expect = json!([
        {"amount": 1000, "due_date": "2027-01-31"},
        {"amount": 1000, "due_date": "2027-02-15"},
        {"amount": 500, "due_date": "2027-02-28"},
    ]);
    assert_eq!(shown["occurrences"], expect);
    assert_eq!(shown["next_payment"], "2027-01-31");
    assert_eq!(
        (&shown["remaining_occurrences"], &shown["remaining_amount"]),
        (&json!(3), &json!(2500))
    );
    assert_eq!((&shown["total_occurrences"], &shown["total_amount"]), (&json!(0), &json!(0)));
    let daily = json!({"amount": 5, "schedule": {"interval_unit": "DAY", "interval_delay": 1}});
    let shown = house.secret("GET", path, &daily).await.ok();
    assert_eq!(shown["occurrences"].as_array().unwrap().len(), 10);
    assert_eq!(shown["next_payment"], "2026-11-22");
    let hundred = format!("{path}?occurrences=100&start_date=2027-01-01");
    let shown = house.secret("GET", &hundred, &daily).await.ok();
    assert_eq!(shown["occurrences"].as_array().unwrap().len(), 100);
    assert_eq!(shown["next_payment"], "2027-01-01");
    let reply = house.secret("GET", &format!("{path}?occurrences=101"), &daily).await;
    assert_eq!(fields(&reply)[0].0, "occurrences");
    super::covers(&["46.1", "46.2", "46.4"]);
}

#[tokio::test]
async fn a_charge_of_today_is_the_first_payment_of_a_preview() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = json!({"amount": 400, "max_occurrences": 3,
        "schedule": {"interval_unit": "WEEK", "interval_delay": 1}});
    let path = "/v1/recurring/charges/schedule?start_date=2026-11-21&start_date_charge=true";
    let shown = house.secret("GET", path, &body).await.ok();
    let expect = json!([
        {"amount": 400, "due_date": "2026-11-21"},
        {"amount": 400, "due_date": "2026-11-28"},
        {"amount": 400, "due_date": "2026-12-05"},
    ]);
    assert_eq!(shown["occurrences"], expect, "the limit counts it");
    super::covers(&["46.3", "46.4"]);
}
