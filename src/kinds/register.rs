//! Register of kinds, one line each, and the decoding of a document into its kind's spec.
//!
//! This is the only part of `kinds` that knows YAML's parser. It gets each document as its own
//! slice of a file, so that one broken document does not affect its neighbours. No message that it
//! returns holds a secret or personal value.

use chrono::NaiveDate;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::invoice::shape::InvoiceKind;
use super::manifest_kind::ManifestKind;
use super::merchant::shape::MerchantKind;
use super::recurring_charge::checks::RecurringChargeKind;
use super::schema::files;
use super::schema::kind::{
    CheckCx, DecodeError, DecodedSpec, Find, SpecField, SpecSchema, UniqueField,
};
use super::{decode_error, json_schema};
use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::base::secret::mask_digits;
use crate::kinds::contact::ContactKind;
use crate::kinds::merchant_application::MerchantApplicationKind;
use crate::kinds::planning::step::{StepCx, StepDecision};
use crate::kinds::remote::import_check::ImportCheck;
use crate::kinds::remote::readback::ReadBack;
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::secrets::secret_place;
use crate::model::intents::effect::{Effect, RemoteReading};
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::state::health::Health;
use crate::model::state::observed::{AppliedSpec, Observed};

/// One kind, without its types.
#[derive(Debug)]
pub struct KindRow {
    /// Name in YAML.
    pub name: &'static str,
    pub fields: &'static [SpecField],
    /// The JSON Schema of its spec, every field with its text.
    pub schema: fn() -> Value,
    /// Decodes one complete YAML document of this kind.
    ///
    /// # Errors
    ///
    /// The document does not fit the kind's shape.
    pub read: fn(yaml: &str, namespace: &Name, cx: &CheckCx) -> Result<DecodedSpec, DecodeError>,
    /// Compares a valid manifest of this kind with the ones that it refers to.
    pub check_links: fn(&Manifest, Find<'_>) -> Vec<Issue>,
    /// Returns the property of a manifest that only one document of a tree may have.
    pub unique_field: fn(&Manifest) -> Option<&'static UniqueField>,
    /// Returns the step of a resource that has a document.
    pub step: fn(&StepCx<'_>, &Manifest, Option<&Observed>) -> StepDecision,
    /// Returns the step of a resource whose document was removed.
    pub plan_removal: fn(&StepCx<'_>, &Key, &Observed) -> StepDecision,
    /// Returns the resources, beside its merchant, that an object without a document still uses.
    pub dependencies: fn(&Key, &AppliedSpec) -> Vec<Key>,
    /// Returns the effect that a person may request for a resource on the service.
    pub on_demand: fn(&StepCx<'_>, &Manifest, &Observed) -> Option<Effect>,
    /// Returns the description of reading an object of this spec; `None` if the service never shows
    /// it.
    pub read_back: fn(&Value) -> Option<&'static ReadBack>,
    /// Returns the state of a resource as if the service matched its document exactly.
    pub assume_applied: fn(&StepCx<'_>, &Manifest) -> Observed,
    /// Returns the requirements on an object, beyond the fields of its list, for its import.
    pub import_checks: fn(&StepCx<'_>, &Manifest) -> Result<Vec<ImportCheck>, &'static str>,
    /// Returns the health of an object, apart from drift against its document.
    pub health: fn(&StepCx<'_>, Option<&Manifest>, &Observed) -> Health,
    /// Returns the days on which money of a spec is due, from a day on.
    pub due_payments: fn(&Value, NaiveDate) -> Vec<(NaiveDate, Money)>,
    /// Warns of dates in a spec that are before a day, where its object is to be created.
    pub overdue: fn(&Value, NaiveDate) -> Vec<Issue>,
    /// Returns the readings, in order, of facts that may have changed at the service.
    pub refresh_reads: fn(&StepCx<'_>, &Key, &Value, &Observed) -> Vec<RemoteReading>,
}

/// All kinds, each after the kinds that it refers to.
pub static KINDS: &[KindRow] = &[
    row::<MerchantApplicationKind>(),
    row::<MerchantKind>(),
    row::<ContactKind>(),
    row::<InvoiceKind>(),
    row::<SavedMethodKind>(),
    row::<RecurringChargeKind>(),
];

/// All lists of the service that show managed objects.
pub static READ_BACKS: [&ReadBack; 3] = [
    &crate::kinds::saved_method::readback::CARDS,
    &crate::kinds::saved_method::readback::BANKS,
    &super::recurring_charge::readback::CHARGES,
];

/// Returns the row of the kind `name`.
pub fn find(name: &str) -> Option<&'static KindRow> {
    KINDS.iter().find(|row| row.name == name)
}

const fn row<K: ManifestKind>() -> KindRow {
    KindRow {
        name: K::NAME,
        fields: K::FIELDS,
        schema: json_schema::of::<K>,
        read: read::<K>,
        check_links: check_links::<K>,
        unique_field: K::unique_field,
        step: K::step,
        plan_removal: K::plan_removal,
        dependencies: K::dependencies,
        on_demand: K::on_demand,
        read_back: K::read_back,
        assume_applied: K::assume_applied,
        import_checks: K::import_checks,
        health: K::health,
        due_payments: K::due_payments,
        overdue: K::overdue,
        refresh_reads: K::refresh_reads,
    }
}

/// Document whose header was read before.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "S: Deserialize<'de>")]
struct DocumentBody<S> {
    #[serde(default, rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(default, rename = "kind")]
    _kind: IgnoredAny,
    #[serde(default, rename = "metadata")]
    _metadata: IgnoredAny,
    spec: S,
}

fn read<K: SpecSchema>(
    yaml: &str,
    namespace: &Name,
    cx: &CheckCx,
) -> Result<DecodedSpec, DecodeError> {
    let spec = parse::<K>(yaml)?;
    let mut canonical = serde_json::to_value(&spec)
        .map_err(|error| decode_error::clean(K::FIELDS, "spec", None, &error.to_string()))?;
    let mut issues = K::check(&spec, cx);
    issues.extend(secret_place::resolve_places(K::FIELDS, &mut canonical, cx));
    let (files, troubles) = files::inspect_all(&K::files(&spec), cx.files.as_deref());
    issues.extend(troubles);
    Ok(DecodedSpec {
        spec: canonical,
        files,
        references: K::references(&spec, namespace),
        issues: issues.into_iter().map(mask_numbers).collect(),
    })
}

/// Decodes a document. Tracking places costs time, so only a document that does not fit is read a
/// second time, with them.
fn parse<K: SpecSchema>(yaml: &str) -> Result<K::Spec, DecodeError> {
    if let Ok(document) = serde_yaml::from_str::<DocumentBody<K::Spec>>(yaml) {
        return Ok(document.spec);
    }
    let parser = serde_yaml::Deserializer::from_str(yaml);
    let document: Result<DocumentBody<K::Spec>, _> = serde_path_to_error::deserialize(parser);
    document.map(|document| document.spec).map_err(|error| decode_error_of::<K>(yaml, &error))
}

/// Describes a decoding error. The parser reads no further than it must, so broken YAML may first
/// appear as a wrong field: it is reported as broken.
fn decode_error_of<K: SpecSchema>(
    yaml: &str,
    error: &serde_path_to_error::Error<serde_yaml::Error>,
) -> DecodeError {
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
    decode_error::clean(K::FIELDS, &path, offset, without_path(&message, &path))
}

/// Describes broken YAML without the parser's line numbers, which count within the slice.
fn broken_yaml(error: &serde_yaml::Error) -> DecodeError {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let offset = error.location().map(|location| location.index());
    decode_error::clean(&[], ".", offset, message)
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

fn check_links<K: SpecSchema>(manifest: &Manifest, find: Find<'_>) -> Vec<Issue> {
    match K::Spec::deserialize(&manifest.spec) {
        Ok(spec) => K::check_links(&spec, manifest, find).into_iter().map(mask_numbers).collect(),
        Err(error) => {
            vec![decode_error::clean(K::FIELDS, "spec", None, &error.to_string()).issue()]
        }
    }
}

/// Masks card numbers in the texts of an issue.
fn mask_numbers(mut issue: Issue) -> Issue {
    issue.message = mask_digits(&issue.message);
    issue.help = mask_digits(&issue.help);
    issue
}

#[cfg(test)]
mod canaries;
#[cfg(test)]
mod tests;
