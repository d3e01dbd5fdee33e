//! Reads objects back from the service, and detects drift from the applied state.
//!
//! Only fields of the document are compared; fields that the service adds are ignored. A field that
//! the service does not show is not judged.

use std::time::Duration;

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::effects::core::context::set_field;
use crate::kinds::planning::diff::pointer;
use crate::kinds::schema::kind::SpecField;
use crate::kinds::secrets::redact;
use crate::model::state::observed::{AppliedSpec, Observed};

#[derive(Debug)]
pub struct ReadBack {
    pub list_name: &'static str,
    /// The list that shows every such object of a merchant.
    pub list: fn() -> Call,
    /// Reads one object, to confirm that it is gone.
    pub one: fn(&RemoteId) -> Call,
    /// Interval of the reads, unless the configuration sets another.
    pub interval: Duration,
    /// Fields of the document that the service shows, and their places.
    pub fields: &'static [ReadBackField],
    /// Further stored fields: fields of the object that are facts by the same name.
    pub facts: &'static [&'static str],
    /// Returns the facts of an imported object: the same as after its creation.
    pub import_facts: fn(&Value) -> Value,
    /// Creates a document from an object, or returns the reason why this is impossible.
    pub import_template: fn(&ImportTemplateCx<'_>, &Value) -> Result<ImportTemplate, String>,
    /// Returns the reason if the object has ended, by its visible fields: it then counts as gone.
    pub ended_reason: fn(&Value) -> Option<String>,
}

/// Field of the document as the service shows it.
#[derive(Debug)]
pub struct ReadBackField {
    pub path: &'static str,
    /// Its place in the object, with dots.
    pub at: &'static str,
    pub form: WireForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireForm {
    Same,
    /// An integer of minor units.
    Minor,
    /// A year of two or four digits.
    Year,
    /// A text followed by our mark.
    Tagged,
    /// Masked: its fingerprint reveals a different number.
    Fingerprint,
}

/// Returns the spec as the service shows it, and the drifted paths; `None` without drift.
pub fn detect_drift(
    back: &ReadBack,
    fields: &[SpecField],
    key: &[u8; 32],
    known: &Observed,
    item: &Value,
) -> Option<(AppliedSpec, Vec<String>)> {
    let applied = known.applied.as_ref()?;
    let mut spec = applied.spec.clone();
    let mut paths = Vec::new();
    for shown in back.fields {
        let pointer = pointer(shown.path);
        let now = shown_value(shown, item).map(|now| redact_field(fields, key, shown.path, now));
        let (Some(before), Some(now)) = (spec.pointer_mut(&pointer), now) else { continue };
        if shown.form == WireForm::Fingerprint {
            let was = known.fact("fingerprint").as_str();
            let is = item.get("fingerprint").and_then(Value::as_str);
            if was.zip(is).is_some_and(|(was, is)| was != is) {
                *before = now;
                paths.push(shown.path.to_owned());
            }
        } else if !is_same(shown.form, before, &now) {
            *before = with_currency(before, now);
            paths.push(shown.path.to_owned());
        }
    }
    (!paths.is_empty()).then(|| (AppliedSpec { spec, ..applied.clone() }, paths))
}

/// Returns a field of the object in the form of a canonical spec.
pub(crate) fn shown_value(shown: &ReadBackField, item: &Value) -> Option<Value> {
    let value = shown.at.split('.').try_fold(item, |value, name| value.get(name))?;
    Some(match shown.form {
        WireForm::Same | WireForm::Year => value.clone(),
        WireForm::Minor => json!({"minor": value.as_i64()?}),
        WireForm::Tagged => json!(Mark::strip_tag(value.as_str()?)),
        WireForm::Fingerprint => json!({"digest": value.as_str()?}),
    })
}

/// Returns a personal value as its stored digest.
pub(crate) fn redact_field(
    fields: &[SpecField],
    key: &[u8; 32],
    path: &str,
    value: Value,
) -> Value {
    let names: Vec<&str> = path.split('.').collect();
    let nested = names.iter().rev().fold(value, |value, name| json!({ *name: value }));
    let redacted = redact(fields, &nested, key);
    redacted.pointer(&pointer(path)).cloned().unwrap_or_default()
}

pub(crate) fn is_same(form: WireForm, before: &Value, now: &Value) -> bool {
    match form {
        WireForm::Minor => before.get("minor") == now.get("minor"),
        WireForm::Year => {
            let year = |value: &Value| value.as_i64().and_then(|year| year.checked_rem(100));
            year(before) == year(now)
        }
        WireForm::Same | WireForm::Tagged | WireForm::Fingerprint => {
            before == now || text(before) == text(now)
        }
    }
}

/// Renders a value so that a number equals the same number as text.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Merges a shown amount with the currency that it had.
pub(crate) fn with_currency(before: &Value, now: Value) -> Value {
    match (before.get("currency"), now.get("minor")) {
        (Some(currency), Some(minor)) => json!({"minor": minor, "currency": currency}),
        _ => now,
    }
}

/// Returns the stored facts of the object that differ from the known ones.
pub fn changed_facts(back: &ReadBack, known: &Observed, item: &Value) -> Value {
    let mut news = json!({});
    for name in back.facts {
        let now = item.get(*name).cloned().unwrap_or_default();
        if known.fact(name) != &now {
            set_field(&mut news, name, now);
        }
    }
    news
}

#[derive(Debug, Clone, PartialEq)]
pub struct ImportTemplate {
    pub kind: &'static str,
    /// Text from which its name is derived.
    pub name: String,
    pub spec: Value,
}

#[derive(Debug)]
pub struct ImportTemplateCx<'a> {
    /// The merchant, as the document refers to it.
    pub merchant: &'a str,
    /// Set if the merchant has several accounts, so that the document must name one.
    pub several_accounts: bool,
    /// The saved methods of the merchant, as the document refers to them, and their known state.
    pub methods: &'a [(String, Value)],
}
