//! Names that scripts may use: the service's event types with the script function of each, the
//! fields of an event, and the names of the configuration.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::wording::nearest;
use crate::policy::Rights;
use crate::scripting::language::template::Template;

/// Function for events without a function of their own in the script.
pub const ANY_EVENT: &str = "on_event";

#[derive(Debug, Clone, Copy)]
pub struct EventRow {
    /// Type as the service writes it.
    pub name: &'static str,
    pub doc: &'static str,
    /// Kind of record in `data`.
    pub data: &'static str,
}

pub(crate) const TRANSACTION: &str = "transaction";
pub(crate) const RECURRING: &str = "recurring charge";
pub(crate) const OCCURRENCE: &str = "occurrence";
pub(crate) const METHOD: &str = "saved card";
pub(crate) const APPLICATION: &str = "application";

/// Declares the event types of each record: the names behind a common prefix, with their sentences.
macro_rules! event_rows {
    ($($data:ident $prefix:literal { $($name:literal: $doc:literal,)* })*) => {
        &[$($(
            EventRow { name: concat!($prefix, ".", $name), doc: $doc, data: $data },
        )*)*]
    };
}

/// Every event type (service-facts, 72; partner-api, Events).
pub static EVENTS: &[EventRow] = event_rows! {
    TRANSACTION "transaction" {
        "created": "A transaction was created.",
        "authorized": "A payment, refund or credit was accepted, but is not settled yet.",
        "completed": "A transaction was captured or settled.",
        "voided": "A transaction was voided before it was settled.",
        "failed": "A transaction was declined or returned; `failure_code` gives the reason.",
        "updated": "A transaction changed, for example by a refund.",
        "pending_parent_settlement": "A refund waits until its eCheck is settled.",
    }
    RECURRING "recurring_charge" {
        "created": "A recurring charge was created.",
        "updated": "A recurring charge changed.",
        "completed": "A recurring charge reached its end or its limit, or was cancelled; \
            `status_reason` says which.",
        "deleted": "A recurring charge was deleted.",
        "payment_method.expiring": "Its card expires this month; sent on the first day of the \
            month.",
        "payment_method.expired": "Its card has expired; sent on the first day of the following \
            month.",
    }
    OCCURRENCE "recurring_charge.occurrence" {
        "created": "The next payment of a recurring charge is planned.",
        "updated": "A planned payment changed.",
        "paid": "A planned payment was paid.",
        "failed": "A planned payment was declined; `attempts` and `transactions` show the tries.",
        "ignored": "A planned payment was removed from the collection.",
    }
    METHOD "payment_method" {
        "expiring": "A saved card expires this month; sent on the first day of the month.",
        "expired": "A saved card has expired; sent on the first day of the following month.",
    }
    APPLICATION "merchant" {
        "provisioned": "An application was approved, and its merchant created.",
    }
    APPLICATION "merchant_application" {
        "declined": "An application was declined; `reason` in `data` gives the reason, if the \
            service does.",
    }
};

/// One field of the map that a script's function gets.
#[derive(Debug, Clone, Copy)]
pub struct EventField {
    pub name: &'static str,
    pub doc: &'static str,
}

/// Every field of an event, in order. All fields are always present; an unknown value is `()`.
pub static EVENT_FIELDS: &[EventField] = &[
    EventField { name: "id", doc: "the service's id of the event" },
    EventField { name: "type", doc: "its type, such as `transaction.failed`" },
    EventField {
        name: "created",
        doc: "the time of the event, as text, and the only time in a run; `date(event.created)` \
            converts it",
    },
    EventField { name: "mode", doc: "`test` or `live`" },
    EventField { name: "merchant", doc: "the name of the Merchant document, or `()`" },
    EventField {
        name: "resource",
        doc: "the document that the event is about, as `Kind/name`, or `()`",
    },
    EventField {
        name: "data",
        doc: "the record as the service shows it; a field that the service omits is missing, so \
            read it with `event.data.get(\"reference\")`",
    },
    EventField { name: "previous", doc: "the record as known before, or `()`" },
];

/// Returns the function for events of a type: `on_transaction_failed` for `transaction.failed`.
pub fn handler_name(event_type: &str) -> String {
    format!("on_{}", event_type.replace('.', "_"))
}

/// Returns true if events call this function.
pub(crate) fn is_hook(function_name: &str) -> bool {
    function_name == ANY_EVENT || EVENTS.iter().any(|row| handler_name(row.name) == function_name)
}

/// Returns the function that a wrong name most probably means.
pub(crate) fn nearest_handler(name: &str) -> Option<String> {
    let all: Vec<String> = handler_names().collect();
    let plain = |name: &str| -> String {
        name.to_lowercase().chars().filter(|found| found.is_alphanumeric()).collect()
    };
    let bare = |name: &str| plain(name.strip_prefix("on_").unwrap_or(name));
    let same = all.iter().find(|known| plain(known) == plain(name) || bare(known) == plain(name));
    let near = || nearest(name, all.iter().map(String::as_str)).map(str::to_owned);
    same.cloned().or_else(near)
}

pub(crate) fn handler_names() -> impl Iterator<Item = String> {
    EVENTS.iter().map(|row| handler_name(row.name)).chain([ANY_EVENT.to_owned()])
}

/// External names that scripts may use.
#[derive(Debug, Clone, Default)]
pub struct ConfiguredNames {
    /// Targets of the configuration's `notify`.
    pub targets: BTreeSet<String>,
    /// Mail targets, each set if it takes any address.
    pub mail: BTreeMap<String, bool>,
    /// Rights that the configuration grants.
    pub rights: Rights,
    pub kinds: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub(crate) struct ScriptNames {
    pub(crate) configured: ConfiguredNames,
    pub(crate) templates: BTreeMap<String, Template>,
}

/// Returns the message and the fix for a former name that still works.
pub(crate) fn former_name_words(former: &str, name: &str) -> (String, String) {
    let message = format!("`{former}` is the former name of `{name}`");
    (message, format!("write `{name}`: `{former}` works in this version, and not in the next one"))
}
