//! Steps of a contact: it is created once, and the service can never change it.

use super::Contact;
use crate::base::id::Key;
use crate::effects::create_contact;
use crate::kinds::step::{Draft, MERCHANT, Object, StepCx, needed, object, orphaned, reference};
use crate::kinds::{Kind, Shape};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::Reason;

fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
    let kind = Object {
        create: &|new| {
            let merchant = reference(manifest, MERCHANT).unwrap_or_else(|| manifest.key.clone());
            needed(cx, &merchant)?;
            Ok(create_contact(new, &manifest.spec))
        },
        change: &|_, _, changes| {
            Err(Reason::CannotChange(changes.iter().map(|change| change.path.clone()).collect()))
        },
        money: Vec::new(),
        unready: &|_| None,
    };
    object(cx, Contact::FIELDS, manifest, have, &kind)
}

/// Returns the step of a contact whose document was removed.
fn gone(_: &StepCx<'_>, _: &Key, _: &Observed) -> Draft {
    orphaned()
}

impl Kind for Contact {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
        step(cx, manifest, have)
    }

    fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
        gone(cx, key, have)
    }
}
