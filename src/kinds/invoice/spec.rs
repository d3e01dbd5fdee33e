//! Typed spec of an invoice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::base::secret::Personal;
use crate::kinds::schema::amount::Amount;
use crate::kinds::schema::refused_field::RefusedField;
use crate::kinds::schema::text;

/// The only quantity of an invoice's line (partner-api, POST /invoices).
pub(super) const QUANTITY: &str = "1";

/// The only rate type (partner-api, POST /invoices).
pub(super) const RATE_TYPE: &str = "units";

/// Invoice that a contact pays to a merchant (partner-api, POST /invoices).
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct InvoiceSpec {
    /// The merchant that is paid.
    pub merchant: String,
    /// The contact that pays.
    pub contact: String,
    /// The account that receives the money: the name of a bank account, or its `bank_` id.
    pub bank_account: String,
    /// A date, which is 12:00 in the merchant's zone, or an RFC 3339 timestamp; kept as written.
    pub invoice_date: String,
    /// The currency of every amount.
    pub currency: Option<String>,
    /// A text of the merchant's own that the payer sees.
    pub reference: Option<String>,
    /// The lines of the invoice, at least one.
    pub line_items: Vec<LineItemSpec>,
    /// E-mails with the portal link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invoice_messages: Vec<MessageSpec>,
    /// Files for the payer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentSpec>,
    /// Not accepted: derived from partner, kind, namespace and name.
    #[serde(default, skip_serializing)]
    pub source_id: RefusedField,
    /// Not accepted: follows the merchant's mode.
    #[serde(default, skip_serializing)]
    pub test_mode: RefusedField,
    /// Not accepted: write `contact`.
    #[serde(default, skip_serializing)]
    pub contact_id: RefusedField,
    /// Not accepted: write `bank_account`.
    #[serde(default, skip_serializing)]
    pub bank_account_id: RefusedField,
}

/// One line of an invoice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LineItem")]
pub struct LineItemSpec {
    /// The purpose of the line.
    pub description: String,
    /// The line's whole amount.
    pub rate_per_quantity: Amount,
    /// Always `1`.
    #[serde(default = "quantity")]
    pub quantity: String,
    /// Always `units`.
    #[serde(default = "rate_type")]
    pub rate_type: String,
}

/// One e-mail to one or more addresses.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Message")]
pub struct MessageSpec {
    /// E-mail addresses, at least one.
    #[serde(serialize_with = "text::serialize_exposed_list")]
    pub email_addresses: Vec<Personal>,
    /// Replaces the service's own subject.
    pub subject: Option<String>,
    /// Replaces the service's own text.
    pub message: Option<String>,
}

/// One file: an uploaded one by `id`, or a local one by `file`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Attachment")]
pub struct AttachmentSpec {
    /// The service's `fref_` id of the file.
    pub id: Option<String>,
    /// A path below the folder of `secrets.attachments`.
    pub file: Option<String>,
}

fn quantity() -> String {
    QUANTITY.to_owned()
}

fn rate_type() -> String {
    RATE_TYPE.to_owned()
}
