//! Steps of a contact: it is created once, and the service can never change it.

use super::ContactKind;
use crate::base::id::Key;
use crate::effects::invoicing::contact_create::create_contact;
use crate::kinds::manifest_kind::ManifestKind;
use crate::kinds::planning::object_step::{ObjectEffects, plan_object};
use crate::kinds::planning::step::{
    MERCHANT, StepCx, StepDecision, orphan, ready_state, reference,
};
use crate::kinds::schema::kind::SpecSchema;
use crate::model::manifest::Manifest;
use crate::model::plans::plan::Reason;
use crate::model::state::observed::Observed;

fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    let kind = ObjectEffects {
        create: &|new| {
            let merchant = reference(manifest, MERCHANT).unwrap_or_else(|| manifest.key.clone());
            ready_state(cx, &merchant)?;
            Ok(create_contact(new, &manifest.spec))
        },
        change: &|_, _, changes| {
            Err(Reason::CannotChange(changes.iter().map(|change| change.path.clone()).collect()))
        },
        money: Vec::new(),
        unready: &|_| None,
    };
    plan_object(cx, ContactKind::FIELDS, manifest, have, &kind)
}

/// Returns the step of a contact whose document was removed.
fn plan_removal(_: &StepCx<'_>, _: &Key, _: &Observed) -> StepDecision {
    orphan()
}

impl ManifestKind for ContactKind {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
        step(cx, manifest, have)
    }

    fn plan_removal(cx: &StepCx<'_>, key: &Key, have: &Observed) -> StepDecision {
        plan_removal(cx, key, have)
    }
}
