//! `apply`: makes the service match, and reports the outcome. `apply PLANFILE` does what a saved
//! plan contains and no more.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::cli::args::options::ApplyArgs;
use crate::cli::commands::documents;
use crate::cli::commands::planning::{apply_options, apply_report, plan};
use crate::cli::commands::signed::approval;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::selection::{check_paths, scope, unknown_names};
use crate::cli::context::session::{LoadedTree, OwnState, StateSession, daemon};
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::cli::remote::Daemon;
use crate::engine::core::coordinator::{Engine, RunUntil};
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::approvals::SavedPlan;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::{OverviewQuery, ScopedPlanQuery};
use crate::engine::protocol::views::{Overview, PlanView};
use crate::model::manifest::TreeState;
use crate::model::operator::StepSelection;
use crate::render::progress::{RunProgress, next_overview};

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

pub(crate) async fn run(setup: &Context, args: &ApplyArgs) -> CommandResult {
    if let Some(server) = &setup.server {
        return apply_options::apply_by_server(setup, server, args).await;
    }
    if let Some(path) = args.paths.iter().find(|path| plan::is_plan(path)) {
        return run_saved(setup, args, path).await;
    }
    check_paths(setup, &args.paths)?;
    let loaded = load_valid(setup, args)?;
    match StateSession::open_with(setup, loaded).await? {
        StateSession::Daemon(client) => apply_by_daemon(setup, &client, args).await,
        StateSession::Own(mut own) => {
            let exit = apply_here(setup, args, &mut own).await;
            own.close(setup).await?;
            exit
        }
    }
}

pub(crate) fn load_valid(setup: &Context, args: &ApplyArgs) -> CommandResult<LoadedTree> {
    let loaded = LoadedTree::now(setup);
    let problems = loaded.loader.problems();
    if problems.has_errors() && !args.isolate {
        setup.out.note(&documents::problems_text(&loaded.loader, &problems, setup.out));
        let failure = CommandFailure::input("reckon::apply::broken", "some documents are invalid");
        return Err(failure.help("correct them, or apply the valid ones: `reckon apply --isolate`"));
    }
    Ok(loaded)
}

async fn apply_by_daemon(setup: &Context, client: &Daemon, args: &ApplyArgs) -> CommandResult {
    let scope = scope(setup, &args.paths, &args.choice)?;
    if !scope.exclude.is_empty() {
        let what =
            "--exclude has no effect: the daemon holds the state and applies every file by itself";
        return Err(CommandFailure::environment("reckon::apply::daemon", what)
            .help("suspend the resource with `reckon suspend`, or stop the daemon first"));
    }
    let overview = client.send(OverviewQuery).await?;
    apply_options::check_not_frozen(&overview)?;
    apply_options::check_no_sync_needed(&overview)?;
    setup.out.note("the daemon holds the state and applies by itself; waiting for it");
    let before = daemon_plan(client, scope.clone()).await?;
    if !apply_report::confirm(&before, args, setup.out)? {
        return Ok(Exit::Done);
    }
    let done = apply_options::settle_by_daemon(client, before.position, args, setup.out).await?;
    // A chosen resource may have disappeared meanwhile: then the whole plan is shown.
    let after = match daemon_plan(client, scope).await {
        Ok(after) => after,
        Err(_) => daemon_plan(client, StepSelection::default()).await?,
    };
    apply_report::show(&after, &done, setup.out)?;
    Ok(apply_report::rest_exit(&after, setup.out))
}

async fn daemon_plan(client: &Daemon, scope: StepSelection) -> CommandResult<PlanView> {
    client.send(ScopedPlanQuery(scope)).await?.map_err(|names| unknown_names(&names))
}

async fn apply_here(setup: &Context, args: &ApplyArgs, own: &mut OwnState) -> CommandResult {
    setup.bind(&own.open, None).await?;
    apply_options::check_not_frozen(&own.engine.view().overview())?;
    let scope = scope(setup, &args.paths, &args.choice)?;
    own.engine.refresh_accounts().await?;
    approval::record_signed(setup, own).await?;
    let engine = &mut own.engine;
    let allowing = apply_options::allowed_removals(engine, args)?;
    match reviewed_plan(&scope, args, engine)? {
        Some(before) if allowing.is_empty() && is_nothing(&before, engine) => {
            apply_report::show(&before, &[], setup.out)?;
            Ok(plan::attention_exit(&before))
        }
        Some(before) if !apply_report::confirm(&before, args, setup.out)? => {
            setup.out.note("nothing was done");
            Ok(Exit::Done)
        }
        Some(_) | None => {
            apply_options::record_allowed(engine, &allowing, setup.out).await?;
            if !scope.is_everything() {
                engine.select_targets(engine.view().selected(&scope));
            }
            if let Some(exit) = apply_report::refuse_whole_plan(&scope, setup.out, engine)? {
                return Ok(exit);
            }
            run_steps(&scope, setup.out, engine).await
        }
    }
}

/// Does the chosen steps, no more than their plan shows, and reports the outcome.
pub(crate) async fn run_steps(
    scope: &StepSelection,
    out: Printer,
    engine: &mut Engine,
) -> CommandResult {
    engine.cap_to_plan();
    let effects = tokio::spawn(apply_report::print_effects(engine.subscribe_effects(), out));
    let ended = run_engine(engine, out).await;
    engine.unsubscribe_effects();
    let done = effects.await.map_err(CommandFailure::bug)?;
    let told = report(scope, &done, out, engine);
    Ok(ended?.or(told?))
}

/// Returns the plan that will be done; `None` if `--yes` skips the review and there are changes.
fn reviewed_plan(
    scope: &StepSelection,
    args: &ApplyArgs,
    engine: &Engine,
) -> CommandResult<Option<PlanView>> {
    if args.yes && scope.is_everything() && engine.view().overview().changes > 0 {
        return Ok(None);
    }
    engine.view().plan_within(scope).map(Some).map_err(|names| unknown_names(&names))
}

fn is_nothing(plan: &PlanView, engine: &Engine) -> bool {
    let changes = plan.steps.iter().any(|step| step.verdict.is_change());
    !changes && engine.view().overview().open_intents == 0 && !engine.has_bookkeeping()
}

/// Runs the engine until only outside events remain, or until a signal stops it.
async fn run_engine(engine: &mut Engine, out: Printer) -> CommandResult {
    let (sender, events) = mpsc::channel(16);
    let (signal, signalled) = watch::channel(Exit::Done);
    let progress = tokio::spawn(show_progress(engine.overviews(), out));
    let stop = tokio::spawn(async move {
        machine::stop().await;
        // Either signal may leave work undone, which is no success.
        signal.send_replace(Exit::Interrupted);
        out.note("stopping; waiting for the answers of calls in flight");
        // The engine may have ended by itself.
        drop(sender.send(EngineInput::Stop).await);
    });
    let ended = engine.run(events, RunUntil::Settled).await;
    progress.abort();
    stop.abort();
    // The bar disappears with its task.
    drop(progress.await);
    ended?;
    Ok(*signalled.borrow())
}

async fn show_progress(mut overviews: watch::Receiver<Overview>, out: Printer) {
    let progress = RunProgress::default();
    while let Some(now) = next_overview(&mut overviews, true).await {
        if let Some(line) = progress.update(&now, "applying") {
            out.log(&line);
        }
        tokio::time::sleep(PROGRESS_EVERY).await;
    }
}

fn report(
    scope: &StepSelection,
    done: &[EffectReport],
    out: Printer,
    engine: &Engine,
) -> CommandResult {
    let after = engine.view().plan_of(scope);
    apply_report::show(&after, done, out)?;
    apply_options::print_removals(engine, out);
    for (key, unable) in engine.failures() {
        out.note(&format!("{}: {}", key.short(), unable.message()));
    }
    let exit = |unable: &TaskFailure| match unable {
        TaskFailure::Secret(_)
        | TaskFailure::Unreachable(_)
        | TaskFailure::Mismatch(_)
        | TaskFailure::Denied(_) => Exit::Environment,
        TaskFailure::Blocked(_) => Exit::NeedsAttention,
        TaskFailure::Waiting(_) => Exit::Done,
    };
    let failed = engine.failures().values().map(exit).fold(Exit::Done, Exit::or);
    let partial = after.coverage == TreeState::Incomplete && !after.problems.is_empty();
    let broken = if partial { documents::exit_for(after.has_errors()) } else { Exit::Done };
    Ok(apply_report::rest_exit(&after, out).or(failed).or(broken))
}

pub(crate) async fn run_saved(setup: &Context, args: &ApplyArgs, path: &Path) -> CommandResult {
    if args.paths.len() > 1 || !args.choice.target.is_empty() || !args.choice.exclude.is_empty() {
        let what = format!(
            "{} is a saved plan: it takes no further paths, --target or --exclude",
            path.display()
        );
        return Err(CommandFailure::input("reckon::plan_file::whole", what).help(
            "choose the resources when you save the plan: `reckon plan --target … --out FILE`",
        ));
    }
    let (saved, file) = plan::read_saved(path)?;
    if !saved.changes() {
        apply_report::show(&saved.plan, &[], setup.out)?;
        setup.out.note(&format!("{} contains no changes: nothing was done", saved.id));
        return Ok(Exit::Done);
    }
    if daemon(setup).await?.is_none() && !setup.has_state()? {
        // A missing key fails here: the plan then belongs to another state.
        setup.future_state()?;
    }
    let loaded = load_valid(setup, args)?;
    match StateSession::open_with(setup, loaded).await? {
        StateSession::Daemon(_) => Err(daemon_refusal()),
        StateSession::Own(mut own) => {
            let exit = apply_saved_here(setup, args, (&saved, file, path), &mut own).await;
            own.close(setup).await?;
            exit
        }
    }
}

/// Beside a daemon a plan bounds nothing: the daemon does what the files say.
fn daemon_refusal() -> CommandFailure {
    let what = "no plan was applied: the daemon holds the state and applies every file by itself, so a saved \
        plan limits nothing";
    CommandFailure::environment("reckon::apply::daemon", what).help(
        "list the pending changes with `reckon plan`; to apply only a saved plan, stop the daemon",
    )
}

async fn apply_saved_here(
    setup: &Context,
    args: &ApplyArgs,
    (saved, file, path): (&SavedPlan, Value, &Path),
    own: &mut OwnState,
) -> CommandResult {
    setup.bind(&own.open, None).await?;
    let engine = &mut own.engine;
    apply_options::check_not_frozen(&engine.view().overview())?;
    engine
        .view()
        .check_saved_plan(saved, file)?
        .map_err(|why| apply_report::unfit_failure(&why, path))?;
    apply_report::check_times(&engine.view().plan_of(&saved.scope))?;
    if !apply_report::confirm(&saved.plan, args, setup.out)? {
        setup.out.note("nothing was done; the plan can still be applied");
        return Ok(Exit::Done);
    }
    engine.use_plan(saved, machine::actor()).await?;
    run_steps(&saved.scope, setup.out, engine).await
}
