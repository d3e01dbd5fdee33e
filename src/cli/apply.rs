//! `apply`: the service is made to match, and what became of it is told.

use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::args::ApplyArgs;
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::{Loaded, Own, Session};
use super::setup::Setup;
use super::specs::chosen;
use super::{limits, plan, signals, validate};
use crate::control::socket::SocketClient;
use crate::engine::{Engine, Event, Overview, PlanView, Question, Reply, Unable, Until};
use crate::model::desired::Coverage;
use crate::render;
use crate::render::progress::Progress;

/// Progress is shown at most so often.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &ApplyArgs, out: Out) -> Result<Exit, Failure> {
    let loaded = Loaded::now(setup);
    let problems = loaded.loader.problems();
    if validate::verdict(&problems) == Exit::Input && !args.isolate {
        out.note(&validate::text(&loaded.loader, &problems, out));
        let failure = Failure::input("reckon::apply::broken", "some documents are broken");
        return Err(failure.help("mend them, or go on with the good ones: apply --isolate"));
    }
    match Session::over(setup, loaded).await? {
        Session::Daemon(client) => beside(&client, args, out).await,
        Session::Own(own) => alone(setup, args, out, *own).await,
    }
}

/// The daemon does the work; this only waits for it and shows what is left.
async fn beside(client: &SocketClient, args: &ApplyArgs, out: Out) -> Result<Exit, Failure> {
    out.note("the daemon holds the state and applies by itself; waiting for it");
    let Reply::Plan(before) = client.ask(&Question::Plan).await? else {
        return Err(Failure::bug("a plan was not answered by one"));
    };
    if !agreed(&before, args, out)? {
        return Ok(Exit::Done);
    }
    client.ask(&Question::Settle).await?;
    let Reply::Plan(after) = client.ask(&Question::Plan).await? else {
        return Err(Failure::bug("a plan was not answered by one"));
    };
    plan::show(&after, out)?;
    Ok(plan::stuck(&after))
}

/// This process does the work.
async fn alone(setup: &Setup, args: &ApplyArgs, out: Out, mut own: Own) -> Result<Exit, Failure> {
    setup.bind(&own.open, None).await?;
    let engine = &mut own.engine;
    engine.look_at_accounts().await?;
    let exit = match before(setup, args, engine) {
        Some(before) if is_nothing(&before, engine) => {
            plan::show(&before, out)?;
            plan::stuck(&before)
        }
        Some(before) if !agreed(&before, args, out)? => {
            out.note("nothing was done");
            Exit::Done
        }
        Some(_) | None => {
            choose(setup, args, engine);
            if let Some(exit) = limits::refused(setup, args, out, engine)? {
                own.close(setup).await?;
                return Ok(exit);
            }
            let ended = work(engine).await;
            let told = tell(setup, args, out, engine);
            ended?.or(told?)
        }
    };
    own.close(setup).await?;
    Ok(exit)
}

/// The plan that is to be done; none where nobody looks at it and there is something in it.
fn before(setup: &Setup, args: &ApplyArgs, engine: &Engine) -> Option<PlanView> {
    let (paths, targets) = (&args.paths.paths, &args.target);
    let unseen = args.yes && paths.is_empty() && targets.is_empty();
    if unseen && engine.overview().changes > 0 {
        return None;
    }
    Some(plan::only(setup, engine.plan_view(), paths, targets))
}

/// Whether a plan has nothing to do.
fn is_nothing(plan: &PlanView, engine: &Engine) -> bool {
    let changes = plan.steps.iter().any(|step| step.verdict.changes());
    !changes && engine.overview().open_intents == 0
}

/// Shows the plan and asks, unless `--yes` was said. Without a terminal `--yes` is needed.
fn agreed(before: &PlanView, args: &ApplyArgs, out: Out) -> Result<bool, Failure> {
    if args.yes {
        return Ok(true);
    }
    out.note(&render::plan::text(before, out.color));
    if !out.interactive {
        let failure = Failure::input("reckon::apply::unconfirmed", "nobody is there to agree");
        return Err(failure.help("look at the plan, then say apply --yes"));
    }
    out.confirm("Apply this plan?")
}

/// Restricts the engine to what was asked for.
fn choose(setup: &Setup, args: &ApplyArgs, engine: &mut Engine) {
    let chosen = chosen(engine.desired(), &setup.root, &args.paths.paths, &args.target);
    if let Some(keys) = chosen {
        engine.choose(keys);
    }
}

/// Runs the engine until only outside events remain, or until it is told to stop.
async fn work(engine: &mut Engine) -> Result<Exit, Failure> {
    let (sender, events) = mpsc::channel(16);
    let (signal, signalled) = watch::channel(Exit::Done);
    let progress = tokio::spawn(show_progress(engine.overviews()));
    let stop = tokio::spawn(async move {
        signal.send_replace(signals::stop().await);
        // The engine may have ended by itself.
        drop(sender.send(Event::Stop).await);
    });
    let ended = engine.run(events, Until::Settled).await;
    progress.abort();
    stop.abort();
    ended?;
    Ok(*signalled.borrow())
}

/// Shows progress until it is stopped.
async fn show_progress(mut overviews: watch::Receiver<Overview>) {
    let progress = Progress::new();
    while overviews.changed().await.is_ok() {
        let now = overviews.borrow_and_update().clone();
        progress.update(&now, "applying");
        tokio::time::sleep(PROGRESS_EVERY).await;
    }
}

/// What became of it.
fn tell(setup: &Setup, args: &ApplyArgs, out: Out, engine: &Engine) -> Result<Exit, Failure> {
    let after = plan::only(setup, engine.plan_view(), &args.paths.paths, &args.target);
    plan::show(&after, out)?;
    for (key, unable) in engine.unable() {
        out.note(&format!("{}: {}", key.short(), unable.message()));
    }
    let environment = engine.unable().values().any(|unable| match unable {
        Unable::Secret(_) | Unable::Unreachable(_) | Unable::Mismatch(_) | Unable::Denied(_) => {
            true
        }
        Unable::Blocked(_) | Unable::Waiting(_) => false,
    });
    let blocked = engine.unable().values().any(|unable| matches!(unable, Unable::Blocked(_)));
    let partial = after.coverage == Coverage::Partial && !after.problems.is_empty();
    let exit = plan::stuck(&after)
        .or(if environment { Exit::Environment } else { Exit::Done })
        .or(if blocked { Exit::Stuck } else { Exit::Done })
        .or(if partial { validate::verdict(&after.problems) } else { Exit::Done });
    Ok(exit)
}
