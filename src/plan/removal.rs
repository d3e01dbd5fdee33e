//! Obstacles to a removal after its document disappeared: guards, and, for live objects, a delay.
//! Also the obstacle to a creation that looks like a missing document under another name.
//!
//! `reckon.dev/moved-from`: a document takes over the state known under another name.
//!
//! A move is bookkeeping: the object on the service stays unchanged, and keeps its first name. No
//! object is created under the new name before the move is recorded, so that none is created twice.

use crate::base::id::{Key, Mode};
use crate::kinds::planning::step::{StepCx, StepDecision, current_key, mode_of};
use crate::kinds::register;
use crate::model::change::{PlannedAction, RemovalStatus};
use crate::model::effect::StepWork;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::observed::Observed;
use crate::plan::blocks::format_refusal;
use crate::plan::prune_state::{PruneState, removal_due};
use crate::plan::state_view::{StateView, is_tree_complete};
use crate::policy::prune::PruneGuards;

/// Returns the kind's removal of an object without a document, unless a guard or a delay stops it.
pub(crate) fn guard_removal(
    cx: &StepCx<'_>,
    (absences, prune): (&PruneState, &PruneGuards),
    key: &Key,
    known: &Observed,
    draft: StepDecision,
) -> StepDecision {
    if draft.verdict != PlannedAction::Delete {
        return draft;
    }
    let trip = absences.tripped_guards.get(key).cloned();
    let guarded = trip.map(|trip| RemovalStatus::Guarded { key: key.clone(), trip });
    let Some(going) = guarded.or_else(|| pending_delay(cx, prune, known)) else {
        return block_if_refused(known, draft);
    };
    let verdict = if going.needs_operator() { PlannedAction::Blocked } else { PlannedAction::Wait };
    let stopped = StepDecision::idle(verdict, Reason::Removal(Box::new(going)));
    StepDecision { money: draft.money, ready: true, ..stopped }
}

/// Returns the state of a live object that must wait: it is removed some time after its mark.
fn pending_delay(cx: &StepCx<'_>, prune: &PruneGuards, known: &Observed) -> Option<RemovalStatus> {
    let live = mode_of(cx.view, &current_key(cx, &known.merchant)) == Some(Mode::Live);
    let absence = known.missing_document.as_deref();
    let allowed = absence.and_then(|absence| absence.allowed.as_ref());
    if !live || allowed.is_some_and(|word| word.at_once) || prune.delay.value.is_zero() {
        return None;
    }
    let Some(marked) = absence.and_then(|absence| absence.marked.as_ref()) else {
        return Some(RemovalStatus::Unmarked { delay: format_delay(prune.delay.value) });
    };
    let until = removal_due(known, prune)?;
    (cx.now < until).then_some(RemovalStatus::Marked { until, since: marked.at })
}

/// Formats a delay as `24h`, or in smaller units.
fn format_delay(delay: std::time::Duration) -> String {
    let seconds = delay.as_secs();
    match (seconds.checked_rem(3600), seconds.checked_rem(60)) {
        (Some(0), _) => format!("{}h", seconds.div_euclid(3600)),
        (_, Some(0)) => format!("{}m", seconds.div_euclid(60)),
        _ => format!("{seconds}s"),
    }
}

/// Blocks a removal that was refused: the same effect is not sent again.
fn block_if_refused(known: &Observed, draft: StepDecision) -> StepDecision {
    let Some(StepWork::Effect(effect)) = &draft.work else { return draft };
    let refusal = known.refusal.as_ref().filter(|refusal| refusal.digest == effect.applied.digest);
    let Some(refusal) = refusal else { return draft };
    let why = format_refusal(refusal);
    StepDecision { money: draft.money, ..StepDecision::blocked(Reason::Refused(why)) }
}

/// Returns the kind's creation, unless the document looks renamed.
pub(crate) fn block_if_renamed(
    absences: &PruneState,
    key: &Key,
    draft: StepDecision,
) -> StepDecision {
    let Some(from) = absences.twins.get(key) else { return draft };
    let going = RemovalStatus::LooksRenamed { key: key.clone(), from: from.clone() };
    blocked_draft(going).with_changes(draft.changes)
}

/// Returns whether the step must be recomputed at a later time for this reason.
pub(crate) fn is_dated(reason: &Reason) -> bool {
    matches!(reason, Reason::Removal(going) if matches!(**going, RemovalStatus::Marked { .. }))
}

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
        let why = format!("reckon.dev/moved-from: {why}");
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
    Some(StepDecision::idle(PlannedAction::Update, reason).with_changes(after.changes))
}

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
        return Err(format!("{own} is the name of this document itself: remove the annotation"));
    }
    if desired.manifests.contains_key(from) || desired.broken.contains(from) {
        return Err(format!(
            "{name} still has a document: remove that document, or the annotation"
        ));
    }
    if let Some(other) = absences.claims(from).find(|other| *other != key) {
        return Err(format!(
            "{} names {name} as its former name, too: keep the annotation in one document",
            other.short()
        ));
    }
    if have.is_some_and(|have| have.exists) {
        return Err(format!("{own} already has an object of its own: remove the annotation"));
    }
    let known = world.observed(from);
    if let Some(to) = known.as_ref().and_then(|known| known.moved_to.as_ref()) {
        return Err(format!("{name} was moved to {} before: write that name", to.short()));
    }
    if !known.is_some_and(|known| known.exists) {
        return Err(format!(
            "{name} has no known object to take over: correct the name, or remove the \
             annotation to create {own}"
        ));
    }
    Ok(())
}

fn blocked_draft(going: RemovalStatus) -> StepDecision {
    StepDecision::blocked(Reason::Removal(Box::new(going)))
}
