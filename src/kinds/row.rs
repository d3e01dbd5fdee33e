//! Row of a kind in the register, and the decoding of a document into its kind's spec.
//!
//! The decoding gets each document as its own slice of a file, so that one broken document does not affect its
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
use crate::kinds::planning::diff::applied_state;
use crate::kinds::planning::step::{StepCx, StepDecision, orphan};
use crate::kinds::remote::import_check::ImportCheck;
use crate::kinds::remote::readback::ReadBack;
use crate::kinds::schema::kind::{
    self, CheckCx, DecodeError, DecodedSpec, Examples, SpecField, SpecSchema, UniqueField,
};
use crate::kinds::secrets::secret_place;
use crate::kinds::{decode_error, json_schema};
use crate::model::effect::{Effect, RemoteReading};
use crate::model::issue::Issue;
use crate::model::manifest::{Desired, Manifest, PackedManifest};
use crate::model::state::health::Health;
use crate::model::state::observed::{AppliedSpec, Observed};

/// One kind: its YAML shape, as in [`SpecSchema`], and the steps by which the service matches it.
#[derive(Debug)]
pub struct KindRow {
    pub name: &'static str,
    pub fields: &'static [SpecField],
    /// The values of a new document.
    pub examples: Examples,
    /// True if the removal of an object has an effect on the service.
    pub is_deletable: bool,
    /// True if documents create the objects, so that an existing object can be adopted.
    pub is_adoptable: bool,
    /// True if a creation cannot be proved (design.md part 3).
    pub has_doubtful_creation: bool,
    /// The JSON Schema of its spec, every field with its text.
    pub schema: fn() -> Value,
    pub read:
        fn(yaml: &str, namespace: &Name, cx: &CheckCx) -> Result<DecodedSpec, Vec<DecodeError>>,
    /// Decodes the values of a spec; `None` where [`KindRow::read`] describes a misfit.
    pub read_values: fn(spec: &YamlValue, namespace: &Name, cx: &CheckCx) -> Option<DecodedSpec>,
    pub check_links: fn(&PackedManifest, &Desired) -> Vec<Issue>,
    pub unique_field: fn(&Manifest) -> Option<&'static UniqueField>,
    pub step: PlanStep,
    /// Returns the step of a resource whose document was removed; by default the object stays.
    pub plan_removal: fn(&StepCx<'_>, &Key, &Observed) -> StepDecision,
    /// Returns the resources, beside its merchant, that an object without a document still uses:
    /// they are removed after it.
    pub dependencies: fn(&Key, &AppliedSpec) -> Vec<Key>,
    /// Returns the effect that a person may request for a resource on the service.
    pub on_demand: fn(&StepCx<'_>, &Manifest, &Observed) -> Option<Effect>,
    /// The lists of the service that show objects of this kind.
    pub read_backs: &'static [&'static ReadBack],
    /// Returns the reading of an object of this spec; `None` if the service never shows it.
    pub read_back: fn(&Value) -> Option<&'static ReadBack>,
    /// Returns the state of a resource as if the service matched its document exactly.
    pub assume_applied: fn(&StepCx<'_>, &Manifest) -> Observed,
    /// Returns the requirements on an object, beyond the fields of its list, for its import under
    /// this document; or the reason why none of this kind can be imported, and the alternative.
    pub import_checks: fn(&StepCx<'_>, &Manifest) -> Result<Vec<ImportCheck>, &'static str>,
    /// Returns the health of the object, apart from drift against its document.
    pub health: fn(&StepCx<'_>, Option<&Manifest>, &Observed) -> Health,
    /// Returns the days on which money is due, from one on: twelve months of a schedule.
    pub due_payments: fn(&Value, from: NaiveDate) -> Vec<(NaiveDate, Money)>,
    /// Returns the money of one payment of a spec; `None` for kinds that collect no money.
    pub amount: Option<fn(&Value) -> Option<Money>>,
    /// Warns of dates in this spec that are before a day, where its object is to be created.
    pub overdue: fn(&Value, today: NaiveDate) -> Vec<Issue>,
    /// Returns the readings, in order, of facts that may have changed at the service. The spec is
    /// its document's, or the last applied one of a removed document.
    pub refresh_reads: fn(&StepCx<'_>, &Key, &Value, &Observed) -> Vec<RemoteReading>,
}

type PlanStep = fn(&StepCx<'_>, &Manifest, Option<&Observed>) -> StepDecision;

impl KindRow {
    /// Returns a row with this step alone: without removals, adoption, read-back and dates.
    pub(crate) const fn new<K: SpecSchema>(step: PlanStep) -> Self {
        Self {
            name: K::NAME,
            fields: K::FIELDS,
            examples: K::EXAMPLES,
            is_deletable: false,
            is_adoptable: false,
            has_doubtful_creation: false,
            schema: json_schema::of::<K>,
            read: read::<K>,
            read_values: read_values::<K>,
            check_links: check_links::<K>,
            unique_field: K::unique_field,
            step,
            plan_removal: |_, _, _| orphan(),
            dependencies: |_, _| Vec::new(),
            on_demand: |_, _, _| None,
            read_backs: &[],
            read_back: |_| None,
            assume_applied: |cx, manifest| applied_state(K::FIELDS, cx, manifest),
            import_checks: |_, _| Ok(Vec::new()),
            health: |_, _, _| Health::healthy(),
            due_payments: |_, _| Vec::new(),
            amount: None,
            overdue: |_, _| Vec::new(),
            refresh_reads: |_, _, _, _| Vec::new(),
        }
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

fn check_links<K: SpecSchema>(manifest: &PackedManifest, desired: &Desired) -> Vec<Issue> {
    match K::check_links(manifest, desired) {
        Ok(issues) => issues.into_iter().map(mask_numbers).collect(),
        Err(error) => vec![spec_error::<K>(&error).issue()],
    }
}

fn mask_numbers(mut issue: Issue) -> Issue {
    issue.message = mask_digits(&issue.message);
    issue.help = mask_digits(&issue.help);
    issue
}
