//! `apply PLANFILE`: does just the steps of a saved plan, once.

use std::path::Path;

use serde_json::Value;

use super::{apply, apply_report, stale_plan};
use crate::cli::args::options::ApplyArgs;
use crate::cli::commands::planning::plan_file;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::{OwnState, StateSession, daemon};
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::engine::commands::saved_plan::SavedPlan;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &ApplyArgs,
    path: &Path,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if args.paths.len() > 1 || !args.choice.target.is_empty() || !args.choice.exclude.is_empty() {
        let what = format!(
            "{} is a saved plan: it takes no further paths, --target or --exclude",
            path.display()
        );
        return Err(CommandFailure::input("reckon::plan_file::whole", what).help(
            "choose the resources when you save the plan: `reckon plan --target … --out FILE`",
        ));
    }
    let (saved, file) = plan_file::read(path)?;
    if !saved.changes() {
        apply_report::show(&saved.plan, &[], out)?;
        out.note(&format!("{} contains no changes: nothing was done", saved.id));
        return Ok(Exit::Done);
    }
    if daemon(setup).await?.is_none() && !setup.has_state()? {
        // A missing key fails here: the plan then belongs to another state.
        setup.future_state()?;
    }
    let loaded = apply::load_valid(setup, args, out)?;
    match StateSession::open_with(setup, loaded).await? {
        StateSession::Daemon(_) => Err(daemon_refusal()),
        StateSession::Own(mut own) => {
            let exit = apply_here(setup, args, (&saved, file, path), out, &mut own).await;
            own.close(setup).await?;
            exit
        }
    }
}

/// Returns the refusal beside a daemon: the daemon does what the files say, so a plan bounds
/// nothing there.
fn daemon_refusal() -> CommandFailure {
    let what = "no plan was applied: the daemon holds the state and applies every file by itself, so a saved \
        plan limits nothing";
    CommandFailure::environment("reckon::apply::daemon", what).help(
        "list the pending changes with `reckon plan`; to apply only a saved plan, stop the daemon",
    )
}

/// Does the work in this process.
async fn apply_here(
    setup: &Context,
    args: &ApplyArgs,
    (saved, file, path): (&SavedPlan, Value, &Path),
    out: Printer,
    own: &mut OwnState,
) -> Result<Exit, CommandFailure> {
    setup.bind(&own.open, None).await?;
    let engine = &mut own.engine;
    engine.check_saved_plan(saved, file)?.map_err(|why| stale_plan::failure(&why, path))?;
    if !apply::confirm(&saved.plan, args, out)? {
        out.note("nothing was done; the plan can still be applied");
        return Ok(Exit::Done);
    }
    engine.use_plan(saved, machine::actor()).await?;
    apply::run_steps(&saved.scope, out, engine).await
}
