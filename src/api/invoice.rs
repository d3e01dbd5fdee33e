//! Invoices for contacts, and their files (partner-api, Invoice). The service creates invoices, but
//! offers no way to read them back.
//!
//! A file is uploaded under a contact, processed, then named by an invoice. The documents mention
//! the upload and its processing, and show neither. Their paths and forms here are our own choice
//! (docs/design/assumptions.md); the documents win.

use data_encoding::BASE64;

use crate::api::call::{endpoints, objects};
use crate::api::contact::Contact;
use crate::api::rules::{FieldProblem, FieldProblems, is_email};
use crate::api::wire::{Audit, Timestamp};

objects! {
    /// The request that creates an invoice.
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
    #[schemars(extend("required" = ["id"]))]
    pub struct Attachment {
        /// `fref_…`.
        pub id: String,
    }

    /// The request that uploads a file.
    #[schemars(extend("required" = ["file_name", "content"]))]
    pub struct NewFile {
        /// The file's name, as the payer sees it.
        #[schemars(
            length(min = 1, max = FILE_NAME_LENGTH_MAX),
            regex(pattern = r"^[^/\\\x00-\x1f\x7f]*[^/\\\s\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*$")
        )]
        pub file_name: String,
        /// The file's bytes in base64.
        #[schemars(extend("contentEncoding" = "base64"))]
        pub content: String,
    }

    /// An invoice as the service shows it.
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
}

/// Returns every problem of a new invoice, all at once (partner-api, POST /invoices).
pub fn rules(new: &NewInvoice) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_text("contact_id", "Contact", &new.contact_id);
    problems.require_text("bank_account_id", "Bank account", &new.bank_account_id);
    let (has_date, text) = (new.invoice_date.is_some(), "Invoice date cannot be blank");
    problems.unless(has_date, "invoice_date", "not_blank", text);
    let is_code =
        |code: &str| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
    let fits = new.currency.as_deref().is_none_or(is_code);
    problems.unless(fits, "currency", "invalid", "Currency is invalid");
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
    let [rate, quantity, rate_type] =
        ["rate_per_quantity", "quantity", "rate_type"].map(|field| format!("{at}.{field}"));
    match item.rate_per_quantity.parse::<i64>() {
        Ok(amount) => problems.amount(&rate, "Rate", amount, 0),
        Err(_) => problems.add(&rate, "invalid", "Rate is invalid"),
    }
    problems.unless(item.quantity == "1", &quantity, "invalid", "Quantity is invalid");
    problems.unless(item.rate_type == "units", &rate_type, "invalid", "Rate type is invalid");
}

fn message_rules(problems: &mut FieldProblems, context: &str, message: &NewInvoiceMessage) {
    if message.email_addresses.is_empty() {
        problems.add(context, "not_blank", "Email addresses cannot be blank");
    } else if !message.email_addresses.iter().all(|address| is_email(address)) {
        problems.add(context, "invalid", "Email address is invalid");
    }
}

/// Maximum size of a file, in bytes.
pub const FILE_BYTES_MAX: u64 = 10 << 20;
/// Maximum length of a file's name, in characters.
pub const FILE_NAME_LENGTH_MAX: usize = 255;
/// The `processing_state` of a file that an invoice may name (partner-api, Invoice).
pub const COMPLETED: &str = "completed";
/// The `processing_state` of a file before that.
pub const PROCESSING: &str = "processing";

/// Decodes the bytes of a new file.
///
/// # Errors
/// Every problem of the file, all at once.
pub fn file_bytes(new: &NewFile) -> Result<Vec<u8>, Vec<FieldProblem>> {
    let mut problems = FieldProblems::default();
    problems.require_text("file_name", "File name", &new.file_name);
    problems.length_max("file_name", "File name", Some(&new.file_name), FILE_NAME_LENGTH_MAX);
    let is_plain = !new.file_name.contains(|c: char| matches!(c, '/' | '\\') || c.is_control());
    problems.unless(is_plain, "file_name", "invalid", "File name is invalid");
    let bytes = BASE64.decode(new.content.as_bytes());
    match &bytes {
        Err(_) => problems.add("content", "invalid", "Content is invalid"),
        Ok(bytes) if bytes.is_empty() => {
            problems.add("content", "not_blank", "Content cannot be blank");
        }
        Ok(bytes) if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX => {
            problems.add("content", "exceeds_maximum_value", "Content exceeds the maximum");
        }
        Ok(_) => {}
    }
    let problems = problems.into_list();
    if problems.is_empty() { Ok(bytes.unwrap_or_default()) } else { Err(problems) }
}

endpoints! {
    /// Creates an invoice and sends its e-mails; `source_id` prevents a second creation.
    CreateInvoice "invoice.create": Post Base "/invoices" by Payments, NewInvoice => Invoice;
    /// Uploads a file under a contact; it is processed afterwards.
    UploadFile "file.upload": Post Base "/contacts/{contact_id}/files" by Payments,
        NewFile => FileReference;
    /// Reads the processing state of a file.
    GetFile "file.get": Get Base "/contacts/{contact_id}/files/{id}" by Payments,
        () => FileReference;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(file_name: &str, content: &str) -> Vec<(String, String)> {
        let new = NewFile { file_name: file_name.to_owned(), content: content.to_owned() };
        let problems = file_bytes(&new).err().unwrap_or_default();
        problems.into_iter().map(|one| (one.context, one.sub_code)).collect()
    }

    #[test]
    fn a_file_has_a_plain_name_and_bytes() {
        let new = NewFile { file_name: "a.pdf".to_owned(), content: "JVBERg==".to_owned() };
        assert_eq!(file_bytes(&new), Ok(b"%PDF".to_vec()));
        let pair = |context: &str, code: &str| (context.to_owned(), code.to_owned());
        assert_eq!(wrong(" ", "x"), [pair("file_name", "not_blank"), pair("content", "invalid")]);
        assert_eq!(wrong("../a", ""), [pair("file_name", "invalid"), pair("content", "not_blank")]);
        assert_eq!(wrong(&"a".repeat(256), "YQ=="), [pair("file_name", "invalid_length")]);
    }

    #[test]
    fn a_file_is_not_larger_than_the_service_takes() {
        let most = usize::try_from(FILE_BYTES_MAX).unwrap();
        assert!(wrong("a", &BASE64.encode(&vec![7; most])).is_empty());
        let more = wrong("a", &BASE64.encode(&vec![7; most + 1]));
        assert_eq!(more, [("content".to_owned(), "exceeds_maximum_value".to_owned())]);
    }
}
