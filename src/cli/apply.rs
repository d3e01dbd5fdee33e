//! `apply`: makes the service match, and reports the outcome.

use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::args::ApplyArgs;
use super::exit::{Exit, Failure};
use super::out::Out;
use super::server::{self, Daemon};
use super::session::{Loaded, Own, Session};
use super::setup::Setup;
use super::specs::{check_paths, scope, unknown};
use super::{applied, apply_saved, limits, plan, plan_file, prune, signals, signed, validate};
use crate::engine::{Engine, Event, Happened, Overview, PlanView, Question, Reply, Unable, Until};
use crate::model::desired::Coverage;
use crate::model::scope::Scope;
use crate::render;
use crate::render::progress::{Progress, look};

/// Shortest time between two updates of the progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &ApplyArgs, out: Out) -> Result<Exit, Failure> {
    if let Some(server) = &setup.server {
        return server::apply::run(setup, server, args, out).await;
    }
    if let Some(path) = args.paths.iter().find(|path| plan_file::is_plan(path)) {
        return apply_saved::run(setup, args, path, out).await;
    }
    check_paths(setup, &args.paths)?;
    let loaded = good(setup, args, out)?;
    match Session::over(setup, loaded).await? {
        Session::Daemon(client) => beside(setup, &client, args, out).await,
        Session::Own(mut own) => {
            let exit = alone(setup, args, out, &mut own).await;
            own.close(setup).await?;
            exit
        }
    }
}

/// Loads the tree.
///
/// # Errors
/// A document is invalid, and `--isolate` is not set.
pub(super) fn good(setup: &Setup, args: &ApplyArgs, out: Out) -> Result<Loaded, Failure> {
    let loaded = Loaded::now(setup);
    let problems = loaded.loader.problems();
    if problems.has_errors() && !args.isolate {
        out.note(&validate::text(&loaded.loader, &problems, out));
        let failure = Failure::input("reckon::apply::broken", "some documents are broken");
        return Err(failure.help("mend them, or go on with the good ones: apply --isolate"));
    }
    Ok(loaded)
}

/// Waits while the daemon does the work, and shows what remains.
async fn beside(
    setup: &Setup,
    client: &Daemon,
    args: &ApplyArgs,
    out: Out,
) -> Result<Exit, Failure> {
    let scope = scope(setup, &args.paths, &args.choice)?;
    if !scope.exclude.is_empty() {
        let what = "the daemon holds the state, and does by itself whatever the files say";
        return Err(Failure::environment("reckon::apply::daemon", what).help(
            "nothing can be left out of that: suspend it (`reckon suspend`), or stop the daemon first",
        ));
    }
    out.note("the daemon holds the state and applies by itself; waiting for it");
    let before = planned(client, scope.clone()).await?;
    if !agreed(&before, args, out)? {
        return Ok(Exit::Done);
    }
    prune::beside(client, args, out).await?;
    client.ask(&Question::Settle).await?;
    let done = applied::since(client, before.position, out).await?;
    // A chosen resource may have disappeared meanwhile: then the whole plan is shown.
    let after = match planned(client, scope).await {
        Ok(after) => after,
        Err(_) => planned(client, Scope::default()).await?,
    };
    applied::show(&after, &done, out)?;
    Ok(plan::stuck(&after))
}

/// Returns the daemon's plan of a scope.
async fn planned(client: &Daemon, scope: Scope) -> Result<PlanView, Failure> {
    let reply = client.ask(&Question::Scoped(scope)).await?;
    if let Reply::Unknown(names) = &reply {
        return Err(unknown(names));
    }
    let Reply::Plan(plan) = reply else {
        return Err(Failure::bug("a plan was not answered by one"));
    };
    Ok(*plan)
}

/// Does the work in this process.
async fn alone(setup: &Setup, args: &ApplyArgs, out: Out, own: &mut Own) -> Result<Exit, Failure> {
    setup.bind(&own.open, None).await?;
    let scope = scope(setup, &args.paths, &args.choice)?;
    own.engine.look_at_accounts().await?;
    signed::take_in(setup, own, out).await?;
    let engine = &mut own.engine;
    let allowing = prune::meant(engine, args)?;
    match before(&scope, args, engine)? {
        Some(before) if allowing.is_empty() && is_nothing(&before, engine) => {
            applied::show(&before, &[], out)?;
            Ok(plan::stuck(&before))
        }
        Some(before) if !agreed(&before, args, out)? => {
            out.note("nothing was done");
            Ok(Exit::Done)
        }
        Some(_) | None => {
            prune::allow(engine, &allowing, out).await?;
            if !scope.is_whole() {
                engine.choose(engine.taken(&scope));
            }
            if let Some(exit) = limits::refused(&scope, out, engine)? {
                return Ok(exit);
            }
            done(&scope, out, engine).await
        }
    }
}

/// Does the chosen steps, no more than their plan shows, and reports the outcome.
pub(super) async fn done(scope: &Scope, out: Out, engine: &mut Engine) -> Result<Exit, Failure> {
    engine.hold_to_plan();
    let effects = tokio::spawn(applied::told(engine.effects(), out));
    let ended = work(engine, out).await;
    engine.no_more_effects();
    let done = effects.await.map_err(Failure::bug)?;
    let told = tell(scope, &done, out, engine);
    Ok(ended?.or(told?))
}

/// Returns the plan that will be done; `None` if `--yes` skips the review and there are changes.
fn before(scope: &Scope, args: &ApplyArgs, engine: &Engine) -> Result<Option<PlanView>, Failure> {
    if args.yes && scope.is_whole() && engine.overview().changes > 0 {
        return Ok(None);
    }
    engine.plan_within(scope).map(Some).map_err(|names| unknown(&names))
}

/// Returns true if a plan has nothing to do.
fn is_nothing(plan: &PlanView, engine: &Engine) -> bool {
    let changes = plan.steps.iter().any(|step| step.verdict.changes());
    !changes && engine.overview().open_intents == 0 && !engine.has_bookings()
}

/// Shows the plan and asks for agreement, unless `--yes` is set. Without a terminal `--yes` is
/// required.
pub(super) fn agreed(before: &PlanView, args: &ApplyArgs, out: Out) -> Result<bool, Failure> {
    if args.yes {
        return Ok(true);
    }
    out.note(&render::plan::text(before, out.color));
    if !out.interactive {
        let failure = Failure::input("reckon::apply::unconfirmed", "no terminal to ask at");
        return Err(failure.help("look at the plan, then say apply --yes"));
    }
    out.confirm("Apply this plan?")
}

/// Runs the engine until only outside events remain, or until a signal stops it.
async fn work(engine: &mut Engine, out: Out) -> Result<Exit, Failure> {
    let (sender, events) = mpsc::channel(16);
    let (signal, signalled) = watch::channel(Exit::Done);
    let progress = tokio::spawn(show_progress(engine.overviews(), out));
    let stop = tokio::spawn(async move {
        signals::stop().await;
        // Either signal may leave work undone, which is no success.
        signal.send_replace(Exit::Interrupted);
        out.note("stopping; calls under way get their answers first");
        // The engine may have ended by itself.
        drop(sender.send(Event::Stop).await);
    });
    let ended = engine.run(events, Until::Settled).await;
    progress.abort();
    stop.abort();
    // The bar disappears with its task.
    drop(progress.await);
    ended?;
    Ok(*signalled.borrow())
}

/// Shows progress until the task is aborted.
async fn show_progress(mut overviews: watch::Receiver<Overview>, out: Out) {
    let progress = Progress::new();
    while let Some(now) = look(&mut overviews, true).await {
        if let Some(line) = progress.update(&now, "applying") {
            out.log(&line);
        }
        tokio::time::sleep(PROGRESS_EVERY).await;
    }
}

/// Prints the outcome, and returns the exit code that it calls for.
fn tell(scope: &Scope, done: &[Happened], out: Out, engine: &Engine) -> Result<Exit, Failure> {
    let after = engine.plan_of(scope);
    applied::show(&after, done, out)?;
    prune::tell(engine, out);
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
        .or(if partial { validate::verdict(after.has_errors()) } else { Exit::Done });
    Ok(exit)
}
