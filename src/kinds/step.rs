//! Computes the next step of one resource: the part that all kinds share.
//!
//! Pure: known state is passed in as values, and the step is returned as data. A kind adds only the
//! creation and the changes of its remote object.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::base::hash::SourceId;
use crate::base::id::{Key, Kind, Mode, RemoteId};
use crate::effects::Obligation;
use crate::kinds::diff::changes;
use crate::kinds::redact::{field_of, redact};
use crate::kinds::renamed::as_before;
use crate::kinds::{Change, Field};
use crate::model::drift::{Drift, vanished};
use crate::model::effect::{Counts, Effect, Work};
use crate::model::manifest::{Manifest, OnDoubt};
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{FieldChange, MoneyMove, Reason, Replaced, Verdict};

/// Reads of other resources that a step may make.
pub trait View {
    /// Returns the valid manifest of a resource.
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>>;
    /// Returns the known state of a resource.
    fn observed(&self, key: &Key) -> Option<Arc<Observed>>;
    fn ready(&self, key: &Key) -> bool;
    /// Returns the valid manifests that refer to a resource.
    fn users(&self, key: &Key) -> Vec<Key>;
    /// Returns the resources without a document that will be removed and still use this one: they
    /// are removed first.
    fn holders(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }
    /// Returns the resources of this merchant with an unsettled effect: without its credentials
    /// none could be settled.
    fn unsettled(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }
}

/// Inputs of a step beside its own manifest and observation.
#[derive(Clone, Copy)]
pub struct StepCx<'a> {
    /// `partner.name`, the first part of every source id.
    pub partner: &'a str,
    /// Key of the digests that replace private values.
    pub digest_key: &'a [u8; 32],
    /// State of other resources.
    pub view: &'a dyn View,
    /// `doubt.contact`: the policy of a contact that sets none itself.
    pub on_doubt: OnDoubt,
    /// Reason why live merchants are refused, if they are.
    pub live_refused: Option<&'a str>,
    /// Present time, which decides what is due today.
    pub now: DateTime<Utc>,
}

impl std::fmt::Debug for StepCx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StepCx({})", self.partner)
    }
}

/// Part of a step that the kind decides.
#[derive(Debug)]
pub struct Draft {
    pub verdict: Verdict,
    pub reason: Reason,
    /// Differences, field by field.
    pub changes: Vec<FieldChange>,
    /// Money set in motion.
    pub money: Vec<MoneyMove>,
    pub ready: bool,
    /// Work that can be done now.
    pub work: Option<Work>,
    /// Effect that a person may request.
    pub offer: Option<Effect>,
    /// The existing object that the new one replaces, if it stays payable.
    pub replaces: Option<Box<Replaced>>,
    /// Amounts that limits count beside the money.
    pub counts: Counts,
}

impl Draft {
    /// Returns a draft without work.
    pub fn idle(verdict: Verdict, reason: Reason) -> Self {
        Self {
            verdict,
            reason,
            changes: Vec::new(),
            money: Vec::new(),
            ready: false,
            work: None,
            offer: None,
            replaces: None,
            counts: Counts::default(),
        }
    }
}

/// Returns the effect that changes these fields of a remote object.
///
/// # Errors
///
/// The reason why no effect can.
pub type ChangeOf<'a> = &'a dyn Fn(Obligation, &RemoteId, &[FieldChange]) -> Result<Effect, Reason>;

/// Creation and changes of a kind's remote object.
pub struct Object<'a> {
    /// Returns the effect that creates it.
    ///
    /// # Errors
    ///
    /// The missing prerequisite.
    pub create: &'a dyn Fn(Obligation) -> Result<Effect, Reason>,
    /// Returns the effect that changes these fields of it.
    pub change: ChangeOf<'a>,
    /// The money that its creation sets in motion.
    pub money: Vec<MoneyMove>,
    /// Returns the reason why an existing object is not ready, if it is not.
    pub unready: &'a dyn Fn(&Observed) -> Option<Reason>,
}

impl std::fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Object({:?})", self.money)
    }
}

/// Computes the step of a resource whose remote object is created once and then changed in place.
pub fn object(
    cx: &StepCx<'_>,
    fields: &'static [Field],
    manifest: &Manifest,
    have: Option<&Observed>,
    kind: &Object<'_>,
) -> Draft {
    let Some(merchant) = merchant_of(manifest) else {
        return Draft::idle(Verdict::Blocked, Reason::Unfit("it names no merchant".to_owned()));
    };
    let made =
        have.filter(|have| have.exists && generation(have) >= manifest.annotations.generation);
    let before = made.and_then(|have| have.applied.as_ref()).map(|applied| &applied.spec);
    let after = redact(fields, &manifest.spec, cx.digest_key);
    let after = as_before(cx, manifest, made, after);
    let changes = changes(before, &after, fields);
    let obligation = || obligation(cx, manifest, &merchant, &after);
    match made {
        None => {
            let reason = if have.is_some_and(|have| have.exists) {
                Reason::Replaced
            } else {
                Reason::NotCreated
            };
            let there = not_taken_over(manifest, have);
            let effect = obligation().and_then(|new| there.map_or_else(|| (kind.create)(new), Err));
            let (reason, work) = attempt(effect, reason);
            let verdict = verdict_of(&reason, Verdict::Create);
            let draft = Draft::idle(verdict, reason);
            Draft { changes, money: kind.money.clone(), work, ..draft }
        }
        Some(have) if vanished(have).is_some() => {
            let why = vanished(have).unwrap_or_default().to_owned();
            Draft { changes, ..Draft::idle(Verdict::Blocked, Reason::Vanished(why)) }
        }
        Some(have) if changes.is_empty() => settled(have, obligation(), manifest, kind),
        Some(have) => {
            let draft = changed(have, obligation(), changes, fields, kind);
            minding_drift(have, manifest, draft)
        }
    }
}

/// Blocks a creation if the object exists already and only needs an import.
fn not_taken_over(manifest: &Manifest, have: Option<&Observed>) -> Option<Reason> {
    let id = manifest.annotations.adopts.as_ref()?;
    let unknown = !have.is_some_and(|have| have.exists);
    let name = manifest.key.short();
    unknown.then(|| {
        Reason::Unfit(format!(
            "its object is on the service already, as {id} (reckon.dev/adopts), and is not made: `reckon import {name} \
             {id}` takes it over"
        ))
    })
}

/// Marks a difference as drift if another party made it. A difference that returns repeatedly is
/// left alone.
fn minding_drift(have: &Observed, manifest: &Manifest, draft: Draft) -> Draft {
    let known = Drift::of(have).filter(|known| known.digest == manifest.digest);
    let Some(known) = known.filter(|_| draft.verdict == Verdict::Update) else { return draft };
    let paths = || draft.changes.iter().map(|change| change.path.as_str());
    let returning = known.returning(paths());
    if !returning.is_empty() {
        let blocked = Draft::idle(Verdict::Blocked, Reason::DriftReturns(returning));
        return Draft { changes: draft.changes, ..blocked };
    }
    let drifted: Vec<String> =
        paths().filter(|path| known.times.contains_key(*path)).map(str::to_owned).collect();
    if drifted.is_empty() || !matches!(draft.reason, Reason::Changed | Reason::Renewed) {
        return draft;
    }
    Draft { reason: Reason::Drifted(drifted), ..draft }
}

/// Returns the verdict for a reason: a waiting creation is still a creation, unless it waits for a
/// payer; an impossible one is blocked.
fn verdict_of(reason: &Reason, verdict: Verdict) -> Verdict {
    if matches!(reason, Reason::AwaitsIntake(_)) {
        return Verdict::Wait;
    }
    let blocks = matches!(reason, Reason::Unfit(_) | Reason::DueToday(_) | Reason::OtherMode(_));
    if blocks || reason.is_about_accounts() { Verdict::Blocked } else { verdict }
}

/// Returns the work that can be done now, or the reason why none can.
fn attempt(effect: Result<Effect, Reason>, reason: Reason) -> (Reason, Option<Work>) {
    match effect {
        Ok(effect) => (reason, Some(Work::Effect(effect))),
        Err(missing) => (missing, None),
    }
}

/// Computes the step without a difference. If the document itself changed all the same (a policy, a
/// comment in a label), the new one is noted without any call.
fn settled(
    have: &Observed,
    obligation: Result<Obligation, Reason>,
    manifest: &Manifest,
    kind: &Object<'_>,
) -> Draft {
    let known = have.applied.as_ref().is_some_and(|applied| {
        applied.digest == manifest.digest && applied.deletion == manifest.annotations.deletion
    });
    let work = obligation.ok().filter(|_| !known).map(|new| Work::Note(new.applied));
    let unready = (kind.unready)(have);
    let ready = unready.is_none();
    let reason = unready.unwrap_or(Reason::InSync);
    Draft { ready, work, ..Draft::idle(Verdict::Settled, reason) }
}

/// Computes the step with differences: fields that cannot change block it, the others are sent
/// together.
fn changed(
    have: &Observed,
    obligation: Result<Obligation, Reason>,
    changes: Vec<FieldChange>,
    fields: &'static [Field],
    kind: &Object<'_>,
) -> Draft {
    let fixed: Vec<String> = changes
        .iter()
        .filter(|change| change_of(fields, &change.path) == Change::Never)
        .map(|change| change.path.clone())
        .collect();
    if !fixed.is_empty() {
        let draft = Draft::idle(Verdict::Blocked, Reason::CannotChange(fixed));
        return Draft { changes, ready: (kind.unready)(have).is_none(), ..draft };
    }
    let Some(target) = have.remote_id.clone() else {
        let why = "its id on the service is not known, so it cannot be changed".to_owned();
        return Draft { changes, ..Draft::idle(Verdict::Blocked, Reason::Unfit(why)) };
    };
    let effect = obligation.and_then(|new| (kind.change)(new, &target, &changes));
    let renewed = by_token(fields, &changes);
    let (reason, work) = attempt(effect, if renewed { Reason::Renewed } else { Reason::Changed });
    let verdict = verdict_of(&reason, Verdict::Update);
    Draft { changes, work, ..Draft::idle(verdict, reason) }
}

/// Returns whether any of these changes takes a fresh token.
pub fn by_token(fields: &[Field], changes: &[FieldChange]) -> bool {
    changes.iter().any(|change| change_of(fields, &change.path) == Change::ByToken)
}

/// Returns the type of a change at this path: the entry of the field or of its nearest ancestor.
pub fn change_of(fields: &[Field], path: &str) -> Change {
    field_of(fields, &format!("spec.{path}")).map_or(Change::Never, |field| field.change)
}

/// Returns the generation under which the object was created.
fn generation(have: &Observed) -> u32 {
    have.applied.as_ref().map_or(0, |applied| applied.generation)
}

/// Returns the merchant of a manifest: itself, or its first reference of that kind.
pub fn merchant_of<S>(manifest: &Manifest<S>) -> Option<Key> {
    if manifest.key.kind.as_str() == MERCHANT {
        return Some(manifest.key.clone());
    }
    let reference =
        |reference: &&crate::model::manifest::Reference| reference.key.kind.as_str() == MERCHANT;
    manifest.references.iter().find(reference).map(|reference| reference.key.clone())
}

/// The kind that owns credentials and a mode.
pub const MERCHANT: &str = "Merchant";

/// Returns the mode of a merchant: from its manifest, else as last read.
pub fn mode_of(view: &dyn View, merchant: &Key) -> Option<Mode> {
    let manifest = view.manifest(merchant);
    let said = manifest.and_then(|manifest| manifest.spec.get("mode").cloned());
    let known = || view.observed(merchant).map(|observed| observed.fact("mode").clone());
    serde_json::from_value(said.or_else(known)?).ok()
}

/// Returns the inputs that all effects of this manifest share, once its merchant's mode is known.
pub fn obligation(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    merchant: &Key,
    redacted: &Value,
) -> Result<Obligation, Reason> {
    let mode = mode_of(cx.view, merchant);
    let mode = mode.ok_or_else(|| Reason::WaitsFor(vec![merchant.clone()]))?;
    let annotations = &manifest.annotations;
    Ok(Obligation {
        key: manifest.key.clone(),
        merchant: merchant.clone(),
        mode,
        source_id: source_id(cx, &manifest.key, annotations.generation),
        applied: Applied {
            spec: redacted.clone(),
            digest: manifest.digest,
            generation: annotations.generation,
            deletion: annotations.deletion,
        },
        on_doubt: annotations.on_doubt.unwrap_or(cx.on_doubt),
        account: None,
        web_url: None,
    })
}

/// Returns the name of a resource at the service: that of its first name, even after a rename.
pub fn source_id(cx: &StepCx<'_>, key: &Key, generation: u32) -> SourceId {
    let known = cx.view.observed(key);
    let origin = known.as_deref().and_then(Observed::origin);
    SourceId::new(cx.partner, origin.unwrap_or(key), generation)
}

/// Returns the state of a referenced resource, once it is ready.
pub fn needed(cx: &StepCx<'_>, key: &Key) -> Result<Arc<Observed>, Reason> {
    let observed = cx.view.observed(key).filter(|_| cx.view.ready(key));
    observed.ok_or_else(|| Reason::WaitsFor(vec![key.clone()]))
}

/// Returns the id of a referenced resource, once it is ready and known.
pub fn needed_id(cx: &StepCx<'_>, key: &Key) -> Result<RemoteId, Reason> {
    let observed = needed(cx, key)?;
    observed.remote_id.clone().ok_or_else(|| {
        Reason::Unfit(format!("the id of {} on the service is not known", key.short()))
    })
}

/// Returns the manifest's reference to this kind.
pub fn reference<S>(manifest: &Manifest<S>, kind: &str) -> Option<Key> {
    let kind = Kind::new(kind);
    manifest.references.iter().find(|one| one.key.kind == kind).map(|one| one.key.clone())
}

/// Returns the one of a merchant's accounts that a spec names by its id or its name.
pub fn named<'a>(list: &'a Value, wanted: &str, what: &str) -> Result<&'a Value, Reason> {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    let by_id = items.iter().find(|item| text(item, "id") == wanted);
    let mut found = items.iter().filter(|item| text(item, "name") == wanted);
    match (by_id, found.next(), found.next()) {
        (Some(item), _, _) | (None, Some(item), None) => Ok(item),
        (None, Some(_), Some(_)) => Err(Reason::AccountUnfit(format!(
            "the merchant has more than one {what} called {wanted:?}: name its id"
        ))),
        (None, None, _) => {
            let all: Vec<&str> = items.iter().map(|item| text(item, "name")).collect();
            let all = all.join(", ");
            let why = format!("the merchant has no {what} {wanted:?}; it has {all}");
            Err(Reason::AccountUnfit(why))
        }
    }
}

/// Returns a text field of an item; empty if missing.
pub fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the step of a resource without a document whose policy keeps the object.
pub fn orphaned() -> Draft {
    Draft { ready: true, ..Draft::idle(Verdict::Orphan, Reason::Orphaned) }
}
