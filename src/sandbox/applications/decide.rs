//! Underwriting of applications (partner-api, States and transitions).
//!
//! submitted → provisioned or declined, once. The sandbox decides by itself a few seconds after the
//! submission, unless the `decide` option leaves it to people. The test of the sign-up is always
//! decided by people. Only people may reconsider, and approve what was declined.

use chrono::TimeDelta;
use serde_json::{Map, Value};

use super::record::{self, Found, text};
use super::states::{Change, after};
use crate::api::application::ApplicationId;
use crate::api::credentials::MerchantProfile;
use crate::api::partner_event::{DeclineReason, PartnerEvent};
use crate::api::wire::Timestamp;
use crate::base::secret::Secret;
use crate::sandbox::due::{self, Due};
use crate::sandbox::ids::LONG;
use crate::sandbox::oauth::issue_code;
use crate::sandbox::options::Decide;
use crate::sandbox::outbox;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

/// Time between a submission and the sandbox's own decision.
const DELAY: TimeDelta = TimeDelta::seconds(5);
/// Time between a test submission and its notification.
pub(crate) const TEST_DELAY: TimeDelta = TimeDelta::seconds(2);

/// An underwriting decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    Approve,
    Decline(DeclineReason),
}

/// Schedules the sandbox's own decision, unless people decide.
pub(crate) fn schedule(cx: &mut Cx<'_>, id: ApplicationId, is_test: bool) -> Result<(), Refusal> {
    if is_test || cx.world.options.decide == Decide::Manual {
        return Ok(());
    }
    let moment = cx.now.checked_add_signed(DELAY).unwrap_or(cx.now);
    due::schedule(cx, moment, &Due::Decision { id: id.to_string() })
}

/// Decides as the sandbox, unless the application was decided or deleted.
pub(crate) fn fall_due(cx: &mut Cx<'_>, id: &str) -> Result<(), Refusal> {
    let found: Option<Found> = cx.any(record::KIND, id)?;
    let waits = |found: &Found| after(found.object.state, Change::Approve).is_ok();
    let Some(found) = found.filter(waits) else {
        return Ok(());
    };
    let decision = judge(cx, &found)?;
    settle(cx, found, &decision, false)
}

fn judge(cx: &Cx<'_>, found: &Found) -> Result<Decision, Refusal> {
    if record::is_repeated(cx, found)? {
        return Ok(Decision::Decline(DeclineReason::DuplicateApplication));
    }
    let name = text(&found.inside.fields, "business_name");
    if cx.merchants()?.iter().any(|merchant| merchant.name == name) {
        return Ok(Decision::Decline(DeclineReason::DuplicateMerchant));
    }
    Ok(Decision::Approve)
}

/// Applies a person's decision; `again` approves an application that was declined.
///
/// # Errors
///
/// 404 for no such application, 422 for one that is not submitted or was already decided.
pub(crate) fn decide(
    cx: &mut Cx<'_>,
    id: &str,
    decision: &Decision,
    again: bool,
) -> Result<Found, Refusal> {
    let found = record::load(cx, id)?;
    settle(cx, found, decision, again)?;
    record::load(cx, id)
}

/// Returns the state change of a decision.
fn change(decision: &Decision, again: bool) -> Change {
    match decision {
        Decision::Approve if again => Change::Reconsider,
        Decision::Approve => Change::Approve,
        Decision::Decline(_) => Change::Decline,
    }
}

fn settle(
    cx: &mut Cx<'_>,
    mut found: Found,
    decision: &Decision,
    again: bool,
) -> Result<(), Refusal> {
    found.object.state = after(found.object.state, change(decision, again))?;
    found.object.decided = Some(Timestamp(cx.now));
    let reference = found.object.reference.clone();
    let event = match decision {
        Decision::Approve => {
            let name = text(&found.inside.fields, "business_name").to_owned();
            let profile = profile(&name, &found.inside.fields);
            let merchant = cx.merchant_of_application(&name, profile)?;
            found.owner.merchant.clone_from(&merchant.id);
            found.object.reason = None;
            PartnerEvent::provisioned(&reference, issue_code(cx, &merchant.id)?.into())
        }
        Decision::Decline(reason) => {
            found.object.reason = Some(reason.clone());
            PartnerEvent::declined(&reference, found.object.id, reason.clone())
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
pub(crate) fn tested(
    cx: &mut Cx<'_>,
    id: u64,
    reference: &str,
    provisioned: bool,
) -> Result<(), Refusal> {
    let event = if provisioned {
        let code = Secret::from(cx.fresh("fake code", LONG));
        PartnerEvent::provisioned(reference, code)
    } else {
        PartnerEvent::declined(reference, ApplicationId(id), DeclineReason::Unexplained)
    };
    outbox::send(cx, reference, event)
}
