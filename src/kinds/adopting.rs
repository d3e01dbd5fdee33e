//! Compares an object of the service with a document, so that the object can be imported for it.
//! Pure.
//!
//! The fields that the kind's list shows are compared one by one. A difference that can change is
//! what the next plan changes; one that can never change refuses the import. A field that the
//! service does not show is assumed to match, and is named.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::diff::{changes, flatten};
use super::readback::{Form, ReadBack, alike, merged, private, remote};
use super::step::change_of;
use super::{Change, Field};
use crate::base::hash::Mark;
use crate::base::secret::Secret;
use crate::effects::mark_of;
use crate::model::observed::{Applied, Observed};
use crate::model::plan::FieldChange;

/// Document created from an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Sketch {
    pub kind: &'static str,
    /// Text from which its name is derived.
    pub name: String,
    /// Its spec, as YAML writes it.
    pub spec: Value,
}

/// Inputs for a document created from an object.
#[derive(Debug)]
pub struct SketchCx<'a> {
    /// The merchant, as the document refers to it.
    pub merchant: &'a str,
    /// Set if the merchant has several accounts, so that the document must name one.
    pub several_accounts: bool,
    /// The saved methods of the merchant, as the document refers to them, and their known state.
    pub methods: &'a [(String, Value)],
}

/// Requirement on an object beyond the fields of its list.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    /// The field of the document, below `spec`.
    pub path: &'static str,
    /// The place in the object, as a JSON pointer.
    pub at: &'static str,
    /// The required value.
    pub want: Value,
    /// Consequence of another value.
    pub how: How,
}

/// Consequence of another value than the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It is another object: the field can never change.
    Never,
    /// The field differs: the next plan changes it.
    Otherwise,
    /// As `Otherwise`, but only the last digits are compared.
    EndsOtherwise,
    /// As `Otherwise`, until a payment was attempted; from then on the value means nothing.
    BeforeFirst,
}

/// Result of a comparison.
#[derive(Debug)]
pub struct Met {
    /// The state on the service, in the form in which reckon would have put it there.
    pub applied: Applied,
    /// Changes of the next plan.
    pub changes: Vec<FieldChange>,
    /// Fields that differ and can never change.
    pub fixed: Vec<String>,
    /// Fields of the document that the service does not show.
    pub believed: Vec<String>,
    /// Further facts about the object.
    pub facts: Value,
    /// The mark of ours that it carries.
    pub mark: Option<Mark>,
}

/// One object, and the document for which it is to be imported.
#[derive(Debug)]
pub struct Meeting<'a> {
    /// Description of the object's list.
    pub back: &'static ReadBack,
    /// The fields of its kind.
    pub fields: &'static [Field],
    /// Key of the digests that replace private values.
    pub key: &'a [u8; 32],
    /// The state if the object matched its document exactly.
    pub said: &'a Applied,
    /// Further requirements on the object.
    pub expects: &'a [Expect],
    /// The number that the document names, where available.
    pub number: Option<&'a Secret>,
    /// The object as the service shows it.
    pub item: &'a Value,
}

/// Fields that the path of the reading itself proves.
const PROVED: [&str; 2] = ["merchant", "type"];
/// A digest that is in no document (the details of the method that pays).
const DETAILS: &str = "method.details";

impl Meeting<'_> {
    /// Compares the object with the document.
    pub fn compare(&self) -> Met {
        let mut before = self.said.spec.clone();
        let (mut fixed, mut believed) = (Vec::new(), Vec::new());
        self.shown(&mut before, (&mut fixed, &mut believed));
        self.expected(&mut before, (&mut fixed, &mut believed));
        let changes = changes(Some(&before), &self.said.spec, self.fields);
        let never = changes.iter().map(|change| change.path.clone());
        fixed.extend(never.filter(|path| change_of(self.fields, path) == Change::Never));
        believed.extend(self.not_shown());
        for list in [&mut fixed, &mut believed] {
            list.sort();
            list.dedup();
        }
        Met {
            applied: Applied { spec: before, ..self.said.clone() },
            changes,
            fixed,
            believed,
            facts: (self.back.adopted)(self.item),
            mark: mark_of(self.item),
        }
    }

    /// Compares the fields that the list of the kind shows.
    fn shown(&self, before: &mut Value, (fixed, believed): (&mut Vec<String>, &mut Vec<String>)) {
        for shown in self.back.fields {
            let pointer = format!("/{}", shown.path.replace('.', "/"));
            let Some(said) = before.pointer(&pointer).cloned() else { continue };
            if shown.form == Form::Fingerprint {
                match self.same_number(shown.path) {
                    Some(true) => {}
                    Some(false) => fixed.push(shown.path.to_owned()),
                    None => believed.push(shown.path.to_owned()),
                }
                continue;
            }
            match remote(shown, self.item).filter(|now| !now.is_null()) {
                None => remove(before, &pointer),
                Some(now) => {
                    let now = private(self.fields, self.key, shown.path, now);
                    if !alike(shown.form, &said, &now) {
                        set(before, &pointer, merged(&said, now));
                    }
                }
            }
        }
    }

    /// Compares the number behind the mask with the document's; `None` if the comparison is
    /// impossible.
    fn same_number(&self, path: &str) -> Option<bool> {
        let name = path.rsplit('.').next()?;
        let shown = last_digits(self.item.get(name)?.as_str()?)?;
        let ours = last_digits(self.number?.expose())?;
        Some(shown == ours)
    }

    /// Checks the further requirements.
    fn expected(
        &self,
        before: &mut Value,
        (fixed, believed): (&mut Vec<String>, &mut Vec<String>),
    ) {
        for Expect { path, at, want, how } in self.expects {
            let now = self.item.pointer(at).filter(|now| !now.is_null());
            let attempted = self.item.get("total_occurrences").and_then(Value::as_i64) > Some(0);
            let same = match (how, now) {
                (How::BeforeFirst, _) if attempted => None,
                (How::EndsOtherwise, Some(now)) => now
                    .as_str()
                    .and_then(last_digits)
                    .map(|now| Some(now.as_str()) == want.as_str()),
                (_, now) => now.map(|now| now == want),
            };
            match (same, how) {
                (Some(true), _) => {}
                (Some(false), How::Never) => fixed.push((*path).to_owned()),
                (Some(false), How::BeforeFirst) => {
                    set(before, &pointer(path), now.cloned().unwrap_or_default());
                }
                (Some(false), How::Otherwise | How::EndsOtherwise) => {
                    set(before, &pointer(path), json!({"digest": "another"}));
                }
                (None, _) => believed.push((*path).to_owned()),
            }
        }
    }

    /// Returns the fields of the document that no comparison covers.
    fn not_shown(&self) -> Vec<String> {
        let mut leaves = BTreeMap::new();
        flatten("", &self.said.spec, &mut leaves);
        let known = |path: &str| {
            let mut all = self.back.fields.iter().map(|shown| shown.path);
            let mut more = self.expects.iter().map(|expect| expect.path);
            let covers = |one: &str| {
                let rest = path.strip_prefix(one);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            all.any(covers) || more.any(covers) || PROVED.contains(&path) || path == DETAILS
        };
        let local = |path: &str| change_of(self.fields, path) == Change::Local;
        leaves.into_keys().filter(|path| !known(path) && !local(path)).collect()
    }
}

/// Returns the state of an object of which the service shows nothing, and the fields assumed to
/// match: all of them.
pub fn unseen(said: &Observed) -> Option<(Applied, Vec<String>)> {
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

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
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
