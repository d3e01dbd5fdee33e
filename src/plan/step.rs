//! Computes the step of one resource: first the rules for every kind, then those of its own kind.

use crate::base::fault_injection;
use crate::base::id::{Key, RemoteId};
use crate::kinds::planning::step::{StepCx, StepDecision, wait};
use crate::kinds::register;
use crate::model::change::PlannedAction;
use crate::model::effect::{Effect, RemoteReading, StepWork};
use crate::model::intent::{IntentState, OpenIntent};
use crate::model::manifest::{Manifest, TreeState};
use crate::model::plan::{Reason, Step};
use crate::model::state::health::Health;
use crate::model::state::observed::{Observed, ServiceRefusal};
use crate::plan::blocks::{
    active_suspension, advice, apply_limits, format_refusal, hold_if_uncertain, is_suspended,
};
use crate::plan::prune_state::PruneState;
use crate::plan::removal;
use crate::plan::state_view::{StateView, needs};
use crate::policy::prune::PruneGuards;

/// Computes the step of a resource; `None` without a document, an intent or a relevant observed
/// state.
pub(crate) fn step(
    cx: &StepCx<'_>,
    world: &dyn StateView,
    guards: (&PruneState, &PruneGuards),
    key: &Key,
) -> Option<Step> {
    let desired = world.desired();
    let manifest = desired.manifest(key);
    let observed = world.observed(key);
    let broken = desired.broken.contains(key);
    let open = world.open_intent(key).filter(|_| register::find(key.kind.as_str()).is_some());
    let spoken_of = manifest.is_some() || broken || open.is_some();
    if !spoken_of && !observed.as_deref().is_some_and(has_relevant_state) {
        return None;
    }
    let draft = match open {
        Some(open) if !fault_injection::is_active("two-open-effects") => {
            draft_in_flight(&open, observed.as_deref())
        }
        _ if broken => StepDecision::blocked(Reason::BrokenDocument),
        _ => {
            let draft =
                draft_step(cx, world, guards, key, manifest.as_deref(), observed.as_deref())?;
            apply_limits(cx, world, (key, manifest.as_deref(), observed.as_deref()), draft)
        }
    };
    let health = health(cx, key, manifest.as_deref(), observed.as_deref());
    let place = manifest.map(|manifest| (manifest.place.file.clone(), manifest.place.line));
    let remote_id = observed.as_ref().and_then(|observed| observed.remote_id.clone());
    Some(Step {
        key: key.clone(),
        action: draft.verdict,
        reason: draft.reason,
        changes: draft.changes,
        money: draft.money,
        ready: draft.ready,
        health,
        remote_id: remote_id.as_ref().map(RemoteId::to_string),
        place,
        work: draft.work.map(std::sync::Arc::new),
        on_demand: draft.on_demand.map(std::sync::Arc::new),
        replaces: draft.replaces,
        counts: draft.counts,
    })
}

/// Returns the health of an object that exists; `None` where it is well, and stays so.
fn health(
    cx: &StepCx<'_>,
    key: &Key,
    manifest: Option<&Manifest>,
    observed: Option<&Observed>,
) -> Option<Box<Health>> {
    let Some(known) = observed.filter(|observed| observed.exists) else {
        return Some(Box::new(Health::not_created()));
    };
    let health = (register::find(key.kind.as_str())?.health)(cx, manifest, known);
    (health != Health::healthy()).then(|| Box::new(health))
}

/// Returns the effect that a person may request for a resource without an open intent.
pub(crate) fn on_demand(cx: &StepCx<'_>, world: &dyn StateView, key: &Key) -> Option<Effect> {
    let manifest = world.desired().manifest(key).filter(|one| !one.annotations.suspend)?;
    let observed = world.observed(key).filter(|observed| observed.on_hold.is_none())?;
    let suspended = active_suspension(world, key).is_some();
    if suspended || world.open_intent(key).is_some() {
        return None;
    }
    (register::find(key.kind.as_str())?.on_demand)(cx, &manifest, &observed)
}

/// Returns the readings that may be repeated for a resource, unless it has an open intent, is on
/// hold or is suspended.
pub(crate) fn refresh_reads(
    cx: &StepCx<'_>,
    world: &dyn StateView,
    key: &Key,
) -> Vec<RemoteReading> {
    let (manifest, observed) = (world.desired().manifest(key), world.observed(key));
    let observed = observed.filter(|observed| observed.on_hold.is_none());
    let (Some(row), Some(observed)) = (register::find(key.kind.as_str()), observed) else {
        return Vec::new();
    };
    let last = observed.applied.as_ref().map(|applied| &applied.spec);
    match manifest.as_ref().map(|manifest| &manifest.spec).or(last) {
        Some(spec) if world.open_intent(key).is_none() && !is_suspended(world, key) => {
            (row.refresh_reads)(cx, key, spec, &observed)
        }
        _ => Vec::new(),
    }
}

/// Returns whether a resource without a document is worth a step.
fn has_relevant_state(observed: &Observed) -> bool {
    observed.exists || observed.on_hold.is_some() || !observed.unknown_objects.is_empty()
}

/// Drafts the step of a resource with an open intent: no newer effect is sent before the older one
/// is settled.
fn draft_in_flight(open: &OpenIntent, observed: Option<&Observed>) -> StepDecision {
    let reason = match &open.state {
        IntentState::Open { attempt: _ } | IntentState::Closed => Reason::InFlight,
        IntentState::InDoubt { attempt: _, reason } => Reason::InDoubt(reason.clone()),
        IntentState::OnHold { attempt: _, reason } => {
            return StepDecision::blocked(Reason::OnHold(reason.clone()));
        }
    };
    let ready = observed.is_some_and(|observed| observed.exists);
    StepDecision { ready, ..wait(reason) }
}

/// Drafts the step of a resource without an open intent.
fn draft_step(
    cx: &StepCx<'_>,
    world: &dyn StateView,
    guards: (&PruneState, &PruneGuards),
    key: &Key,
    manifest: Option<&Manifest>,
    observed: Option<&Observed>,
) -> Option<StepDecision> {
    let row = register::find(key.kind.as_str())?;
    if let Some(held) = observed.and_then(|observed| observed.on_hold.as_ref()) {
        return Some(StepDecision::blocked(Reason::OnHold(held.reason.clone())));
    }
    if let Some(known) = observed.filter(|known| !known.unknown_objects.is_empty()) {
        let strays = known.unknown_objects.clone().into_boxed_slice();
        return Some(StepDecision::blocked(Reason::UnknownObjects(strays)));
    }
    if let Some(suspension) = active_suspension(world, key) {
        let reason = Reason::SuspendedBy(Box::new((*suspension).clone()));
        return Some(StepDecision::idle(PlannedAction::Wait, reason));
    }
    let Some(manifest) = manifest else {
        let observed = observed?;
        if guards.0.is_claimed(key) {
            return None;
        }
        let draft = || (row.plan_removal)(cx, key, observed);
        return Some(match world.desired().tree_state {
            TreeState::Complete => removal::guard_removal(cx, guards, key, observed, draft()),
            TreeState::Incomplete if fault_injection::is_active("prune-under-partial") => draft(),
            TreeState::Incomplete => wait(Reason::PruneSuspended),
        });
    };
    if manifest.annotations.suspend {
        return Some(StepDecision::idle(PlannedAction::Wait, Reason::Suspended));
    }
    if let Some(moving) = removal::draft_move(cx, world, guards.0, manifest, observed) {
        return Some(moving);
    }
    let draft = (row.step)(cx, manifest, observed);
    let draft = check_refusal_and_needs(cx, world, (manifest, observed), draft);
    Some(hold_if_uncertain(world, key, removal::block_if_renamed(guards.0, key, draft)))
}

/// Returns the kind's draft, unless the service refused exactly this effect or a further need is
/// not ready.
fn check_refusal_and_needs(
    cx: &StepCx<'_>,
    world: &dyn StateView,
    (manifest, observed): (&Manifest, Option<&Observed>),
    draft: StepDecision,
) -> StepDecision {
    if !draft.verdict.is_change() && draft.on_demand.is_none() {
        return draft;
    }
    let refusal = observed.and_then(|observed| observed.refusal.as_ref());
    let wish = match &draft.work {
        Some(StepWork::Effect(effect)) => effect.applied.digest,
        Some(StepWork::Read(_) | StepWork::Record(_)) | None => manifest.digest,
    };
    let is_final =
        |refusal: &&ServiceRefusal| !world.is_retry_granted(&manifest.key, refusal.intent);
    let refusal = refusal.filter(|refusal| refusal.digest == wish).filter(is_final);
    if let Some((known, refusal)) = observed.zip(refusal) {
        let why = format!("{}; {}", format_refusal(refusal), advice(known, refusal));
        return StepDecision::blocked(Reason::Refused(why)).with_changes(draft.changes);
    }
    let waits: Vec<Key> =
        needs(manifest).into_iter().filter(|key| !cx.view.is_ready(key)).collect();
    if waits.is_empty() {
        return draft;
    }
    StepDecision { reason: Reason::WaitsFor(waits), work: None, on_demand: None, ..draft }
}
