//! Invoices for contacts (partner-api, Invoice). The service creates them, but offers no way to
//! read them back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::call::endpoints;
use crate::api::audit::Audit;
use crate::api::contact::Contact;
use crate::api::rules::{FieldProblem, FieldProblems, is_email};
use crate::api::wire::Timestamp;

/// The request that creates an invoice.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["contact_id", "bank_account_id", "invoice_date"]))]
pub struct NewInvoice {
    /// The contact that is billed, `p_…`.
    pub contact_id: String,
    /// The bank account that receives the money, `bank_…`.
    pub bank_account_id: String,
    /// Date of the invoice, shown in the portal; required.
    pub invoice_date: Option<Timestamp>,
    /// Three letters.
    #[schemars(regex(pattern = r"^[A-Z]{3}$"))]
    pub currency: Option<String>,
    /// Reference, shown in the portal.
    pub reference: Option<String>,
    /// The partner's id of the invoice, unique among all of the partner's invoices; prevents
    /// duplicates.
    pub source_id: Option<String>,
    /// The billed lines.
    pub line_items: Vec<NewLineItem>,
    /// E-mails with the portal link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invoice_messages: Vec<NewInvoiceMessage>,
    /// Files uploaded before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// True for a test invoice.
    pub test_mode: Option<bool>,
}

/// One line; every value is a string in requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["rate_per_quantity", "quantity", "rate_type"]))]
pub struct NewLineItem {
    /// Description of the line, for reference.
    pub description: String,
    /// The line's charge in minor units.
    #[schemars(regex(pattern = r"^(0|[1-9][0-9]{0,13})$"))]
    pub rate_per_quantity: String,
    /// `1`.
    #[schemars(extend("enum" = ["1"]))]
    pub quantity: String,
    /// `units`.
    #[schemars(extend("enum" = ["units"]))]
    pub rate_type: String,
}

/// One e-mail to send.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["email_addresses"]))]
pub struct NewInvoiceMessage {
    /// Addresses that receive the e-mail.
    #[schemars(length(min = 1), inner(email))]
    pub email_addresses: Vec<String>,
    /// Replaces the default subject.
    pub subject: Option<String>,
    /// Replaces the default text.
    pub message: Option<String>,
}

/// A file that was uploaded and processed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["id"]))]
pub struct Attachment {
    /// `fref_…`.
    pub id: String,
}

/// An invoice as the service shows it.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Invoice {
    /// `i_…`.
    pub id: String,
    /// Creation of the invoice.
    pub created: Option<Audit>,
    /// Last change of the invoice.
    pub modified: Option<Audit>,
    /// `pending` at creation.
    pub status: String,
    /// Number given by the service.
    pub invoice_number: Option<String>,
    /// Date of the invoice, as requested.
    pub invoice_date: Option<Timestamp>,
    /// Minor units.
    pub total_amount: i64,
    /// Minor units.
    pub total_amount_due: i64,
    /// Minor units.
    pub amount_paid: i64,
    /// True for a test invoice.
    pub test_mode: bool,
    /// Three letters.
    pub currency: Option<String>,
    /// The bank account that receives the money.
    pub bank_account_id: String,
    /// The merchant's organization.
    pub owner_id: Option<String>,
    /// The contact that is billed.
    pub contact_id: String,
    /// A summary of the contact.
    pub contact: Option<Contact>,
    /// Payments of the invoice; empty at creation.
    pub invoice_payments: Vec<InvoicePayment>,
    /// The lines.
    pub items: Vec<LineItem>,
    /// The lines once more, as `items` has them.
    pub line_items: Vec<LineItem>,
    /// E-mails sent.
    pub invoice_messages: Vec<InvoiceMessage>,
    /// Scheduled payment requests; empty at creation.
    pub scheduled_payment_requests: Vec<serde_json::Value>,
    /// Reference, shown in the portal.
    pub reference: Option<String>,
    /// The partner's id of the invoice.
    pub source_id: Option<String>,
    /// `sent` once e-mails are sent.
    pub presentment_status: Option<String>,
    /// Attached files.
    pub attachments: Vec<FileReference>,
    /// `invoice`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// One payment of an invoice (service-facts, 86).
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InvoicePayment {
    /// `pmt_…`.
    pub id: String,
    /// Minor units.
    pub amount: i64,
    /// The part of the amount that pays no invoice; minor units.
    pub unallocated_amount: i64,
    /// The charge's transaction.
    pub transaction_id: String,
    /// `credit_card` or `bank_account`.
    pub payment_type: String,
    /// `VISA`, …; for cards.
    pub card_type: Option<String>,
    /// The last digits of the number.
    pub last4_digits: Option<String>,
    /// `authorized`, then the payment's later status.
    pub status: String,
}

/// One line of an invoice.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LineItem {
    /// `li_…`.
    pub id: String,
    /// Description of the line, for reference.
    pub description: Option<String>,
    /// Minor units, as a string.
    pub rate_per_quantity: String,
    /// Quantity, as a string.
    pub quantity: String,
    /// `units`.
    pub rate_type: String,
    /// Minor units.
    pub total: i64,
}

/// One e-mail of an invoice.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InvoiceMessage {
    /// `imsg_…`.
    pub id: String,
    /// Creation of the message.
    pub created: Option<Audit>,
    /// Last change of the message.
    pub modified: Option<Audit>,
    /// Addresses that received the e-mail.
    pub email_addresses: Vec<String>,
    /// Subject of the e-mail.
    pub subject: Option<String>,
    /// HTML text of the e-mail.
    pub body: Option<String>,
    /// `sent`.
    pub status: String,
    /// `invoice_message`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A file that belongs to an invoice.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileReference {
    /// `fref_…`.
    pub id: String,
    /// Creation of the file reference.
    pub created: Option<Audit>,
    /// Last change of the file reference.
    pub modified: Option<Audit>,
    /// Name of the file.
    pub file_name: Option<String>,
    /// `completed`.
    pub processing_state: Option<String>,
    /// `invoice_file_reference`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Returns every problem of a new invoice, all at once (partner-api, POST /invoices).
pub fn rules(new: &NewInvoice) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_text("contact_id", "Contact", &new.contact_id);
    problems.require_text("bank_account_id", "Bank account", &new.bank_account_id);
    if new.invoice_date.is_none() {
        problems.add("invoice_date", "not_blank", "Invoice date cannot be blank");
    }
    if new.currency.as_deref().is_some_and(|code| !is_currency(code)) {
        problems.add("currency", "invalid", "Currency is invalid");
    }
    for (index, item) in new.line_items.iter().enumerate() {
        line_rules(&mut problems, &format!("line_items.{index}"), item);
    }
    for (index, message) in new.invoice_messages.iter().enumerate() {
        let context = format!("invoice_messages.{index}.email_addresses");
        message_rules(&mut problems, &context, message);
    }
    problems.into_list()
}

fn line_rules(problems: &mut FieldProblems, at: &str, item: &NewLineItem) {
    match item.rate_per_quantity.parse::<i64>() {
        Ok(rate) => problems.amount(&format!("{at}.rate_per_quantity"), "Rate", rate, 0),
        Err(_) => problems.add(&format!("{at}.rate_per_quantity"), "invalid", "Rate is invalid"),
    }
    if item.quantity != "1" {
        problems.add(&format!("{at}.quantity"), "invalid", "Quantity is invalid");
    }
    if item.rate_type != "units" {
        problems.add(&format!("{at}.rate_type"), "invalid", "Rate type is invalid");
    }
}

fn message_rules(problems: &mut FieldProblems, context: &str, message: &NewInvoiceMessage) {
    if message.email_addresses.is_empty() {
        problems.add(context, "not_blank", "Email addresses cannot be blank");
    } else if !message.email_addresses.iter().all(|address| is_email(address)) {
        problems.add(context, "invalid", "Email address is invalid");
    }
}

fn is_currency(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

endpoints! {
    /// Creates an invoice and sends its e-mails; `source_id` prevents a second creation.
    CreateInvoice "invoice.create": Post Base "/invoices" by Payments, NewInvoice => Invoice;
}
