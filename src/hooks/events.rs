//! The register of events: what the service reports, and the function of a script that each goes to.

use crate::base::nearest::nearest;

/// The function that gets what no other of its script does.
pub const ANY: &str = "on_event";

/// One type of event.
#[derive(Debug, Clone, Copy)]
pub struct EventRow {
    /// Its type, as the service writes it.
    pub name: &'static str,
    /// When it comes, in a sentence.
    pub doc: &'static str,
    /// What its `data` is.
    pub data: &'static str,
}

const fn row(name: &'static str, data: &'static str, doc: &'static str) -> EventRow {
    EventRow { name, doc, data }
}

const TRANSACTION: &str = "transaction";
const RECURRING: &str = "recurring charge";
const OCCURRENCE: &str = "occurrence";
const METHOD: &str = "saved card";
const APPLICATION: &str = "application";

/// Every type there is (service-facts, 72; partner-api, Events).
pub static EVENTS: &[EventRow] = &[
    row("transaction.created", TRANSACTION, "A transaction was made."),
    row(
        "transaction.authorized",
        TRANSACTION,
        "A payment, refund or credit was accepted, and is not settled yet.",
    ),
    row("transaction.completed", TRANSACTION, "A transaction was captured or settled."),
    row("transaction.voided", TRANSACTION, "A transaction was taken back before it was settled."),
    row(
        "transaction.failed",
        TRANSACTION,
        "A transaction was declined, or came back; `failure_code` says why.",
    ),
    row(
        "transaction.updated",
        TRANSACTION,
        "Something about a transaction changed, such as a refund of it.",
    ),
    row(
        "transaction.pending_parent_settlement",
        TRANSACTION,
        "A refund waits until its eCheck is settled.",
    ),
    row("recurring_charge.created", RECURRING, "A recurring charge was made."),
    row("recurring_charge.updated", RECURRING, "A recurring charge changed."),
    row(
        "recurring_charge.completed",
        RECURRING,
        "A recurring charge reached its end or its limit, or was cancelled: `status_reason` says which.",
    ),
    row("recurring_charge.deleted", RECURRING, "A recurring charge was deleted."),
    row(
        "recurring_charge.payment_method.expiring",
        RECURRING,
        "Its card expires this month; told on the first day of the month.",
    ),
    row(
        "recurring_charge.payment_method.expired",
        RECURRING,
        "Its card has expired; told on the first day of the month after.",
    ),
    row(
        "recurring_charge.occurrence.created",
        OCCURRENCE,
        "The next payment of a recurring charge is planned.",
    ),
    row("recurring_charge.occurrence.updated", OCCURRENCE, "A planned payment changed."),
    row("recurring_charge.occurrence.paid", OCCURRENCE, "A planned payment was made."),
    row(
        "recurring_charge.occurrence.failed",
        OCCURRENCE,
        "A planned payment was declined; `attempts` and `transactions` say what was tried.",
    ),
    row(
        "recurring_charge.occurrence.ignored",
        OCCURRENCE,
        "A planned payment was taken out of the collection.",
    ),
    row(
        "payment_method.expiring",
        METHOD,
        "A saved card expires this month; told on the first day of the month.",
    ),
    row(
        "payment_method.expired",
        METHOD,
        "A saved card has expired; told on the first day of the month after.",
    ),
    row("merchant.provisioned", APPLICATION, "An application was approved and its merchant made."),
    row(
        "merchant_application.declined",
        APPLICATION,
        "An application was declined; `reason` in `data` says why, as far as it is told.",
    ),
];

/// One field of the map that a script's function gets.
#[derive(Debug, Clone, Copy)]
pub struct EventField {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub doc: &'static str,
}

/// Every field of an event, in order. All of them are always there; what there is not is `()`.
pub static FIELDS: &[EventField] = &[
    EventField { name: "id", doc: "the service's id of the event" },
    EventField { name: "type", doc: "its type, such as `transaction.failed`" },
    EventField {
        name: "created",
        doc: "when it happened, as text: the only time there is; `date(event.created)` reckons with it",
    },
    EventField { name: "mode", doc: "`test` or `live`" },
    EventField { name: "merchant", doc: "the name of the Merchant document, or `()`" },
    EventField { name: "resource", doc: "our document that it is about, as `Kind/name`, or `()`" },
    EventField {
        name: "data",
        doc: "the record as the service shows it; what it leaves out is not there, so ask with `event.data.get(\"reference\")`",
    },
    EventField { name: "previous", doc: "what was known of the record before, or `()`" },
];

/// The function that events of a type go to: `on_transaction_failed` for `transaction.failed`.
pub fn function(event_type: &str) -> String {
    let words = event_type.replace('.', "_");
    format!("on_{words}")
}

/// Whether a function gets events.
pub(super) fn is_hook(function_name: &str) -> bool {
    function_name == ANY || EVENTS.iter().any(|row| function(row.name) == function_name)
}

/// The function that was probably meant, where the name is none of them.
pub(super) fn meant(name: &str) -> Option<String> {
    let all: Vec<String> = names().collect();
    let plain = |name: &str| -> String {
        name.to_lowercase().chars().filter(|found| found.is_alphanumeric()).collect()
    };
    let bare = |name: &str| plain(name.strip_prefix("on_").unwrap_or(name));
    let same = all.iter().find(|known| plain(known) == plain(name) || bare(known) == plain(name));
    let near = || nearest(name, all.iter().map(String::as_str)).map(str::to_owned);
    same.cloned().or_else(near)
}

/// The names of all functions that get events.
pub(super) fn names() -> impl Iterator<Item = String> {
    EVENTS.iter().map(|row| function(row.name)).chain([ANY.to_owned()])
}
