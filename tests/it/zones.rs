//! Dates are dates. Neither a zone of the machine or of a merchant, nor a change of the clocks, nor the end of a month
//! creates anything again.

use std::time::Duration;

use reckon::sandbox::options::ServiceSurface;
use serde_json::Value;

use crate::support::payments::{MERCHANT, START, card, document, recurring};
use crate::support::shell::{Shell, code, stderr, stdout};
use crate::support::world::World;

/// The first and the last place on earth where a day begins, and one that changes its clocks.
const ZONES: [&str; 3] = ["Pacific/Kiritimati", "Pacific/Niue", "America/Chicago"];
/// Neither whole days nor whole hours, so that every time of day occurs.
const STEP: Duration = Duration::from_mins(61 * 60 + 7);
/// More than a year of these steps.
const STEPS: u32 = 145;

fn bill(date: &str) -> String {
    let jane =
        "first_name: Jane\n  last_name: Doe\n  email_addresses: [{address: jane@example.com}]";
    let spec = format!(
        "contact: jane\n  bank_account: Operating\n  invoice_date: {date}\n  line_items: [{{description: Retainer, rate_per_quantity: \"125.00 USD\"}}]"
    );
    document("Contact", "jane", jane) + document("Invoice", "first", &spec).as_str()
}

#[test]
fn the_zone_of_the_machine_decides_nothing() {
    let shell = Shell::start();
    shell.write("specs/tree.yaml", &format!("{}{}", MERCHANT.trim_start(), bill("2030-01-15")));
    let in_zone =
        |zone: &str, arguments: &[&str]| shell.reckon_with(arguments, &[("TZ", Some(zone))]);
    let there = in_zone("Pacific/Kiritimati", &["apply", "--yes"]);
    assert_eq!(code(&there), 0, "{}", stderr(&there));
    for zone in ZONES {
        let plan = in_zone(zone, &["plan", "--verify", "--detailed-exitcode"]);
        assert_eq!(code(&plan), 0, "{zone}: {}", stdout(&plan));
        let again = in_zone(zone, &["apply", "--yes"]);
        assert_eq!(code(&again), 0, "{zone}: {}", stderr(&again));
    }
    let made: Value =
        serde_json::from_str(shell.ask("GET", "objects/invoices", "").trim()).unwrap();
    let date = made["invoice_date"].as_str().unwrap();
    assert!(
        date.starts_with("2030-01-15T18:00:00"),
        "noon in Chicago, the merchant's zone: {date}"
    );
}

#[tokio::test(start_paused = true)]
async fn no_hour_of_a_year_makes_anything_again_in_any_zone() {
    for zone in ZONES {
        let world = World::new(ServiceSurface::Public, START);
        let merchant = MERCHANT.replace("America/Chicago", zone);
        let rent = recurring("rent", "jane", "description: Rent\n  ");
        let days = rent.replace("interval_delay: 1", "interval_delay: 1, days: [\"1\", LAST]");
        let jane = card("jane", "4242424242424242").replace("2031", "2039");
        world.write(&format!("{merchant}{jane}{days}{}", bill("2030-01-31")));
        assert_eq!(world.settle().await, Vec::<String>::new(), "{zone}");
        let changes = |world: &World| {
            let all = world.control("GET", "requests", &Value::Null)["requests"].clone();
            all.as_array().unwrap().iter().filter(|one| one["method"] != "GET").count()
        };
        let before = changes(&world);
        for step in 0..STEPS {
            tokio::time::advance(STEP).await;
            assert_eq!(world.settle().await, Vec::<String>::new(), "{zone}, step {step}");
        }
        assert_eq!(changes(&world), before, "{zone}: only the service's own payments are new");
        let paid = world.objects("transactions").len();
        assert!((20..=26).contains(&paid), "{zone}: the service collects by itself, {paid}");
    }
}
