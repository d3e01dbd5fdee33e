//! The class of a refusal, in words, and the condition for a retry; also which refusals may pass.

use super::{Planner, World};
use crate::base::id::Key;
use crate::model::attachment::ATTACHED;
use crate::model::class::{Class, Sign};
use crate::model::observed::{Observed, Refusal};
use crate::model::plan::{Reason, Step};
use crate::model::retry::{self, WhyNot};

impl Planner {
    /// Notes whether a resource was refused for a cause that may change at the service.
    pub(super) fn note_refusal(&mut self, world: &dyn World, key: &Key, step: Option<&Step>) {
        let refused = step.is_some_and(|step| matches!(step.reason, Reason::Refused(_)));
        let known = if refused { world.observed(key) } else { None };
        if known.is_some_and(|known| is_tried_again(&known)) {
            self.refused.insert(key.clone());
        } else {
            self.refused.remove(key);
        }
    }
}

/// Returns whether the refused effect is retried without a change of the document. Reckon replaces
/// a token that it made itself: a restored state may hold a token that was used after the backup.
/// Only a person replaces a person's token.
fn is_tried_again(known: &Observed) -> bool {
    let Some(refusal) = &known.refusal else { return false };
    refusal.may_pass() || (refusal.lacks_token() && !is_given(known))
}

/// Returns whether a person gave the one-time token of a resource.
fn is_given(known: &Observed) -> bool {
    !known.fact(ATTACHED).is_null()
}

/// Describes the class of a refusal, and its remedy. An effect that was refused for its own content
/// is not retried by itself: a document asks for a payment once, and money is not guessed.
pub(super) fn advice(known: &Observed, refusal: &Refusal) -> String {
    if refusal.lacks_token() && is_given(known) {
        return "its one-time token was used or has ended: give another one".to_owned();
    }
    if refusal.lacks_token() {
        return "its one-time token was used or has ended: `apply` makes another one each time, `run` every ten minutes"
            .to_owned();
    }
    if refusal.may_pass() {
        return "refused for what is set at the service, which may change: `apply` tries it again each time, `run` every \
                ten minutes"
            .to_owned();
    }
    match Class::of(Sign::Answer(refusal.status, &refusal.problem)) {
        Some(Class::Declined) => declined(refusal.problem.code()),
        Some(Class::Invalid) => {
            "invalid: nothing of it is sent until its document changes".to_owned()
        }
        Some(
            class @ (Class::Transient | Class::Throttled | Class::Unauthorised | Class::Unknown),
        ) => format!("{class}: nothing of it is sent until its document changes"),
        None => "nothing of it is sent until its document changes".to_owned(),
    }
}

/// Describes the remedy for a decline of the payer's bank.
fn declined(code: &str) -> String {
    let paid = retry::paid_by(code);
    match paid.map(|paid| retry::wait(paid, code, 1)) {
        Some(Ok(_)) => "declined by the payer's bank, which may say otherwise on another day: it \
                        is tried again when its document changes"
            .to_owned(),
        Some(Err(WhyNot::Never(why))) => {
            format!("declined by the payer's bank for good ({why}): give other details")
        }
        Some(Err(WhyNot::TriedOut { .. } | WhyNot::NotBefore(_) | WhyNot::Unknown)) | None => {
            "declined by the payer's bank: it is tried again when its document changes".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::{Value, json};

    use super::*;
    use crate::api::Message;
    use crate::base::hash::sha256;
    use crate::base::id::IntentId;
    use crate::model::service_problem::ServiceProblem;

    fn check(status: u16, code: &str, expect: &str) {
        let refusal = Refusal {
            intent: IntentId::new(1),
            digest: sha256(b""),
            status,
            problem: ServiceProblem::shown(code, "no"),
            at: DateTime::UNIX_EPOCH,
        };
        let told = advice(&known(refusal.clone(), json!({})), &refusal);
        assert!(told.starts_with(expect), "{code}: {told}");
    }

    fn known(refusal: Refusal, facts: Value) -> Observed {
        let nothing = Observed::unknown("Merchant/acme".parse().unwrap(), DateTime::UNIX_EPOCH);
        Observed { refusal: Some(refusal), facts, ..nothing }
    }

    /// Closes the item of a person's one-time token: only a person replaces it.
    #[test]
    fn a_dead_token_is_made_again_only_where_no_person_gave_it() {
        let message = Message::new("resource_not_found", "no").about("Token[1]");
        let refusal = Refusal {
            intent: IntentId::new(1),
            digest: sha256(b""),
            status: 404,
            problem: ServiceProblem::told(vec![message]),
            at: DateTime::UNIX_EPOCH,
        };
        let own = known(refusal.clone(), json!({"token": {"sealed": "00"}}));
        assert!(is_tried_again(&own));
        assert!(advice(&own, &refusal).contains("`run` every ten minutes"));
        let given = known(refusal.clone(), json!({ATTACHED: {"sealed": "00"}}));
        assert!(!is_tried_again(&given));
        assert!(advice(&given, &refusal).ends_with("was used or has ended: give another one"));
    }

    #[test]
    fn a_refusal_says_its_class_and_what_helps() {
        check(422, "invalid_data", "invalid: nothing of it is sent until");
        check(418, "", "unknown: ");
        check(422, "unavailable_for_merchant_policy", "refused for what is set at the service");
        check(422, "card_declined_insufficient_funds", "declined by the payer's bank, which may");
        check(422, "card_expired", "declined by the payer's bank for good (the card has expired)");
        check(
            422,
            "ach_account_closed",
            "declined by the payer's bank for good (the account is closed)",
        );
    }
}
