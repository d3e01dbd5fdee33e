//! Blocks of a drafted step: a suspension, a restored or lost state, a limit, a refusal.
//!
//! - A person's suspension covers a resource by its own name or by its merchant's.
//! - After a restore, an effect that no lookup can find is on hold until a person declares that it
//!   did not happen. In a state that began empty, live applications wait for a person's approval.
//! - A step that exceeds a limit keeps its money, and its reason keeps the wanted verdict. So the
//!   plan shows the excess, and an approval can name the step.
//! - A refusal is shown in words, with its class and the condition for a retry; some refusals may
//!   pass by themselves.

use std::sync::Arc;

use crate::base::fault_injection;
use crate::base::id::{Key, Mode};
use crate::effects::core::evidence::{RepeatRisk, is_reported_by_webhook_only, repeat_risk};
use crate::effects::register::effect_row;
use crate::kinds::planning::step::{StepCx, StepDecision, merchant_of, mode_of};
use crate::model::change::{LimitExceeded, PlannedAction};
use crate::model::effect::{Exposure, SpendRequest, StepWork};
use crate::model::error_class::{ErrorClass, FailureSignal};
use crate::model::manifest::Manifest;
use crate::model::operator::Suspension;
use crate::model::plan::Reason;
use crate::model::retry::{self, RetryDenied};
use crate::model::state::observed::{Observed, ServiceRefusal};
use crate::model::state::token_attachment::ATTACHED;
use crate::plan::state_view::StateView;
use crate::policy::permission::amountless_digest;

/// Returns the merchant of a resource, by its document or as last observed.
pub(crate) fn owner(world: &dyn StateView, key: &Key) -> Option<Key> {
    let said = world.desired().manifests.get(key).and_then(|kept| merchant_of(kept));
    said.or_else(|| world.observed(key).map(|observed| observed.merchant.clone()))
}

/// Returns the suspension by a person that is now in effect for a resource or its merchant.
pub(crate) fn active_suspension(world: &dyn StateView, key: &Key) -> Option<Arc<Suspension>> {
    if !world.has_suspensions() {
        return None;
    }
    let names = [Some(key.clone()), owner(world, key)].into_iter().flatten();
    let mut found = names.filter_map(|name| world.suspension(&name));
    found.find(|suspension| suspension.is_in_force(world.now()))
}

/// Returns true if a resource is suspended, by a person or by its document.
pub(crate) fn is_suspended(world: &dyn StateView, key: &Key) -> bool {
    let document = world.desired().manifests.get(key);
    document.is_some_and(|one| one.annotations.suspend) || active_suspension(world, key).is_some()
}

/// Returns the draft, or a hold or wait in its place where its work may have been done between
/// backup and restore, or by a lost state.
pub(crate) fn hold_if_uncertain(
    world: &dyn StateView,
    key: &Key,
    draft: StepDecision,
) -> StepDecision {
    let Some(StepWork::Effect(effect)) = &draft.work else { return draft };
    let Some(row) = effect_row(effect.name) else { return draft };
    let hidden = repeat_risk(row, effect) == RepeatRisk::Undetectable;
    if !hidden || fault_injection::is_active("restore-without-epoch") {
        return draft;
    }
    if let Some(why) = world.possibly_created(key) {
        return StepDecision::blocked(Reason::OnHold(why)).with_changes(draft.changes);
    }
    if is_reported_by_webhook_only(row)
        && effect.mode == Mode::Live
        && world.maybe_created_by_lost_state(key)
    {
        let reason = Reason::MaybeSubmitted(Box::new(key.clone()));
        return StepDecision::idle(PlannedAction::Wait, reason).with_changes(draft.changes);
    }
    draft
}

pub(crate) fn apply_limits(
    cx: &StepCx<'_>,
    world: &dyn StateView,
    (key, manifest, observed): (&Key, Option<&Manifest>, Option<&Observed>),
    mut draft: StepDecision,
) -> StepDecision {
    if draft.verdict == PlannedAction::Delete {
        draft.counts.deletes = draft.counts.deletes.max(1);
    }
    let stake = Exposure::new(&draft.money, draft.counts);
    if !draft.verdict.is_change() || stake.is_empty() {
        return draft;
    }
    let said = manifest.and_then(merchant_of);
    let Some(merchant) = said.or_else(|| observed.map(|known| known.merchant.clone())) else {
        return draft;
    };
    // Without a mode no work is possible yet, and the step is recomputed once there is one.
    let Some(mode) = mode_of(cx.view, &merchant) else { return draft };
    let said = manifest.map(|manifest| manifest.annotations.generation);
    let generation = generation_of(said, observed);
    let wish = SpendRequest {
        key: key.clone(),
        merchant,
        mode,
        generation,
        amountless_digest: None,
        exposure: stake,
    };
    let document = || amountless_digest(manifest.map(|manifest| &manifest.spec), cx.digest_key);
    match world.exceeded_limit(&wish, &document) {
        Some(over) => StepDecision {
            verdict: PlannedAction::Blocked,
            reason: Reason::OverLimit(Box::new(LimitExceeded { intended: draft.verdict, ..over })),
            work: None,
            on_demand: None,
            ready: false,
            ..draft
        },
        None => draft,
    }
}

/// Returns the generation of a step: its document's, else the one under which the object was made.
pub fn generation_of(said: Option<u32>, observed: Option<&Observed>) -> u32 {
    let known = || observed.and_then(|known| known.applied.as_ref()).map(|one| one.generation);
    said.or_else(known).unwrap_or(0)
}

/// Returns whether the refused effect is retried without a change of the document. Reckon replaces
/// a token that it made itself: a restored state may hold a token that was used after the backup.
/// Only a person replaces a person's token.
pub(crate) fn is_retried(known: &Observed) -> bool {
    let Some(refusal) = &known.refusal else { return false };
    refusal.may_pass() || (refusal.lacks_token() && !is_token_from_person(known))
}

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

fn decline_advice(code: &str) -> String {
    let paid = retry::method_of_code(code);
    match paid.map(|paid| retry::next_wait(paid, code, 1)) {
        Some(Ok(_)) => "declined by the payer's bank, which may approve it on another day: tried again when the \
                        document changes"
            .to_owned(),
        Some(Err(RetryDenied::Never(why))) => {
            format!("declined by the payer's bank for good ({why}): supply other details")
        }
        Some(Err(RetryDenied::TriesExhausted { .. } | RetryDenied::Unknown)) | None => {
            "declined by the payer's bank: tried again when the document changes".to_owned()
        }
    }
}

pub(crate) fn format_refusal(refusal: &ServiceRefusal) -> String {
    format!("{} (HTTP {})", refusal.problem.describe(), refusal.status)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::{Value, json};

    use super::*;
    use crate::api::rules::ProblemMessage;
    use crate::base::hash::sha256;
    use crate::base::id::IntentId;
    use crate::model::outcome::ServiceProblem;

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
