//! Files of an invoice: each is uploaded under the contact and processed before the invoice names
//! it.
//!
//! An upload serves every invoice of the same contact that names the same content: the invoices
//! share what is known of it.

use serde_json::{Value, json};

use super::Invoice;
use crate::base::id::{Key, RemoteId};
use crate::effects::{FILE_STATE, Obligation, Uploaded, file_name, put, upload_file, uploaded};
use crate::kinds::Shape;
use crate::kinds::contact::Contact;
use crate::kinds::step::{Draft, StepCx, needed_id, reference, text};
use crate::model::effect::{Effect, Reading, Work};
use crate::model::manifest::{AttachedFile, Manifest};
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{FieldChange, Reason, Verdict};

/// Progress of the attachments of an invoice that is not created yet.
#[derive(Debug)]
pub(super) enum Attached {
    /// Each file has its id; holds the list for the invoice.
    Named(Vec<Value>),
    /// This file must be uploaded.
    Missing(AttachedFile, RemoteId, Value),
    /// This file is being processed; holds the subject of the reading.
    Processing(Value),
}

/// Returns the progress of the attachments.
///
/// # Errors
///
/// The resources for which they wait.
pub(super) fn attached(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Result<Attached, Reason> {
    let wanted = manifest.spec.get("attachments").and_then(Value::as_array);
    let mut named = Vec::new();
    for item in wanted.into_iter().flatten() {
        if item.get("file").is_none() {
            named.push(item.clone());
            continue;
        }
        let path = text(item, "file");
        let file = manifest.files.iter().find(|file| file.path == path);
        let file = file.ok_or_else(|| Reason::Unfit(format!("the file {path} is not known")))?;
        let contact = reference(manifest, Contact::NAME);
        let contact = contact.ok_or_else(|| Reason::Unfit("it names no contact".to_owned()))?;
        let contact_id = needed_id(cx, &contact)?;
        let mut about = file_name(&contact_id, file, cx.digest_key);
        match known(cx, have, &contact, &about) {
            None => return Ok(Attached::Missing(file.clone(), contact_id, about)),
            Some(Uploaded { id, processed: true }) => named.push(json!({ "id": id })),
            Some(Uploaded { id, processed: false }) => {
                put(&mut about, "id", id);
                return Ok(Attached::Processing(about));
            }
        }
    }
    Ok(Attached::Named(named))
}

/// Returns the upload of a file that this invoice, or another one of its contact, knows.
fn known(
    cx: &StepCx<'_>,
    have: Option<&Observed>,
    contact: &Key,
    about: &Value,
) -> Option<Uploaded> {
    let others = || {
        let users = cx.view.users(contact).into_iter();
        let mut invoices = users.filter(|user| user.kind.as_str() == Invoice::NAME);
        invoices.find_map(|user| uploaded(&*cx.view.observed(&user)?, about))
    };
    have.and_then(|have| uploaded(have, about)).or_else(others)
}

/// Uploads a file for an invoice. The upload puts no part of the invoice on the service.
pub(super) fn upload(
    new: Obligation,
    have: Option<&Observed>,
    (file, contact, about): (&AttachedFile, &RemoteId, &Value),
) -> Effect {
    let applied = so_far(&new.applied, have);
    upload_file(Obligation { applied, ..new }, contact, file, about.clone())
}

/// Returns the state on the service of an invoice that is not created yet: the one that it
/// replaces, or nothing.
fn so_far(new: &Applied, have: Option<&Observed>) -> Applied {
    let old = have.filter(|have| have.exists).and_then(|have| have.applied.clone());
    let old = old.unwrap_or_else(|| Applied { spec: Value::Null, ..new.clone() });
    Applied { digest: new.digest, ..old }
}

/// Replaces the creation of an invoice by a reading while its attachments are processed.
pub(super) fn confirming(
    draft: Draft,
    attached: &Result<Attached, Reason>,
    have: Option<&Observed>,
) -> Draft {
    let (Ok(Attached::Processing(about)), Some(Work::Effect(effect))) = (attached, &draft.work)
    else {
        return draft;
    };
    let reading = Reading {
        name: FILE_STATE,
        key: effect.key.clone(),
        merchant: effect.merchant.clone(),
        mode: effect.mode,
        applied: so_far(&effect.applied, have),
        about: about.clone(),
    };
    Draft { work: Some(Work::Read(reading)), ..draft }
}

/// Adds the planned uploads of a new invoice to its changes: size, and digest as `sha256sum` prints
/// it.
pub(super) fn shown(mut draft: Draft, manifest: &Manifest) -> Draft {
    if draft.verdict != Verdict::Create {
        return draft;
    }
    let wanted = manifest.spec.get("attachments").and_then(Value::as_array);
    for (index, item) in wanted.into_iter().flatten().enumerate() {
        let Some(file) = manifest.files.iter().find(|file| file.path == text(item, "file")) else {
            continue;
        };
        let said = [("sha256", Value::from(file.sha256.to_string())), ("size", file.size.into())];
        draft.changes.extend(said.map(|(field, after)| FieldChange {
            path: format!("attachments[{index}].{field}"),
            before: Value::Null,
            after,
        }));
    }
    draft.changes.sort_by(|one, other| one.path.cmp(&other.path));
    draft
}
