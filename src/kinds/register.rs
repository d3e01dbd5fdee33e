//! Register of kinds, one line each, and the decoding of a document into its kind's spec.
//!
//! It gets each document as its own slice of a file, so that one broken document does not affect its
//! neighbours. No message that it returns holds a secret or personal value.

use chrono::NaiveDate;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_yaml::Value as YamlValue;

use crate::base::decode::document::decode;
use crate::base::decode::problem::DecodeProblem;
use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::base::secret::mask_digits;
use crate::kinds::contact::ContactKind;
use crate::kinds::invoice::InvoiceKind;
use crate::kinds::manifest_kind::ManifestKind;
use crate::kinds::merchant::MerchantKind;
use crate::kinds::merchant_application::MerchantApplicationKind;
use crate::kinds::planning::step::{StepCx, StepDecision};
use crate::kinds::recurring_charge::RecurringChargeKind;
use crate::kinds::remote::import_check::ImportCheck;
use crate::kinds::remote::readback::ReadBack;
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::{
    self, CheckCx, DecodeError, DecodedSpec, Find, SpecField, SpecSchema, UniqueField,
};
use crate::kinds::secrets::secret_place;
use crate::kinds::{decode_error, json_schema};
use crate::model::effect::{Effect, RemoteReading};
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::state::health::Health;
use crate::model::state::observed::{AppliedSpec, Observed};

/// One kind: the functions of [`SpecSchema`] and [`ManifestKind`], without their types.
#[derive(Debug)]
pub struct KindRow {
    /// Name in YAML.
    pub name: &'static str,
    pub fields: &'static [SpecField],
    pub is_deletable: bool,
    pub is_adoptable: bool,
    pub has_doubtful_creation: bool,
    /// The JSON Schema of its spec, every field with its text.
    pub schema: fn() -> Value,
    /// Decodes one complete YAML document of this kind.
    pub read:
        fn(yaml: &str, namespace: &Name, cx: &CheckCx) -> Result<DecodedSpec, Vec<DecodeError>>,
    /// Decodes the values of a spec; `None` where they do not fit, for reasons that
    /// [`KindRow::read`] describes.
    pub read_values: fn(spec: &YamlValue, namespace: &Name, cx: &CheckCx) -> Option<DecodedSpec>,
    pub check_links: fn(&Manifest, Find<'_>) -> Vec<Issue>,
    pub unique_field: fn(&Manifest) -> Option<&'static UniqueField>,
    pub step: fn(&StepCx<'_>, &Manifest, Option<&Observed>) -> StepDecision,
    pub plan_removal: fn(&StepCx<'_>, &Key, &Observed) -> StepDecision,
    pub dependencies: fn(&Key, &AppliedSpec) -> Vec<Key>,
    pub on_demand: fn(&StepCx<'_>, &Manifest, &Observed) -> Option<Effect>,
    pub read_backs: &'static [&'static ReadBack],
    pub read_back: fn(&Value) -> Option<&'static ReadBack>,
    pub assume_applied: fn(&StepCx<'_>, &Manifest) -> Observed,
    pub import_checks: fn(&StepCx<'_>, &Manifest) -> Result<Vec<ImportCheck>, &'static str>,
    pub health: fn(&StepCx<'_>, Option<&Manifest>, &Observed) -> Health,
    pub due_payments: fn(&Value, NaiveDate) -> Vec<(NaiveDate, Money)>,
    pub overdue: fn(&Value, NaiveDate) -> Vec<Issue>,
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

/// Returns all lists of the service that show managed objects.
pub fn read_backs() -> impl Iterator<Item = &'static ReadBack> {
    KINDS.iter().flat_map(|row| row.read_backs.iter().copied())
}

pub fn find(name: &str) -> Option<&'static KindRow> {
    KINDS.iter().find(|row| row.name == name)
}

const fn row<K: ManifestKind>() -> KindRow {
    KindRow {
        name: K::NAME,
        fields: K::FIELDS,
        is_deletable: K::IS_DELETABLE,
        is_adoptable: K::IS_ADOPTABLE,
        has_doubtful_creation: K::HAS_DOUBTFUL_CREATION,
        schema: json_schema::of::<K>,
        read: read::<K>,
        read_values: read_values::<K>,
        check_links: check_links::<K>,
        unique_field: K::unique_field,
        step: K::step,
        plan_removal: K::plan_removal,
        dependencies: K::dependencies,
        on_demand: K::on_demand,
        read_backs: K::READ_BACKS,
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
    check::<K>(&spec, namespace, cx).map_err(|error| vec![spec_error::<K>(&error)])
}

fn read_values<K: SpecSchema>(
    spec: &YamlValue,
    namespace: &Name,
    cx: &CheckCx,
) -> Option<DecodedSpec> {
    check::<K>(&K::Spec::deserialize(spec).ok()?, namespace, cx).ok()
}

/// Checks a decoded spec.
fn check<K: SpecSchema>(
    spec: &K::Spec,
    namespace: &Name,
    cx: &CheckCx,
) -> Result<DecodedSpec, serde_json::Error> {
    let mut canonical = serde_json::to_value(spec)?;
    let mut issues = K::check(spec, cx);
    issues.extend(secret_place::resolve_places(K::FIELDS, &mut canonical, cx));
    let (files, troubles) = kind::inspect_all(&K::files(spec), cx.files.as_deref());
    issues.extend(troubles);
    Ok(DecodedSpec {
        spec: canonical,
        files,
        references: K::references(spec, namespace),
        issues: issues.into_iter().map(mask_numbers).collect(),
    })
}

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
