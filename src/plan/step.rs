//! Computes the step of one resource: first the rules for every kind, then those of its own kind.

use crate::base::id::{Key, RemoteId};
use crate::base::planted;
use crate::kinds::register;
use crate::kinds::step::{Draft, StepCx};
use crate::model::desired::Coverage;
use crate::model::effect::{Effect, Reading, Work};
use crate::model::health::Health;
use crate::model::intent::{IntentState, OpenIntent};
use crate::model::manifest::Manifest;
use crate::model::observed::{Observed, Refusal};
use crate::model::plan::{Reason, Step, Verdict};
use crate::plan::absences::Absences;
use crate::plan::guarded::guarded;
use crate::plan::suspended::by_a_person;
use crate::plan::{World, epoch, moving, refused, removal};
use crate::policy::prune::Prune;

/// Returns all needs of a manifest: its references and `reckon.dev/depends-on`.
pub(super) fn needs<S>(manifest: &Manifest<S>) -> Box<[Key]> {
    let references = manifest.references.iter().map(|reference| reference.key.clone());
    references.chain(manifest.annotations.depends_on.iter().cloned()).collect()
}

/// Computes the step of a resource; `None` without a document, an intent or a relevant observed
/// state.
pub(super) fn step(
    cx: &StepCx<'_>,
    world: &dyn World,
    guards: (&Absences, &Prune),
    key: &Key,
) -> Option<Step> {
    let desired = world.desired();
    let manifest = desired.manifest(key);
    let observed = world.observed(key);
    let broken = desired.broken.contains(key);
    let open = world.open(key).filter(|_| register::find(key.kind.as_str()).is_some());
    let spoken_of = manifest.is_some() || broken || open.is_some();
    if !spoken_of && !observed.as_deref().is_some_and(known) {
        return None;
    }
    let draft = match open {
        Some(open) if !planted::is("two-open-effects") => under_way(&open, observed.as_deref()),
        _ if broken => Draft::idle(Verdict::Blocked, Reason::BrokenDocument),
        _ => {
            let draft = decide(cx, world, guards, key, manifest.as_ref(), observed.as_deref())?;
            guarded(cx, world, (key, manifest.as_ref(), observed.as_deref()), draft)
        }
    };
    let health = health(cx, key, manifest.as_ref(), observed.as_deref());
    let place = manifest.map(|manifest| (manifest.place.file, manifest.place.line));
    let remote_id = observed.as_ref().and_then(|observed| observed.remote_id.clone());
    Some(Step {
        key: key.clone(),
        verdict: draft.verdict,
        reason: draft.reason,
        changes: draft.changes,
        money: draft.money,
        ready: draft.ready,
        health,
        remote_id: remote_id.as_ref().map(RemoteId::to_string),
        place,
        work: draft.work.map(std::sync::Arc::new),
        offer: draft.offer.map(std::sync::Arc::new),
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
        return Some(Box::new(Health::of_nothing()));
    };
    let health = (register::find(key.kind.as_str())?.health)(cx, manifest, known);
    (health != Health::well()).then(|| Box::new(health))
}

/// Returns the effect that a person may request for a resource without an open intent.
pub(super) fn offer(cx: &StepCx<'_>, world: &dyn World, key: &Key) -> Option<Effect> {
    let manifest = world.desired().manifest(key).filter(|one| !one.annotations.suspend)?;
    let observed = world.observed(key).filter(|observed| observed.held.is_none())?;
    let suspended = by_a_person(world, key, Some(&manifest), Some(&observed)).is_some();
    if suspended || world.open(key).is_some() {
        return None;
    }
    (register::find(key.kind.as_str())?.offer)(cx, &manifest, &observed)
}

/// Returns the readings that may be repeated for a resource, unless it has an open intent, is on
/// hold or is suspended.
pub(super) fn again(cx: &StepCx<'_>, world: &dyn World, key: &Key) -> Vec<Reading> {
    let (manifest, observed) = (world.desired().manifest(key), world.observed(key));
    let observed = observed.filter(|observed| observed.held.is_none());
    let (Some(row), Some(observed)) = (register::find(key.kind.as_str()), observed) else {
        return Vec::new();
    };
    let suspended = manifest.as_ref().is_some_and(|manifest| manifest.annotations.suspend)
        || by_a_person(world, key, manifest.as_ref(), Some(&observed)).is_some();
    let last = observed.applied.as_ref().map(|applied| &applied.spec);
    match manifest.as_ref().map(|manifest| &manifest.spec).or(last) {
        Some(spec) if world.open(key).is_none() && !suspended => {
            (row.again)(cx, key, spec, &observed)
        }
        _ => Vec::new(),
    }
}

/// Returns whether a resource without a document is worth a step.
fn known(observed: &Observed) -> bool {
    observed.exists || observed.held.is_some() || !observed.strays.is_empty()
}

/// Drafts the step of a resource with an open intent: no newer effect is sent before the older one
/// is settled.
fn under_way(open: &OpenIntent, observed: Option<&Observed>) -> Draft {
    let reason = match &open.state {
        IntentState::Open { attempt: _ } | IntentState::Closed => Reason::InFlight,
        IntentState::InDoubt { attempt: _, reason } => Reason::InDoubt(reason.clone()),
        IntentState::Held { attempt: _, reason } => Reason::Held(reason.clone()),
    };
    let verdict = if matches!(reason, Reason::Held(_)) { Verdict::Blocked } else { Verdict::Wait };
    let ready = observed.is_some_and(|observed| observed.exists) && verdict == Verdict::Wait;
    Draft { ready, ..Draft::idle(verdict, reason) }
}

/// Drafts the step of a resource without an open intent.
fn decide(
    cx: &StepCx<'_>,
    world: &dyn World,
    guards: (&Absences, &Prune),
    key: &Key,
    manifest: Option<&Manifest>,
    observed: Option<&Observed>,
) -> Option<Draft> {
    let row = register::find(key.kind.as_str())?;
    if let Some(held) = observed.and_then(|observed| observed.held.as_ref()) {
        return Some(Draft::idle(Verdict::Blocked, Reason::Held(held.reason.clone())));
    }
    if let Some(known) = observed.filter(|known| !known.strays.is_empty()) {
        let strays = known.strays.clone().into_boxed_slice();
        return Some(Draft::idle(Verdict::Blocked, Reason::Strays(strays)));
    }
    if let Some(suspension) = by_a_person(world, key, manifest, observed) {
        let reason = Reason::SuspendedBy(Box::new((*suspension).clone()));
        return Some(Draft::idle(Verdict::Wait, reason));
    }
    let Some(manifest) = manifest else {
        let observed = observed?;
        if guards.0.is_claimed(key) {
            return None;
        }
        return Some(match world.desired().coverage {
            Coverage::Whole => {
                removal::guarded(cx, guards, key, observed, (row.gone)(cx, key, observed))
            }
            Coverage::Partial if planted::is("prune-under-partial") => {
                (row.gone)(cx, key, observed)
            }
            Coverage::Partial => {
                let unseen = Draft::idle(Verdict::Wait, Reason::AbsenceNotBelieved);
                Draft { ready: true, ..unseen }
            }
        });
    };
    if manifest.annotations.suspend {
        return Some(Draft::idle(Verdict::Wait, Reason::Suspended));
    }
    if let Some(moving) = moving::moved(cx, world, guards.0, manifest, observed) {
        return Some(moving);
    }
    let draft = (row.step)(cx, manifest, observed);
    let draft = removal::distinct(guards.0, key, checked(cx, world, (manifest, observed), draft));
    Some(epoch::cautious(world, key, draft))
}

/// Returns the kind's draft, unless the service refused exactly this effect or a further need is
/// not ready.
fn checked(
    cx: &StepCx<'_>,
    world: &dyn World,
    (manifest, observed): (&Manifest, Option<&Observed>),
    draft: Draft,
) -> Draft {
    if !draft.verdict.changes() && draft.offer.is_none() {
        return draft;
    }
    let refusal = observed.and_then(|observed| observed.refusal.as_ref());
    let wish = match &draft.work {
        Some(Work::Effect(effect)) => effect.applied.digest,
        Some(Work::Read(_) | Work::Note(_)) | None => manifest.digest,
    };
    let is_final = |refusal: &&Refusal| !world.tries_again(&manifest.key, refusal.intent);
    let refusal = refusal.filter(|refusal| refusal.digest == wish).filter(is_final);
    if let Some((known, refusal)) = observed.zip(refusal) {
        let why = format!("{}; {}", refusal_words(refusal), refused::advice(known, refusal));
        let blocked = Draft::idle(Verdict::Blocked, Reason::Refused(why));
        return Draft { changes: draft.changes, ..blocked };
    }
    let waits: Vec<Key> = needs(manifest).into_iter().filter(|key| !cx.view.ready(key)).collect();
    if waits.is_empty() {
        return draft;
    }
    Draft { reason: Reason::WaitsFor(waits), work: None, offer: None, ..draft }
}

/// Formats the service's words of a refusal.
pub(super) fn refusal_words(refusal: &Refusal) -> String {
    format!("{} (HTTP {})", refusal.problem.words(), refusal.status)
}
