//! The choice of when: `freeze` stops every change at the service, `thaw` lets changes go out again, and
//! `sync` lets a manual daemon send the plan that a person reviewed.

use crate::cli::args::options::SyncArgs;
use crate::cli::args::resources::FreezeArgs;
use crate::cli::commands::planning::{apply_options, apply_report};
use crate::cli::context::open::Context;
use crate::cli::context::selection;
use crate::cli::context::session::{StateSession, daemon};
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::remote::Daemon;
use crate::control::requests::{FreezeAll, Sync};
use crate::engine::protocol::query::{OverviewQuery, PlanQuery};
use crate::engine::protocol::views::PlanView;
use crate::model::holds::{FreezeRequest, FreezeResult, SyncResult};
use crate::render;

pub(crate) async fn freeze(setup: &Context, args: &FreezeArgs) -> CommandResult {
    let help = "write the reason for the freeze; every screen shows it";
    let reason = selection::parse_reason(&args.reason, "reckon::freeze::reason", help)?;
    record_freeze(setup, FreezeRequest::Freeze { reason }).await
}

pub(crate) async fn thaw(setup: &Context) -> CommandResult {
    record_freeze(setup, FreezeRequest::Thaw).await
}

/// Records the request in an existing state: without one, nothing can be sent.
async fn record_freeze(setup: &Context, request: FreezeRequest) -> CommandResult {
    let mut session = StateSession::open(setup).await?;
    let done = session.record(FreezeAll(request)).await;
    let result = session.end(setup, done).await?;
    if result == FreezeResult::NotFrozen {
        let failure = CommandFailure::input("reckon::thaw::not_frozen", "nothing is frozen");
        return Err(failure.help("see what waits, and why, with `reckon status`"));
    }
    setup.out.finish(&result, || render::actions::freeze_result(&result))
}

/// Shows the plan of a manual daemon, and lets the daemon send it.
pub(crate) async fn sync(setup: &Context, args: &SyncArgs) -> CommandResult {
    let client = daemon(setup).await?.ok_or_else(no_daemon)?;
    apply_options::check_not_frozen(&client.send(OverviewQuery).await?)?;
    let before = client.send(PlanQuery).await?;
    let refusal = ("reckon::sync::unconfirmed", "review the plan, then run `reckon sync --yes`");
    let text = || render::plan::text(&before, setup.out.screen);
    if !setup.out.agree(args.yes, text, refusal, "Let the daemon send this?")? {
        setup.out.note("nothing was recorded");
        return Ok(Exit::Done);
    }
    record_sync(&client, &before).await?;
    let done = apply_options::await_effects(&client, before.position, setup.out).await?;
    let after = client.send(PlanQuery).await?;
    apply_report::show(&after, &done, setup.out)?;
    Ok(apply_report::rest_exit(&after, setup.out))
}

/// Has the daemon record the sync of the plan that was reviewed.
async fn record_sync(client: &Daemon, before: &PlanView) -> CommandResult<()> {
    match client.send(Sync(before.checksum.clone())).await? {
        SyncResult::Synced(_) => Ok(()),
        SyncResult::Changed(_) => {
            let what = "the plan changed since you saw it: nothing was recorded";
            let failure = CommandFailure::attention("reckon::sync::changed", what);
            Err(failure.help("review the new plan: run `reckon sync` again"))
        }
        SyncResult::Automatic => {
            let what = "the daemon sends changes by itself: there is nothing to sync";
            let failure = CommandFailure::input("reckon::sync::automatic", what);
            Err(failure.help("set `policy: {sync: manual}` to let changes wait for you"))
        }
    }
}

fn no_daemon() -> CommandFailure {
    CommandFailure::environment("reckon::sync::no_daemon", "no daemon runs here")
        .help("start it with `reckon run`, or apply without one: `reckon apply`")
}
