//! Step of a resource whose remote object is created once and then changed in place.
//!
//! A reference to a target that was moved (`reckon.dev/moved-from`) is no change.

use serde_json::Value;

use crate::base::id::{Name, RemoteId};
use crate::effects::core::context::EffectContext;
use crate::kinds::planning::diff::{changes, mutability_of, pointer};
use crate::kinds::planning::step::{StepCx, StepDecision, effect_context, merchant_of, unsuitable};
use crate::kinds::schema::kind::{Mutability, SpecField};
use crate::kinds::schema::text::resolve_reference;
use crate::kinds::secrets::redact;
use crate::model::change::PlannedAction;
use crate::model::effect::{Effect, MoneyMove, StepWork};
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::drift::{Drift, FieldChange, vanished_reason};
use crate::model::state::observed::Observed;

/// Returns the effect that changes these fields of a remote object, or the reason why none can.
pub type ChangeEffect<'a> =
    &'a dyn Fn(EffectContext, &RemoteId, &[FieldChange]) -> Result<Effect, Reason>;

#[derive(derive_more::Debug)]
#[debug("Object({money:?})")]
pub struct ObjectEffects<'a> {
    pub create: &'a dyn Fn(EffectContext) -> Result<Effect, Reason>,
    pub change: ChangeEffect<'a>,
    /// The money that its creation sets in motion.
    pub money: Vec<MoneyMove>,
    /// Returns the reason why an existing object is not ready, if it is not.
    pub unready: &'a dyn Fn(&Observed) -> Option<Reason>,
}

/// Computes the step of a resource whose remote object is created once and then changed in place.
pub fn plan_object(
    cx: &StepCx<'_>,
    fields: &'static [SpecField],
    manifest: &Manifest,
    have: Option<&Observed>,
    kind: &ObjectEffects<'_>,
) -> StepDecision {
    let Some(merchant) = merchant_of(manifest) else {
        return StepDecision::blocked(unsuitable("the document names no merchant"));
    };
    let made = have.filter(|have| exists_in_generation(manifest, have));
    let before = made.and_then(|have| have.applied.as_ref()).map(|applied| &applied.spec);
    let after = redact(fields, &manifest.spec, cx.digest_key);
    let after = with_former_references(cx, manifest, made, after);
    let changes = changes(before, &after, fields);
    let context = || effect_context(cx, manifest, &merchant, &after);
    match made {
        None => {
            let exists = have.is_some_and(|have| have.exists);
            let reason = if exists { Reason::Replaced } else { Reason::NotCreated };
            let there = import_required(manifest, have);
            let effect = context().and_then(|new| there.map_or_else(|| (kind.create)(new), Err));
            let (reason, work) = work_or_reason(effect, reason);
            let verdict = verdict_of(&reason, PlannedAction::Create);
            let money = kind.money.clone();
            StepDecision { changes, money, work, ..StepDecision::idle(verdict, reason) }
        }
        Some(have) if vanished_reason(have).is_some() => {
            let why = vanished_reason(have).unwrap_or_default().to_owned();
            StepDecision::blocked(Reason::Vanished(why)).with_changes(changes)
        }
        Some(have) if changes.is_empty() => unchanged_step(have, &context, manifest, kind),
        Some(have) => {
            let draft = changed_step(have, context(), changes, fields, kind);
            with_drift(have, manifest, draft)
        }
    }
}

/// Blocks a creation if the object exists already and only needs an import.
fn import_required(manifest: &Manifest, have: Option<&Observed>) -> Option<Reason> {
    let id = manifest.annotations.adopts.as_ref()?;
    let unknown = !have.is_some_and(|have| have.exists);
    let name = manifest.key.short();
    unknown.then(|| {
        Reason::Unsuitable(format!(
            "the object exists at the service as {id} (reckon.dev/adopts) and is not created: run `reckon import \
             {name} {id}` to adopt it"
        ))
    })
}

/// Marks a difference that another party made as drift. One that returns repeatedly is left alone.
fn with_drift(have: &Observed, manifest: &Manifest, draft: StepDecision) -> StepDecision {
    let known = Drift::of(have).filter(|known| known.digest == manifest.digest);
    let Some(known) = known.filter(|_| draft.verdict == PlannedAction::Update) else {
        return draft;
    };
    let paths = || draft.changes.iter().map(|change| change.path.as_str());
    let returning = known.often_returned(paths());
    if !returning.is_empty() {
        return StepDecision::blocked(Reason::DriftReturns(returning)).with_changes(draft.changes);
    }
    let drifted: Vec<String> =
        paths().filter(|path| known.times.contains_key(*path)).map(str::to_owned).collect();
    if drifted.is_empty() || !matches!(draft.reason, Reason::Changed | Reason::Renewed) {
        return draft;
    }
    StepDecision { reason: Reason::Drifted(drifted), ..draft }
}

/// Returns the verdict for a reason: a waiting creation is still a creation, unless it waits for a
/// payer; an impossible one is blocked.
fn verdict_of(reason: &Reason, verdict: PlannedAction) -> PlannedAction {
    if matches!(reason, Reason::AwaitsIntake(_)) {
        return PlannedAction::Wait;
    }
    let blocks =
        matches!(reason, Reason::Unsuitable(_) | Reason::DueToday(_) | Reason::OtherMode(_));
    if blocks || reason.depends_on_accounts() { PlannedAction::Blocked } else { verdict }
}

/// Returns the work that can be done now, or the reason why none can.
fn work_or_reason(effect: Result<Effect, Reason>, reason: Reason) -> (Reason, Option<StepWork>) {
    match effect {
        Ok(effect) => (reason, Some(StepWork::Effect(effect))),
        Err(missing) => (missing, None),
    }
}

/// Computes the step without a difference. If the document itself changed all the same (a policy, a
/// comment in a label), the new one is noted without any call.
fn unchanged_step(
    have: &Observed,
    context: &dyn Fn() -> Result<EffectContext, Reason>,
    manifest: &Manifest,
    kind: &ObjectEffects<'_>,
) -> StepDecision {
    let known = have.applied.as_ref().is_some_and(|applied| {
        applied.digest == manifest.digest && applied.deletion == manifest.annotations.deletion
    });
    let new = if known { None } else { context().ok() };
    let work = new.map(|new| StepWork::Record(new.applied));
    let unready = (kind.unready)(have);
    let ready = unready.is_none();
    let reason = unready.unwrap_or(Reason::Settled);
    StepDecision { ready, work, ..StepDecision::idle(PlannedAction::Settled, reason) }
}

/// Computes the step with differences: an unchangeable field blocks it, others are sent together.
fn changed_step(
    have: &Observed,
    context: Result<EffectContext, Reason>,
    changes: Vec<FieldChange>,
    fields: &'static [SpecField],
    kind: &ObjectEffects<'_>,
) -> StepDecision {
    let is_fixed = |path: &str| mutability_of(fields, path) == Mutability::Immutable;
    let fixed: Vec<String> = paths_of(&changes).filter(|path| is_fixed(path)).collect();
    if !fixed.is_empty() {
        let ready = (kind.unready)(have).is_none();
        return StepDecision {
            changes,
            ready,
            ..StepDecision::blocked(Reason::CannotChange(fixed))
        };
    }
    let Some(target) = have.remote_id.clone() else {
        let why = "the id of the object at the service is unknown, so it cannot be changed";
        return StepDecision::blocked(unsuitable(why)).with_changes(changes);
    };
    let effect = context.and_then(|new| (kind.change)(new, &target, &changes));
    let renewed = needs_token(fields, &changes);
    let (reason, work) =
        work_or_reason(effect, if renewed { Reason::Renewed } else { Reason::Changed });
    let verdict = verdict_of(&reason, PlannedAction::Update);
    StepDecision { changes, work, ..StepDecision::idle(verdict, reason) }
}

fn paths_of(changes: &[FieldChange]) -> impl Iterator<Item = String> {
    changes.iter().map(|change| change.path.clone())
}

/// Refuses every change, for an object that the service can never change.
pub fn refuse_change(
    _: EffectContext,
    _: &RemoteId,
    changes: &[FieldChange],
) -> Result<Effect, Reason> {
    Err(Reason::CannotChange(paths_of(changes).collect()))
}

pub fn needs_token(fields: &[SpecField], changes: &[FieldChange]) -> bool {
    changes.iter().any(|change| mutability_of(fields, &change.path) == Mutability::ReplaceByToken)
}

/// Returns whether an object exists that is not older than the document's generation.
pub(crate) fn exists_in_generation(manifest: &Manifest, have: &Observed) -> bool {
    let generation = have.applied.as_ref().map_or(0, |applied| applied.generation);
    have.exists && generation >= manifest.annotations.generation
}

/// Returns the desired spec; a reference of the same meaning is written as in the applied one.
pub(crate) fn with_former_references(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    mut after: Value,
) -> Value {
    let before = have.and_then(|have| have.applied.as_ref()).map(|applied| &applied.spec);
    let (Some(before), Some(have)) = (before, have) else { return after };
    let former = have.former.iter().map(|name| &name.namespace);
    let namespaces: Vec<_> = former.chain([&manifest.key.namespace]).collect();
    for reference in &manifest.references {
        let Some(path) = reference.path.strip_prefix("spec.") else { continue };
        let place = pointer(path);
        let (Some(old), Some(new)) =
            (before.pointer(&place).and_then(Value::as_str), after.pointer_mut(&place))
        else {
            continue;
        };
        if new.as_str().is_none_or(|new| new == old) {
            continue;
        }
        let kind = reference.key.kind.as_str();
        let known = cx.view.observed_state(&reference.key);
        let was = |namespace: &&Name| {
            let name = resolve_reference(kind, old, namespace).ok();
            name.zip(known.as_ref()).is_some_and(|(name, known)| known.former.contains(&name))
        };
        if namespaces.iter().any(was) {
            *new = Value::from(old);
        }
    }
    after
}
