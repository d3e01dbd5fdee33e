//! Planted faults of the planner have their described effect.

use super::facts::*;
use super::*;
use crate::base::fault_injection::inject;

/// Returns a step without the fault, and with it.
fn with(fault: &'static str, rig: &mut Rig, name: &str) -> [String; 2] {
    rig.touch(&[name]);
    let without = rig.step(name);
    inject(Some(fault));
    rig.touch(&[name]);
    inject(None);
    [without, rig.step(name)]
}

#[test]
fn a_planner_that_believes_every_absence_removes_under_partial_coverage() {
    let mut rig = Rig::applied(vec![acme(), deleted(card("card"))]);
    rig.known.desired.tree_state = TreeState::Incomplete;
    rig.remove(&["SavedMethod/card"]);
    let told = with("prune-under-partial", &mut rig, "SavedMethod/card");
    assert_eq!(told, ["Wait AbsenceNotBelieved ready", "Delete Removed"]);
}

#[test]
fn a_planner_that_forgets_what_is_under_way_does_it_again() {
    let mut rig = Rig::applied(vec![acme()]);
    rig.write(vec![contact("jane", "Jane")]);
    let open = intent("Contact/jane", IntentState::Open { attempt: 1 });
    rig.known.open.insert(key("Contact/jane"), open);
    let told = with("two-open-effects", &mut rig, "Contact/jane");
    assert_eq!(told, ["Wait InFlight", "Create NotCreated"]);
}

#[test]
fn a_planner_that_forgets_a_restore_makes_what_may_have_been_made() {
    let mut rig = Rig::applied(vec![acme()]);
    rig.known.unsure = Some("a backup was restored".to_owned());
    rig.write(vec![contact("jane", "Jane")]);
    let told = with("restore-without-epoch", &mut rig, "Contact/jane");
    assert_eq!(told, ["Blocked Held", "Create NotCreated"]);
}
