//! Files of contacts: uploaded, processed shortly after, then attached to invoices
//! (docs/assumptions.md).
//!
//! The content is not stored, only its length and a digest: no endpoint returns it.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::api::audit::Audit;
use crate::api::contact::Contact;
use crate::api::file::{COMPLETED, NewFile, PROCESSING, bytes};
use crate::api::invoice::FileReference;
use crate::sandbox::asked::Asked;
use crate::sandbox::contacts::{self, audit};
use crate::sandbox::due::{self, Due};
use crate::sandbox::lists::{Kept, KindOf};
use crate::sandbox::merchants::MerchantRecord;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

pub(crate) const KIND: KindOf = KindOf { word: "file", name: "File" };

/// Duration of a file's processing.
const PROCESSING_TIME: TimeDelta = TimeDelta::seconds(2);

/// A stored file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeptFile {
    id: String,
    created: Audit,
    modified: Audit,
    file_name: String,
    processing_state: String,
    contact_id: String,
    /// In bytes.
    size: usize,
    digest: String,
}

impl KeptFile {
    /// Returns the file as the service shows it.
    fn shown(self) -> FileReference {
        FileReference {
            id: self.id,
            created: Some(self.created),
            modified: Some(self.modified),
            file_name: Some(self.file_name),
            processing_state: Some(self.processing_state),
            kind: "invoice_file_reference".to_owned(),
        }
    }
}

type Found = Kept<KeptFile, ()>;

/// POST of a file.
pub(crate) fn upload(
    cx: &mut Cx<'_>,
    asked: &Asked,
    new: NewFile,
) -> Result<FileReference, Refusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contact_of(cx, &merchant, asked.parameter(0))?;
    let bytes = match bytes(&new) {
        Ok(bytes) => bytes,
        Err(problems) => {
            Refusal::fields("", &problems)?;
            Vec::new()
        }
    };
    let audit = audit(cx, &merchant);
    let object = KeptFile {
        id: cx.prefixed("fref_"),
        created: audit.clone(),
        modified: audit,
        file_name: new.file_name,
        processing_state: PROCESSING.to_owned(),
        contact_id: contact.object.id,
        size: bytes.len(),
        digest: cx.digest("file", &bytes).short(),
    };
    let (id, sequence) = (object.id.clone(), cx.next());
    let kept = Kept { owner: contact.owner, sequence, object, inside: () };
    cx.create(KIND, &kept.owner.key(), &id, &kept)?;
    let ready = cx.now.checked_add_signed(PROCESSING_TIME).unwrap_or(cx.now);
    due::schedule(cx, ready, &Due::FileProcessed { id })?;
    Ok(kept.object.shown())
}

/// GET of a file with its processing state.
pub(crate) fn get(cx: &mut Cx<'_>, asked: &Asked) -> Result<FileReference, Refusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contact_of(cx, &merchant, asked.parameter(0))?;
    let id = asked.parameter(1);
    let kept: Option<Found> = cx.any(KIND, id)?;
    let kept = kept.filter(|kept| kept.object.contact_id == contact.object.id);
    kept.map(|kept| kept.object.shown()).ok_or_else(|| Refusal::missing(KIND.name, id))
}

/// Returns a contact of this merchant.
///
/// # Errors
///
/// 404 for any other contact.
pub(crate) fn contact_of(
    cx: &Cx<'_>,
    merchant: &MerchantRecord,
    id: &str,
) -> Result<Kept<Contact, ()>, Refusal> {
    let contact: Option<Kept<Contact, ()>> = cx.any(contacts::KIND, id)?;
    contact
        .filter(|kept| kept.owner.merchant == merchant.id)
        .ok_or_else(|| Refusal::missing(contacts::KIND.name, id))
}

/// Marks a file as processed.
pub(crate) fn processed(cx: &mut Cx<'_>, id: &str) -> Result<(), Refusal> {
    let kept: Option<Found> = cx.any(KIND, id)?;
    let Some(mut kept) = kept else { return Ok(()) };
    let merchant = cx.merchant(&kept.owner.merchant)?;
    COMPLETED.clone_into(&mut kept.object.processing_state);
    kept.object.modified = audit(cx, &merchant);
    cx.update(KIND, id, &kept)
}

/// Returns the files attached to an invoice of a contact.
///
/// # Errors
///
/// 422 for an unknown file, a file of another contact, and one that is not processed.
pub(crate) fn attached(
    cx: &Cx<'_>,
    contact: &str,
    ids: impl Iterator<Item = String>,
) -> Result<Vec<FileReference>, Refusal> {
    let mut files = Vec::new();
    for (index, id) in ids.enumerate() {
        let wrong =
            |message| Refusal::field(&format!("attachments.{index}.id"), "invalid", message);
        let kept: Option<Found> = cx.any(KIND, &id)?;
        let kept = kept.filter(|kept| kept.object.contact_id == contact);
        let file = kept.ok_or_else(|| wrong("Attachment is unknown"))?.object;
        if file.processing_state != COMPLETED {
            return Err(wrong("Attachment is not processed"));
        }
        files.push(file.shown());
    }
    Ok(files)
}
