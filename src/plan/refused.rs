//! What a refusal is, and what it takes until the same is tried again: the class of it, in words; and which may pass.

use super::{Planner, World};
use crate::base::id::Key;
use crate::model::class::{Class, Sign};
use crate::model::observed::Refusal;
use crate::model::plan::{Reason, Step};
use crate::model::retry::{self, WhyNot};

impl Planner {
    /// Takes note of whether a resource was refused for what may change at the service.
    pub(super) fn note_refusal(&mut self, world: &dyn World, key: &Key, step: Option<&Step>) {
        let refused = step.is_some_and(|step| matches!(step.reason, Reason::Refused(_)));
        let known = if refused { world.observed(key) } else { None };
        if known.is_some_and(|known| known.refusal.as_ref().is_some_and(Refusal::may_pass)) {
            self.refused.insert(key.clone());
        } else {
            self.refused.remove(key);
        }
    }
}

/// What sort of refusal it was, and what helps. What was refused for its own content is not tried again by itself: a
/// document asks for a payment once, and money is not guessed.
pub(super) fn advice(refusal: &Refusal) -> String {
    if refusal.problem.lacks("Token") {
        return "its one-time token was used or has ended: `apply` tries it again each time, `run` every ten minutes"
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

/// What a decline of the payer's bank leaves to do.
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

    use super::*;
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
        let told = advice(&refusal);
        assert!(told.starts_with(expect), "{code}: {told}");
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
