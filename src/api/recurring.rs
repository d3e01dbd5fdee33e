//! Recurring charges, those made from an earlier charge, their occurrences and the rules of their
//! fields (gateway-api, Recurring charge).

use chrono::NaiveDate;

use crate::api::call::ParameterType::Text;
use crate::api::call::{
    ACCOUNT, ORDER, PAGE, PAGE_SIZE, Page, Parameter, REFERENCE, endpoints, objects,
};
use crate::api::method::PaymentMethod;
use crate::api::method_token::MethodRef;
use crate::api::rules::{AMOUNT_MAX, FieldProblem, FieldProblems};
use crate::api::schedule::{RecurringSchedule, limit_rules, schedule_rules};
use crate::api::transaction::Transaction;
use crate::api::wire::{self, Timestamp};

wire::words! {
    /// Status of a recurring charge (service-facts, 57).
    RecurringStatus {
        /// Still collecting.
        Active = "ACTIVE",
        /// Reached its end, or was cancelled.
        Completed = "COMPLETED",
        /// Removed.
        Deleted = "DELETED",
    }

    /// Status of an occurrence (gateway-api; service-facts, 59).
    OccurrenceStatus {
        /// Waiting for its date.
        Pending = "PENDING",
        /// Being paid.
        Paying = "PAYING",
        /// Paid.
        Paid = "PAID",
        /// The last attempt was declined.
        Failed = "FAILED",
        /// Excluded from automatic collection.
        Ignored = "IGNORED",
    }
}

objects! {
    /// The request that creates a recurring charge.
    #[schemars(extend("required" = ["amount", "method", "schedule"]))]
    pub struct NewRecurringCharge {
        /// A free text.
        pub description: Option<String>,
        /// Reference for each charge; a server may ignore it (service-facts, 64).
        pub reference: Option<String>,
        /// Id of the account; the primary account of the method's type by default.
        pub account_id: Option<String>,
        /// Minor units of each occurrence; required.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// Three letters.
        pub currency: Option<String>,
        /// A saved method or a token; inline details are accepted too.
        pub method: Option<MethodRef>,
        /// Schedule of the payments; required; may not start today.
        #[schemars(extend("required" = ["interval_unit", "interval_delay", "start"]))]
        pub schedule: Option<RecurringSchedule>,
        /// Number of scheduled payments until the recurring charge is complete.
        #[schemars(range(min = 1))]
        pub max_occurrences: Option<i64>,
        /// Minor units to collect until the recurring charge is complete.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub max_amount: Option<i64>,
        /// Any object; copied to the recurring charge's charges (service-facts, 33).
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        pub data: Option<serde_json::Value>,
    }

    /// The fields that a PATCH changes; absent fields stay.
    pub struct RecurringChange {
        /// A free text.
        pub description: Option<String>,
        /// Reference for later charges.
        pub reference: Option<String>,
        /// Id of the account.
        pub account_id: Option<String>,
        /// Minor units of each occurrence, including the pending one.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// A token's id for sensitive data; `type` and the changed fields for the rest.
        pub method: Option<MethodRef>,
        /// New schedule; moves the pending occurrence.
        pub schedule: Option<RecurringSchedule>,
        /// Number of scheduled payments until the recurring charge is complete.
        #[schemars(range(min = 1))]
        pub max_occurrences: Option<i64>,
        /// Minor units to collect until the recurring charge is complete.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub max_amount: Option<i64>,
    }

    /// A recurring charge as the service shows it.
    pub struct RecurringCharge {
        /// 22 characters.
        pub id: String,
        /// Status of the recurring charge.
        pub status: RecurringStatus,
        /// `schedule_complete` or `user_canceled`.
        pub status_reason: Option<String>,
        /// Id of the account.
        pub account_id: String,
        /// Payment method, masked.
        pub method: Option<PaymentMethod>,
        /// Schedule of the payments.
        pub schedule: Option<RecurringSchedule>,
        /// A free text.
        pub description: Option<String>,
        /// Reference for each charge.
        pub reference: Option<String>,
        /// Minor units of each occurrence.
        pub amount: i64,
        /// Three letters.
        pub currency: String,
        /// Maximum number of payments.
        pub max_occurrences: Option<i64>,
        /// Maximum amount to collect, minor units.
        pub max_amount: Option<i64>,
        /// Number of payments attempted so far.
        pub total_occurrences: i64,
        /// Minor units collected so far.
        pub total_amount: i64,
        /// Payments to come; in previews.
        pub remaining_occurrences: Option<i64>,
        /// Minor units to come; in previews.
        pub remaining_amount: Option<i64>,
        /// Due date of the pending occurrence.
        pub next_payment: Option<NaiveDate>,
        /// Additional data, as given.
        pub data: Option<serde_json::Value>,
        /// Occurrences; in the answer to a creation alone.
        pub occurrences: Option<Vec<Occurrence>>,
        /// Creation of the recurring charge.
        pub created: Option<Timestamp>,
        /// Last change of the recurring charge.
        pub modified: Option<Timestamp>,
    }

    /// The request that creates a recurring charge from an earlier charge's method and customer.
    #[schemars(extend("required" = ["amount", "schedule"]))]
    pub struct NewClone {
        /// Minor units of each occurrence; required.
        #[schemars(range(min = 1, max = AMOUNT_MAX))]
        pub amount: Option<i64>,
        /// Schedule of the payments; required; a start in the past means the next date on or after
        /// today.
        #[schemars(extend("required" = ["interval_unit", "interval_delay", "start"]))]
        pub schedule: Option<RecurringSchedule>,
    }

    /// One payment of a recurring charge.
    pub struct Occurrence {
        /// 22 characters.
        pub id: String,
        /// Id of its recurring charge.
        pub recurring_charge_id: String,
        /// Minor units.
        pub amount: i64,
        /// Status of the occurrence.
        pub status: OccurrenceStatus,
        /// Date on which the payment is due.
        pub due_date: Option<NaiveDate>,
        /// Number of attempted payments.
        pub attempts: i64,
        /// Time of the last attempt.
        pub last_attempt: Option<Timestamp>,
        /// Transactions of the attempts, oldest first.
        pub transactions: Option<Vec<Transaction>>,
        /// Creation of the occurrence.
        pub created: Option<Timestamp>,
        /// Last change of the occurrence.
        pub modified: Option<Timestamp>,
    }
}

const STATUS: Parameter = Parameter::new("status", Text, "`ACTIVE`, `COMPLETED` or `DELETED`");

endpoints! {
    /// Creates a recurring charge; its method is not verified.
    CreateRecurring "recurring.create": Post Base "/v1/recurring/charges" by SecretKey,
        NewRecurringCharge => RecurringCharge;
    /// Changes payment or schedule.
    PatchRecurring "recurring.patch": Patch Base "/v1/recurring/charges/{id}" by SecretKey,
        RecurringChange => RecurringCharge;
    /// Reads a recurring charge; not in the two documents (service-facts, 56).
    GetRecurring "recurring.get": Get Base "/v1/recurring/charges/{id}" by SecretKey,
        () => RecurringCharge;
    /// Lists recurring charges, newest first; not in the two documents (service-facts, 56).
    ListRecurring "recurring.list": Get Base "/v1/recurring/charges" by SecretKey,
        () => Page<RecurringCharge>, [PAGE, PAGE_SIZE, ACCOUNT, STATUS, REFERENCE, ORDER];
    /// Creates a recurring charge from an earlier charge (gateway-api, POST
    /// /v1/charges/{chargeId}/schedule).
    ScheduleCharge "charge.schedule": Post Base "/v1/charges/{id}/schedule" by SecretKey,
        NewClone => RecurringCharge;
    /// Ends a recurring charge; it stays listed. Not in the two documents (service-facts, 56, 57).
    CancelRecurring "recurring.cancel": Post Base "/v1/recurring/charges/{id}/cancel" by SecretKey,
        () => RecurringCharge;
    /// Removes a recurring charge from the list. Not in the two documents (service-facts, 56, 57).
    DeleteRecurring "recurring.delete": Delete Base "/v1/recurring/charges/{id}" by SecretKey,
        () => RecurringCharge;
    /// Lists occurrences, newest first.
    ListOccurrences "occurrence.list":
        Get Base "/v1/recurring/charges/{id}/occurrences" by SecretKey,
        () => Page<Occurrence>, [PAGE, PAGE_SIZE];
    /// Reads an occurrence with its transactions.
    GetOccurrence "occurrence.get":
        Get Base "/v1/recurring/charges/{id}/occurrences/{occurrence}" by SecretKey,
        () => Occurrence;
    /// Pays an occurrence early, or retries an ignored or failed one.
    PayOccurrence "occurrence.pay":
        Post Base "/v1/recurring/charges/{id}/occurrences/{occurrence}/pay" by SecretKey,
        () => Occurrence;
    /// Excludes an occurrence from automatic collection.
    IgnoreOccurrence "occurrence.ignore":
        Post Base "/v1/recurring/charges/{id}/occurrences/{occurrence}/ignore" by SecretKey,
        () => Occurrence;
}

/// Returns every problem of a new recurring charge's fields, but for an inline method's own.
pub fn recurring_rules(new: &NewRecurringCharge) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    problems.require("method", "Payment method", new.method.is_some());
    required_schedule_rules(&mut problems, new.schedule.as_ref());
    limit_rules(&mut problems, new.amount, new.max_occurrences, new.max_amount);
    problems.into_list()
}

/// Returns every problem of a change's fields, but for a method's own.
pub fn change_rules(change: &RecurringChange) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.amount("amount", "Amount", change.amount.unwrap_or(1), 1);
    if let Some(schedule) = &change.schedule {
        schedule_rules(&mut problems, schedule, false);
    }
    limit_rules(&mut problems, change.amount, change.max_occurrences, change.max_amount);
    problems.into_list()
}

/// Returns every problem of the fields of a recurring charge made from an earlier charge.
pub fn clone_rules(new: &NewClone) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    problems.require_amount("amount", "Amount", new.amount);
    required_schedule_rules(&mut problems, new.schedule.as_ref());
    problems.into_list()
}

fn required_schedule_rules(problems: &mut FieldProblems, schedule: Option<&RecurringSchedule>) {
    problems.require("schedule", "Schedule", schedule.is_some());
    if let Some(schedule) = schedule {
        schedule_rules(problems, schedule, true);
    }
}
