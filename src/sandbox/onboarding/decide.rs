//! Underwriting of applications (partner-api, States and transitions).
//!
//! submitted → provisioned or declined, once. The sandbox decides by itself a few seconds after the
//! submission, unless the `decide` option leaves it to people. The test of the sign-up is always
//! decided by people. Only people may reconsider, and approve what was declined.

use chrono::TimeDelta;
use serde_json::{Map, Value};

use super::record;
use super::record::{ApplicationTransition, StoredApplication, after, text};
use crate::api::credentials::MerchantProfile;
use crate::api::onboarding::application::ApplicationId;
use crate::api::onboarding::partner_event::{DeclineReason, PartnerEvent};
use crate::api::wire::Timestamp;
use crate::base::secret::Secret;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::merchants::oauth::issue_code;
use crate::sandbox::options::DecisionMode;
use crate::sandbox::state::lists::{LONG_LENGTH, ObjectKind};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers::TimerEntry;
use crate::sandbox::state::{outbox, timers};

/// Time between a submission and the sandbox's own decision.
const DELAY: TimeDelta = TimeDelta::seconds(5);

/// Time between a test submission and its notification.
pub(crate) const TEST_DELAY: TimeDelta = TimeDelta::seconds(2);

/// An underwriting decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SandboxDecision {
    Approve,
    Decline(DeclineReason),
}

/// Schedules the sandbox's own decision, unless people decide.
pub(crate) fn schedule(
    cx: &mut ChangeUnit<'_>,
    id: ApplicationId,
    is_test: bool,
) -> Result<(), SandboxRefusal> {
    if is_test || cx.environment.options.decide == DecisionMode::Manual {
        return Ok(());
    }
    let moment = cx.now.checked_add_signed(DELAY).unwrap_or(cx.now);
    timers::schedule(cx, moment, &TimerEntry::Decision { id: id.to_string() })
}

/// Decides as the sandbox, unless the application was decided or deleted.
pub(crate) fn run_due_decision(cx: &mut ChangeUnit<'_>, id: &str) -> Result<(), SandboxRefusal> {
    let found: Option<StoredApplication> = cx.find_any_owner(ObjectKind::APPLICATION, id)?;
    let waits = |found: &StoredApplication| {
        after(found.object.state, ApplicationTransition::Approve).is_ok()
    };
    let Some(found) = found.filter(waits) else {
        return Ok(());
    };
    let decision = decide_automatically(cx, &found)?;
    settle(cx, found, &decision, false)
}

fn decide_automatically(
    cx: &ChangeUnit<'_>,
    found: &StoredApplication,
) -> Result<SandboxDecision, SandboxRefusal> {
    if record::is_duplicate(cx, found)? {
        return Ok(SandboxDecision::Decline(DeclineReason::DuplicateApplication));
    }
    let name = text(&found.internal.fields, "business_name");
    if cx.merchants()?.iter().any(|merchant| merchant.name == name) {
        return Ok(SandboxDecision::Decline(DeclineReason::DuplicateMerchant));
    }
    Ok(SandboxDecision::Approve)
}

/// Applies a person's decision; `again` approves an application that was declined.
///
/// # Errors
///
/// 404 for no such application, 422 for one that is not submitted or was already decided.
pub(crate) fn decide(
    cx: &mut ChangeUnit<'_>,
    id: &str,
    decision: &SandboxDecision,
    again: bool,
) -> Result<StoredApplication, SandboxRefusal> {
    let found = record::load(cx, id)?;
    settle(cx, found, decision, again)?;
    record::load(cx, id)
}

/// Returns the state change of a decision.
fn transition_of(decision: &SandboxDecision, again: bool) -> ApplicationTransition {
    match decision {
        SandboxDecision::Approve if again => ApplicationTransition::Reconsider,
        SandboxDecision::Approve => ApplicationTransition::Approve,
        SandboxDecision::Decline(_) => ApplicationTransition::Decline,
    }
}

fn settle(
    cx: &mut ChangeUnit<'_>,
    mut found: StoredApplication,
    decision: &SandboxDecision,
    again: bool,
) -> Result<(), SandboxRefusal> {
    found.object.state = after(found.object.state, transition_of(decision, again))?;
    found.object.decided = Some(Timestamp(cx.now));
    let reference = found.object.reference.clone();
    let event = match decision {
        SandboxDecision::Approve => {
            let name = text(&found.internal.fields, "business_name").to_owned();
            let profile = profile(&name, &found.internal.fields);
            let merchant = cx.merchant_of_application(&name, profile)?;
            found.owner.merchant.clone_from(&merchant.id);
            found.object.reason = None;
            PartnerEvent::new_provisioned(&reference, issue_code(cx, &merchant.id)?.into())
        }
        SandboxDecision::Decline(reason) => {
            found.object.reason = Some(reason.clone());
            PartnerEvent::new_declined(&reference, found.object.id, reason.clone())
        }
    };
    record::store(cx, &found)?;
    outbox::send(cx, &reference, event)
}

/// Builds the merchant's own record from its application.
fn profile(name: &str, fields: &Map<String, Value>) -> MerchantProfile {
    let given = |field: &str| Some(text(fields, field).to_owned()).filter(|text| !text.is_empty());
    MerchantProfile {
        name: name.to_owned(),
        address: given("business_address1"),
        additional_address: given("business_address2"),
        city: given("business_city"),
        state: given("business_state"),
        postal_code: given("business_zip_code"),
        country: given("business_country"),
        phone: given("business_phone"),
        timezone: None,
        website: given("business_website"),
        support_email: given("email"),
        support_phone: given("business_phone"),
        email_success_to: given("email"),
        email_failure_to: given("email"),
        reference_required: Some(false),
        reference_label: Some("Reference".to_owned()),
    }
}

/// Sends the outcome of a test. No merchant was made, so its code cannot be exchanged.
pub(crate) fn send_test_outcome(
    cx: &mut ChangeUnit<'_>,
    id: u64,
    reference: &str,
    provisioned: bool,
) -> Result<(), SandboxRefusal> {
    let event = if provisioned {
        let code = Secret::from(cx.fresh_secret("fake code", LONG_LENGTH));
        PartnerEvent::new_provisioned(reference, code)
    } else {
        PartnerEvent::new_declined(reference, ApplicationId(id), DeclineReason::Unexplained)
    };
    outbox::send(cx, reference, event)
}
