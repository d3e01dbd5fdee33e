//! Invoices: the interface documents name no way to change one (partner-api, POST /invoices).

use crate::fields::case::{Case, Table, fixed, never};
use crate::fields::documents::{CONTACTS, MERCHANTS};

pub(crate) const TABLE: Table = Table {
    kind: "Invoice",
    base: "
merchant: acme
contact: jane
bank_account: Operating
invoice_date: 2030-01-15
line_items: [{description: Retainer, rate_per_quantity: 125.00 USD}]",
    beside: &[MERCHANTS, CONTACTS],
    with: &[],
    cases: CASES,
};

const MESSAGE: &str =
    "[{email_addresses: [jane@example.com], subject: Hello, message: Please pay}]";

const CASES: &[Case] = &[
    never("merchant", "acme", "other").also(&[("contact", "joe")]),
    never("contact", "jane", "jim"),
    never("bank_account", "Operating", "Trust"),
    never("invoice_date", "2030-01-15", "2030-01-16"),
    never("currency", "~", "USD"),
    never("reference", "R-1", "R-2"),
    never("line_items[].description", "Retainer", "Advance"),
    never("line_items[].rate_per_quantity", "125.00 USD", "126.00 USD"),
    fixed("line_items[].quantity", "1"),
    fixed("line_items[].rate_type", "units"),
    never("invoice_messages[].email_addresses[]", "jane@example.com", "jim@example.com"),
    never("invoice_messages[].subject", "Hello", "Hi").with(&[("invoice_messages", MESSAGE)]),
    never("invoice_messages[].message", "Please pay", "Pay").with(&[("invoice_messages", MESSAGE)]),
    never("attachments[].id", "~", "fref_1"),
    never("attachments[].file", "letter.txt", "other.txt"),
];
