//! Register of kinds, one line each, and the decoding of a document into its kind's spec.
//!
//! This is the only part of `kinds` that knows YAML's parser. It gets each document as its own
//! slice of a file, so that one broken document does not affect its neighbours. No message that it
//! returns holds a secret or personal value.

use chrono::NaiveDate;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::base::secret::mask_digits;
use crate::kinds::adopting::Expect;
use crate::kinds::contact::Contact;
use crate::kinds::invoice::Invoice;
use crate::kinds::merchant::Merchant;
use crate::kinds::merchant_application::MerchantApplication;
use crate::kinds::readback::ReadBack;
use crate::kinds::recurring_charge::RecurringCharge;
use crate::kinds::saved_method::SavedMethod;
use crate::kinds::step::{Draft, StepCx};
use crate::kinds::{
    CheckCx, Field, Find, Kind, Misfit, Read, Shape, Sole, files, misfit, schema, secret_place,
};
use crate::model::effect::{Effect, Reading};
use crate::model::health::Health;
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::observed::{Applied, Observed};

/// One kind, without its types.
#[derive(Debug)]
pub struct KindRow {
    /// Name in YAML.
    pub name: &'static str,
    pub fields: &'static [Field],
    /// The JSON Schema of its spec, every field with its text.
    pub schema: fn() -> Value,
    /// Decodes one complete YAML document of this kind.
    ///
    /// # Errors
    ///
    /// The document does not fit the kind's shape.
    pub read: fn(yaml: &str, namespace: &Name, cx: &CheckCx) -> Result<Read, Misfit>,
    /// Compares a valid manifest of this kind with the ones that it refers to.
    pub check_links: fn(&Manifest, Find<'_>) -> Vec<Issue>,
    /// Returns the property of a manifest that only one document of a tree may have.
    pub sole: fn(&Manifest) -> Option<&'static Sole>,
    /// Returns the step of a resource that has a document.
    pub step: fn(&StepCx<'_>, &Manifest, Option<&Observed>) -> Draft,
    /// Returns the step of a resource whose document was removed.
    pub gone: fn(&StepCx<'_>, &Key, &Observed) -> Draft,
    /// Returns the resources, beside its merchant, that an object without a document still uses.
    pub holds: fn(&Key, &Applied) -> Vec<Key>,
    /// Returns the effect that a person may request for a resource on the service.
    pub offer: fn(&StepCx<'_>, &Manifest, &Observed) -> Option<Effect>,
    /// Returns the description of reading an object of this spec; `None` if the service never shows
    /// it.
    pub read_back: fn(&Value) -> Option<&'static ReadBack>,
    /// Returns the state of a resource as if the service matched its document exactly.
    pub as_said: fn(&StepCx<'_>, &Manifest) -> Observed,
    /// Returns the requirements on an object, beyond the fields of its list, for its import.
    pub adopts: fn(&StepCx<'_>, &Manifest) -> Result<Vec<Expect>, &'static str>,
    /// Returns the health of an object, apart from drift against its document.
    pub health: fn(&StepCx<'_>, Option<&Manifest>, &Observed) -> Health,
    /// Returns the days on which money of a spec is due, from a day on.
    pub dues: fn(&Value, NaiveDate) -> Vec<(NaiveDate, Money)>,
    /// Warns of dates in a spec that are before a day, where its object is to be created.
    pub overdue: fn(&Value, NaiveDate) -> Vec<Issue>,
    /// Returns the readings, in order, of facts that may have changed at the service.
    pub again: fn(&StepCx<'_>, &Key, &Value, &Observed) -> Vec<Reading>,
}

/// All kinds, each after the kinds that it refers to.
pub static KINDS: &[KindRow] = &[
    row::<MerchantApplication>(),
    row::<Merchant>(),
    row::<Contact>(),
    row::<Invoice>(),
    row::<SavedMethod>(),
    row::<RecurringCharge>(),
];

/// All lists of the service that show managed objects.
pub static READ_BACKS: [&ReadBack; 3] = [
    &crate::kinds::saved_method::CARDS,
    &crate::kinds::saved_method::BANKS,
    &crate::kinds::recurring_charge::CHARGES,
];

/// Returns the row of the kind `name`.
pub fn find(name: &str) -> Option<&'static KindRow> {
    KINDS.iter().find(|row| row.name == name)
}

const fn row<K: Kind>() -> KindRow {
    KindRow {
        name: K::NAME,
        fields: K::FIELDS,
        schema: schema::of::<K>,
        read: read::<K>,
        check_links: check_links::<K>,
        sole: K::sole,
        step: K::step,
        gone: K::gone,
        holds: K::holds,
        offer: K::offer,
        read_back: K::read_back,
        as_said: K::as_said,
        adopts: K::adopts,
        health: K::health,
        dues: K::dues,
        overdue: K::overdue,
        again: K::again,
    }
}

/// Document whose header was read before.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "S: Deserialize<'de>")]
struct Document<S> {
    #[serde(default, rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(default, rename = "kind")]
    _kind: IgnoredAny,
    #[serde(default, rename = "metadata")]
    _metadata: IgnoredAny,
    spec: S,
}

fn read<K: Shape>(yaml: &str, namespace: &Name, cx: &CheckCx) -> Result<Read, Misfit> {
    let spec = parse::<K>(yaml)?;
    let mut canonical = serde_json::to_value(&spec)
        .map_err(|error| misfit::clean(K::FIELDS, "spec", None, &error.to_string()))?;
    let mut issues = K::check(&spec, cx);
    issues.extend(secret_place::settle(K::FIELDS, &mut canonical, cx));
    let (files, troubles) = files::look(&K::files(&spec), cx.files.as_deref());
    issues.extend(troubles);
    Ok(Read {
        spec: canonical,
        files,
        references: K::references(&spec, namespace),
        issues: issues.into_iter().map(masked).collect(),
    })
}

/// Decodes a document. Tracking places costs time, so only a document that does not fit is read a
/// second time, with them.
fn parse<K: Shape>(yaml: &str) -> Result<K::Spec, Misfit> {
    if let Ok(document) = serde_yaml::from_str::<Document<K::Spec>>(yaml) {
        return Ok(document.spec);
    }
    let parser = serde_yaml::Deserializer::from_str(yaml);
    let document: Result<Document<K::Spec>, _> = serde_path_to_error::deserialize(parser);
    document.map(|document| document.spec).map_err(|error| misfit_of::<K>(yaml, &error))
}

/// Describes a decoding error. The parser reads no further than it must, so broken YAML may first
/// appear as a wrong field: it is reported as broken.
fn misfit_of<K: Shape>(
    yaml: &str,
    error: &serde_path_to_error::Error<serde_yaml::Error>,
) -> Misfit {
    if let Err(broken) = serde_yaml::from_str::<IgnoredAny>(yaml) {
        return broken_yaml(&broken);
    }
    let path = error.path().to_string();
    let location = error.inner().location();
    let mut message = error.inner().to_string();
    if let Some(location) = &location {
        let suffix = format!(" at line {} column {}", location.line(), location.column());
        message = message.strip_suffix(&suffix).unwrap_or(&message).to_owned();
    }
    let offset = location.map(|location| location.index());
    misfit::clean(K::FIELDS, &path, offset, without_path(&message, &path))
}

/// Describes broken YAML without the parser's line numbers, which count within the slice.
fn broken_yaml(error: &serde_yaml::Error) -> Misfit {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let offset = error.location().map(|location| location.index());
    misfit::clean(&[], ".", offset, message)
}

/// Strips the path of the value, or of the mapping around it, which the parser puts before its
/// message.
fn without_path<'a>(message: &'a str, path: &str) -> &'a str {
    let mut place = path;
    loop {
        let rest = message.strip_prefix(place).and_then(|rest| rest.strip_prefix(": "));
        if let Some(rest) = rest {
            return rest;
        }
        match place.rfind(['.', '[']).and_then(|at| place.get(..at)) {
            Some(above) if !above.is_empty() => place = above,
            Some(_) | None => return message,
        }
    }
}

fn check_links<K: Shape>(manifest: &Manifest, find: Find<'_>) -> Vec<Issue> {
    match K::Spec::deserialize(&manifest.spec) {
        Ok(spec) => K::check_links(&spec, manifest, find).into_iter().map(masked).collect(),
        Err(error) => {
            vec![misfit::clean(K::FIELDS, "spec", None, &error.to_string()).issue()]
        }
    }
}

/// Masks card numbers in the texts of an issue.
fn masked(mut issue: Issue) -> Issue {
    issue.message = mask_digits(&issue.message);
    issue.help = mask_digits(&issue.help);
    issue
}

#[cfg(test)]
mod canaries;
#[cfg(test)]
mod tests;
