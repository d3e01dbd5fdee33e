//! `plan`: what would change and why. Nothing is read from the service, and nothing written to the journal, but with
//! `--refresh`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::args::{Output, PlanArgs};
use super::cache::{self, Look};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::{Session, daemon};
use super::setup::Setup;
use super::specs::below;
use super::validate;
use crate::base::id::Key;
use crate::control::Request;
use crate::engine::{PlanView, Question, Reply};
use crate::render;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &PlanArgs, out: Out) -> Result<Exit, Failure> {
    let plan = only(setup, made(setup, args).await?, &args.paths.paths, &args.target);
    show(&plan, out)?;
    let pending = args.detailed_exitcode && plan.steps.iter().any(|step| step.verdict.changes());
    let code = if pending { Exit::Pending } else { Exit::Done };
    Ok(code.or(stuck(&plan)).or(validate::verdict(&plan.problems)))
}

/// The plan: of the process that holds the state, the last one if nothing changed, or a new one.
/// Where it is made anew, every file is read; `verify` has the others read them, too.
async fn made(setup: &Setup, args: &PlanArgs) -> Result<PlanView, Failure> {
    let look = if args.verify { Look::AtContents } else { Look::AtStats };
    if !args.refresh
        && daemon(setup).await?.is_none()
        && let Some(plan) = cache::recall(setup, look)?
    {
        return Ok(plan);
    }
    let mut session = Session::open(setup).await?;
    let reply = match &mut session {
        Session::Daemon(client) if args.refresh => {
            client.request(&Request::Refresh).await.map_err(Failure::from)
        }
        Session::Own(own) if args.refresh => {
            own.engine.look_at_everything().await?;
            session.ask(Question::Plan).await
        }
        Session::Daemon(client) if args.verify => client.verify().await.map_err(Failure::from),
        Session::Daemon(_) | Session::Own(_) => session.ask(Question::Plan).await,
    };
    let Reply::Plan(plan) = session.end(setup, reply).await? else {
        return Err(Failure::bug("a plan was not answered by one"));
    };
    Ok(*plan)
}

/// Prints a plan.
pub(super) fn show(plan: &PlanView, out: Out) -> Result<(), Failure> {
    if out.form == Output::Markdown {
        return out.text(&render::plan::markdown(plan));
    }
    out.result(plan, || render::plan::text(plan, out.color))
}

/// Exit code 3 if a step waits for a person.
pub(super) fn stuck(plan: &PlanView) -> Exit {
    if plan.steps.iter().any(|step| step.stuck) { Exit::Stuck } else { Exit::Done }
}

/// The steps that these paths and targets choose; all of them where nothing is chosen.
pub(super) fn only(
    setup: &Setup,
    mut plan: PlanView,
    paths: &[PathBuf],
    targets: &[Key],
) -> PlanView {
    if paths.is_empty() && targets.is_empty() {
        return plan;
    }
    let places: Vec<PathBuf> = paths.iter().map(|path| below(&setup.root, path)).collect();
    let targets: BTreeSet<(&str, &str, &str)> = targets
        .iter()
        .map(|key| (key.kind.as_str(), key.namespace.as_str(), key.name.as_str()))
        .collect();
    plan.steps.retain(|step| {
        let file = step.file.as_deref().unwrap_or_default();
        let inside = places.iter().any(|place| std::path::Path::new(file).starts_with(place));
        inside
            || targets.contains(&(step.kind.as_str(), step.namespace.as_str(), step.name.as_str()))
    });
    plan.totals = render::plan::totals(&plan.steps);
    plan
}
