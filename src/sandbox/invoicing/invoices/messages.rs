//! E-mails of a new invoice, one to each address (partner-api, POST /invoices).

use crate::api::invoice::{Invoice, InvoiceMessage, NewInvoiceMessage};
use crate::api::wire::Timestamp;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::invoicing::mail;
use crate::sandbox::invoicing::mail::letter::InvoiceEmail;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::state::store::ChangeUnit;

/// Sends the requested messages, and records them on the invoice.
pub(super) fn send(
    cx: &mut ChangeUnit<'_>,
    merchant: &MerchantRecord,
    asked: &[NewInvoiceMessage],
    invoice: &mut Invoice,
) -> Result<(), SandboxRefusal> {
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

/// Adds one e-mail for each address to the mailbox.
fn deliver(
    cx: &mut ChangeUnit<'_>,
    letter: &InvoiceEmail<'_>,
    addresses: &[String],
) -> Result<InvoiceMessage, SandboxRefusal> {
    let id = cx.id_with_prefix("imsg_");
    for address in addresses {
        let mail = letter.addressed_to(address, &id, Timestamp(cx.now));
        mail::send(cx, &mail)?;
    }
    let audit = letter.invoice.created.clone();
    Ok(InvoiceMessage {
        id,
        created: audit.clone(),
        modified: audit,
        email_addresses: addresses.to_vec(),
        subject: Some(letter.subject.clone()),
        body: Some(letter.body()),
        status: "sent".to_owned(),
        kind: "invoice_message".to_owned(),
    })
}
