//! Recurring charges of all schedules over a virtual year, against an oracle that walks through the days and shares no
//! code with the sandbox (`tests/oracle/recurring.py`). Needs a Python interpreter; without one it says so and passes.
#![expect(clippy::print_stderr, reason = "who has no interpreter is told so")]

use serde_json::{Value, json};

#[path = "rig/covers.rs"]
mod covers;
#[path = "oracle/drawn.rs"]
mod drawn;
#[path = "oracle/house.rs"]
mod house;

use drawn::{MADE, UNTIL, charges, oracle};
use house::House;

/// So many charges; the bench (benches/sandbox.rs) makes 10,000.
const CHARGES: usize = 150;

#[tokio::test(start_paused = true)]
async fn a_year_of_recurring_charges_is_what_walking_through_its_days_gives() {
    let wanted = charges(CHARGES, 7);
    let Some(expect) = oracle(&wanted) else {
        eprintln!("there is no python3 here: the oracle was not asked");
        return;
    };
    let house = House::new(&format!("{MADE}T18:00:00Z"));
    let mut made = Vec::new();
    for charge in &wanted {
        made.push(house.make(charge).await);
    }
    house.turn_to(&format!("{UNTIL}T23:00:00Z")).await;
    for (at, (id, expect)) in made.iter().zip(&expect).enumerate() {
        let found = house.stands(id.as_deref()).await;
        let sums =
            |one: &Value| json!([one["status"], one["collected"], one["total"], one["waits"]]);
        assert_eq!(sums(&found), sums(expect), "charge {at}: {}", wanted[at]);
        assert!(found == *expect, "other days: charge {at}: {}", wanted[at]);
    }
    covers::covers(&["45.11"]);
}
