//! Invoice: a request for payment to a contact, and its e-mails (partner-api, Invoice). Its fields,
//! and its checks without the service.

pub mod prerequisites;
pub mod spec;
pub(super) mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;

use chrono::{DateTime, NaiveDate};

use crate::base::id::Name;
use crate::kinds::contact::ContactKind;
use crate::kinds::invoice::spec::{
    AttachmentSpec, InvoiceSpec, LineItemSpec, MessageSpec, QUANTITY, RATE_TYPE,
};
use crate::kinds::merchant::MerchantKind;
use crate::kinds::schema::kind::{
    CheckCx, Example, Examples, FileRef, SpecField, SpecSchema, spec_fields,
};
use crate::kinds::schema::text;
use crate::model::issue::Issue;
use crate::model::manifest::{Desired, PackedManifest, Reference};

/// Prefix of a bank account's id (partner-api, Bank account).
const BANK_ID_PREFIX: &str = "bank_";
/// Prefix of an uploaded file's id (partner-api, Invoice, attachments).
const FILE_ID_PREFIX: &str = "fref_";

#[derive(Debug, Clone, Copy)]
pub struct InvoiceKind;

impl SpecSchema for InvoiceKind {
    const NAME: &'static str = "Invoice";
    const FIELDS: &'static [SpecField] = spec_fields! {
        Plain Immutable "merchant": "The merchant that is paid, NAME or NAMESPACE/NAME (design, Files).";
        Plain Immutable "contact": "The contact that pays, NAME or NAMESPACE/NAME (partner-api, POST /invoices, contact_id).";
        Plain Immutable "bank_account": "The deposit account: its name or its `bank_` id (partner-api, POST /invoices, bank_account_id).";
        Plain Immutable "invoice_date": "A date (12:00 in the merchant's zone) or an RFC 3339 timestamp (partner-api, POST /invoices).";
        Plain Immutable "currency": "The 3-letter code of every amount's currency (partner-api, POST /invoices).";
        Plain Immutable "reference": "A text that the portal shows (partner-api, POST /invoices).";
        Plain Immutable "line_items": "A list of at least one line; their total is more than zero (partner-api, POST /invoices).";
        Plain Immutable "line_items[].description": "What the line is for (partner-api, POST /invoices).";
        Plain Immutable "line_items[].rate_per_quantity": "The line's whole amount, such as `\"125.00 USD\"` (partner-api, POST /invoices).";
        Plain Immutable "line_items[].quantity": "Always 1, and filled in (partner-api, POST /invoices).";
        Plain Immutable "line_items[].rate_type": "Always `units`, and filled in (partner-api, POST /invoices).";
        Plain Immutable "invoice_messages": "E-mails with the portal link, sent when the invoice is created (partner-api, POST /invoices).";
        Personal Immutable "invoice_messages[].email_addresses": "A list of at least one e-mail address (partner-api, POST /invoices).";
        Plain Immutable "invoice_messages[].subject": "Replaces the service's subject (partner-api, POST /invoices).";
        Plain Immutable "invoice_messages[].message": "Replaces the service's text (partner-api, POST /invoices).";
        Plain Immutable "attachments": "Files for the payer, each as `id` or as `file` (partner-api, POST /invoices).";
        Plain Immutable "attachments[].id": "The `fref_` id of a file that was uploaded under the contact and processed (partner-api, POST /invoices).";
        Plain Immutable "attachments[].file": "A path below the folder of `secrets.attachments`: uploaded under the contact before the invoice is created; a later change of the file has no effect (design, part 5).";
    };
    const EXAMPLES: Examples = &[
        ("merchant", Example::Merchant),
        ("contact", Example::Resource(ContactKind::NAME)),
        ("bank_account", Example::Yaml("Operating")),
        ("invoice_date", Example::Day),
        ("line_items[].description", Example::Yaml("Retainer")),
        ("line_items[].rate_per_quantity", Example::Yaml("\"125.00 USD\"")),
    ];
    type Spec = InvoiceSpec;

    fn check(spec: &InvoiceSpec, cx: &CheckCx) -> Vec<Issue> {
        let mut issues = refused_issues(spec);
        issues.extend(text::reference_issue("spec.merchant", MerchantKind::NAME, &spec.merchant));
        issues.extend(text::reference_issue("spec.contact", ContactKind::NAME, &spec.contact));
        issues.extend(bank_account_issue(&spec.bank_account));
        issues.extend(date_issue(&spec.invoice_date));
        issues.extend(lines(&spec.line_items, cx));
        issues.extend(spec::amount_issues(spec, cx));
        issues.extend(messages(&spec.invoice_messages));
        issues.extend(attachments(&spec.attachments));
        issues
    }

    fn references(spec: &InvoiceSpec, namespace: &Name) -> Vec<Reference> {
        let merchant = (text::MERCHANT_FIELD, MerchantKind::NAME, Some(&*spec.merchant));
        let contact = ("spec.contact", ContactKind::NAME, Some(&*spec.contact));
        text::references(&[merchant, contact], namespace)
    }

    fn files(spec: &InvoiceSpec) -> Vec<FileRef> {
        let files = spec.attachments.iter().enumerate();
        let named = files.filter_map(|(index, one)| {
            let field = format!("spec.attachments[{index}].file");
            Some(FileRef { field, path: one.file.clone()? })
        });
        named.collect()
    }

    fn check_links(
        manifest: &PackedManifest,
        desired: &Desired,
    ) -> Result<Vec<Issue>, serde_json::Error> {
        let token = text::bearer_token_issue(manifest, "an invoice", desired);
        let contact = text::same_merchant_issue(manifest, "spec.contact", desired);
        Ok(token.into_iter().chain(contact).collect())
    }
}

fn refused_issues(spec: &InvoiceSpec) -> Vec<Issue> {
    let source_id = spec.source_id.issue(
        "spec.source_id",
        "reckon derives `source_id` from partner, kind, namespace and name, and never changes it",
        "leave it out; a text of your own goes into `reference`",
    );
    let test_mode = spec.test_mode.issue(
        "spec.test_mode",
        "the merchant's mode decides whether an invoice is for tests",
        "leave it out, or write `mode` in the merchant",
    );
    let contact_id = spec.contact_id.issue(
        "spec.contact_id",
        "reckon fills in the contact's id",
        "write `contact: NAME`, the name of a Contact document",
    );
    let bank_account_id = spec.bank_account_id.issue(
        "spec.bank_account_id",
        "reckon fills in the bank account's id",
        "write `bank_account`, with the account's name or its `bank_` id",
    );
    [source_id, test_mode, contact_id, bank_account_id].into_iter().flatten().collect()
}

fn bank_account_issue(account: &str) -> Option<Issue> {
    const PATH: &str = "spec.bank_account";
    let is_bare = account.trim() == BANK_ID_PREFIX;
    let bare = is_bare.then(|| {
        let message = format!("`{BANK_ID_PREFIX}` is only the beginning of a bank account's id");
        let help = "write the whole `bank_` id that the service shows, or the account's name";
        Issue::error("reckon::invoice::bank_account_id", PATH, message, help)
    });
    bare.or_else(|| text::not_blank(PATH, account, "Operating"))
}

fn date_issue(text: &str) -> Option<Issue> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok_and(|_| text.len() == 10);
    let good = date || DateTime::parse_from_rfc3339(text).is_ok();
    (!good).then(|| {
        let message = format!("`{text}` is neither a date nor a timestamp with its zone");
        let help = "write a date such as `2026-11-30`, or `2026-11-30T12:00:00-06:00`";
        Issue::error("reckon::invoice::date", "spec.invoice_date", message, help)
    })
}

fn lines(lines: &[LineItemSpec], cx: &CheckCx) -> Vec<Issue> {
    let mut issues = Vec::new();
    if lines.is_empty() {
        let help = "write at least one, with `description` and `rate_per_quantity`";
        let message = "the invoice has no lines";
        issues.push(Issue::error("reckon::invoice::no_lines", "spec.line_items", message, help));
    }
    for (index, line) in lines.iter().enumerate() {
        let LineItemSpec { description, rate_per_quantity, quantity, rate_type } = line;
        let at = |field: &str| format!("spec.line_items[{index}].{field}");
        issues.extend(text::not_blank(&at("description"), description, "Retainer"));
        issues.extend(rate_per_quantity.issue(&at("rate_per_quantity"), cx));
        issues.extend(fixed_value_issue(&at("quantity"), quantity, QUANTITY));
        issues.extend(fixed_value_issue(&at("rate_type"), rate_type, RATE_TYPE));
    }
    issues
}

fn fixed_value_issue(path: &str, text: &str, only: &str) -> Option<Issue> {
    (text != only).then(|| {
        let message = format!("unknown value `{text}`: an invoice always has `{only}`");
        let help = "leave it out, and write the line's whole amount in `rate_per_quantity`";
        Issue::error("reckon::invoice::fixed_value", path, message, help)
    })
}

fn messages(messages: &[MessageSpec]) -> Vec<Issue> {
    let mut issues = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let path = format!("spec.invoice_messages[{index}].email_addresses");
        if message.email_addresses.is_empty() {
            let help = "write at least one address, or leave the message out";
            let text = "the message has no address";
            issues.push(Issue::error("reckon::invoice::no_address", &path, text, help));
        }
        let addresses = message.email_addresses.iter().enumerate();
        issues.extend(addresses.filter_map(|(at, one)| text::email(&format!("{path}[{at}]"), one)));
    }
    issues
}

fn attachments(files: &[AttachmentSpec]) -> Vec<Issue> {
    let issues = files.iter().enumerate().filter_map(|(index, file)| {
        let path = format!("spec.attachments[{index}]");
        let twice = files.iter().take(index).any(|earlier| earlier == file);
        match (&file.id, &file.file) {
            (Some(_), Some(_)) | (None, None) => {
                let help =
                    "write either `{id: fref_…}`, of a file on the service, or `{file: PATH}`";
                let message = "an attachment has either `id` or `file`";
                Some(Issue::error("reckon::invoice::attachment_form", &path, message, help))
            }
            (Some(_), None) | (None, Some(_)) if twice => {
                let (message, help) = ("the file is attached twice", "remove one of the two");
                Some(Issue::error("reckon::invoice::attachment_twice", &path, message, help))
            }
            (Some(id), None) => id_issue(&path, id),
            (None, Some(_)) => None,
        }
    });
    issues.collect()
}

fn id_issue(path: &str, id: &str) -> Option<Issue> {
    let rest = id.strip_prefix(FILE_ID_PREFIX);
    rest.is_none_or(|rest| rest.trim().is_empty()).then(|| {
        let message = format!("`{id}` is not the id of an uploaded file");
        let help = "write the `fref_` id that the service gave to the file, or `file: PATH`";
        Issue::error("reckon::invoice::attachment_id", &format!("{path}.id"), message, help)
    })
}
