//! `plan`: shows the changes and their reasons. Only with `--refresh` does it read from the service
//! or write to the journal.

use super::{against, plan_file};
use crate::cli::args::options::{Cli, Output, PlanArgs};
use crate::cli::args::plans::PlanCommand;
use crate::cli::commands::inspect::validate;
use crate::cli::context::cache::UnchangedBy;
use crate::cli::context::open::Context;
use crate::cli::context::session::{StateSession, daemon};
use crate::cli::context::{cache, selection};
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::cli::remote::sent_tree;
use crate::control::protocol::ControlRequest;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::engine::queries::views::PlanView;
use crate::model::operator::selection::StepSelection;
use crate::render;

/// Runs the command.
pub(crate) async fn run(cli: &Cli, args: &PlanArgs, out: Printer) -> Result<Exit, CommandFailure> {
    if let Some(PlanCommand::Show(show)) = &args.command {
        return plan_file::show(show, out);
    }
    let setup = &Context::load(cli)?;
    if let Some(range) = &args.against {
        return against::run(setup, args, range, out);
    }
    let scope = selection::scope(setup, &args.paths.paths, &args.choice)?;
    let fresh = RefreshOptions { verify: args.verify, refresh: args.refresh };
    let plan = match &args.out {
        Some(file) => plan_file::save(setup, scope, fresh, file, out).await?,
        None => make_plan(setup, fresh, scope).await?,
    };
    show(&plan, out)?;
    Ok(exit(&plan, args.detailed_exitcode))
}

/// Sources that are read again before a plan is made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RefreshOptions {
    /// Reads every file's content, whatever its size and time are.
    pub(crate) verify: bool,
    /// Reads everything that the service shows.
    pub(crate) refresh: bool,
}

/// Returns the exit code of a plan.
pub(crate) fn exit(plan: &PlanView, detailed: bool) -> Exit {
    let pending = detailed && plan.steps.iter().any(|step| step.verdict.is_change());
    let code = if pending { Exit::Pending } else { Exit::Done };
    code.or(attention_exit(plan)).or(validate::verdict(plan.has_errors()))
}

/// Returns the plan: the daemon's, the cached one if nothing changed, or a new one. A new plan
/// reads every file; `verify` makes the other two read them as well.
async fn make_plan(
    setup: &Context,
    fresh: RefreshOptions,
    scope: StepSelection,
) -> Result<PlanView, CommandFailure> {
    let look = if fresh.verify { UnchangedBy::Content } else { UnchangedBy::Metadata };
    if scope.is_everything()
        && !fresh.refresh
        && daemon(setup).await?.is_none()
        && let Some(plan) = cache::cached_plan(setup, look)?
    {
        return Ok(plan);
    }
    let Reply::Plan(plan) = ask_about_plan(setup, fresh, EngineQuery::Scoped(scope)).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a plan",
        ));
    };
    Ok(*plan)
}

/// Asks the process that holds the state, or this process, about the plan.
pub(crate) async fn ask_about_plan(
    setup: &Context,
    fresh: RefreshOptions,
    question: EngineQuery,
) -> Result<Reply, CommandFailure> {
    if let Some(server) = &setup.server {
        return sent_tree::ask_with_tree(setup, server, fresh, question).await;
    }
    let mut session = match draft_session(setup, &question).await? {
        Some(session) => session,
        None => StateSession::open_view(setup).await?,
    };
    let verified = match &mut session {
        StateSession::Daemon(client) if fresh.refresh => {
            client.request(&ControlRequest::Refresh).await.map(drop)
        }
        StateSession::Daemon(client) if fresh.verify => client.verify().await.map(drop),
        StateSession::Own(own) if fresh.refresh => {
            own.engine.sweep_everything().await?;
            Ok(())
        }
        StateSession::Daemon(_) | StateSession::Own(_) => Ok(()),
    };
    let reply = match verified {
        Ok(()) => session.ask(question).await,
        Err(error) => Err(CommandFailure::from(error)),
    };
    let reply = session.end(setup, reply).await?;
    if let Reply::Unknown(names) = &reply {
        return Err(selection::unknown_names(names));
    }
    Ok(reply)
}

/// Opens a draft of the state that `apply` would make, if a plan is saved and there is no state. A
/// saved plan is sealed with the key of the state that it is applied to.
async fn draft_session(
    setup: &Context,
    question: &EngineQuery,
) -> Result<Option<StateSession>, CommandFailure> {
    if matches!(question, EngineQuery::Save(_)) {
        StateSession::future(setup).await
    } else {
        Ok(None)
    }
}

/// Prints a plan.
pub(crate) fn show(plan: &PlanView, out: Printer) -> Result<(), CommandFailure> {
    if out.form == Output::Markdown {
        return out.text(&render::plan::markdown(plan));
    }
    out.result(plan, || render::plan::text(plan, out.color))
}

/// Returns exit code 3 if a step waits for a person.
pub(crate) fn attention_exit(plan: &PlanView) -> Exit {
    if plan.steps.iter().any(|step| step.stuck) { Exit::NeedsAttention } else { Exit::Done }
}
