//! What has to be done about one resource: the part that all kinds share.
//!
//! Pure: what is known comes in as values, what is to be done goes out as data. A kind adds only
//! how its remote object is made and changed.

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

/// What a step may look at.
pub trait View {
    /// The good manifest of a resource.
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>>;
    /// What is known of a resource.
    fn observed(&self, key: &Key) -> Option<Arc<Observed>>;
    /// Whether a resource is ready.
    fn ready(&self, key: &Key) -> bool;
    /// The good manifests that refer to a resource.
    fn users(&self, key: &Key) -> Vec<Key>;
    /// The resources without a document that are to be removed and still use it: they go first.
    fn holders(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }
    /// The resources of this merchant whose fate is not known yet: without its credentials nobody could ask.
    fn unsettled(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }
}

/// Everything a step depends on besides its own manifest and observation.
#[derive(Clone, Copy)]
pub struct StepCx<'a> {
    /// `partner.name`, the first part of every source id.
    pub partner: &'a str,
    /// The key of digests that stand for private values.
    pub digest_key: &'a [u8; 32],
    /// What is known of other resources.
    pub view: &'a dyn View,
    /// `doubt.contact`: what a contact does that says nothing itself.
    pub on_doubt: OnDoubt,
    /// Why live merchants are refused, if they are.
    pub live_refused: Option<&'a str>,
    /// The present time: what is due today depends on it.
    pub now: DateTime<Utc>,
}

impl std::fmt::Debug for StepCx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StepCx({})", self.partner)
    }
}

/// A kind's answer: the part of a step that it decides.
#[derive(Debug)]
pub struct Draft {
    /// What is done.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// Field by field.
    pub changes: Vec<FieldChange>,
    /// Money set in motion.
    pub money: Vec<MoneyMove>,
    /// Whether the resource is ready.
    pub ready: bool,
    /// What can be done now.
    pub work: Option<Work>,
    /// What someone outside may ask for.
    pub offer: Option<Effect>,
    /// What the new object would replace, where that goes on.
    pub replaces: Option<Box<Replaced>>,
    /// What limits count of it besides its money.
    pub counts: Counts,
}

impl Draft {
    /// A draft that does nothing.
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

/// The effect that changes these fields of a remote object, or why none can.
pub type ChangeOf<'a> = &'a dyn Fn(Obligation, &RemoteId, &[FieldChange]) -> Result<Effect, Reason>;

/// How a kind makes and changes its remote object.
pub struct Object<'a> {
    /// The effect that makes it, or what is missing.
    pub create: &'a dyn Fn(Obligation) -> Result<Effect, Reason>,
    /// The effect that changes these fields of it.
    pub change: ChangeOf<'a>,
    /// The money that making it sets in motion.
    pub money: Vec<MoneyMove>,
    /// Why an object that exists is not ready, if it is not.
    pub unready: &'a dyn Fn(&Observed) -> Option<Reason>,
}

impl std::fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Object({:?})", self.money)
    }
}

/// The step of a resource whose remote object is made once and then changed where it is.
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

/// Why nothing is made: the object is there already, and only has to be taken over.
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

/// A difference that somebody else made since says so; one that comes back again and again is left alone.
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

/// A waiting creation is still a creation, but for one that waits for a payer; one that cannot be is blocked.
fn verdict_of(reason: &Reason, verdict: Verdict) -> Verdict {
    if matches!(reason, Reason::AwaitsIntake(_)) {
        return Verdict::Wait;
    }
    let blocks = matches!(reason, Reason::Unfit(_) | Reason::DueToday(_) | Reason::OtherMode(_));
    if blocks || reason.is_about_accounts() { Verdict::Blocked } else { verdict }
}

/// An effect that can be done now, or why not.
fn attempt(effect: Result<Effect, Reason>, reason: Reason) -> (Reason, Option<Work>) {
    match effect {
        Ok(effect) => (reason, Some(Work::Effect(effect))),
        Err(missing) => (missing, None),
    }
}

/// Nothing differs. If the document itself changed all the same (a policy, a comment in a label),
/// that is noted without any call.
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

/// Some fields differ: those that cannot change block, the others are sent together.
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

/// Whether any of these changes takes a fresh token.
pub fn by_token(fields: &[Field], changes: &[FieldChange]) -> bool {
    changes.iter().any(|change| change_of(fields, &change.path) == Change::ByToken)
}

/// How a change of this path is made: the entry of the field or of its nearest ancestor.
pub fn change_of(fields: &[Field], path: &str) -> Change {
    field_of(fields, &format!("spec.{path}")).map_or(Change::Never, |field| field.change)
}

/// The generation under which the object was made.
fn generation(have: &Observed) -> u32 {
    have.applied.as_ref().map_or(0, |applied| applied.generation)
}

/// The merchant that a manifest names in its first reference of that kind.
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

/// The mode of a merchant: as its manifest says, else as it was when it was read.
pub fn mode_of(view: &dyn View, merchant: &Key) -> Option<Mode> {
    let manifest = view.manifest(merchant);
    let said = manifest.and_then(|manifest| manifest.spec.get("mode").cloned());
    let known = || view.observed(merchant).map(|observed| observed.fact("mode").clone());
    serde_json::from_value(said.or_else(known)?).ok()
}

/// What every effect of this manifest has in common, once its merchant's mode is known.
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

/// The name of a resource on the service: that of its first name, whatever it is called by now.
pub fn source_id(cx: &StepCx<'_>, key: &Key, generation: u32) -> SourceId {
    let known = cx.view.observed(key);
    let origin = known.as_deref().and_then(Observed::origin);
    SourceId::new(cx.partner, origin.unwrap_or(key), generation)
}

/// What is known of something referred to, once it is ready.
pub fn needed(cx: &StepCx<'_>, key: &Key) -> Result<Arc<Observed>, Reason> {
    let observed = cx.view.observed(key).filter(|_| cx.view.ready(key));
    observed.ok_or_else(|| Reason::WaitsFor(vec![key.clone()]))
}

/// The id of something referred to, once it is ready and known.
pub fn needed_id(cx: &StepCx<'_>, key: &Key) -> Result<RemoteId, Reason> {
    let observed = needed(cx, key)?;
    observed.remote_id.clone().ok_or_else(|| {
        Reason::Unfit(format!("the id of {} on the service is not known", key.short()))
    })
}

/// The manifest's reference to this kind.
pub fn reference<S>(manifest: &Manifest<S>, kind: &str) -> Option<Key> {
    let kind = Kind::new(kind);
    manifest.references.iter().find(|one| one.key.kind == kind).map(|one| one.key.clone())
}

/// The one of a merchant's accounts that a spec names by its id or its name.
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

/// A text field of an item, empty where there is none.
pub fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The resource is gone from the files and nothing is removed: what its policy says.
pub fn orphaned() -> Draft {
    Draft { ready: true, ..Draft::idle(Verdict::Orphan, Reason::Orphaned) }
}
