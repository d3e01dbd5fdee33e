//! Merchant applications, complete and by sign-up (partner-api, Merchant application).
//!
//! A complete application is submitted at once; a sign-up waits until its applicant finishes it on
//! the page (`page`). A submitted application is decided a little later (`decide`), and a
//! notification reports the decision to the partner. A test of either outcome makes only its
//! notification.

use serde_json::{Map, Value};

use super::record::{ApplicationTransition, StoredApplication, after, text};
use super::{decide, record};
use crate::api::onboarding::application::{
    ApplicationId, Submission, Submitted, SubmittedApplication, is_test_name,
};
use crate::api::onboarding::rules::rules;
use crate::api::problem::{Problem, ProblemMessage};
use crate::api::rules::FieldProblem;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::http::documented_surface;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers;
use crate::sandbox::state::timers::TimerEntry;

/// POST of a complete application: its fields lie under one name, `merchant_application`.
pub(crate) fn submit(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<SubmittedApplication, SandboxRefusal> {
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

/// Returns the fields that count. The documented surface accepts no number and no boolean sent as
/// text.
pub(crate) fn counted_fields(
    cx: &ChangeUnit<'_>,
    fields: Map<String, Value>,
) -> Map<String, Value> {
    if documented_surface::is_documented_only(cx) {
        record::without_nulls(fields)
    } else {
        record::normalise_fields(fields)
    }
}

/// Refuses an application with 422 for every problem: the rules of its fields, and the checks only
/// the service can make.
pub(crate) fn validate(
    cx: &ChangeUnit<'_>,
    submission: Submission,
    fields: &Map<String, Value>,
) -> Result<(), SandboxRefusal> {
    let problems = problems(cx, submission, fields)?;
    if problems.is_empty() {
        return Ok(());
    }
    let problem = Problem { messages: problems.iter().map(message).collect() };
    Err(SandboxRefusal { problem, ..SandboxRefusal::rule("", "") })
}

/// Converts a problem to the web application's form of a message: code, context, level and text
/// (partner-api, Errors).
fn message(problem: &FieldProblem) -> ProblemMessage {
    ProblemMessage { facility: None, sub_code: None, ..problem.to_message("") }
}

/// Lists the problems that [`validate`] refuses.
pub(crate) fn problems(
    cx: &ChangeUnit<'_>,
    submission: Submission,
    fields: &Map<String, Value>,
) -> Result<Vec<FieldProblem>, SandboxRefusal> {
    let plan = cx.settings.plan(text(fields, "plan"));
    let mut problems = rules(submission, fields, plan == Some(true));
    if plan.is_none() && !text(fields, "plan").is_empty() {
        problems.push(field_problem("plan", "Plan is unknown"));
    }
    let is_trial = submission == Submission::Complete && !text(fields, "test").is_empty();
    if is_test_name(text(fields, "business_name")) && !is_trial && record::is_test_submitted(cx)? {
        problems
            .push(field_problem("business_name", "Business name of a test was submitted already"));
    }
    Ok(problems)
}

fn field_problem(context: &str, message: &str) -> FieldProblem {
    let (context, message) = (context.to_owned(), message.to_owned());
    FieldProblem { context, sub_code: "invalid".to_owned(), message }
}

/// Submits an application and schedules its decision.
pub(crate) fn submit_and_schedule(
    cx: &mut ChangeUnit<'_>,
    found: StoredApplication,
) -> Result<ApplicationId, SandboxRefusal> {
    let id = found.object.id;
    let is_test = is_test_name(text(&found.internal.fields, "business_name"));
    record::submit(cx, found)?;
    decide::schedule(cx, id, is_test)?;
    Ok(id)
}

/// Handles a test submission: returns an id that no application has, and schedules a notification
/// of the requested outcome.
fn submit_test(
    cx: &mut ChangeUnit<'_>,
    fields: &Map<String, Value>,
    provisioned: bool,
) -> Result<ApplicationId, SandboxRefusal> {
    let id = record::fresh_id(cx);
    let reference = text(fields, "reference").to_owned();
    let moment = cx.now.checked_add_signed(decide::TEST_DELAY).unwrap_or(cx.now);
    timers::schedule(cx, moment, &TimerEntry::TestOutcome { id: id.0, reference, provisioned })?;
    Ok(id)
}

/// Returns true while the application waits for its applicant.
pub(crate) fn is_started(found: &StoredApplication) -> bool {
    after(found.object.state, ApplicationTransition::Submit).is_ok()
}
