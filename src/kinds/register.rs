//! Register of kinds, one line each, and the decoding of a document into its kind's spec.
//!
//! It gets each document as its own slice of a file, so that one broken document does not affect its
//! neighbours. No message that it returns holds a secret or personal value.

use chrono::NaiveDate;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::base::decode::document::decode;
use crate::base::decode::problem::DecodeProblem;
use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::base::secret::mask_digits;
use crate::kinds::contact::ContactKind;
use crate::kinds::invoice::shape::InvoiceKind;
use crate::kinds::manifest_kind::ManifestKind;
use crate::kinds::merchant::shape::MerchantKind;
use crate::kinds::merchant_application::MerchantApplicationKind;
use crate::kinds::planning::step::{StepCx, StepDecision};
use crate::kinds::recurring_charge::checks::RecurringChargeKind;
use crate::kinds::remote::import_check::ImportCheck;
use crate::kinds::remote::readback::ReadBack;
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::schema::kind;
use crate::kinds::schema::kind::{
    CheckCx, DecodeError, DecodedSpec, Find, SpecField, SpecSchema, UniqueField,
};
use crate::kinds::secrets::secret_place;
use crate::kinds::{decode_error, json_schema};
use crate::model::effect::{Effect, RemoteReading};
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
    pub read:
        fn(yaml: &str, namespace: &Name, cx: &CheckCx) -> Result<DecodedSpec, Vec<DecodeError>>,
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
    &crate::kinds::saved_method::step::CARDS,
    &crate::kinds::saved_method::step::BANKS,
    &crate::kinds::recurring_charge::import::CHARGES,
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

/// Document whose header was read before, with every unknown field at its top.
#[derive(Deserialize)]
#[serde(bound = "S: Deserialize<'de>")]
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
) -> Result<DecodedSpec, Vec<DecodeError>> {
    let DocumentBody { spec, .. } = decode::<DocumentBody<K::Spec>>(yaml)
        .map_err(|invalid| decode_error::decode_errors(K::FIELDS, invalid))?;
    let mut canonical =
        serde_json::to_value(&spec).map_err(|error| vec![spec_error::<K>(&error)])?;
    let mut issues = K::check(&spec, cx);
    issues.extend(secret_place::resolve_places(K::FIELDS, &mut canonical, cx));
    let (files, troubles) = kind::inspect_all(&K::files(&spec), cx.files.as_deref());
    issues.extend(troubles);
    Ok(DecodedSpec {
        spec: canonical,
        files,
        references: K::references(&spec, namespace),
        issues: issues.into_iter().map(mask_numbers).collect(),
    })
}

/// Describes an error about a whole spec.
fn spec_error<K: SpecSchema>(error: &serde_json::Error) -> DecodeError {
    decode_error::clean(K::FIELDS, "spec", DecodeProblem::Other(error.to_string()))
}

fn check_links<K: SpecSchema>(manifest: &Manifest, find: Find<'_>) -> Vec<Issue> {
    match K::Spec::deserialize(&manifest.spec) {
        Ok(spec) => K::check_links(&spec, manifest, find).into_iter().map(mask_numbers).collect(),
        Err(error) => vec![spec_error::<K>(&error).issue()],
    }
}

/// Masks card numbers in the texts of an issue.
fn mask_numbers(mut issue: Issue) -> Issue {
    issue.message = mask_digits(&issue.message);
    issue.help = mask_digits(&issue.help);
    issue
}

#[cfg(test)]
mod tests;
