//! `freeze` and `thaw`: stop every change at the service, and let changes go out again. What holds
//! changes back is checked here for other commands.

use crate::base::wording::count_noun;
use crate::cli::args::resources::FreezeArgs;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::control::requests::FreezeAll;
use crate::engine::protocol::views::Overview;
use crate::model::freeze::{FreezeRequest, FreezeResult};
use crate::model::operator::REASON_LENGTH_MAX;
use crate::render;

pub(crate) async fn freeze(setup: &Context, args: &FreezeArgs) -> CommandResult {
    let reason = args.reason.trim().to_owned();
    if reason.is_empty() || reason.chars().count() > REASON_LENGTH_MAX {
        let what = format!("--reason is empty or too long: 1 to {REASON_LENGTH_MAX} characters");
        return Err(CommandFailure::input("reckon::freeze::reason", what)
            .help("write the reason for the freeze; every screen shows it"));
    }
    record(setup, FreezeRequest::Freeze { reason }).await
}

pub(crate) async fn thaw(setup: &Context) -> CommandResult {
    record(setup, FreezeRequest::Thaw).await
}

/// Records the request in an existing state: without one, nothing can be sent.
async fn record(setup: &Context, request: FreezeRequest) -> CommandResult {
    let mut session = StateSession::open(setup).await?;
    let done = session.record(FreezeAll(request)).await;
    let result = session.end(setup, done).await?;
    if result == FreezeResult::NotFrozen {
        let failure = CommandFailure::input("reckon::thaw::not_frozen", "nothing is frozen");
        return Err(failure.help("see what waits, and why, with `reckon status`"));
    }
    setup.out.finish(&result, || render::actions::freeze_result(&result))
}

/// Fails during a freeze: an `apply` would do nothing.
pub(crate) fn check_not_frozen(overview: &Overview) -> CommandResult<()> {
    let Some(freeze) = &overview.freeze else { return Ok(()) };
    let failure = CommandFailure::attention("reckon::apply::frozen", freeze.to_string());
    Err(failure.help("end the freeze with `reckon thaw`, then apply again; nothing was done"))
}

/// Fails if the daemon waits for a sync: an `apply` would wait for nothing.
pub(crate) fn check_no_sync_needed(overview: &Overview) -> CommandResult<()> {
    if !overview.sync.as_ref().is_some_and(|sync| sync.awaits) {
        return Ok(());
    }
    let changes = count_noun(overview.changes, "change");
    let what = format!("policy.sync is manual: {changes} of the daemon's documents wait");
    Err(CommandFailure::attention("reckon::apply::manual", what)
        .help("review and send them with `reckon sync`; nothing was done"))
}
