//! `plan`: shows the changes and their reasons. Only with `--refresh` does it read from the service
//! or write to the journal.

use super::args::{Cli, Output, PlanArgs, PlanCommand};
use super::cache::{self, Look};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::{Session, daemon};
use super::setup::Setup;
use super::{against, plan_file, server, specs, validate};
use crate::control::Request;
use crate::engine::{PlanView, Question, Reply};
use crate::model::scope::Scope;
use crate::render;

/// Runs the command.
pub(super) async fn run(cli: &Cli, args: &PlanArgs, out: Out) -> Result<Exit, Failure> {
    if let Some(PlanCommand::Show(show)) = &args.command {
        return plan_file::show(show, out);
    }
    let setup = &Setup::load(cli)?;
    if let Some(range) = &args.against {
        return against::run(setup, args, range, out);
    }
    let scope = specs::scope(setup, &args.paths.paths, &args.choice)?;
    let fresh = Fresh { verify: args.verify, refresh: args.refresh };
    let plan = match &args.out {
        Some(file) => plan_file::save(setup, scope, fresh, file, out).await?,
        None => made(setup, fresh, scope).await?,
    };
    show(&plan, out)?;
    Ok(exit(&plan, args.detailed_exitcode))
}

/// Sources that are read again before a plan is made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fresh {
    /// Reads every file's content, whatever its size and time are.
    pub(super) verify: bool,
    /// Reads everything that the service shows.
    pub(super) refresh: bool,
}

/// Returns the exit code of a plan.
pub(super) fn exit(plan: &PlanView, detailed: bool) -> Exit {
    let pending = detailed && plan.steps.iter().any(|step| step.verdict.changes());
    let code = if pending { Exit::Pending } else { Exit::Done };
    code.or(stuck(plan)).or(validate::verdict(plan.has_errors()))
}

/// Returns the plan: the daemon's, the cached one if nothing changed, or a new one. A new plan
/// reads every file; `verify` makes the other two read them as well.
async fn made(setup: &Setup, fresh: Fresh, scope: Scope) -> Result<PlanView, Failure> {
    let look = if fresh.verify { Look::AtContents } else { Look::AtStats };
    if scope.is_whole()
        && !fresh.refresh
        && daemon(setup).await?.is_none()
        && let Some(plan) = cache::recall(setup, look)?
    {
        return Ok(plan);
    }
    let Reply::Plan(plan) = asked(setup, fresh, Question::Scoped(scope)).await? else {
        return Err(Failure::bug("a plan was not answered by one"));
    };
    Ok(*plan)
}

/// Asks the process that holds the state, or this process, about the plan.
pub(super) async fn asked(
    setup: &Setup,
    fresh: Fresh,
    question: Question,
) -> Result<Reply, Failure> {
    if let Some(server) = &setup.server {
        return server::tree::asked(setup, server, fresh, question).await;
    }
    let mut session = match future(setup, &question).await? {
        Some(session) => session,
        None => Session::look(setup).await?,
    };
    let verified = match &mut session {
        Session::Daemon(client) if fresh.refresh => {
            client.request(&Request::Refresh).await.map(drop)
        }
        Session::Daemon(client) if fresh.verify => client.verify().await.map(drop),
        Session::Own(own) if fresh.refresh => {
            own.engine.look_at_everything().await?;
            Ok(())
        }
        Session::Daemon(_) | Session::Own(_) => Ok(()),
    };
    let reply = match verified {
        Ok(()) => session.ask(question).await,
        Err(error) => Err(Failure::from(error)),
    };
    let reply = session.end(setup, reply).await?;
    if let Reply::Unknown(names) = &reply {
        return Err(specs::unknown(names));
    }
    Ok(reply)
}

/// Opens a draft of the state that `apply` would make, if a plan is saved and there is no state. A
/// saved plan is sealed with the key of the state that it is applied to.
async fn future(setup: &Setup, question: &Question) -> Result<Option<Session>, Failure> {
    if matches!(question, Question::Save(_)) { Session::future(setup).await } else { Ok(None) }
}

/// Prints a plan.
pub(super) fn show(plan: &PlanView, out: Out) -> Result<(), Failure> {
    if out.form == Output::Markdown {
        return out.text(&render::plan::markdown(plan));
    }
    out.result(plan, || render::plan::text(plan, out.color))
}

/// Returns exit code 3 if a step waits for a person.
pub(super) fn stuck(plan: &PlanView) -> Exit {
    if plan.steps.iter().any(|step| step.stuck) { Exit::Stuck } else { Exit::Done }
}
