//! Failure classes: one table from a failure to its class, and one from a class to the next step.
//!
//! A class does not state what a failure proves; [`super::outcome::Outcome`] does. A call
//! may be in doubt and transient at once: first it is settled, then it is tried again.

use crate::api::call::Auth;
use crate::model::outcome::ServiceProblem;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
#[display("{}", self.word())]
pub enum ErrorClass {
    /// May pass by itself: no connection, no answer, a server error, a concurrent change.
    Transient,
    /// The service asks for fewer calls: 429.
    Throttled,
    /// The service rejects the request and would reject the same one again.
    Invalid,
    Unauthorised,
    Declined,
    /// A failure that neither the service's documents nor public facts describe.
    Unknown,
}

/// The visible form of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureSignal<'a> {
    Answer(u16, &'a ServiceProblem),
    /// No connection, or one that broke, or no answer in time.
    NoAnswer,
    /// A 200 that cannot be read, or an answer that is larger than allowed.
    Unreadable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The call is retried after a growing, random wait.
    TryAgain,
    /// The call is retried, not before the service's time, and the merchant's calls become fewer.
    SlowDown,
    /// The resource waits until its document changes.
    AwaitDocument,
    /// The merchant's calls stop until a person authorises again.
    AwaitAuthorization,
    /// The partner's own credentials are refused: the operator's environment.
    AwaitOperator,
}

/// Codes of a decline by the payer's bank or its processor (service-facts, part 2: card checks,
/// card processing, eCheck). The service's own checks before it asks the bank are not among them.
const DECLINES: &[&str] = &[
    "card_avs_rejected",
    "card_cvv_incorrect",
    "card_declined",
    "card_declined_hold",
    "card_declined_insufficient_funds",
    "card_declined_limit_exceeded",
    "card_declined_no_account",
    "card_declined_processing_error",
    "card_declined_refer_to_issuer",
    "card_expired",
    "card_number_incorrect",
    "ach_account_closed",
    "ach_account_frozen",
    "ach_account_not_found",
    "ach_declined",
    "ach_declined_duplicate",
    "ach_declined_hold",
    "ach_insufficient_funds",
    "ach_invalid_account_number",
    "ach_invalid_routing_number",
    "ach_limit_exceeded",
];

/// Codes of a failed processor behind the service (service-facts, part 2).
const PROCESSOR_DOWN: &[&str] = &[
    "card_processor_not_available",
    "card_processing_error",
    "settlement_failed",
    "ach_processor_not_available",
    "ach_processing_error",
    "ach_invalid_merchant_configuration",
];

/// Codes of a refusal by the tenant's settings, or by the status of the merchant or the account
/// (service-facts, part 2). The request is accepted once that is changed back, without an event.
const REVERSIBLE: &[&str] = &[
    "unavailable_for_merchant_policy",
    "unavailable_for_merchant_status",
    "account_not_active",
    "merchant_not_active",
];

/// Returns whether a refusal of this code may pass without a change of the document.
pub fn may_pass(code: &str) -> bool {
    REVERSIBLE.contains(&code)
}

impl ErrorClass {
    /// Returns the class of a failure, from the one table. `None` for a 200.
    ///
    /// A 401 that names a transaction does not concern the credentials. The service recorded that
    /// transaction as refused for the country of the caller (service-facts, 21 and 26).
    pub fn of(sign: FailureSignal<'_>) -> Option<Self> {
        let (status, problem) = match sign {
            FailureSignal::Answer(status, problem) => (status, problem),
            FailureSignal::NoAnswer => return Some(Self::Transient),
            FailureSignal::Unreadable => return Some(Self::Unknown),
        };
        Some(match (status, problem.code()) {
            (200, _) => return None,
            (429, _) => Self::Throttled,
            (401, _) if problem.messages.iter().any(|one| one.entity_id.is_some()) => Self::Invalid,
            (401, _) => Self::Unauthorised,
            (409, "version_conflict") | (408 | 500..=599, _) => Self::Transient,
            (422, code) if DECLINES.contains(&code) => Self::Declined,
            (400 | 404 | 409 | 422, _) => Self::Invalid,
            _ => Self::Unknown,
        })
    }

    pub fn remedy(self, auth: Auth) -> Remedy {
        match (self, auth) {
            (Self::Transient, _) => Remedy::TryAgain,
            (Self::Throttled, _) => Remedy::SlowDown,
            (Self::Invalid | Self::Declined | Self::Unknown, _) => Remedy::AwaitDocument,
            (Self::Unauthorised, Auth::None | Auth::Tenant) => Remedy::AwaitOperator,
            (Self::Unauthorised, Auth::Payments | Auth::PublicKey | Auth::SecretKey) => {
                Remedy::AwaitAuthorization
            }
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Throttled => "throttled",
            Self::Invalid => "invalid",
            Self::Unauthorised => "unauthorised",
            Self::Declined => "declined",
            Self::Unknown => "unknown",
        }
    }
}

impl FailureSignal<'_> {
    /// Returns whether the host is down: no answer, or a server error that is no processor's.
    pub fn is_host_down(self) -> bool {
        match self {
            Self::Answer(500..=599, problem) => !PROCESSOR_DOWN.contains(&problem.code()),
            Self::NoAnswer => true,
            Self::Answer(_, _) | Self::Unreadable => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::rules::ProblemMessage;

    fn class(status: u16, code: &str) -> Option<ErrorClass> {
        ErrorClass::of(FailureSignal::Answer(status, &ServiceProblem::from_code(code, "why")))
    }

    #[test]
    fn every_status_and_code_has_its_class() {
        for (status, code, expected) in [
            (200, "", None),
            (201, "", Some(ErrorClass::Unknown)),
            (302, "", Some(ErrorClass::Unknown)),
            (400, "malformed_request", Some(ErrorClass::Invalid)),
            (401, "not_authorized", Some(ErrorClass::Unauthorised)),
            (403, "", Some(ErrorClass::Unknown)),
            (404, "resource_not_found", Some(ErrorClass::Invalid)),
            (408, "", Some(ErrorClass::Transient)),
            (409, "version_conflict", Some(ErrorClass::Transient)),
            (409, "duplicate", Some(ErrorClass::Invalid)),
            (422, "invalid_data", Some(ErrorClass::Invalid)),
            (422, "card_number_invalid", Some(ErrorClass::Invalid)),
            (422, "card_declined", Some(ErrorClass::Declined)),
            (422, "ach_account_closed", Some(ErrorClass::Declined)),
            (429, "card_declined", Some(ErrorClass::Throttled)),
            (500, "server_error", Some(ErrorClass::Transient)),
            (500, "card_processing_error", Some(ErrorClass::Transient)),
            (503, "", Some(ErrorClass::Transient)),
            (999, "", Some(ErrorClass::Unknown)),
        ] {
            assert_eq!(class(status, code), expected, "{status} {code}");
        }
        assert_eq!(ErrorClass::of(FailureSignal::NoAnswer), Some(ErrorClass::Transient));
        assert_eq!(ErrorClass::of(FailureSignal::Unreadable), Some(ErrorClass::Unknown));
    }

    #[test]
    fn a_refusal_for_the_country_is_no_matter_of_credentials() {
        let message = ProblemMessage::new("not_authorized", "Not authorized");
        let problem = ServiceProblem::from_messages(vec![ProblemMessage {
            entity_id: Some("tx1".to_owned()),
            ..message
        }]);
        assert_eq!(ErrorClass::of(FailureSignal::Answer(401, &problem)), Some(ErrorClass::Invalid));
    }

    #[test]
    fn refused_credentials_are_the_operators_or_the_merchants() {
        for auth in [Auth::None, Auth::Tenant] {
            assert_eq!(ErrorClass::Unauthorised.remedy(auth), Remedy::AwaitOperator);
        }
        for auth in [Auth::Payments, Auth::PublicKey, Auth::SecretKey] {
            assert_eq!(ErrorClass::Unauthorised.remedy(auth), Remedy::AwaitAuthorization);
            assert_eq!(ErrorClass::Declined.remedy(auth), Remedy::AwaitDocument);
            assert_eq!(ErrorClass::Throttled.remedy(auth), Remedy::SlowDown);
        }
    }

    #[test]
    fn a_processor_that_is_down_is_not_the_host() {
        let of = |status, code| {
            FailureSignal::Answer(status, &ServiceProblem::from_code(code, "")).is_host_down()
        };
        assert!(of(500, "server_error") && of(502, "") && FailureSignal::NoAnswer.is_host_down());
        assert!(!of(500, "card_processor_not_available") && !of(429, "") && !of(422, ""));
        assert!(!FailureSignal::Unreadable.is_host_down());
    }
}
