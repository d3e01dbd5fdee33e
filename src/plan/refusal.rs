//! The class of a refusal, in words, and the condition for a retry; also which refusals may pass.

use crate::model::operator::token_attachment::ATTACHED;
use crate::model::service::error_class::{ErrorClass, FailureSignal};
use crate::model::service::retry;
use crate::model::service::retry::RetryDenied;
use crate::model::state::observed::{Observed, ServiceRefusal};

/// Returns whether the refused effect is retried without a change of the document. Reckon replaces
/// a token that it made itself: a restored state may hold a token that was used after the backup.
/// Only a person replaces a person's token.
pub(crate) fn is_retried(known: &Observed) -> bool {
    let Some(refusal) = &known.refusal else { return false };
    refusal.may_pass() || (refusal.lacks_token() && !is_token_from_person(known))
}

/// Returns whether a person gave the one-time token of a resource.
fn is_token_from_person(known: &Observed) -> bool {
    !known.fact(ATTACHED).is_null()
}

/// Describes the class of a refusal, and its remedy. An effect that was refused for its own content
/// is not retried by itself: a document asks for a payment once, and money is not guessed.
pub(crate) fn advice(known: &Observed, refusal: &ServiceRefusal) -> String {
    if refusal.lacks_token() && is_token_from_person(known) {
        return "the one-time token was used or has expired: supply another one".to_owned();
    }
    if refusal.lacks_token() {
        return "the one-time token was used or has expired: `apply` creates another one each time, `run` every ten \
                minutes"
            .to_owned();
    }
    if refusal.may_pass() {
        return "refused because of a setting at the service, which may change: `apply` tries again each time, `run` \
                every ten minutes"
            .to_owned();
    }
    match ErrorClass::of(FailureSignal::Answer(refusal.status, &refusal.problem)) {
        Some(ErrorClass::Declined) => decline_advice(refusal.problem.code()),
        Some(ErrorClass::Invalid) => {
            "invalid: not sent again until the document changes".to_owned()
        }
        Some(
            class @ (ErrorClass::Transient
            | ErrorClass::Throttled
            | ErrorClass::Unauthorised
            | ErrorClass::Unknown),
        ) => format!("{class}: not sent again until the document changes"),
        None => "not sent again until the document changes".to_owned(),
    }
}

/// Describes the remedy for a decline of the payer's bank.
fn decline_advice(code: &str) -> String {
    let paid = retry::method_of_code(code);
    match paid.map(|paid| retry::next_wait(paid, code, 1)) {
        Some(Ok(_)) => "declined by the payer's bank, which may approve it on another day: tried again when the \
                        document changes"
            .to_owned(),
        Some(Err(RetryDenied::Never(why))) => {
            format!("declined by the payer's bank for good ({why}): supply other details")
        }
        Some(Err(
            RetryDenied::TriesExhausted { .. } | RetryDenied::NotBefore(_) | RetryDenied::Unknown,
        ))
        | None => {
            "declined by the payer's bank: tried again when the document changes".to_owned()
        }
    }
}

/// Formats the service's words of a refusal.
pub(crate) fn format_refusal(refusal: &ServiceRefusal) -> String {
    format!("{} (HTTP {})", refusal.problem.describe(), refusal.status)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::{Value, json};

    use super::*;
    use crate::api::problem::ProblemMessage;
    use crate::base::hash::sha256;
    use crate::base::id::IntentId;
    use crate::model::service::outcome::ServiceProblem;

    fn check(status: u16, code: &str, expect: &str) {
        let refusal = ServiceRefusal {
            intent: IntentId::new(1),
            digest: sha256(b""),
            status,
            problem: ServiceProblem::from_code(code, "no"),
            at: DateTime::UNIX_EPOCH,
        };
        let told = advice(&known(refusal.clone(), json!({})), &refusal);
        assert!(told.starts_with(expect), "{code}: {told}");
    }

    fn known(refusal: ServiceRefusal, facts: Value) -> Observed {
        let nothing = Observed::unknown("Merchant/acme".parse().unwrap(), DateTime::UNIX_EPOCH);
        Observed { refusal: Some(refusal), facts, ..nothing }
    }

    /// Closes the item of a person's one-time token: only a person replaces it.
    #[test]
    fn a_dead_token_is_made_again_only_where_no_person_gave_it() {
        let message = ProblemMessage::new("resource_not_found", "no").with_context("Token[1]");
        let refusal = ServiceRefusal {
            intent: IntentId::new(1),
            digest: sha256(b""),
            status: 404,
            problem: ServiceProblem::from_messages(vec![message]),
            at: DateTime::UNIX_EPOCH,
        };
        let own = known(refusal.clone(), json!({"token": {"sealed": "00"}}));
        assert!(is_retried(&own));
        assert!(advice(&own, &refusal).contains("`run` every ten minutes"));
        let given = known(refusal.clone(), json!({ATTACHED: {"sealed": "00"}}));
        assert!(!is_retried(&given));
        assert!(advice(&given, &refusal).ends_with("was used or has expired: supply another one"));
    }

    #[test]
    fn a_refusal_says_its_class_and_what_helps() {
        check(422, "invalid_data", "invalid: not sent again until");
        check(418, "", "unknown: ");
        check(
            422,
            "unavailable_for_merchant_policy",
            "refused because of a setting at the service",
        );
        check(422, "card_declined_insufficient_funds", "declined by the payer's bank, which may");
        check(422, "card_expired", "declined by the payer's bank for good (the card has expired)");
        check(
            422,
            "ach_account_closed",
            "declined by the payer's bank for good (the account is closed)",
        );
    }
}
