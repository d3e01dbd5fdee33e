//! The health of an object, besides its synchronisation: a charge can match its document and
//! collect no money. Every view reports it in one form, as conditions.
//!
//! The payments of a recurring charge come from the service's events: the newest try, and the number
//! of failures in a row.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::remote_object::RemoteObject;

/// The health of one object, as its kind derives it from known facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// False: the object has a problem.
    pub status: ConditionStatus,
    /// Reason as a CamelCase word, for programs.
    pub reason: &'static str,
    pub message: String,
    pub since: Option<DateTime<Utc>>,
    /// Next time at which the passing of time alone changes it.
    pub next_change: Option<DateTime<Utc>>,
}

impl Health {
    pub fn healthy() -> Self {
        let message = "no payment failed or was returned, and nothing expired".to_owned();
        let (status, reason) = (ConditionStatus::True, "NothingWrong");
        Self { status, reason, message, since: None, next_change: None }
    }

    pub fn not_created() -> Self {
        let message = "the object does not exist".to_owned();
        let (status, reason) = (ConditionStatus::Unknown, "NotCreated");
        Self { status, reason, message, since: None, next_change: None }
    }

    pub fn is_healthy(&self) -> bool {
        self.status != ConditionStatus::False
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ConditionType {
    Synced,
    /// The object itself is in order: no payment failed or was returned, no card expired.
    Healthy,
    /// A person or the document stopped further changes.
    Suspended,
    NeedsAttention,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: ConditionType,
    pub status: ConditionStatus,
    /// Reason as a CamelCase word, for programs.
    pub reason: String,
    pub message: String,
    /// The time of the record that caused the status; null where only files did.
    pub since: Option<String>,
}

impl Condition {
    /// Returns true for the status that a resource in order has.
    pub fn is_good(&self) -> bool {
        let good = match self.kind {
            ConditionType::Synced | ConditionType::Healthy => ConditionStatus::True,
            ConditionType::Suspended | ConditionType::NeedsAttention => ConditionStatus::False,
        };
        self.status == good
    }
}

impl ConditionType {
    pub fn word(self) -> &'static str {
        match self {
            Self::Synced => "Synced",
            Self::Healthy => "Healthy",
            Self::Suspended => "Suspended",
            Self::NeedsAttention => "NeedsAttention",
        }
    }
}

impl ConditionStatus {
    pub fn word(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(yes: bool) -> Self {
        if yes { Self::True } else { Self::False }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaymentResult {
    Paid,
    /// The payer's bank, or the service, declined it.
    Declined,
    /// It was approved, and the money was returned later: a returned eCheck.
    Returned,
    Voided,
}

impl PaymentResult {
    pub fn word(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Declined => "declined",
            Self::Returned => "returned",
            Self::Voided => "voided",
        }
    }

    /// Returns the result of a try that this version of its transaction shows first; `known` is
    /// the version before it. `None` if the version shows no try, or one that was known.
    pub fn first_shown(
        object: &RemoteObject,
        previous: Option<&RemoteObject>,
        known: Option<&RemoteObject>,
    ) -> Option<Self> {
        let (payment, is_try) = shown_payment(object, previous.or(known))?;
        let is_known = known.is_some_and(|known| known.status == object.status);
        (is_try && !is_known).then_some(payment.result)
    }
}

/// Numbers of tries by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PaymentCounts {
    pub paid: u64,
    pub declined: u64,
    pub returned: u64,
    pub voided: u64,
}

impl PaymentCounts {
    pub fn count(&mut self, result: PaymentResult) {
        let number = match result {
            PaymentResult::Paid => &mut self.paid,
            PaymentResult::Declined => &mut self.declined,
            PaymentResult::Returned => &mut self.returned,
            PaymentResult::Voided => &mut self.voided,
        };
        *number = number.saturating_add(1);
    }

    /// Returns each count with the word of its result.
    pub fn by_result(&self) -> [(&'static str, u64); 4] {
        let Self { paid, declined, returned, voided } = *self;
        [
            (PaymentResult::Paid.word(), paid),
            (PaymentResult::Declined.word(), declined),
            (PaymentResult::Returned.word(), returned),
            (PaymentResult::Voided.word(), voided),
        ]
    }
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// The transaction, or the occurrence where no transaction was shown.
    pub id: String,
    pub result: PaymentResult,
    /// Minor units.
    pub amount: Option<i64>,
    /// ISO 4217; occurrences name none.
    pub currency: Option<String>,
    /// The service's code of a failure.
    pub reason: Option<String>,
    /// By the service's clock.
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payments {
    pub last: Payment,
    /// Failed tries since the last success.
    #[serde(default)]
    pub failures: u32,
    /// The time of the record of the first failure in a row, or of the success.
    pub since: DateTime<Utc>,
}

impl Payments {
    /// Returns the known payments after this version of an object, from an event recorded at `at`
    /// by our clock.
    ///
    /// Returns `None` if the version shows no payment, or no newer one.
    pub fn after_version(
        known: Option<&Self>,
        object: &RemoteObject,
        previous: Option<&RemoteObject>,
        at: DateTime<Utc>,
    ) -> Option<Self> {
        let (payment, is_try) = shown_payment(object, previous)?;
        if known.is_some_and(|known| known.last.at > payment.at) {
            return None;
        }
        let before = known.map_or(0, |known| known.failures);
        let failures = match payment.result {
            PaymentResult::Paid => 0,
            PaymentResult::Voided => before,
            PaymentResult::Declined | PaymentResult::Returned if is_try => before.saturating_add(1),
            PaymentResult::Declined | PaymentResult::Returned => before.max(1),
        };
        let same = known.filter(|_| (before > 0) == (failures > 0));
        let since = same.map_or(at, |known| known.since);
        let last = match known {
            // The occurrence shows less of the try than its transaction, which came before it.
            Some(known) if !is_try && known.last.result == payment.result => known.last.clone(),
            _ => payment,
        };
        Some(Self { last, failures, since })
    }

    pub fn after_event(
        known: Option<&Self>,
        object: &RemoteObject,
        previous: Option<&RemoteObject>,
        at: DateTime<Utc>,
    ) -> Option<Self> {
        if object.kind == OCCURRENCE && object.status.as_deref() == Some("IGNORED") {
            // A person excluded the failed payment from the collection.
            let known = known.filter(|known| known.failures > 0)?;
            return Some(Self { last: known.last.clone(), failures: 0, since: at });
        }
        Self::after_version(known, object, previous, at)
    }
}

const OCCURRENCE: &str = "recurring_charge.occurrence";

/// Returns the payment that one version of an object shows, and whether it is a try of its own, and
/// not the sum of tries that events report one by one.
fn shown_payment(
    object: &RemoteObject,
    previous: Option<&RemoteObject>,
) -> Option<(Payment, bool)> {
    let status = object.status.as_deref()?;
    let before = previous.and_then(|previous| previous.status.as_deref());
    let is_try = object.kind == "transaction";
    if is_try && object.transaction_type.as_deref().is_some_and(|sort| sort != "CHARGE") {
        return None;
    }
    let result = match (object.kind.as_str(), status, before) {
        // The settlement of an approved payment changes nothing.
        ("transaction", "COMPLETED", Some("AUTHORIZED" | "COMPLETED")) => return None,
        ("transaction", "AUTHORIZED" | "COMPLETED", _) | (OCCURRENCE, "PAID", _) => {
            PaymentResult::Paid
        }
        ("transaction", "FAILED", Some("COMPLETED")) => PaymentResult::Returned,
        ("transaction" | OCCURRENCE, "FAILED", _) => PaymentResult::Declined,
        ("transaction", "VOIDED", _) => PaymentResult::Voided,
        _ => return None,
    };
    let payment = Payment {
        id: object.id.clone(),
        result,
        amount: object.amount,
        currency: object.currency.clone(),
        reason: object.failure.clone(),
        at: object.modified,
    };
    Some((payment, is_try))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(kind: &str, status: &str, minute: u32) -> RemoteObject {
        let data = serde_json::json!({"id": "t1", "status": status, "amount": 1000, "failure_code":
            "card_declined", "type": "CHARGE", "modified": format!("2026-11-22T10:{minute:02}:00Z")});
        let created = "2026-11-22T12:00:00Z".parse().unwrap();
        RemoteObject::of(&format!("{kind}.updated"), &data, created).unwrap()
    }

    fn at(minute: u32) -> DateTime<Utc> {
        format!("2026-11-22T11:{minute:02}:00Z").parse().unwrap()
    }

    fn told(steps: &[(&str, &str, Option<&str>)]) -> Payments {
        let mut known = None;
        for (minute, (kind, status, before)) in (1..).zip(steps) {
            let before = before.map(|before| version(kind, before, 0));
            let now = version(kind, status, minute);
            known =
                Payments::after_event(known.as_ref(), &now, before.as_ref(), at(minute)).or(known);
        }
        known.unwrap()
    }

    /// Closes M3.
    #[test]
    fn failures_in_a_row_are_counted_once_each_and_a_payment_ends_them() {
        let declined = [("transaction", "FAILED", None), (OCCURRENCE, "FAILED", None)];
        let three = told(&declined.repeat(3));
        assert_eq!(
            (three.failures, three.since, three.last.at),
            (3, at(1), version("t", "", 5).modified)
        );
        assert_eq!(three.last.reason.as_deref(), Some("card_declined"));
        let occurrences = told(&[(OCCURRENCE, "FAILED", None)]);
        assert_eq!(occurrences.failures, 1, "no transaction was shown");
        let paid = [declined.as_slice(), &[("transaction", "AUTHORIZED", None)]].concat();
        assert_eq!((told(&paid).failures, told(&paid).since), (0, at(3)));
    }

    /// Every version of one transaction, in order; counts what a metric shows.
    #[test]
    fn a_try_counts_once_however_many_versions_show_it_and_a_return_counts_again() {
        let mut counts = PaymentCounts::default();
        let mut known: Option<RemoteObject> = None;
        let steps = ["AUTHORIZED", "AUTHORIZED", "COMPLETED", "COMPLETED", "FAILED", "FAILED"];
        for (minute, status) in (1..).zip(steps) {
            let now = version("transaction", status, minute);
            let result = PaymentResult::first_shown(&now, None, known.as_ref());
            if let Some(result) = result {
                counts.count(result);
            }
            known = Some(now);
        }
        assert_eq!(counts, PaymentCounts { paid: 1, returned: 1, ..PaymentCounts::default() });
        let sum_of_tries = version(OCCURRENCE, "FAILED", 1);
        assert_eq!(PaymentResult::first_shown(&sum_of_tries, None, None), None);
    }

    #[test]
    fn a_settlement_is_no_news_a_return_is_and_a_person_may_pass_one_over() {
        let declined = ("transaction", "FAILED", Some("PENDING"));
        let settled = ("transaction", "COMPLETED", Some("AUTHORIZED"));
        assert_eq!(told(&[declined, settled]).failures, 1, "another one was settled meanwhile");
        let returned = told(&[
            ("transaction", "AUTHORIZED", None),
            ("transaction", "FAILED", Some("COMPLETED")),
        ]);
        assert_eq!((returned.last.result, returned.failures), (PaymentResult::Returned, 1));
        let passed = told(&[declined, (OCCURRENCE, "IGNORED", None)]);
        assert_eq!((passed.failures, passed.since), (0, at(2)));
    }
}
