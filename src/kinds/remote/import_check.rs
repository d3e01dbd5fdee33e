//! Compares an object of the service with a document, to import the object for it. Pure.
//!
//! The fields that the kind's list shows are compared one by one. A difference that can change is
//! what the next plan changes; one that can never change refuses the import. A field that the
//! service does not show is assumed to match, and is named.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::base::hash::Mark;
use crate::base::secret::Secret;
use crate::effects::merchants::read::mark_of;
use crate::kinds::planning::diff::{changes, flatten, mutability_of, pointer};
use crate::kinds::remote::readback::{
    ReadBack, WireForm, is_same, redact_field, shown_value, with_currency,
};
use crate::kinds::schema::kind::{Mutability, SpecField};
use crate::kinds::secrets::is_beneath;
use crate::model::state::drift::FieldChange;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Requirement on an object beyond the fields of its list.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportCheck {
    /// The field of the document, below `spec`.
    pub path: &'static str,
    /// The place in the object, as a JSON pointer.
    pub at: &'static str,
    pub expected: Value,
    pub on_mismatch: OnMismatch,
}

impl ImportCheck {
    pub(crate) fn new(
        path: &'static str,
        at: &'static str,
        expected: Value,
        on_mismatch: OnMismatch,
    ) -> Self {
        Self { path, at, expected, on_mismatch }
    }
}

/// Consequence of another value than the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnMismatch {
    /// It is another object: the field can never change.
    Reject,
    /// The field differs: the next plan changes it.
    Change,
    /// As `Change`, but only the last digits are compared.
    ChangeByLastDigits,
    /// As `Change`, until a payment was attempted; from then on the value means nothing.
    ChangeBeforeFirstPayment,
}

#[derive(Debug)]
pub struct ImportComparison {
    /// The state on the service, in the form in which reckon would have put it there.
    pub applied: AppliedSpec,
    pub changes: Vec<FieldChange>,
    /// Fields that differ and can never change.
    pub immutable: Vec<String>,
    /// Fields of the document that the service does not show.
    pub unverified: Vec<String>,
    pub facts: Value,
    /// The mark of ours that it carries.
    pub mark: Option<Mark>,
}

/// One object, and the document for which it is to be imported.
#[derive(Debug)]
pub struct ImportCandidate<'a> {
    pub read_back: &'static ReadBack,
    pub fields: &'static [SpecField],
    /// Key of the digests that replace private values.
    pub key: &'a [u8; 32],
    /// The state if the object matched its document exactly.
    pub assumed: &'a AppliedSpec,
    pub checks: &'a [ImportCheck],
    /// The number that the document names, where available.
    pub number: Option<&'a Secret>,
    pub item: &'a Value,
}

struct Findings {
    spec: Value,
    immutable: Vec<String>,
    unverified: Vec<String>,
}

/// Fields that the path of the reading itself proves.
const PROVED: [&str; 2] = ["merchant", "type"];
/// A digest that is in no document (the details of the method that pays).
const DETAILS: &str = "method.details";

impl ImportCandidate<'_> {
    pub fn compare(&self) -> ImportComparison {
        let spec = self.assumed.spec.clone();
        let mut found = Findings { spec, immutable: Vec::new(), unverified: Vec::new() };
        self.compare_listed_fields(&mut found);
        self.compare_checks(&mut found);
        let Findings { spec, mut immutable, mut unverified } = found;
        let changes = changes(Some(&spec), &self.assumed.spec, self.fields);
        let never = changes.iter().map(|change| change.path.clone());
        immutable
            .extend(never.filter(|path| mutability_of(self.fields, path) == Mutability::Immutable));
        unverified.extend(self.unverifiable_fields());
        for list in [&mut immutable, &mut unverified] {
            list.sort();
            list.dedup();
        }
        ImportComparison {
            applied: AppliedSpec { spec, ..self.assumed.clone() },
            changes,
            immutable,
            unverified,
            facts: (self.read_back.import_facts)(self.item),
            mark: mark_of(self.item),
        }
    }

    fn compare_listed_fields(&self, found: &mut Findings) {
        for shown in self.read_back.fields {
            let pointer = pointer(shown.path);
            let Some(said) = found.spec.pointer(&pointer).cloned() else { continue };
            if shown.form == WireForm::Fingerprint {
                match self.same_number(shown.path) {
                    Some(true) => {}
                    Some(false) => found.immutable.push(shown.path.to_owned()),
                    None => found.unverified.push(shown.path.to_owned()),
                }
                continue;
            }
            match shown_value(shown, self.item).filter(|now| !now.is_null()) {
                None => remove(&mut found.spec, &pointer),
                Some(now) => {
                    let now = redact_field(self.fields, self.key, shown.path, now);
                    if !is_same(shown.form, &said, &now) {
                        set(&mut found.spec, &pointer, with_currency(&said, now));
                    }
                }
            }
        }
    }

    /// Compares the number behind the mask with the document's; `None` if that is impossible.
    fn same_number(&self, path: &str) -> Option<bool> {
        let name = path.rsplit('.').next()?;
        let shown = last_digits(self.item.get(name)?.as_str()?)?;
        let ours = last_digits(self.number?.expose())?;
        Some(shown == ours)
    }

    fn compare_checks(&self, found: &mut Findings) {
        for ImportCheck { path, at, expected: want, on_mismatch: how } in self.checks {
            let now = self.item.pointer(at).filter(|now| !now.is_null());
            let attempted = self.item.get("total_occurrences").and_then(Value::as_i64) > Some(0);
            let same = match (how, now) {
                (OnMismatch::ChangeBeforeFirstPayment, _) if attempted => None,
                (OnMismatch::ChangeByLastDigits, Some(now)) => now
                    .as_str()
                    .and_then(last_digits)
                    .map(|now| Some(now.as_str()) == want.as_str()),
                (_, now) => now.map(|now| now == want),
            };
            match (same, how) {
                (Some(true), _) => {}
                (Some(false), OnMismatch::Reject) => found.immutable.push((*path).to_owned()),
                (Some(false), OnMismatch::ChangeBeforeFirstPayment) => {
                    set(&mut found.spec, &pointer(path), now.cloned().unwrap_or_default());
                }
                (Some(false), OnMismatch::Change | OnMismatch::ChangeByLastDigits) => {
                    set(&mut found.spec, &pointer(path), json!({"digest": "another"}));
                }
                (None, _) => found.unverified.push((*path).to_owned()),
            }
        }
    }

    /// Returns the fields of the document that no comparison covers.
    fn unverifiable_fields(&self) -> Vec<String> {
        let mut leaves = BTreeMap::new();
        flatten("", &self.assumed.spec, &mut leaves);
        let known = |path: &str| {
            let mut all = self.read_back.fields.iter().map(|shown| shown.path);
            let mut more = self.checks.iter().map(|expect| expect.path);
            let covers = |one: &str| path == one || is_beneath(path, one);
            all.any(covers) || more.any(covers) || PROVED.contains(&path) || path == DETAILS
        };
        let local = |path: &str| mutability_of(self.fields, path) == Mutability::LocalOnly;
        leaves.into_keys().filter(|path| !known(path) && !local(path)).collect()
    }
}

/// Returns the state of an unseen object, and the fields assumed to match: all of them.
pub fn assume_unseen(said: &Observed) -> Option<(AppliedSpec, Vec<String>)> {
    let applied = said.applied.clone()?;
    let mut leaves = BTreeMap::new();
    flatten("", &applied.spec, &mut leaves);
    let believed = leaves.into_keys().filter(|path| path != DETAILS).collect();
    Some((applied, believed))
}

/// Returns the last four digits of a number, masked or not.
fn last_digits(number: &str) -> Option<String> {
    let digits: Vec<char> = number.chars().collect();
    let tail = digits.get(digits.len().checked_sub(4)?..)?;
    tail.iter().all(char::is_ascii_digit).then(|| tail.iter().collect())
}

fn set(spec: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = spec.pointer_mut(pointer) {
        *place = value;
    }
}

fn remove(spec: &mut Value, pointer: &str) {
    let Some((above, name)) = pointer.rsplit_once('/') else { return };
    if let Some(above) = spec.pointer_mut(above).and_then(Value::as_object_mut) {
        above.remove(name);
    }
}
