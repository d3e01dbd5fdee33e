//! Contacts: the interface documents name no way to change one (partner-api, POST /contacts).

use crate::fields::case::{Case, Table, never};
use crate::fields::documents::MERCHANTS;

pub(crate) const TABLE: Table = Table {
    kind: "Contact",
    base: "{merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}",
    beside: &[MERCHANTS],
    with: &[],
    cases: CASES,
};

const CASES: &[Case] = &[
    never("merchant", "acme", "other"),
    never("first_name", "Jane", "Janet"),
    never("last_name", "Doe", "Roe"),
    never("email_addresses[].address", "jane@example.com", "jane@example.org"),
    never(
        "email_addresses",
        "[{address: a@example.com}]",
        "[{address: a@example.com}, {address: b@example.com}]",
    ),
];
