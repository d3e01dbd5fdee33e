//! Complete kind of manifest: its shape, and the steps by which the service matches it.

use chrono::NaiveDate;
use serde_json::Value;

use crate::base::id::Key;
use crate::base::money::Money;
use crate::kinds::planning::{diff, step};
use crate::kinds::remote::{import_check, readback};
use crate::kinds::schema::kind::SpecSchema;
use crate::model::effect::{Effect, RemoteReading};
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::state::health::Health;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Complete kind of manifest: its shape, and its steps.
pub trait ManifestKind: SpecSchema {
    /// True if the removal of an object has an effect on the service.
    const IS_DELETABLE: bool = false;
    /// True if documents create the objects, so that an existing object can be adopted.
    const IS_ADOPTABLE: bool = false;
    /// True if a creation cannot be proved (design.md part 3).
    const HAS_DOUBTFUL_CREATION: bool = false;
    /// The lists of the service that show objects of this kind.
    const READ_BACKS: &'static [&'static readback::ReadBack] = &[];

    fn step(
        cx: &step::StepCx<'_>,
        manifest: &Manifest,
        have: Option<&Observed>,
    ) -> step::StepDecision;
    /// Returns the step of a resource whose document was removed; by default the object stays.
    fn plan_removal(_: &step::StepCx<'_>, _: &Key, _: &Observed) -> step::StepDecision {
        step::orphan()
    }
    /// Returns the resources, beside its merchant, that an object without a document still uses:
    /// they are removed after it.
    fn dependencies(_: &Key, _: &AppliedSpec) -> Vec<Key> {
        Vec::new()
    }
    /// Returns the effect that a person may request for a resource on the service.
    fn on_demand(_: &step::StepCx<'_>, _: &Manifest, _: &Observed) -> Option<Effect> {
        None
    }

    /// Returns the description of reading an object of this spec; `None` if the service never shows
    /// it.
    fn read_back(_: &Value) -> Option<&'static readback::ReadBack> {
        None
    }

    /// Returns the state of a resource as if the service matched its document exactly.
    fn assume_applied(cx: &step::StepCx<'_>, manifest: &Manifest) -> Observed {
        diff::applied_state(Self::FIELDS, cx, manifest)
    }

    /// Returns the requirements on an object, beyond the fields of its list, for its import under
    /// this document; or the reason why none of this kind can be imported, and the alternative.
    fn import_checks(
        _: &step::StepCx<'_>,
        _: &Manifest,
    ) -> Result<Vec<import_check::ImportCheck>, &'static str> {
        Ok(Vec::new())
    }

    /// Returns the health of the object, apart from drift against its document.
    fn health(_: &step::StepCx<'_>, _: Option<&Manifest>, _: &Observed) -> Health {
        Health::healthy()
    }

    /// Warns of dates in this spec that are before this day, where its object is to be created.
    fn overdue(_: &Value, _today: NaiveDate) -> Vec<Issue> {
        Vec::new()
    }

    /// Returns the days on which money of this spec is due, from this day on: twelve months of a
    /// schedule.
    fn due_payments(_: &Value, _from: NaiveDate) -> Vec<(NaiveDate, Money)> {
        Vec::new()
    }

    /// Returns the readings, in order, of facts that may have changed at the service. The spec is
    /// its document's, or the last applied one of a removed document.
    fn refresh_reads(_: &step::StepCx<'_>, _: &Key, _: &Value, _: &Observed) -> Vec<RemoteReading> {
        Vec::new()
    }
}
