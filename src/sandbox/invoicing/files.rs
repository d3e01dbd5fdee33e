//! Files of contacts: uploaded, processed shortly after, then attached to invoices
//! (docs/design/assumptions.md).
//!
//! The content is not stored, only its length and a digest: no endpoint returns it.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::contacts;
use super::contacts::audit;
use crate::api::audit::Audit;
use crate::api::file::{COMPLETED, NewFile, PROCESSING, bytes};
use crate::api::invoice::FileReference;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::lists::{ObjectKind, Stored};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers;
use crate::sandbox::state::timers::TimerEntry;

/// Duration of a file's processing.
const PROCESSING_TIME: TimeDelta = TimeDelta::seconds(2);

/// A stored file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FileRecord {
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

impl FileRecord {
    /// Returns the file as the service shows it.
    fn into_reference(self) -> FileReference {
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

type StoredFile = Stored<FileRecord, ()>;

/// POST of a file.
pub(crate) fn upload(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    new: NewFile,
) -> Result<FileReference, SandboxRefusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contacts::contact_of(cx, &merchant, asked.parameter(0))?;
    let bytes = match bytes(&new) {
        Ok(bytes) => bytes,
        Err(problems) => {
            SandboxRefusal::fields("", &problems)?;
            Vec::new()
        }
    };
    let audit = audit(cx, &merchant);
    let object = FileRecord {
        id: cx.id_with_prefix("fref_"),
        created: audit.clone(),
        modified: audit,
        file_name: new.file_name,
        processing_state: PROCESSING.to_owned(),
        contact_id: contact.object.id,
        size: bytes.len(),
        digest: cx.digest("file", &bytes).short(),
    };
    let (id, sequence) = (object.id.clone(), cx.next());
    let kept = Stored { owner: contact.owner, sequence, object, internal: () };
    cx.create(ObjectKind::FILE, &kept.owner.key(), &id, &kept)?;
    let ready = cx.now.checked_add_signed(PROCESSING_TIME).unwrap_or(cx.now);
    timers::schedule(cx, ready, &TimerEntry::FileProcessed { id })?;
    Ok(kept.object.into_reference())
}

/// GET of a file with its processing state.
pub(crate) fn get(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<FileReference, SandboxRefusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contacts::contact_of(cx, &merchant, asked.parameter(0))?;
    let id = asked.parameter(1);
    let kept: Option<StoredFile> = cx.find_any_owner(ObjectKind::FILE, id)?;
    let kept = kept.filter(|kept| kept.object.contact_id == contact.object.id);
    kept.map(|kept| kept.object.into_reference())
        .ok_or_else(|| SandboxRefusal::not_found(ObjectKind::FILE.name, id))
}

/// Marks a file as processed.
pub(crate) fn finish_processing(cx: &mut ChangeUnit<'_>, id: &str) -> Result<(), SandboxRefusal> {
    let kept: Option<StoredFile> = cx.find_any_owner(ObjectKind::FILE, id)?;
    let Some(mut kept) = kept else { return Ok(()) };
    let merchant = cx.merchant(&kept.owner.merchant)?;
    COMPLETED.clone_into(&mut kept.object.processing_state);
    kept.object.modified = audit(cx, &merchant);
    cx.update(ObjectKind::FILE, id, &kept)
}

/// Returns the files attached to an invoice of a contact.
///
/// # Errors
///
/// 422 for an unknown file, a file of another contact, and one that is not processed.
pub(crate) fn resolve_attachments(
    cx: &ChangeUnit<'_>,
    contact: &str,
    ids: impl Iterator<Item = String>,
) -> Result<Vec<FileReference>, SandboxRefusal> {
    let mut files = Vec::new();
    for (index, id) in ids.enumerate() {
        let wrong =
            |message| SandboxRefusal::field(&format!("attachments.{index}.id"), "invalid", message);
        let kept: Option<StoredFile> = cx.find_any_owner(ObjectKind::FILE, &id)?;
        let kept = kept.filter(|kept| kept.object.contact_id == contact);
        let file = kept.ok_or_else(|| wrong("Attachment is unknown"))?.object;
        if file.processing_state != COMPLETED {
            return Err(wrong("Attachment is not processed"));
        }
        files.push(file.into_reference());
    }
    Ok(files)
}
