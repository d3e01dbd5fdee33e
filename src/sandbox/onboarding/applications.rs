//! Merchant applications, complete and by sign-up, and their underwriting (partner-api, Merchant
//! application, States and transitions).
//!
//! A complete application is submitted at once; a sign-up waits until its applicant finishes it on
//! the page (`page`). Underwriting follows: submitted → provisioned or declined, once, and a
//! notification reports the decision to the partner. The sandbox decides by itself a few seconds
//! after the submission, unless the `decide` option leaves it to people. The test of the sign-up
//! is always decided by people. Only people may reconsider, and approve what was declined. A test
//! of either outcome makes only its notification.

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Map, Value};

use crate::api::credentials::MerchantProfile;
use crate::api::event::{DeclineReason, PartnerEvent};
use crate::api::onboarding::application::{
    ApplicationId, Submission, Submitted, SubmittedApplication, is_test_name,
};
use crate::api::onboarding::rules::rules;
use crate::api::rules::{FieldProblem, Problem, ProblemMessage};
use crate::api::wire::Timestamp;
use crate::base::secret::Secret;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::auth::issue_code;
use crate::sandbox::onboarding::record::{
    self, ApplicationTransition, StoredApplication, after, text,
};
use crate::sandbox::options::DecisionMode;
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{LONG_LENGTH, ObjectKind, TimerEntry};
use crate::sandbox::state::outbox;
use crate::sandbox::state::store::ChangeUnit;

/// POST of a complete application: its fields lie under one name, `merchant_application`.
pub(crate) fn submit(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SubmittedApplication> {
    let body = asked.json()?;
    let Some(fields) = body.get("merchant_application").and_then(Value::as_object) else {
        return Err(SandboxRefusal::invalid("Body holds no merchant_application"));
    };
    let fields = counted_fields(cx, fields.clone());
    validate(cx, Submission::Complete, &fields)?;
    let id = match text(&fields, "test") {
        "" => {
            let found = record::create(cx, Submission::Complete, fields)?;
            submit_and_schedule(cx, found)?
        }
        outcome => submit_test(cx, &fields, outcome == "validate")?,
    };
    Ok(SubmittedApplication { merchant_application: Submitted { id } })
}

/// Returns the fields that count; numbers and booleans as text do so on the public surface only.
pub(crate) fn counted_fields(cx: &ChangeUnit, fields: Map<String, Value>) -> Map<String, Value> {
    if cx.is_public() { record::normalise_fields(fields) } else { record::without_nulls(fields) }
}

/// Refuses an application with 422 for every problem of its fields and of the service's checks.
pub(crate) fn validate(
    cx: &ChangeUnit,
    submission: Submission,
    fields: &Map<String, Value>,
) -> Result<()> {
    let problems = problems(cx, submission, fields)?;
    if problems.is_empty() {
        return Ok(());
    }
    // The web application's form of a message: code, context, level and text (partner-api, Errors).
    let message = |problem: &FieldProblem| {
        let whole = problem.to_message("");
        ProblemMessage { facility: None, sub_code: None, ..whole }
    };
    let problem = Problem { messages: problems.iter().map(message).collect() };
    Err(SandboxRefusal::of(StatusCode::UNPROCESSABLE_ENTITY, problem))
}

/// Lists the problems that [`validate`] refuses.
pub(crate) fn problems(
    cx: &ChangeUnit,
    submission: Submission,
    fields: &Map<String, Value>,
) -> Result<Vec<FieldProblem>> {
    let plan = cx.settings.plan(text(fields, "plan"));
    let mut problems = rules(submission, fields, plan == Some(true));
    if plan.is_none() && !text(fields, "plan").is_empty() {
        problems.push(FieldProblem::new("plan", "invalid", "Plan is unknown"));
    }
    let is_trial = submission == Submission::Complete && !text(fields, "test").is_empty();
    let is_test = is_test_name(text(fields, "business_name")) && !is_trial;
    if is_test && cx.get::<String>(record::TEST_TAKEN)?.is_some() {
        let text = "Business name of a test was submitted already";
        problems.push(FieldProblem::new("business_name", "invalid", text));
    }
    Ok(problems)
}

/// Submits an application, and schedules the sandbox's own decision, unless people decide.
pub(crate) fn submit_and_schedule(
    cx: &mut ChangeUnit,
    found: StoredApplication,
) -> Result<ApplicationId> {
    let id = found.object.id;
    let is_test = is_test_name(text(&found.internal.fields, "business_name"));
    record::submit(cx, found)?;
    if !is_test && cx.environment.options.decide != DecisionMode::Manual {
        cx.schedule_in(DELAY, &TimerEntry::Decision { id: id.to_string() })?;
    }
    Ok(id)
}

/// Handles a test: returns an id of no application, and schedules the requested outcome.
fn submit_test(
    cx: &mut ChangeUnit,
    fields: &Map<String, Value>,
    provisioned: bool,
) -> Result<ApplicationId> {
    let id = record::fresh_id(cx);
    let reference = text(fields, "reference").to_owned();
    cx.schedule_in(TEST_DELAY, &TimerEntry::TestOutcome { id: id.0, reference, provisioned })?;
    Ok(id)
}

pub(crate) fn is_started(found: &StoredApplication) -> bool {
    after(found.object.state, ApplicationTransition::Submit).is_ok()
}

const DELAY: TimeDelta = TimeDelta::seconds(5);
const TEST_DELAY: TimeDelta = TimeDelta::seconds(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SandboxDecision {
    Approve,
    Decline(DeclineReason),
}

/// Decides as the sandbox, unless the application was decided or deleted.
pub(crate) fn run_due_decision(cx: &mut ChangeUnit, id: &str) -> Result<()> {
    let found: Option<StoredApplication> = cx.look_up(ObjectKind::APPLICATION, id)?;
    let waits = |found: &StoredApplication| {
        after(found.object.state, ApplicationTransition::Approve).is_ok()
    };
    let Some(found) = found.filter(waits) else { return Ok(()) };
    let name = text(&found.internal.fields, "business_name");
    let decision = if record::is_duplicate(cx, &found)? {
        SandboxDecision::Decline(DeclineReason::DuplicateApplication)
    } else if cx.merchants()?.iter().any(|merchant| merchant.name == name) {
        SandboxDecision::Decline(DeclineReason::DuplicateMerchant)
    } else {
        SandboxDecision::Approve
    };
    settle_decision(cx, found, &decision, false)
}

/// Applies a person's decision; `again` approves an application that was declined. 404 for no such
/// application, 422 for one that is not submitted or was already decided.
pub(crate) fn decide(
    cx: &mut ChangeUnit,
    id: &str,
    decision: &SandboxDecision,
    again: bool,
) -> Result<StoredApplication> {
    let found = record::load(cx, id)?;
    settle_decision(cx, found, decision, again)?;
    record::load(cx, id)
}

fn settle_decision(
    cx: &mut ChangeUnit,
    mut found: StoredApplication,
    decision: &SandboxDecision,
    again: bool,
) -> Result<()> {
    let transition = match decision {
        SandboxDecision::Approve if again => ApplicationTransition::Reconsider,
        SandboxDecision::Approve => ApplicationTransition::Approve,
        SandboxDecision::Decline(_) => ApplicationTransition::Decline,
    };
    found.object.state = after(found.object.state, transition)?;
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
    cx: &mut ChangeUnit,
    id: u64,
    reference: &str,
    provisioned: bool,
) -> Result<()> {
    let event = if provisioned {
        let code = Secret::from(cx.fresh_secret("fake code", LONG_LENGTH));
        PartnerEvent::new_provisioned(reference, code)
    } else {
        PartnerEvent::new_declined(reference, ApplicationId(id), DeclineReason::Unexplained)
    };
    outbox::send(cx, reference, event)
}
