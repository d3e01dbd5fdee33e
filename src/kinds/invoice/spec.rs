//! Typed spec of an invoice, its currency and its total.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::base::money::{AMOUNT_MAX, Currency, Money};
use crate::base::secret::Personal;
use crate::kinds::schema::kind::CheckCx;
use crate::kinds::schema::text;
use crate::kinds::schema::values::{Amount, RefusedField, money_issue};
use crate::model::issue::Issue;

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
    pub merchant: String,
    pub contact: String,
    pub bank_account: String,
    /// Kept as written.
    pub invoice_date: String,
    pub currency: Option<String>,
    pub reference: Option<String>,
    pub line_items: Vec<LineItemSpec>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invoice_messages: Vec<MessageSpec>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentSpec>,
    #[serde(default, skip_serializing)]
    pub source_id: RefusedField,
    #[serde(default, skip_serializing)]
    pub test_mode: RefusedField,
    #[serde(default, skip_serializing)]
    pub contact_id: RefusedField,
    #[serde(default, skip_serializing)]
    pub bank_account_id: RefusedField,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LineItem")]
pub struct LineItemSpec {
    pub description: String,
    pub rate_per_quantity: Amount,
    #[serde(default = "quantity")]
    pub quantity: String,
    #[serde(default = "rate_type")]
    pub rate_type: String,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Message")]
pub struct MessageSpec {
    #[serde(serialize_with = "text::serialize_exposed_list")]
    pub email_addresses: Vec<Personal>,
    pub subject: Option<String>,
    pub message: Option<String>,
}

/// One file: an uploaded one by `id`, or a local one by `file`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Attachment")]
pub struct AttachmentSpec {
    pub id: Option<String>,
    pub file: Option<String>,
}

fn quantity() -> String {
    QUANTITY.to_owned()
}

fn rate_type() -> String {
    RATE_TYPE.to_owned()
}

const LINES: &str = "spec.line_items";
const CURRENCY: &str = "spec.currency";

/// Returns the invoice's one currency: `currency`, else that of the first amount, else `assumed`.
pub fn currency(spec: &InvoiceSpec, assumed: Currency) -> Currency {
    let said = spec.currency.as_deref().and_then(|code| code.parse().ok());
    let written = || spec.line_items.iter().find_map(|line| line.rate_per_quantity.currency);
    said.or_else(written).unwrap_or(assumed)
}

/// Returns the sum of the lines. `None` for an invalid amount, a second currency, or a sum beyond
/// the service's limit (service-facts, 31).
pub fn total(spec: &InvoiceSpec, assumed: Currency) -> Option<Money> {
    let currency = currency(spec, assumed);
    let mut sum = Money::zero(currency);
    for line in &spec.line_items {
        sum = sum.checked_add(line.rate_per_quantity.read(currency)?).ok()?;
    }
    (sum.minor().checked_abs()? <= AMOUNT_MAX).then_some(sum)
}

pub(super) fn amount_issues(spec: &InvoiceSpec, cx: &CheckCx) -> Vec<Issue> {
    let unknown = spec.currency.as_deref().and_then(|code| code.parse::<Currency>().err());
    if let Some(error) = unknown {
        return vec![money_issue(CURRENCY, &error)];
    }
    let mixed = mixed_currency_issues(spec, cx);
    if mixed.is_empty() { total_issue(spec, cx).into_iter().collect() } else { mixed }
}

fn mixed_currency_issues(spec: &InvoiceSpec, cx: &CheckCx) -> Vec<Issue> {
    let one = currency(spec, cx.currency);
    let named = |line: &LineItemSpec| line.rate_per_quantity.currency.is_some();
    let first = if spec.currency.is_some() {
        CURRENCY.to_owned()
    } else {
        rate_path(spec.line_items.iter().position(named).unwrap_or_default())
    };
    let others = spec.line_items.iter().enumerate().filter_map(|(index, line)| {
        let other = line.rate_per_quantity.currency.filter(|other| *other != one)?;
        let message = format!("the amount is in {other}, and the invoice in {one}");
        let help = "write one currency everywhere, or an invoice for each";
        let code = "reckon::invoice::mixed_currencies";
        let issue = Issue::error(code, &rate_path(index), message, help);
        Some(issue.with_related(None, &first, format!("{one} is set here")))
    });
    others.collect()
}

fn rate_path(index: usize) -> String {
    format!("{LINES}[{index}].rate_per_quantity")
}

fn total_issue(spec: &InvoiceSpec, cx: &CheckCx) -> Option<Issue> {
    let unread = |line: &LineItemSpec| line.rate_per_quantity.read(cx.currency).is_none();
    if spec.line_items.is_empty() || spec.line_items.iter().any(unread) {
        return None;
    }
    let (code, message, help) = match total(spec, cx.currency) {
        None => (
            "reckon::invoice::total_out_of_range",
            format!("the total is more than {AMOUNT_MAX} minor units, the maximum of the service"),
            "write several invoices",
        ),
        Some(total) if total.minor() <= 0 => (
            "reckon::invoice::total_zero",
            format!("the total is {total}, which cannot be paid"),
            "write lines that add up to more than zero",
        ),
        Some(_) => return None,
    };
    Some(Issue::error(code, LINES, message, help))
}
