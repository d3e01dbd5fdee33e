//! `sync`: lets a manual daemon make the service match its documents, after a review of the plan.

use crate::cli::args::options::SyncArgs;
use crate::cli::commands::freeze::check_not_frozen;
use crate::cli::commands::planning::{apply_report, plan};
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::remote::Daemon;
use crate::control::requests::Sync;
use crate::engine::protocol::query::{EffectsQuery, OverviewQuery, PlanQuery, SettleQuery};
use crate::engine::protocol::views::PlanView;
use crate::model::freeze::SyncResult;
use crate::render;

pub(crate) async fn run(setup: &Context, args: &SyncArgs) -> CommandResult {
    let client = daemon(setup).await?.ok_or_else(no_daemon)?;
    check_not_frozen(&client.send(OverviewQuery).await?)?;
    let before = client.send(PlanQuery).await?;
    let refusal = ("reckon::sync::unconfirmed", "review the plan, then run `reckon sync --yes`");
    let text = || render::plan::text(&before, setup.out.screen);
    if !setup.out.agree(args.yes, text, refusal, "Let the daemon send this?")? {
        setup.out.note("nothing was recorded");
        return Ok(Exit::Done);
    }
    record(&client, &before).await?;
    client.send(SettleQuery).await?;
    let done = client.send(EffectsQuery(before.position)).await?;
    let after = client.send(PlanQuery).await?;
    apply_report::show(&after, &done, setup.out)?;
    Ok(plan::attention_exit(&after))
}

/// Has the daemon record the sync of the plan that was reviewed.
async fn record(client: &Daemon, before: &PlanView) -> CommandResult<()> {
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
