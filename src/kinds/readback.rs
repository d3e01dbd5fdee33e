//! What the service shows of an object, and whether it is still what was put there.
//!
//! Only fields of the document are compared: what the service adds is its own matter. A field that the service
//! does not show is not judged.

use std::time::Duration;

use serde_json::{Value, json};

use crate::api::Call;
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::kinds::Field;
use crate::kinds::adopting::{Sketch, SketchCx};
use crate::kinds::redact::redact;
use crate::model::observed::{Applied, Observed};

/// How an object of a kind is read back.
#[derive(Debug)]
pub struct ReadBack {
    /// What the list is called.
    pub list_name: &'static str,
    /// The list that shows every such object of a merchant.
    pub list: fn() -> Call,
    /// The one object, to be sure that it is gone.
    pub one: fn(&RemoteId) -> Call,
    /// How often it is looked at, unless the configuration says otherwise.
    pub every: Duration,
    /// Which fields of the document show, and where.
    pub fields: &'static [Shown],
    /// What else is kept of it: fields of the object that are facts by the same name.
    pub facts: &'static [&'static str],
    /// What is known of an object that is taken over: the same facts as after making it.
    pub adopted: fn(&Value) -> Value,
    /// A document made of an object. Errors: why none can be.
    pub sketch: fn(&SketchCx<'_>, &Value) -> Result<Sketch, String>,
    /// Whether the object has ended, by what it shows: then it is as good as gone.
    pub ended: fn(&Value) -> Option<String>,
}

/// One field of the document as the service shows it.
#[derive(Debug)]
pub struct Shown {
    /// Its path below `spec`.
    pub path: &'static str,
    /// Where it stands in the object, with dots.
    pub at: &'static str,
    /// How.
    pub form: Form,
}

/// How the service shows a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As it was sent.
    Same,
    /// An integer of minor units.
    Minor,
    /// A year of two or four digits.
    Year,
    /// A text with our mark behind it.
    Tagged,
    /// Masked: its fingerprint tells whether it is another one.
    Fingerprint,
}

/// How readable a field is: what a claim about it may say (design.md part 3, Kinds without read-back).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readable {
    /// The service shows it.
    Read,
    /// The service shows a mask or a fingerprint of it.
    Masked,
    /// The service shows it never.
    WriteOnly,
}

/// How readable a field of the document is.
pub fn readable(back: Option<&ReadBack>, path: &str) -> Readable {
    let shown = back.and_then(|back| back.fields.iter().find(|field| field.path == path));
    match shown.map(|shown| shown.form) {
        Some(Form::Fingerprint) => Readable::Masked,
        Some(Form::Same | Form::Minor | Form::Year | Form::Tagged) => Readable::Read,
        None => Readable::WriteOnly,
    }
}

/// The spec as the service shows it, and the paths that differ from what was put there; `None`: nothing does.
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

/// What the object shows of a field, in the form of a canonical spec.
pub(super) fn remote(shown: &Shown, item: &Value) -> Option<Value> {
    let value = shown.at.split('.').try_fold(item, |value, name| value.get(name))?;
    Some(match shown.form {
        Form::Same | Form::Year => value.clone(),
        Form::Minor => json!({"minor": value.as_i64()?}),
        Form::Tagged => json!(Mark::strip(value.as_str()?)),
        Form::Fingerprint => json!({"digest": value.as_str()?}),
    })
}

/// A personal value as its digest, as it is kept.
pub(super) fn private(fields: &[Field], key: &[u8; 32], path: &str, value: Value) -> Value {
    let names: Vec<&str> = path.split('.').collect();
    let nested = names.iter().rev().fold(value, |value, name| json!({ *name: value }));
    let redacted = redact(fields, &nested, key);
    redacted.pointer(&format!("/{}", path.replace('.', "/"))).cloned().unwrap_or_default()
}

/// Whether two values say the same.
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

/// A number and the same number as a text are one.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// An amount keeps the currency that it had.
pub(super) fn merged(before: &Value, now: Value) -> Value {
    match (before.get("currency"), now.get("minor")) {
        (Some(currency), Some(minor)) => json!({"minor": minor, "currency": currency}),
        _ => now,
    }
}

/// Whether another number stands behind the mask than the one that was saved.
fn is_another(known: &Observed, item: &Value) -> bool {
    let was = known.fact("fingerprint").as_str();
    let is = item.get("fingerprint").and_then(Value::as_str);
    was.zip(is).is_some_and(|(was, is)| was != is)
}

/// What is kept of the object and differs from what is known.
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
