//! `reckon.dev/moved-from`: a document that takes over the state known under another name.
//!
//! A move is bookkeeping: the object on the service stays unchanged, and keeps its first name. No
//! object is created under the new name before the move is recorded, so that none is created twice.

use super::prune_state::PruneState;
use super::steps::is_tree_complete;
use crate::base::id::Key;
use crate::kinds::planning::step::{StepCx, StepDecision};
use crate::kinds::schema::register;
use crate::model::plans::plan::{PlannedAction, Reason};
use crate::model::plans::removal::RemovalStatus;
use crate::model::spec::manifest::Manifest;
use crate::model::state::observed::Observed;
use crate::plan::core::planner::StateView;

/// Returns the draft that a document's former name requires; `None` where it requires nothing (any
/// more).
pub(crate) fn draft_move(
    cx: &StepCx<'_>,
    world: &dyn StateView,
    absences: &PruneState,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Option<StepDecision> {
    let key = &manifest.key;
    let from = manifest.annotations.moved_from.as_ref();
    let from = from.filter(|from| !have.is_some_and(|have| have.former.contains(from)));
    let Some(from) = from else {
        let to = have.and_then(|have| have.moved_to.as_deref())?.clone();
        return Some(blocked_draft(RemovalStatus::MovedAway { to }));
    };
    if let Err(why) = check_move(world, absences, key, from, have) {
        return Some(blocked_draft(RemovalStatus::CannotMove(why)));
    }
    if !is_tree_complete(world) {
        return Some(StepDecision::idle(PlannedAction::Wait, Reason::PruneSuspended));
    }
    if world.open_intent(from).is_some() {
        return Some(StepDecision::idle(PlannedAction::Wait, Reason::WaitsFor(vec![from.clone()])));
    }
    let known = world.observed(from)?;
    let row = register::find(key.kind.as_str())?;
    let after = (row.step)(cx, manifest, Some(&known));
    let reason = Reason::Removal(Box::new(RemovalStatus::Moved { from: from.clone() }));
    Some(StepDecision {
        changes: after.changes,
        ..StepDecision::idle(PlannedAction::Update, reason)
    })
}

/// Checks that a document may take over a name.
///
/// # Errors
/// The reason against it, in a sentence.
fn check_move(
    world: &dyn StateView,
    absences: &PruneState,
    key: &Key,
    from: &Key,
    have: Option<&Observed>,
) -> Result<(), String> {
    let desired = world.desired();
    let (name, own) = (from.short(), key.short());
    if from == key {
        return Err(format!(
            "reckon.dev/moved-from: {own} is the name of this document itself: remove the annotation"
        ));
    }
    if desired.manifests.contains_key(from) || desired.broken.contains(from) {
        return Err(format!(
            "reckon.dev/moved-from: {name} still has a document: remove that document, or the annotation"
        ));
    }
    if let Some(other) = absences.claims(from).find(|other| *other != key) {
        return Err(format!(
            "reckon.dev/moved-from: {} names {name} as its former name, too: keep the annotation in one document",
            other.short()
        ));
    }
    if have.is_some_and(|have| have.exists) {
        return Err(format!(
            "reckon.dev/moved-from: {own} already has an object of its own: remove the annotation"
        ));
    }
    let known = world.observed(from);
    if let Some(to) = known.as_ref().and_then(|known| known.moved_to.as_ref()) {
        return Err(format!(
            "reckon.dev/moved-from: {name} was moved to {} before: write that name",
            to.short()
        ));
    }
    if !known.is_some_and(|known| known.exists) {
        return Err(format!(
            "reckon.dev/moved-from: {name} has no known object to take over: correct the name, or remove the \
             annotation to create {own}"
        ));
    }
    Ok(())
}

fn blocked_draft(going: RemovalStatus) -> StepDecision {
    StepDecision::idle(PlannedAction::Blocked, Reason::Removal(Box::new(going)))
}
