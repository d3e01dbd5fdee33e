//! Merchant applications, complete and by sign-up (partner-api, Merchant application).
//!
//! A complete application is submitted at once; a sign-up waits until its applicant finishes it on
//! the page ([`page`]). A submitted application is decided a little later ([`decide`]), and a
//! notification reports the decision to the partner. A test of either outcome makes only its
//! notification.

pub(crate) mod decide;
mod form;
pub(crate) mod page;
pub(crate) mod record;
pub(crate) mod states;
mod strokes;
mod trouble;
mod words;

use serde_json::{Map, Value};

use crate::api::application::{
    ApplicationId, SignUpPage, StartedSignUp, Submission, Submitted, SubmittedApplication,
    is_test_name, rules,
};
use crate::api::rules::FieldProblem;
use crate::api::{Message, Problem};
use crate::sandbox::asked::Asked;
use crate::sandbox::documented;
use crate::sandbox::due::{self, Due};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use record::{Found, text};
use states::{Change, after};

/// POST of a complete application: its fields lie under one name, `merchant_application`.
pub(crate) fn submit(cx: &mut Cx<'_>, asked: &Asked) -> Result<SubmittedApplication, Refusal> {
    let body = asked.json()?;
    let Some(fields) = body.get("merchant_application").and_then(Value::as_object) else {
        return Err(Refusal::invalid("Body holds no merchant_application"));
    };
    let fields = taken(cx, fields.clone());
    validate(cx, Submission::Complete, &fields)?;
    let id = match text(&fields, "test") {
        "" => {
            let found = record::create(cx, Submission::Complete, fields)?;
            submitted(cx, found)?
        }
        outcome => tested(cx, &fields, outcome == "validate")?,
    };
    Ok(SubmittedApplication { merchant_application: Submitted { id } })
}

/// POST of a sign-up: its fields are flat.
pub(crate) fn sign_up(cx: &mut Cx<'_>, asked: &Asked) -> Result<StartedSignUp, Refusal> {
    let Value::Object(fields) = asked.json()? else {
        return Err(Refusal::malformed("Body is not an object"));
    };
    let fields = taken(cx, fields);
    validate(cx, Submission::SignUp, &fields)?;
    let found = record::create(cx, Submission::SignUp, fields)?;
    let id = found.object.id;
    let redirect_uri = Some(page::open(cx, asked, id)?.into());
    Ok(StartedSignUp { merchant_application: SignUpPage { id, redirect_uri } })
}

/// Returns the fields that count. The documented surface accepts no number and no boolean sent as
/// text.
fn taken(cx: &Cx<'_>, fields: Map<String, Value>) -> Map<String, Value> {
    if documented::alone(cx) { record::present(fields) } else { record::natural(fields) }
}

/// Refuses an application with 422 for every problem: the rules of its fields, and the checks only
/// the service can make.
fn validate(
    cx: &Cx<'_>,
    submission: Submission,
    fields: &Map<String, Value>,
) -> Result<(), Refusal> {
    let problems = problems(cx, submission, fields)?;
    if problems.is_empty() {
        return Ok(());
    }
    let problem = Problem { messages: problems.iter().map(message).collect() };
    Err(Refusal { problem, ..Refusal::rule("", "") })
}

/// Converts a problem to the web application's form of a message: code, context, level and text
/// (partner-api, Errors).
fn message(problem: &FieldProblem) -> Message {
    Message { facility: None, sub_code: None, ..problem.to_message("") }
}

/// Lists the problems that [`validate`] refuses.
fn problems(
    cx: &Cx<'_>,
    submission: Submission,
    fields: &Map<String, Value>,
) -> Result<Vec<FieldProblem>, Refusal> {
    let plan = cx.settings.plan(text(fields, "plan"));
    let mut problems = rules(submission, fields, plan == Some(true));
    if plan.is_none() && !text(fields, "plan").is_empty() {
        problems.push(own("plan", "Plan is unknown"));
    }
    let is_trial = submission == Submission::Complete && !text(fields, "test").is_empty();
    if is_test_name(text(fields, "business_name")) && !is_trial && record::test_taken(cx)? {
        problems.push(own("business_name", "Business name of a test was submitted already"));
    }
    Ok(problems)
}

fn own(context: &str, message: &str) -> FieldProblem {
    let (context, message) = (context.to_owned(), message.to_owned());
    FieldProblem { context, sub_code: "invalid".to_owned(), message }
}

/// Submits an application and schedules its decision.
fn submitted(cx: &mut Cx<'_>, found: Found) -> Result<ApplicationId, Refusal> {
    let id = found.object.id;
    let is_test = is_test_name(text(&found.inside.fields, "business_name"));
    record::submit(cx, found)?;
    decide::schedule(cx, id, is_test)?;
    Ok(id)
}

/// Handles a test submission: returns an id that no application has, and schedules a notification
/// of the requested outcome.
fn tested(
    cx: &mut Cx<'_>,
    fields: &Map<String, Value>,
    provisioned: bool,
) -> Result<ApplicationId, Refusal> {
    let id = record::fresh_id(cx);
    let reference = text(fields, "reference").to_owned();
    let moment = cx.now.checked_add_signed(decide::TEST_DELAY).unwrap_or(cx.now);
    due::schedule(cx, moment, &Due::TestOutcome { id: id.0, reference, provisioned })?;
    Ok(id)
}

/// Returns true while the application waits for its applicant.
fn is_started(found: &Found) -> bool {
    after(found.object.state, Change::Submit).is_ok()
}
