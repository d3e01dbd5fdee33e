//! Objects without documents (transactions, occurrences), and the order of their versions.
//!
//! The service's own times and the allowed transitions of the status decide the order.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One version of an object, as an event showed it. No names, no addresses, no method.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteObject {
    pub id: String,
    /// The first part of the types of its events: `transaction`, `recurring_charge.occurrence`.
    pub kind: String,
    pub status: Option<String>,
    /// Minor units.
    pub amount: Option<i64>,
    /// ISO 4217.
    pub currency: Option<String>,
    pub parent: Option<String>,
    /// Of a transaction: `CHARGE`, `REFUND` or `CREDIT`.
    #[serde(rename = "sort")]
    pub transaction_type: Option<String>,
    pub failure: Option<String>,
    /// Time of the service's last change; the event's own time where the object shows none.
    pub modified: DateTime<Utc>,
    /// In the index: the time of the newest event about the object, where it is later than
    /// `modified`. The service may report a change later than the time of the change.
    #[serde(rename = "told_to")]
    pub newest_event: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    #[serde(rename = "news")]
    Newer,
    Same,
    /// The version is older: it changes nothing.
    #[serde(rename = "stale")]
    Older,
    /// Times and states do not decide the order: the object has to be read again.
    #[serde(rename = "tie")]
    Undecided,
}

/// Allowed transitions of a transaction (gateway-api, Transaction states; a return comes after
/// COMPLETED: service-facts, part 3).
const TRANSACTION: &[(&str, &[&str])] = &[
    ("PENDING", &["AUTHORIZED", "COMPLETED", "VOIDED", "FAILED"]),
    ("AUTHORIZED", &["COMPLETED", "VOIDED", "FAILED"]),
    ("COMPLETED", &["FAILED"]),
];

/// Allowed transitions of an occurrence (gateway-api, Recurring charge occurrence). A failed one may
/// be tried again.
const OCCURRENCE: &[(&str, &[&str])] = &[
    ("PENDING", &["PAYING", "PAID", "FAILED", "IGNORED"]),
    ("PAYING", &["PAID", "FAILED", "PENDING"]),
    ("FAILED", &["PAYING", "PAID", "IGNORED"]),
    ("IGNORED", &["PAYING", "PAID", "FAILED"]),
];

impl RemoteObject {
    /// Returns the version that an event of this type shows; `None` without an id.
    pub fn of(kind: &str, data: &Value, event_time: DateTime<Utc>) -> Option<Self> {
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let time = |name: &str| text(name)?.parse::<DateTime<Utc>>().ok();
        Some(Self {
            id: text("id").filter(|id| !id.is_empty())?,
            kind: subject(kind).to_owned(),
            status: text("status"),
            amount: data.get("amount").and_then(Value::as_i64),
            currency: text("currency"),
            parent: text("recurring_charge_id"),
            transaction_type: text("type").filter(|_| subject(kind) == "transaction"),
            failure: text("failure_code"),
            modified: time("modified").unwrap_or(event_time),
            newest_event: None,
        })
    }

    pub fn freshness(&self, known: Option<&Self>) -> Freshness {
        let Some(known) = known else { return Freshness::Newer };
        let said = |one: &Self| (one.status.clone(), one.amount);
        if said(self) == said(known) {
            return if self.modified > known.modified { Freshness::Newer } else { Freshness::Same };
        }
        let (forth, back) = (self.follows(known), known.follows(self));
        let (newer, older) = (self.modified > known.modified, self.modified < known.modified);
        if forth && (newer || (!older && !back)) {
            Freshness::Newer
        } else if back && (older || (!newer && !forth)) || (older && !forth) {
            Freshness::Older
        } else {
            Freshness::Undecided
        }
    }

    /// Returns the index entry after an event of this time; `before` is the earlier entry.
    #[must_use]
    pub fn into_index_entry(self, before: Option<&Self>, event_time: DateTime<Utc>) -> Self {
        let told_to = before.and_then(|before| before.newest_event).max(Some(event_time));
        Self { newest_event: told_to.filter(|at| *at > self.modified), ..self }
    }

    /// Returns whether neither the version nor its newest event is later than this moment.
    pub fn is_within(&self, moment: DateTime<Utc>) -> bool {
        self.modified <= moment && self.newest_event <= Some(moment)
    }

    fn follows(&self, before: &Self) -> bool {
        let (Some(now), Some(then)) = (self.status.as_deref(), before.status.as_deref()) else {
            return true;
        };
        let table = match self.kind.as_str() {
            "transaction" => TRANSACTION,
            "recurring_charge.occurrence" => OCCURRENCE,
            _ => return true,
        };
        let mut rows = table.iter().filter(|(from, _)| *from == then);
        now == then || rows.any(|(_, to)| to.contains(&now))
    }
}

/// Returns the type of an event without its last part, and without `.payment_method`.
pub fn subject(kind: &str) -> &str {
    let about = kind.rsplit_once('.').map_or(kind, |(about, _)| about);
    about.strip_suffix(".payment_method").unwrap_or(about)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn version(kind: &str, status: &str, minute: u32) -> RemoteObject {
        let data = serde_json::json!({"id": "t1", "status": status, "amount": 100,
            "modified": format!("2026-11-22T10:{minute:02}:00.000Z")});
        RemoteObject::of(kind, &data, at("2026-11-22T12:00:00Z")).unwrap()
    }

    fn told(kind: &str, (before, then): (&str, u32), (status, now): (&str, u32)) -> Freshness {
        let kind = format!("{kind}.updated");
        version(&kind, status, now).freshness(Some(&version(&kind, before, then)))
    }

    #[test]
    fn the_first_version_is_news() {
        assert_eq!(version("transaction.created", "PENDING", 1).freshness(None), Freshness::Newer);
    }

    #[test]
    fn a_newer_state_wins_and_an_older_one_changes_nothing() {
        let tx = |before, now| told("transaction", before, now);
        assert_eq!(tx(("PENDING", 1), ("AUTHORIZED", 2)), Freshness::Newer);
        assert_eq!(tx(("AUTHORIZED", 2), ("PENDING", 1)), Freshness::Older);
        assert_eq!(tx(("COMPLETED", 3), ("FAILED", 9)), Freshness::Newer);
        assert_eq!(tx(("COMPLETED", 3), ("COMPLETED", 3)), Freshness::Same);
    }

    #[test]
    fn at_one_time_the_state_that_can_only_follow_is_the_newer_one() {
        let tx = |before, now| told("transaction", before, now);
        assert_eq!(tx(("PENDING", 1), ("AUTHORIZED", 1)), Freshness::Newer);
        assert_eq!(tx(("AUTHORIZED", 1), ("PENDING", 1)), Freshness::Older);
    }

    #[test]
    fn what_neither_time_nor_state_tells_is_read_again() {
        assert_eq!(told("transaction", ("VOIDED", 1), ("COMPLETED", 2)), Freshness::Undecided);
        let again = told("recurring_charge.occurrence", ("FAILED", 1), ("PAYING", 1));
        assert_eq!(
            again,
            Freshness::Undecided,
            "a failed one can be tried again, and that can fail"
        );
        assert_eq!(told("transaction", ("COMPLETED", 2), ("VOIDED", 1)), Freshness::Older);
    }

    #[test]
    fn the_subject_of_a_type_is_what_it_is_about() {
        assert_eq!(subject("transaction.authorized"), "transaction");
        assert_eq!(subject("recurring_charge.occurrence.paid"), "recurring_charge.occurrence");
        assert_eq!(subject("recurring_charge.payment_method.expiring"), "recurring_charge");
        assert_eq!(subject("payment_method.expired"), "payment_method");
    }
}
