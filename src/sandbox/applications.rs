//! Merchant applications, complete and by sign-up (partner-api, Merchant application).
//!
//! A complete application is submitted at once; a sign-up waits until its applicant finishes it on the page
//! ([`page`]). What is submitted is decided a little later ([`decide`]), and the partner is told by a
//! notification. A test of either outcome makes nothing but its notification.

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

/// A complete application: its fields under one name.
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

/// A sign-up: its fields, flat.
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

/// The fields that count. The documents know no number and no truth that comes as a text.
fn taken(cx: &Cx<'_>, fields: Map<String, Value>) -> Map<String, Value> {
    if documented::alone(cx) { record::present(fields) } else { record::natural(fields) }
}

/// Everything wrong with an application, as 422: the rules of its fields, and what only the service knows.
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

/// The web application's own form of a message: code, context, level and text (partner-api, Errors).
fn message(problem: &FieldProblem) -> Message {
    Message { facility: None, sub_code: None, ..problem.to_message("") }
}

/// The same as a list.
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

/// Puts an application before those who decide.
fn submitted(cx: &mut Cx<'_>, found: Found) -> Result<ApplicationId, Refusal> {
    let id = found.object.id;
    let is_test = is_test_name(text(&found.inside.fields, "business_name"));
    record::submit(cx, found)?;
    decide::schedule(cx, id, is_test)?;
    Ok(id)
}

/// A test: an id that nothing has, and a notification of the wanted outcome.
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

/// Is the application still waiting for its applicant?
fn is_started(found: &Found) -> bool {
    after(found.object.state, Change::Submit).is_ok()
}
