//! Missing documents: which objects lost their document, the order of their removal, which new
//! documents look renamed, and which records that requires.
//!
//! The planner updates this state resource by resource. The guards judge all missing documents
//! together, and only after a change; a tree without missing documents costs nothing.
//!
//! Two documents with the same fingerprint, the content apart from the name, may be one that was
//! renamed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::base::hash::{Digest, canonical, sha256};
use crate::base::id::{Key, Kind, Mode};
use crate::kinds::planning::step::{
    MERCHANT, StepCx, current_key, deletion_of, merchant_of, mode_of,
};
use crate::kinds::register;
use crate::kinds::secrets::redact;
use crate::model::change::GuardTripped;
use crate::model::manifest::{Manifest, PackedManifest};
use crate::model::state::observed::Observed;
use crate::plan::state_view::needs;
use crate::policy::prune::{
    DocumentCounts, PruneGuards, RenameCandidate, check_removals, probable_renames, rename_trip,
};

/// An object of the service whose document is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OrphanObject {
    merchant: Key,
    is_removal: bool,
    allowed: bool,
    /// True if the object needs a mark and has none yet: one that stays, or a live one.
    unmarked: bool,
    /// Resources that the object uses; they are removed after it.
    dependencies: Vec<Key>,
    fingerprint: Fingerprint,
}

#[derive(Debug, Default)]
pub(crate) struct PruneState {
    documents: DocumentCounts,
    orphans: BTreeMap<Key, OrphanObject>,
    /// Number of objects that are removed with their documents.
    removals: usize,
    /// Objects that need a mark and have none yet.
    unmarked: BTreeSet<Key>,
    /// Number of objects without document, by kind and content.
    contents: BTreeMap<(Kind, Fingerprint), usize>,
    /// New documents that have the essence of an object without document, and whether they move
    /// money.
    new_documents: BTreeMap<Key, (Fingerprint, bool)>,
    holders: BTreeMap<Key, BTreeSet<Key>>,
    /// Documents that are back although their absence was recorded.
    pub(crate) returned: BTreeSet<Key>,
    /// Old names, and the documents that claim to have been moved from them.
    claims: BTreeMap<Key, BTreeSet<Key>>,
    claimed_by_document: BTreeMap<Key, Key>,
    pub(crate) tripped_guards: BTreeMap<Key, GuardTripped>,
    /// New documents, each with the object without document that has the same essence.
    pub(crate) twins: BTreeMap<Key, Key>,
    changed: bool,
    /// Set when an object lost its document, so that its twin may be among all documents.
    pub(crate) search: bool,
    dirty: BTreeSet<Key>,
}

impl PruneState {
    /// Notes a document, or its end; `before` holds its former references.
    pub(crate) fn note_document(
        &mut self,
        key: &Key,
        before: Option<&[Key]>,
        after: Option<&PackedManifest>,
    ) {
        let merchant_in = |needs: &[Key]| {
            let merchant = needs.iter().find(|need| need.kind.as_str() == MERCHANT).cloned();
            if key.kind.as_str() == MERCHANT { Some(key.clone()) } else { merchant }
        };
        self.changed |= before.is_some() != after.is_some() && self.removals > 0;
        if let Some(needs) = before {
            self.documents.remove(&key.kind, merchant_in(needs).as_ref());
        }
        if let Some(manifest) = after {
            let merchant = merchant_of(manifest).or_else(|| merchant_in(&needs(manifest)));
            self.documents.add(&key.kind, merchant.as_ref());
        }
        self.note_claim(key, after.and_then(|manifest| manifest.annotations.moved_from.clone()));
    }

    fn note_claim(&mut self, key: &Key, from: Option<Key>) {
        let before = match &from {
            Some(from) => self.claimed_by_document.insert(key.clone(), from.clone()),
            None => self.claimed_by_document.remove(key),
        };
        if before == from {
            return;
        }
        for old in before.iter().chain(&from) {
            self.dirty.insert(old.clone());
            self.dirty.extend(self.claims.get(old).into_iter().flatten().cloned());
        }
        if let Some(claims) = before.and_then(|old| self.claims.get_mut(&old)) {
            claims.remove(key);
        }
        if let Some(from) = from {
            self.claims.entry(from).or_default().insert(key.clone());
        }
    }

    /// Notes the observed state of a resource, once its step was computed. `moves` is true if the
    /// step moves money.
    pub(crate) fn note_observed(
        &mut self,
        cx: &StepCx<'_>,
        key: &Key,
        document: Option<&PackedManifest>,
        known: Option<&Observed>,
        moves: bool,
    ) {
        let there = known.filter(|known| known.exists);
        let is_back = there.filter(|_| document.is_some());
        let is_back = is_back.is_some_and(|known| known.missing_document.is_some());
        set_member(&mut self.returned, key, is_back);
        let gone = there.filter(|_| document.is_none() && !self.is_claimed(key));
        self.set_orphan(key, gone.map(|known| orphan_of(cx, key, known)));
        let missing = known.and_then(|known| known.missing_document.as_ref());
        let allowed = missing.is_some_and(|one| one.allowed.is_some());
        let new = document.filter(|_| there.is_none() && !allowed && !self.orphans.is_empty());
        let older = self.new_documents.get(key).copied();
        // A blocked twin moves no money, so the earlier finding counts.
        let seen = |one: &Fingerprint| older.is_some_and(|(same, moved)| same == *one && moved);
        let fresh = new.and_then(|manifest| self.new_fingerprint(cx, manifest));
        let fresh = fresh.map(|one| (one, moves || seen(&one)));
        let before = match fresh {
            Some(fresh) => self.new_documents.insert(key.clone(), fresh),
            None => self.new_documents.remove(key),
        };
        self.changed |= before != fresh;
    }

    /// Returns the essence of a new document, if an object without document has the same.
    fn new_fingerprint(&self, cx: &StepCx<'_>, manifest: &PackedManifest) -> Option<Fingerprint> {
        let kind = &manifest.key.kind;
        let mut same_kind = self.contents.range((kind.clone(), None)..);
        if manifest.annotations.moved_from.is_some()
            || same_kind.next().is_none_or(|((first, _), _)| first != kind)
        {
            return None;
        }
        let essence = of_manifest(&manifest.unpack(), cx.digest_key)?;
        self.contents.contains_key(&(kind.clone(), essence)).then_some(essence)
    }

    fn set_orphan(&mut self, key: &Key, gone: Option<OrphanObject>) {
        if self.orphans.get(key) == gone.as_ref() {
            return;
        }
        self.changed = true;
        self.search |= gone.is_some() && !self.orphans.contains_key(key);
        let before = self.orphans.remove(key);
        self.count_orphan(key, before.as_ref(), gone.as_ref());
        let released = before.iter().filter(|gone| gone.is_removal);
        for held in released.flat_map(|gone| &gone.dependencies) {
            if let Some(holders) = self.holders.get_mut(held) {
                holders.remove(key);
            }
            self.dirty.insert(held.clone());
        }
        let Some(gone) = gone else { return };
        for held in gone.dependencies.iter().filter(|_| gone.is_removal) {
            self.holders.entry(held.clone()).or_default().insert(key.clone());
            self.dirty.insert(held.clone());
        }
        self.orphans.insert(key.clone(), gone);
    }

    fn count_orphan(
        &mut self,
        key: &Key,
        before: Option<&OrphanObject>,
        after: Option<&OrphanObject>,
    ) {
        let content = |gone: &OrphanObject| (key.kind.clone(), gone.fingerprint);
        if let Some(gone) = before {
            self.removals = self.removals.saturating_sub(usize::from(gone.is_removal));
            if let Entry::Occupied(mut entry) = self.contents.entry(content(gone)) {
                *entry.get_mut() = entry.get().saturating_sub(1);
                if *entry.get() == 0 {
                    entry.remove();
                }
            }
        }
        if let Some(gone) = after {
            self.removals = self.removals.saturating_add(usize::from(gone.is_removal));
            let count = self.contents.entry(content(gone)).or_default();
            *count = count.saturating_add(1);
        }
        let is_unmarked = after.is_some_and(|gone| gone.unmarked);
        set_member(&mut self.unmarked, key, is_unmarked);
    }

    /// Runs the guards again after a change; returns the steps to recompute.
    pub(crate) fn update(&mut self, prune: &PruneGuards) -> BTreeSet<Key> {
        if std::mem::take(&mut self.changed) {
            self.run_guards(prune);
        }
        std::mem::take(&mut self.dirty)
    }

    fn run_guards(&mut self, prune: &PruneGuards) {
        let going = self.orphans.iter().filter(|(_, gone)| gone.is_removal);
        let lost = self.orphans.iter().filter(|(_, gone)| !gone.is_removal && gone.unmarked);
        let mut trips = check_removals(
            prune,
            &self.documents,
            going.map(|(key, gone)| (key, &gone.merchant)),
            lost.map(|(key, gone)| (key, &gone.merchant)),
        );
        let pairs = probable_renames(prune, self.pairs());
        for twin in pairs.iter().filter(|twin| self.is_to_be_removed(&twin.old)) {
            trips.insert(twin.old.clone(), rename_trip(prune, twin, pairs.len()));
        }
        trips.retain(|key, _| !self.orphans.get(key).is_some_and(|gone| gone.allowed));
        let twins: BTreeMap<Key, Key> =
            pairs.into_iter().map(|twin| (twin.new, twin.old)).collect();
        self.dirty.extend(differing_keys(&self.tripped_guards, &trips));
        self.dirty.extend(differing_keys(&self.twins, &twins));
        (self.tripped_guards, self.twins) = (trips, twins);
    }

    /// Pairs each new document with an object without document that has the same essence; none
    /// twice.
    fn pairs(&self) -> Vec<RenameCandidate> {
        let mut old: BTreeMap<(&str, &Fingerprint), Vec<&Key>> = BTreeMap::new();
        for (key, gone) in self.orphans.iter().rev() {
            old.entry((key.kind.as_str(), &gone.fingerprint)).or_default().push(key);
        }
        let mut pairs = Vec::new();
        for (new, (essence, moves_money)) in &self.new_documents {
            let same = old.get_mut(&(new.kind.as_str(), essence)).and_then(Vec::pop);
            let (new, moves_money) = (new.clone(), *moves_money);
            pairs.extend(same.map(|old| RenameCandidate { old: old.clone(), new, moves_money }));
        }
        pairs
    }

    /// Returns the resources that are removed before this one.
    pub(crate) fn holders(&self, key: &Key) -> Vec<Key> {
        self.holders.get(key).into_iter().flatten().cloned().collect()
    }

    pub(crate) fn is_claimed(&self, key: &Key) -> bool {
        self.claims.get(key).is_some_and(|claims| !claims.is_empty())
    }

    pub(crate) fn claims(&self, key: &Key) -> impl Iterator<Item = &Key> {
        self.claims.get(key).into_iter().flatten()
    }

    /// Returns the objects to mark now. While a guard holds a removal, objects that stay are not
    /// marked: they were lost by the same change, and go on counting against its share.
    pub(crate) fn marks_due(&self) -> impl Iterator<Item = &Key> {
        let is_held = !self.tripped_guards.is_empty();
        self.unmarked.iter().filter(move |key| !is_held || self.is_to_be_removed(key))
    }

    /// Returns whether the document is missing and the object is removed with it.
    pub(crate) fn is_to_be_removed(&self, key: &Key) -> bool {
        self.orphans.get(key).is_some_and(|gone| gone.is_removal)
    }

    /// Returns the resources that a guard stops now, and the documents that look renamed: the scope
    /// of `--allow-prune all`.
    pub(crate) fn guarded_keys(&self) -> impl Iterator<Item = &Key> {
        self.tripped_guards.keys().chain(self.twins.keys())
    }
}

fn orphan_of(cx: &StepCx<'_>, key: &Key, known: &Observed) -> OrphanObject {
    let applied = deletion_of(known);
    let absence = known.missing_document.as_deref();
    let merchant = current_key(cx, &known.merchant);
    let live = applied.is_some() && mode_of(cx.view, &merchant) == Some(Mode::Live);
    let row = register::find(key.kind.as_str());
    let holds = applied.zip(row).map(|(applied, row)| (row.dependencies)(key, applied));
    let held = holds.into_iter().flatten().map(|held| current_key(cx, &held));
    let owner = (merchant != *key).then(|| merchant.clone());
    let applied_spec = known.applied.as_ref().map(|applied| &applied.spec);
    let is_removal = applied.is_some();
    OrphanObject {
        is_removal,
        allowed: absence.is_some_and(|absence| absence.allowed.is_some()),
        unmarked: (live || !is_removal) && absence.is_none_or(|absence| absence.marked.is_none()),
        dependencies: held.chain(owner).collect(),
        fingerprint: applied_spec.map(of_applied).unwrap_or_default(),
        merchant,
    }
}

/// Returns the time from which a live, marked object may be removed; `None` if it has no mark.
pub(crate) fn removal_due(known: &Observed, prune: &PruneGuards) -> Option<DateTime<Utc>> {
    let marked = known.missing_document.as_ref()?.marked.as_ref()?;
    let delay = chrono::TimeDelta::from_std(prune.delay.value).ok()?;
    marked.at.checked_add_signed(delay)
}

fn differing_keys<T: PartialEq>(before: &BTreeMap<Key, T>, after: &BTreeMap<Key, T>) -> Vec<Key> {
    let all: BTreeSet<&Key> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|key| before.get(*key) != after.get(*key)).cloned().collect()
}

/// Puts a key into a set, or takes it out. Returns true if that changed the set.
pub(crate) fn set_member(set: &mut BTreeSet<Key>, key: &Key, is_member: bool) -> bool {
    if is_member { set.insert(key.clone()) } else { set.remove(key) }
}

/// The fields that name resources which may have been renamed along with the document, and borrowed
/// details.
const NAMES: [&str; 3] = ["method", "contact", "method.details"];
/// The field that names the owner: it counts without its namespace.
const OWNER: &str = "merchant";

/// A digest of the content; `None` where it is unknown.
pub(crate) type Fingerprint = Option<Digest>;

pub(crate) fn of_applied(spec: &Value) -> Fingerprint {
    let mut spec = spec.clone();
    let fields = spec.as_object_mut()?;
    fields.retain(|name, _| !NAMES.contains(&name.as_str()));
    if let Some(Value::String(owner)) = fields.get_mut(OWNER)
        && let Some((_, name)) = owner.split_once('/')
    {
        *owner = name.to_owned();
    }
    Some(sha256(&canonical(&spec)))
}

pub(crate) fn of_manifest(manifest: &Manifest, digest_key: &[u8; 32]) -> Option<Fingerprint> {
    let row = register::find(manifest.key.kind.as_str())?;
    let essence = of_applied(&redact(row.fields, &manifest.spec, digest_key));
    essence.is_some().then_some(essence)
}

#[cfg(test)]
mod tests;
