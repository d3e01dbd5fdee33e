//! `approve CHECKSUM`: a person lets a plan past the limits. The approval covers just the plan that
//! was shown.

use std::path::Path;

use super::approve::{NOTHING, opened};
use super::args::ApproveArgs;
use super::exit::{Exit, Failure};
use super::host;
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::control::Request;
use crate::engine::{ApprovingPlan, CHECKSUM_SHORT, PlanAnswer, PlanView, Question, Reply};
use crate::render;

/// Returns the named checksum: given by itself, or in a plan that was written as JSON. `None` if
/// the argument names something else.
pub(super) fn checksum(what: &str) -> Result<Option<String>, Failure> {
    let plausible =
        what.len() >= CHECKSUM_SHORT && what.bytes().all(|byte| byte.is_ascii_hexdigit());
    if plausible {
        return Ok(Some(what.to_ascii_lowercase()));
    }
    let path = Path::new(what);
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("json")) {
        return Ok(None);
    }
    let broken = |why: &dyn std::fmt::Display| {
        let failure = Failure::input("reckon::approve::plan_file", format!("{what}: {why}"));
        failure.help("write it with `reckon plan -o json`")
    };
    let text = std::fs::read(path).map_err(|error| broken(&error))?;
    let plan: serde_json::Value = serde_json::from_slice(&text).map_err(|error| broken(&error))?;
    let checksum = plan.get("checksum").and_then(serde_json::Value::as_str);
    checksum.map(|text| Some(text.to_owned())).ok_or_else(|| broken(&"it holds no checksum"))
}

/// Runs the command.
pub(super) async fn run(
    setup: &Setup,
    args: &ApproveArgs,
    checksum: &str,
    out: Out,
) -> Result<Exit, Failure> {
    let mut yes = args.yes;
    if let Some(future) = Session::future(setup).await? {
        let agreed = agreed_before(&future, checksum, yes, out).await;
        if !future.end(setup, agreed).await? {
            out.note(NOTHING);
            return Ok(Exit::Done);
        }
        yes = true;
    }
    let mut session = opened(setup).await?;
    let answer = approve(&mut session, args, (checksum, yes), out).await;
    let Some(answer) = session.end(setup, answer).await? else {
        out.note(NOTHING);
        return Ok(Exit::Done);
    };
    match answer {
        PlanAnswer::Approved { .. } => {
            out.result(&answer, || render::plan_approved(&answer))?;
            Ok(Exit::Done)
        }
        PlanAnswer::Changed { .. } | PlanAnswer::Nothing | PlanAnswer::Beyond { .. } => {
            Err(refused(&answer))
        }
    }
}

/// Asks about the plan of a new state, before that state is made. Refuses a checksum of another
/// plan.
async fn agreed_before(
    future: &Session,
    checksum: &str,
    yes: bool,
    out: Out,
) -> Result<bool, Failure> {
    let plan = planned(future).await?;
    if plan.checksum.starts_with(checksum) {
        return agreed(&plan, yes, out);
    }
    Err(refused(&PlanAnswer::Changed { checksum: plan.checksum }))
}

async fn planned(session: &Session) -> Result<PlanView, Failure> {
    let Reply::Plan(plan) = session.ask(Question::Plan).await? else {
        return Err(Failure::bug("a plan was not answered by one"));
    };
    Ok(*plan)
}

/// Shows the plan, asks, and records the approval. Returns `None` if the person declined.
async fn approve(
    session: &mut Session,
    args: &ApproveArgs,
    (checksum, yes): (&str, bool),
    out: Out,
) -> Result<Option<PlanAnswer>, Failure> {
    let plan = planned(session).await?;
    if plan.checksum.starts_with(checksum) && !agreed(&plan, yes, out)? {
        return Ok(None);
    }
    let (checksum, ceilings) = (checksum.to_owned(), args.ceiling.clone());
    let plan = ApprovingPlan { checksum, ceilings, actor: host::actor() };
    let reply = match session {
        Session::Daemon(client) => client.request(&Request::ApprovePlan(Box::new(plan))).await?,
        Session::Own(own) => own.engine.approve_plan_alone(plan).await?,
    };
    let Reply::PlanApproved(answer) = reply else {
        return Err(Failure::bug("an approval was not answered by one"));
    };
    Ok(Some(*answer))
}

/// Shows the plan and asks for agreement, unless `--yes` is set. Without a terminal `--yes` is
/// required.
pub(super) fn agreed(plan: &PlanView, yes: bool, out: Out) -> Result<bool, Failure> {
    if yes {
        return Ok(true);
    }
    out.note(&render::plan::text(plan, out.color));
    if !out.interactive {
        let failure = Failure::input("reckon::approve::unconfirmed", "no terminal to ask at");
        return Err(failure.help("look at the plan, then say approve --yes"));
    }
    out.confirm("Approve this plan, for these steps and at most these amounts?")
}

/// Returns the failure of a plan that was not approved.
pub(super) fn refused(answer: &PlanAnswer) -> Failure {
    match answer {
        PlanAnswer::Beyond { moves, ceiling } => {
            let most =
                ceiling.map_or_else(|| "none of that currency".to_owned(), |most| most.to_string());
            let message = format!("the plan moves {moves}, and --ceiling allows {most}");
            let failure = Failure::input("reckon::approve::beyond_ceiling", message);
            failure.help("look at the plan; then say what it may move, or lower the amounts")
        }
        PlanAnswer::Nothing => {
            let message = "the plan moves no money, removes nothing and sends no e-mail";
            Failure::input("reckon::approve::nothing_waits", message)
                .help("`reckon plan` shows what waits")
        }
        PlanAnswer::Changed { checksum } => {
            let message = "the plan is not the one that this checksum names";
            Failure::input("reckon::approve::changed", message)
                .help(format!("look at `reckon plan`; the present one is {checksum}"))
        }
        PlanAnswer::Approved { .. } => Failure::bug("an approval was refused"),
    }
}
