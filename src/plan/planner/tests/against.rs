//! Two trees compared without a service.

use super::facts::*;
use super::*;

/// Returns the world in which one set of documents was applied and another is desired, and its
/// plan.
fn compared(before: Vec<Manifest>, after: Vec<Manifest>) -> (AssumedState, Planner) {
    let settings = settings(PruneGuards::without_guards());
    let world = AssumedState::new(&settings, &tree(before), tree(after), at(NOW));
    let mut planner = Planner::new(settings);
    planner.recompute_all(&world);
    (world, planner)
}

fn plan((world, planner): &(AssumedState, Planner)) -> Vec<String> {
    let steps = planner.plan(world).steps;
    steps.iter().map(|step| format!("{}: {}", step.key.short(), line(step))).collect()
}

fn paying(name: &str, account: &str) -> Manifest {
    let schedule = "schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1}";
    let spec = format!("merchant: acme\nmethod: card\naccount: {account}\namount: 5.00 USD");
    document("RecurringCharge", name, &format!("{spec}\n{schedule}"))
}

#[test]
fn what_differs_between_two_trees_is_planned_and_the_rest_is_settled() {
    let before = vec![acme(), card("card"), contact("jane", "Jane"), contact("joe", "Joe")];
    let changed = card_of("acme", "card", "other");
    let told =
        compared(before, vec![acme(), changed, contact("jane", "Jane"), contact("new", "New")]);
    let expected = [
        "Contact/joe: Orphan Orphaned ready",
        "Merchant/acme: Settled InSync ready",
        "Contact/jane: Settled InSync ready",
        "Contact/new: Create NotCreated",
        "SavedMethod/card: Update Changed",
    ];
    let mut plan = plan(&told);
    plan.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(plan, expected);
}

#[test]
fn accounts_that_either_tree_names_are_taken_to_be_there() {
    let before = vec![acme(), card("card"), paying("old", "First")];
    let after = vec![acme(), card("card"), paying("old", "First"), paying("new", "Second")];
    let told = compared(before, after);
    let steps = plan(&told);
    assert!(steps.contains(&"RecurringCharge/new: Create NotCreated".to_owned()), "{steps:?}");
    assert!(steps.contains(&"RecurringCharge/old: Settled InSync ready".to_owned()), "{steps:?}");
}

#[test]
fn such_a_world_knows_the_first_tree_and_nothing_else() {
    let (world, _) = compared(vec![acme(), card("card")], vec![acme(), contact("jane", "Jane")]);
    assert_eq!(world.known_keys(), [key("Merchant/acme"), key("SavedMethod/card")]);
    assert!(world.observed(&key("SavedMethod/card")).is_some_and(|card| card.exists));
    assert!(world.observed(&key("Contact/jane")).is_none());
    assert!(world.desired().manifests.contains_key(&key("Contact/jane")));
    assert_eq!(world.now(), at(NOW));
    for name in ["Merchant/acme", "SavedMethod/card", "Contact/jane"] {
        let key = key(name);
        assert!(world.open_intent(&key).is_none() && world.suspension(&key).is_none());
        assert!(
            world.possibly_created(&key).is_none() && world.unsettled_keys(&key).is_empty(),
            "{name}"
        );
    }
}
