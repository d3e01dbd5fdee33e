//! Invoices, and the files attached to them (partner-api, POST /invoices).
//!
//! Each `source_id` makes one invoice; its e-mails, one to each address, go to the mailbox. A file
//! of a contact is uploaded, processed shortly after, then attached (docs/design/assumptions.md).
//! Its content is not stored, only its length and a digest: no endpoint returns it.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::api::contact::Contact;
use crate::api::invoice::{
    self, Attachment, COMPLETED, FileReference, Invoice, InvoiceMessage, LineItem, NewFile,
    NewInvoice, NewInvoiceMessage, PROCESSING, file_bytes,
};
use crate::api::wire::{Audit, Timestamp};
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::invoicing::contacts::{audit, contact_of, contact_of_path, mark_invoiced};
use crate::sandbox::invoicing::mail::{self, InvoiceEmail};
use crate::sandbox::merchants::accounts::{Deposit, deposits};
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::payments::invoice_payments::InvoiceState;
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{MerchantMode, ObjectKind, ObjectOwner, Stored, TimerEntry};
use crate::sandbox::state::store::{ChangeUnit, DuplicateSourceId};

const NUMBER_FIRST: u64 = 1001;

pub(crate) fn create(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewInvoice,
) -> Result<Invoice> {
    let merchant = cx.merchant(asked.merchant()?)?;
    SandboxRefusal::ensure(cx.settings.is_partner, SandboxRefusal::not_authorized)?;
    SandboxRefusal::fields("", &invoice::rules(&new))?;
    let source = new.source_id.as_deref().map(|id| source_key(cx, &merchant.id, id));
    if let Some(id) = source.as_deref().map(|key| cx.get::<String>(key)).transpose()?.flatten() {
        return answer_duplicate(cx, &id);
    }
    let (contact, deposit) = parties(cx, &merchant, &new)?;
    let owner = ObjectOwner { merchant: merchant.id.clone(), mode: deposit.mode };
    let sequence = cx.next();
    let attached = resolve_attachments(cx, &contact.id, &new.attachments)?;
    mark_invoiced(cx, &contact.id)?;
    let invoice = build(cx, &merchant, (contact, attached), new)?;
    let kept = Stored { owner: owner.clone(), sequence, object: invoice.clone(), internal: () };
    cx.create(ObjectKind::INVOICE, &owner.key(), &invoice.id, &kept)?;
    if let Some(key) = source {
        cx.put(&key, &invoice.id)?;
    }
    Ok(invoice)
}

fn source_key(cx: &ChangeUnit, merchant: &str, source_id: &str) -> String {
    format!("x/source/{merchant}/{}", cx.digest("source", source_id.as_bytes()))
}

fn answer_duplicate(cx: &ChangeUnit, id: &str) -> Result<Invoice> {
    match cx.settings.duplicate_source_id {
        DuplicateSourceId::Refuse => {
            Err(SandboxRefusal::field("source_id", "invalid", "Source id has already been used"))
        }
        DuplicateSourceId::Same => {
            let kept: Option<Stored<Invoice, ()>> = cx.look_up(ObjectKind::INVOICE, id)?;
            kept.map(|kept| kept.object).ok_or_else(SandboxRefusal::server_error)
        }
    }
}

/// Returns the contact and the bank account, both of the invoice's mode (partner-api, test invoice rules).
fn parties(
    cx: &ChangeUnit,
    merchant: &MerchantRecord,
    new: &NewInvoice,
) -> Result<(Contact, Deposit)> {
    let contact = contact_of(cx, merchant, &new.contact_id)?;
    let missing = || SandboxRefusal::not_found("BankAccount", &new.bank_account_id);
    let mut deposits = deposits(merchant).into_iter();
    let deposit = deposits.find(|one| one.id == new.bank_account_id).ok_or_else(missing)?;
    let mode = MerchantMode::of_test(new.test_mode == Some(true));
    let is_same = deposit.mode == mode && contact.owner.mode == mode;
    let text = "Invoice, contact and bank account must be of one mode";
    SandboxRefusal::unless(is_same, "unavailable_for_merchant_mode", text)?;
    let is_usd = new.currency.as_deref().is_none_or(|code| code == "USD");
    let text = "Currency does not match the bank account";
    SandboxRefusal::unless(is_usd, "currency_mismatch", text)?;
    Ok((contact.object, deposit))
}

fn build(
    cx: &mut ChangeUnit,
    merchant: &MerchantRecord,
    (contact, attachments): (Contact, Vec<FileReference>),
    new: NewInvoice,
) -> Result<Invoice> {
    let audit = audit(cx, merchant);
    let id = cx.id_with_prefix("i_");
    let number = next_number(cx, merchant)?;
    let (items, total) = lines(cx, &new)?;
    let mut invoice = Invoice {
        id,
        modified: Some(Audit { user: Some("SERVER".to_owned()), ..audit.clone() }),
        created: Some(audit),
        status: InvoiceState::Pending.as_str().to_owned(),
        invoice_number: Some(number),
        invoice_date: new.invoice_date,
        total_amount: total,
        total_amount_due: total,
        test_mode: new.test_mode == Some(true),
        currency: Some(new.currency.unwrap_or_else(|| "USD".to_owned())),
        bank_account_id: new.bank_account_id,
        owner_id: contact.owner_id.clone(),
        contact_id: new.contact_id,
        contact: Some(contact),
        items: items.clone(),
        line_items: items,
        reference: new.reference,
        source_id: new.source_id,
        attachments,
        kind: "invoice".to_owned(),
        ..Invoice::default()
    };
    send_messages(cx, merchant, &new.invoice_messages, &mut invoice)?;
    Ok(invoice)
}

fn next_number(cx: &mut ChangeUnit, merchant: &MerchantRecord) -> Result<String> {
    let key = format!("meta/invoice-number/{}", merchant.id);
    let number: u64 = cx.get(&key)?.unwrap_or(NUMBER_FIRST);
    cx.put(&key, &number.saturating_add(1))?;
    Ok(number.to_string())
}

/// Returns the line items and their total, in minor units.
fn lines(cx: &mut ChangeUnit, new: &NewInvoice) -> Result<(Vec<LineItem>, i64)> {
    let text = "Total exceeds the maximum";
    let too_much = || SandboxRefusal::field("line_items", "exceeds_maximum_value", text);
    let mut total: i64 = 0;
    let mut items = Vec::new();
    for line in &new.line_items {
        let rate = line.rate_per_quantity.parse::<i64>().map_err(|_| too_much())?;
        total = total.checked_add(rate).ok_or_else(too_much)?;
        items.push(LineItem {
            id: cx.id_with_prefix("li_"),
            description: Some(line.description.clone()),
            rate_per_quantity: line.rate_per_quantity.clone(),
            quantity: line.quantity.clone(),
            rate_type: line.rate_type.clone(),
            total: rate,
        });
    }
    Ok((items, total))
}

fn send_messages(
    cx: &mut ChangeUnit,
    merchant: &MerchantRecord,
    asked: &[NewInvoiceMessage],
    invoice: &mut Invoice,
) -> Result<()> {
    let brand = cx.brand(&merchant.id)?;
    let link = format!("{}/invoices/{}", cx.environment.options.portal_url, invoice.id);
    let mut sent = Vec::new();
    for message in asked {
        let letter = letter((&brand, merchant.shown_name()), message, invoice, &link);
        sent.push(deliver(cx, &letter, &message.email_addresses)?);
    }
    invoice.presentment_status = (!sent.is_empty()).then(|| "sent".to_owned());
    invoice.invoice_messages = sent;
    Ok(())
}

/// Builds a message's e-mail, with defaults for an absent subject or text.
fn letter<'a>(
    (brand, merchant): (&'a str, &'a str),
    message: &NewInvoiceMessage,
    invoice: &'a Invoice,
    link: &'a str,
) -> InvoiceEmail<'a> {
    let number = invoice.invoice_number.as_deref().unwrap_or_default();
    let subject = message.subject.clone().unwrap_or_else(|| format!("{brand} Invoice {number}"));
    let default = || format!("{merchant} has sent a payment request.");
    let message = message.message.clone().unwrap_or_else(default);
    InvoiceEmail { brand, merchant, subject, message, invoice, link }
}

fn deliver(
    cx: &mut ChangeUnit,
    letter: &InvoiceEmail<'_>,
    addresses: &[String],
) -> Result<InvoiceMessage> {
    let id = cx.id_with_prefix("imsg_");
    for address in addresses {
        let mail = letter.addressed_to(address, &id, Timestamp(cx.now));
        mail::send(cx, &mail)?;
    }
    Ok(InvoiceMessage {
        id,
        created: letter.invoice.created.clone(),
        modified: letter.invoice.created.clone(),
        email_addresses: addresses.to_vec(),
        subject: Some(letter.subject.clone()),
        body: Some(letter.body()),
        status: "sent".to_owned(),
        kind: "invoice_message".to_owned(),
    })
}

const PROCESSING_TIME: TimeDelta = TimeDelta::seconds(2);

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

pub(crate) fn upload_file(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewFile,
) -> Result<FileReference> {
    let (merchant, contact) = contact_of_path(cx, asked)?;
    let bytes = file_bytes(&new).map_err(|problems| SandboxRefusal::invalid_data("", &problems))?;
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
    cx.schedule_in(PROCESSING_TIME, &TimerEntry::FileProcessed { id })?;
    Ok(kept.object.into_reference())
}

pub(crate) fn get_file(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<FileReference> {
    let (_, contact) = contact_of_path(cx, asked)?;
    let id = asked.parameter(1);
    let kept: StoredFile = cx.load(ObjectKind::FILE, id)?;
    if kept.object.contact_id != contact.object.id {
        return Err(SandboxRefusal::not_found(ObjectKind::FILE.name, id));
    }
    Ok(kept.object.into_reference())
}

pub(crate) fn finish_file_processing(cx: &mut ChangeUnit, id: &str) -> Result<()> {
    let kept: Option<StoredFile> = cx.look_up(ObjectKind::FILE, id)?;
    let Some(mut kept) = kept else { return Ok(()) };
    let merchant = cx.merchant(&kept.owner.merchant)?;
    COMPLETED.clone_into(&mut kept.object.processing_state);
    kept.object.modified = audit(cx, &merchant);
    cx.update(ObjectKind::FILE, id, &kept)
}

/// Returns the files attached to an invoice of a contact. 422 for an unknown file, a file of
/// another contact, and one that is not processed.
fn resolve_attachments(
    cx: &ChangeUnit,
    contact: &str,
    attachments: &[Attachment],
) -> Result<Vec<FileReference>> {
    let mut files = Vec::new();
    for (index, Attachment { id }) in attachments.iter().enumerate() {
        let wrong =
            |message| SandboxRefusal::field(&format!("attachments.{index}.id"), "invalid", message);
        let kept: Option<StoredFile> = cx.look_up(ObjectKind::FILE, id)?;
        let kept = kept.filter(|kept| kept.object.contact_id == contact);
        let file = kept.ok_or_else(|| wrong("Attachment is unknown"))?.object;
        if file.processing_state != COMPLETED {
            return Err(wrong("Attachment is not processed"));
        }
        files.push(file.into_reference());
    }
    Ok(files)
}
