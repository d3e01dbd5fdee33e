//! `approve CHECKSUM`: a person lets a plan past the limits. The approval covers just the plan that
//! was shown.

use std::path::Path;

use crate::cli::args::options::ApproveArgs;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::control::requests::ApprovePlan;
use crate::engine::protocol::commands::plan_approval::{ApprovingPlan, PlanApprovalResult};
use crate::engine::protocol::queries::views::{CHECKSUM_SHORT, PlanView};
use crate::engine::protocol::query::PlanQuery;
use crate::render;

/// Message of a command that wrote nothing.
pub(crate) const NOTHING: &str = "nothing was approved";

/// Returns the named checksum: given by itself, or in a plan that was written as JSON. `None` if
/// the argument names something else.
pub(crate) fn checksum(what: &str) -> Result<Option<String>, CommandFailure> {
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
        let failure = CommandFailure::input("reckon::approve::plan_file", format!("{what}: {why}"));
        failure.help("write it with `reckon plan -o json`")
    };
    let text = std::fs::read(path).map_err(|error| broken(&error))?;
    let plan: serde_json::Value = serde_json::from_slice(&text).map_err(|error| broken(&error))?;
    let checksum = plan.get("checksum").and_then(serde_json::Value::as_str);
    checksum.map(|text| Some(text.to_owned())).ok_or_else(|| broken(&"missing `checksum`"))
}

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &ApproveArgs,
    checksum: &str,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let mut yes = args.yes;
    if let Some(future) = StateSession::future(setup).await? {
        let agreed = confirm_before_state(&future, checksum, yes, out).await;
        if !future.end(setup, agreed).await? {
            out.note(NOTHING);
            return Ok(Exit::Done);
        }
        yes = true;
    }
    let mut session = StateSession::make_bound(setup).await?;
    let answer = approve(&mut session, args, (checksum, yes), out).await;
    let Some(answer) = session.end(setup, answer).await? else {
        out.note(NOTHING);
        return Ok(Exit::Done);
    };
    match answer {
        PlanApprovalResult::Approved { .. } => {
            out.result(&answer, || render::plan_approval::plan_approval_result(&answer))?;
            Ok(Exit::Done)
        }
        PlanApprovalResult::Changed { .. }
        | PlanApprovalResult::Nothing
        | PlanApprovalResult::Beyond { .. } => Err(not_approved(&answer)),
    }
}

/// Asks about the plan of a new state, before that state is made. Refuses a checksum of another
/// plan.
async fn confirm_before_state(
    future: &StateSession,
    checksum: &str,
    yes: bool,
    out: Printer,
) -> Result<bool, CommandFailure> {
    let plan = future.ask(PlanQuery).await?;
    if plan.checksum.starts_with(checksum) {
        return confirm(&plan, yes, out);
    }
    Err(not_approved(&PlanApprovalResult::Changed { checksum: plan.checksum }))
}

/// Shows the plan, asks, and records the approval. Returns `None` if the person declined.
async fn approve(
    session: &mut StateSession,
    args: &ApproveArgs,
    (checksum, yes): (&str, bool),
    out: Printer,
) -> Result<Option<PlanApprovalResult>, CommandFailure> {
    let plan = session.ask(PlanQuery).await?;
    if plan.checksum.starts_with(checksum) && !confirm(&plan, yes, out)? {
        return Ok(None);
    }
    let (checksum, ceilings) = (checksum.to_owned(), args.ceiling.clone());
    let plan = ApprovingPlan { checksum, ceilings, actor: machine::actor() };
    session.record(ApprovePlan(plan)).await.map(Some)
}

/// Shows the plan and asks for agreement, unless `--yes` is set. Without a terminal `--yes` is
/// required.
pub(crate) fn confirm(plan: &PlanView, yes: bool, out: Printer) -> Result<bool, CommandFailure> {
    let refusal =
        ("reckon::approve::unconfirmed", "review the plan, then repeat the command with --yes");
    let question = "Approve this plan, for these steps and at most these amounts?";
    out.agree(yes, || render::plan::text(plan, out.color), refusal, question)
}

/// Returns the failure of a plan that was not approved.
pub(crate) fn not_approved(answer: &PlanApprovalResult) -> CommandFailure {
    match answer {
        PlanApprovalResult::Beyond { moves, ceiling } => {
            let most = ceiling
                .map_or_else(|| "no money in that currency".to_owned(), |most| most.to_string());
            let message = format!("the plan moves {moves}, and --ceiling allows {most}");
            let failure = CommandFailure::input("reckon::approve::beyond_ceiling", message);
            failure.help("review the plan, then raise --ceiling or lower the amounts")
        }
        PlanApprovalResult::Nothing => {
            let message = "nothing to approve: the plan moves no money, removes nothing and sends \
                no e-mail";
            CommandFailure::input("reckon::approve::nothing_waits", message)
                .help("list the pending changes with `reckon plan`")
        }
        PlanApprovalResult::Changed { checksum } => {
            let message = "the present plan has another checksum";
            CommandFailure::input("reckon::approve::changed", message)
                .help(format!("review `reckon plan`, then approve the present checksum {checksum}"))
        }
        PlanApprovalResult::Approved { .. } => CommandFailure::bug(
            "internal error: the approval \
            was refused",
        ),
    }
}
