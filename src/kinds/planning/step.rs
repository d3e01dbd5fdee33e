//! The next step of one resource, with or without a document: the parts that all kinds share.
//!
//! Pure: known state is passed in as values, and the step is returned as data. A kind adds only the
//! creation, the changes and the removal of its remote object.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::base::hash::{Digest, SourceId, sha256};
use crate::base::id::{Key, Kind, Mode, RemoteId};
use crate::effects::core::context::EffectContext;
pub(crate) use crate::effects::core::expect::text;
use crate::kinds::schema::text::resolve_reference;
use crate::model::change::{PlannedAction, Replaced};
use crate::model::effect::{Effect, ExposureCounts, MoneyMove, StepWork};
use crate::model::manifest::{Deletion, Manifest, OnDoubt};
use crate::model::plan::Reason;
use crate::model::state::drift::FieldChange;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Reads of other resources that a step may make.
pub trait PlanningView {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>>;
    fn observed_state(&self, key: &Key) -> Option<Arc<Observed>>;
    fn is_ready(&self, key: &Key) -> bool;
    /// Returns the valid manifests that refer to a resource.
    fn users(&self, key: &Key) -> Vec<Key>;
    /// Returns the removable resources that still use this one: they are removed first.
    fn removable_users(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }
    /// Returns the merchant's resources with an unsettled effect, which needs its credentials.
    fn unsettled_keys(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }
}

/// Inputs of a step beside its own manifest and observation.
#[derive(Clone, Copy, derive_more::Debug)]
#[debug("StepCx({partner})")]
pub struct StepCx<'a> {
    /// `partner.name`, the first part of every source id.
    pub partner: &'a str,
    /// Key of the digests that replace private values.
    pub digest_key: &'a [u8; 32],
    pub view: &'a dyn PlanningView,
    /// `doubt.contact`: the policy of a contact that sets none itself.
    pub on_doubt: OnDoubt,
    /// Reason why live merchants are refused, if they are.
    pub live_refused: Option<&'a str>,
    pub now: DateTime<Utc>,
}

/// Part of a step that the kind decides.
#[derive(Debug)]
pub struct StepDecision {
    pub verdict: PlannedAction,
    pub reason: Reason,
    pub changes: Vec<FieldChange>,
    pub money: Vec<MoneyMove>,
    pub ready: bool,
    pub work: Option<StepWork>,
    pub on_demand: Option<Effect>,
    /// The existing object that the new one replaces, if it stays payable.
    pub replaces: Option<Box<Replaced>>,
    /// Amounts that limits count beside the money.
    pub counts: ExposureCounts,
}

impl StepDecision {
    pub fn idle(verdict: PlannedAction, reason: Reason) -> Self {
        Self {
            verdict,
            reason,
            changes: Vec::new(),
            money: Vec::new(),
            ready: false,
            work: None,
            on_demand: None,
            replaces: None,
            counts: ExposureCounts::default(),
        }
    }

    pub fn blocked(reason: Reason) -> Self {
        Self::idle(PlannedAction::Blocked, reason)
    }

    #[must_use]
    pub fn with_work(self, work: StepWork) -> Self {
        Self { work: Some(work), ..self }
    }

    #[must_use]
    pub fn with_changes(self, changes: Vec<FieldChange>) -> Self {
        Self { changes, ..self }
    }

    #[must_use]
    pub fn ready(self) -> Self {
        Self { ready: true, ..self }
    }
}

pub(crate) fn unsuitable(why: &str) -> Reason {
    Reason::Unsuitable(why.to_owned())
}

/// Returns the merchant of a manifest: itself, or its first reference of that kind.
pub fn merchant_of<S>(manifest: &Manifest<S>) -> Option<Key> {
    if manifest.key.kind.as_str() == MERCHANT {
        return Some(manifest.key.clone());
    }
    reference(manifest, MERCHANT)
}

pub const MERCHANT: &str = "Merchant";

/// Returns the mode of a merchant: from its manifest, else as last read.
pub fn mode_of(view: &dyn PlanningView, merchant: &Key) -> Option<Mode> {
    let manifest = view.manifest(merchant);
    let said = manifest.and_then(|manifest| manifest.spec.get("mode").cloned());
    let known = || view.observed_state(merchant).map(|observed| observed.fact("mode").clone());
    serde_json::from_value(said.or_else(known)?).ok()
}

/// Returns the inputs that all effects of this manifest share, once its merchant's mode is known.
pub fn effect_context(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    merchant: &Key,
    redacted: &Value,
) -> Result<EffectContext, Reason> {
    let mode =
        mode_of(cx.view, merchant).ok_or_else(|| Reason::WaitsFor(vec![merchant.clone()]))?;
    Ok(effect_context_in(cx, manifest, merchant, mode, redacted))
}

pub fn effect_context_in(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    merchant: &Key,
    mode: Mode,
    redacted: &Value,
) -> EffectContext {
    let applied = applied_spec(manifest, redacted.clone());
    let on_doubt = manifest.annotations.on_doubt.unwrap_or(cx.on_doubt);
    let new = context_of(cx, &manifest.key, merchant.clone(), mode, applied);
    EffectContext { on_doubt, ..new }
}

fn context_of(
    cx: &StepCx<'_>,
    key: &Key,
    merchant: Key,
    mode: Mode,
    applied: AppliedSpec,
) -> EffectContext {
    EffectContext {
        key: key.clone(),
        merchant,
        mode,
        source_id: source_id(cx, key, applied.generation),
        applied,
        on_doubt: cx.on_doubt,
        account: None,
        web_url: None,
    }
}

/// Returns the state on the service once it matches this manifest; `spec` is its redacted spec.
pub(crate) fn applied_spec(manifest: &Manifest, spec: Value) -> AppliedSpec {
    let Manifest { annotations, digest, .. } = manifest;
    let (generation, deletion) = (annotations.generation, annotations.deletion);
    AppliedSpec { spec, digest: *digest, generation, deletion }
}

/// Returns the name of a resource at the service: that of its first name, even after a rename.
pub fn source_id(cx: &StepCx<'_>, key: &Key, generation: u32) -> SourceId {
    let known = cx.view.observed_state(key);
    let origin = known.as_deref().and_then(Observed::first_name);
    SourceId::new(cx.partner, origin.unwrap_or(key), generation)
}

/// Returns the state of a referenced resource, once it is ready.
pub fn ready_state(cx: &StepCx<'_>, key: &Key) -> Result<Arc<Observed>, Reason> {
    let observed = cx.view.observed_state(key).filter(|_| cx.view.is_ready(key));
    observed.ok_or_else(|| Reason::WaitsFor(vec![key.clone()]))
}

/// Returns the id of a referenced resource, once it is ready and known.
pub fn ready_id(cx: &StepCx<'_>, key: &Key) -> Result<RemoteId, Reason> {
    let observed = ready_state(cx, key)?;
    observed.remote_id.clone().ok_or_else(|| {
        Reason::Unsuitable(format!("the id of {} at the service is unknown", key.short()))
    })
}

pub fn reference<S>(manifest: &Manifest<S>, kind: &str) -> Option<Key> {
    let kind = Kind::new(kind);
    manifest.references.iter().find(|one| one.key.kind == kind).map(|one| one.key.clone())
}

/// Returns the one of a merchant's accounts that a spec names by its id or its name.
pub fn find_account<'a>(list: &'a Value, wanted: &str, what: &str) -> Result<&'a Value, Reason> {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    let by_id = items.iter().find(|item| text(item, "id") == wanted);
    let mut found = items.iter().filter(|item| text(item, "name") == wanted);
    match (by_id, found.next(), found.next()) {
        (Some(item), _, _) | (None, Some(item), None) => Ok(item),
        (None, Some(_), Some(_)) => Err(Reason::AccountUnsuitable(format!(
            "the merchant has more than one {what} called {wanted:?}: write its id"
        ))),
        (None, None, _) => {
            let all: Vec<&str> = items.iter().map(|item| text(item, "name")).collect();
            let all = all.join(", ");
            let why = format!("the merchant has no {what} {wanted:?}; it has {all}");
            Err(Reason::AccountUnsuitable(why))
        }
    }
}

/// Returns the step of a resource without a document whose policy keeps the object.
pub fn orphan() -> StepDecision {
    StepDecision::idle(PlannedAction::Orphan, Reason::Orphaned).ready()
}

/// Returns the last applied state, if its document requested that the object be deleted with it.
pub fn deletion_of(have: &Observed) -> Option<&AppliedSpec> {
    have.applied.as_ref().filter(|applied| applied.deletion == Deletion::Delete)
}

/// Returns the inputs that all effects on the resource share, once its merchant is connected; else
/// the resources for which the removal waits.
pub fn removal_context(
    cx: &StepCx<'_>,
    key: &Key,
    have: &Observed,
    applied: &AppliedSpec,
) -> Result<EffectContext, Reason> {
    let merchant = current_key(cx, &have.merchant);
    let waits = || Reason::WaitsFor(vec![merchant.clone()]);
    let connected = match cx.view.manifest(&merchant) {
        Some(_) => cx.view.is_ready(&merchant),
        None if merchant == *key => have.exists,
        None => {
            let owner = cx.view.observed_state(&merchant);
            owner.is_some_and(|owner| owner.exists && owner.unauthorised.is_none())
        }
    };
    let mode = mode_of(cx.view, &merchant).filter(|_| connected).ok_or_else(waits)?;
    Ok(context_of(cx, key, merchant, mode, applied.clone()))
}

/// Returns the decision to leave the resource unchanged until then.
pub fn wait(reason: Reason) -> StepDecision {
    StepDecision::idle(PlannedAction::Wait, reason).ready()
}

pub fn current_key(cx: &StepCx<'_>, key: &Key) -> Key {
    let mut now = key.clone();
    while let Some(next) = cx.view.observed_state(&now).and_then(|known| known.moved_to.clone()) {
        if *next == *key {
            break;
        }
        now = *next;
    }
    now
}

/// Blocks a removal while `users` with a document remain. Users without a document are removed
/// first, and effects in doubt are settled first.
pub fn wait_for_users(cx: &StepCx<'_>, key: &Key) -> Option<StepDecision> {
    let users = cx.view.users(key);
    if !users.is_empty() {
        return Some(StepDecision::blocked(Reason::InUse(users)));
    }
    let mut first = cx.view.removable_users(key);
    first.extend(cx.view.unsettled_keys(key));
    (!first.is_empty()).then(|| wait(Reason::WaitsFor(first)))
}

/// Gives one step of a removal its own digest: a refusal of that step does not affect the others.
pub fn with_step_digest(mut new: EffectContext, word: &str) -> EffectContext {
    new.applied.digest = step_digest(&new.applied, word);
    new
}

pub fn step_digest(applied: &AppliedSpec, word: &str) -> Digest {
    sha256(&[applied.digest.as_bytes().as_slice(), word.as_bytes()].concat())
}

/// Returns the resource of another kind that the applied spec names in this field.
pub fn referenced_key(key: &Key, applied: &AppliedSpec, field: &str, kind: &str) -> Option<Key> {
    let text = applied.spec.get(field).and_then(Value::as_str)?;
    resolve_reference(kind, text, &key.namespace).ok()
}
