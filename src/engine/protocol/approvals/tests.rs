use serde_json::json;

use super::*;
use crate::engine::tests::records::{dollars, spend};

fn step(minor: i64, meaning: &'static str, mode: Mode) -> SpendRequest {
    SpendRequest { mode, exposure: dollars(minor, meaning), ..spend("Invoice/a", 0) }
}

#[test]
fn ceilings_keep_modes_and_meanings_apart_and_count_both_directions() {
    let steps = [
        step(500, "charged", Mode::Test),
        step(-200, "charged", Mode::Test),
        step(300, "refunded", Mode::Test),
        step(100, "charged", Mode::Live),
    ];
    let sums: Vec<(Mode, String, i64)> = ceilings(&steps)
        .into_iter()
        .map(|one| (one.mode, one.meaning, one.amount.minor()))
        .collect();
    assert_eq!(sums.len(), 3);
    for expected in [
        (Mode::Test, "charged".to_owned(), 700),
        (Mode::Test, "refunded".to_owned(), 300),
        (Mode::Live, "charged".to_owned(), 100),
    ] {
        assert!(sums.contains(&expected), "{expected:?} in {sums:?}");
    }
}

#[test]
fn a_ceiling_never_wraps() {
    let steps = [step(i64::MAX, "charged", Mode::Test), step(i64::MIN, "charged", Mode::Test)];
    assert_eq!(ceilings(&steps)[0].amount.minor(), i64::MAX);
}

#[test]
fn a_seal_covers_every_field_but_itself_and_depends_on_the_key() {
    let plan = json!({"id": "plan-a", "token": "t", "seal": "x"});
    let other_seal = json!({"id": "plan-a", "token": "t", "seal": "y"});
    let changed = json!({"id": "plan-b", "token": "t", "seal": "x"});
    let seal = SavedPlan::seal_of(plan.clone(), &[1; 32]);
    assert_eq!(SavedPlan::seal_of(other_seal, &[1; 32]), seal);
    assert_ne!(SavedPlan::seal_of(changed, &[1; 32]), seal);
    assert_ne!(SavedPlan::seal_of(plan, &[2; 32]), seal);
}
