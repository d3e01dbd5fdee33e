//! Reads objects back from the service, and detects drift from the applied state.
//!
//! Only fields of the document are compared; fields that the service adds are ignored. A field that
//! the service does not show is not judged.

use std::time::Duration;

use serde_json::{Value, json};

use crate::api::Call;
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::kinds::Field;
use crate::kinds::adopting::{Sketch, SketchCx};
use crate::kinds::redact::redact;
use crate::model::observed::{Applied, Observed};

/// Description of reading back the objects of a kind.
#[derive(Debug)]
pub struct ReadBack {
    /// Name of the list.
    pub list_name: &'static str,
    /// The list that shows every such object of a merchant.
    pub list: fn() -> Call,
    /// Reads one object, to confirm that it is gone.
    pub one: fn(&RemoteId) -> Call,
    /// Interval of the reads, unless the configuration sets another.
    pub every: Duration,
    /// Fields of the document that the service shows, and their places.
    pub fields: &'static [Shown],
    /// Further stored fields: fields of the object that are facts by the same name.
    pub facts: &'static [&'static str],
    /// Returns the facts of an imported object: the same as after its creation.
    pub adopted: fn(&Value) -> Value,
    /// Creates a document from an object.
    ///
    /// # Errors
    ///
    /// The reason why this is impossible.
    pub sketch: fn(&SketchCx<'_>, &Value) -> Result<Sketch, String>,
    /// Returns the reason if the object has ended, by its visible fields: it is then treated as
    /// gone.
    pub ended: fn(&Value) -> Option<String>,
}

/// Field of the document as the service shows it.
#[derive(Debug)]
pub struct Shown {
    /// Its path below `spec`.
    pub path: &'static str,
    /// Its place in the object, with dots.
    pub at: &'static str,
    pub form: Form,
}

/// Form in which the service shows a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As it was sent.
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

/// Readability of a field, which limits the claims about it (design.md part 3, Kinds without
/// read-back).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readable {
    Read,
    /// The service shows a mask or a fingerprint of it.
    Masked,
    /// The service never shows it.
    WriteOnly,
}

/// Returns the readability of a field of the document.
pub fn readable(back: Option<&ReadBack>, path: &str) -> Readable {
    let shown = back.and_then(|back| back.fields.iter().find(|field| field.path == path));
    match shown.map(|shown| shown.form) {
        Some(Form::Fingerprint) => Readable::Masked,
        Some(Form::Same | Form::Minor | Form::Year | Form::Tagged) => Readable::Read,
        None => Readable::WriteOnly,
    }
}

/// Returns the spec as the service shows it, and the paths that drifted from the applied one;
/// `None` without drift.
pub fn drifted(
    back: &ReadBack,
    fields: &[Field],
    key: &[u8; 32],
    known: &Observed,
    item: &Value,
) -> Option<(Applied, Vec<String>)> {
    let applied = known.applied.as_ref()?;
    let mut spec = applied.spec.clone();
    let mut paths = Vec::new();
    for shown in back.fields {
        let pointer = format!("/{}", shown.path.replace('.', "/"));
        let now = remote(shown, item).map(|now| private(fields, key, shown.path, now));
        let (Some(before), Some(now)) = (spec.pointer_mut(&pointer), now) else { continue };
        if shown.form == Form::Fingerprint {
            if is_another(known, item) {
                *before = now;
                paths.push(shown.path.to_owned());
            }
        } else if !alike(shown.form, before, &now) {
            *before = merged(before, now);
            paths.push(shown.path.to_owned());
        }
    }
    (!paths.is_empty()).then(|| (Applied { spec, ..applied.clone() }, paths))
}

/// Returns a field of the object in the form of a canonical spec.
pub(super) fn remote(shown: &Shown, item: &Value) -> Option<Value> {
    let value = shown.at.split('.').try_fold(item, |value, name| value.get(name))?;
    Some(match shown.form {
        Form::Same | Form::Year => value.clone(),
        Form::Minor => json!({"minor": value.as_i64()?}),
        Form::Tagged => json!(Mark::strip(value.as_str()?)),
        Form::Fingerprint => json!({"digest": value.as_str()?}),
    })
}

/// Returns a personal value as its stored digest.
pub(super) fn private(fields: &[Field], key: &[u8; 32], path: &str, value: Value) -> Value {
    let names: Vec<&str> = path.split('.').collect();
    let nested = names.iter().rev().fold(value, |value, name| json!({ *name: value }));
    let redacted = redact(fields, &nested, key);
    redacted.pointer(&format!("/{}", path.replace('.', "/"))).cloned().unwrap_or_default()
}

/// Returns whether two values mean the same.
pub(super) fn alike(form: Form, before: &Value, now: &Value) -> bool {
    match form {
        Form::Minor => before.get("minor") == now.get("minor"),
        Form::Year => {
            let year = |value: &Value| value.as_i64().and_then(|year| year.checked_rem(100));
            year(before) == year(now)
        }
        Form::Same | Form::Tagged | Form::Fingerprint => before == now || text(before) == text(now),
    }
}

/// Renders a value so that a number equals the same number as text.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Merges a shown amount with the currency that it had.
pub(super) fn merged(before: &Value, now: Value) -> Value {
    match (before.get("currency"), now.get("minor")) {
        (Some(currency), Some(minor)) => json!({"minor": minor, "currency": currency}),
        _ => now,
    }
}

/// Returns whether the masked number differs from the saved one.
fn is_another(known: &Observed, item: &Value) -> bool {
    let was = known.fact("fingerprint").as_str();
    let is = item.get("fingerprint").and_then(Value::as_str);
    was.zip(is).is_some_and(|(was, is)| was != is)
}

/// Returns the stored facts of the object that differ from the known ones.
pub fn news(back: &ReadBack, known: &Observed, item: &Value) -> Value {
    let mut news = json!({});
    for name in back.facts {
        let now = item.get(*name).cloned().unwrap_or_default();
        if known.fact(name) != &now
            && let Some(news) = news.as_object_mut()
        {
            news.insert((*name).to_owned(), now);
        }
    }
    news
}
