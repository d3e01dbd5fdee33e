//! `intents`: unsettled effects, contacts that were created again, and their settlement by a
//! person.

use crate::cli::args::resources::{DismissArgs, IntentsArgs, IntentsCommand, ResolveArgs};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::control::requests::{DismissOrphan, Resolve};
use crate::engine::protocol::commands::resolve::{ManualResolution, ResolveResult};
use crate::engine::protocol::query::IntentsQuery;
use crate::render;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &IntentsArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    match &args.command {
        None => list(setup, out).await,
        Some(IntentsCommand::Resolve(args)) => resolve(setup, args, out).await,
        Some(IntentsCommand::Dismiss(args)) => dismiss(setup, args, out).await,
    }
}

async fn list(setup: &Context, out: Printer) -> Result<Exit, CommandFailure> {
    let view = StateSession::open_view(setup).await?.ask_once(setup, IntentsQuery).await?;
    out.result(&view, || render::intents::text(&view, out.color))?;
    Ok(if view.items.is_empty() && view.unknown_objects.is_empty() {
        Exit::Done
    } else {
        Exit::NeedsAttention
    })
}

/// Records that a person reviewed an object that was created again.
async fn dismiss(
    setup: &Context,
    args: &DismissArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let session = StateSession::open(setup).await?;
    let found = session.send(setup, DismissOrphan(args.id, args.reason.clone())).await?;
    let Some(key) = found else {
        let message = format!("intent {} is not listed under MADE AGAIN", args.id);
        let failure = CommandFailure::input("reckon::intents::not_listed", message);
        return Err(failure.help("list objects that were created again with `reckon intents`"));
    };
    let text =
        || format!("{} of {} is no longer listed; the journal keeps it", args.id, key.short());
    out.result(&serde_json::json!({ "dismissed": args.id, "key": key }), text)?;
    Ok(Exit::Done)
}

/// Records a person's resolution.
async fn resolve(
    setup: &Context,
    args: &ResolveArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let session = StateSession::open(setup).await?;
    let resolved = session.send(setup, Resolve(args.id, args.said.0.clone())).await?;
    let exit = match &resolved {
        ResolveResult::Unknown => {
            let message = format!("there is no unsettled intent {}", args.id);
            let failure = CommandFailure::input("reckon::intents::unknown", message);
            return Err(failure.help("list unsettled intents with `reckon intents`"));
        }
        ResolveResult::Settled(_) => Exit::Done,
        ResolveResult::Busy(_) | ResolveResult::Unsettled(..) => Exit::NeedsAttention,
        ResolveResult::Differs(key, why) => return Err(other_object(&key.short(), why)),
        ResolveResult::Unverified(key, why) => {
            return Err(unreadable_object(&key.short(), why, args));
        }
    };
    out.result(&resolved, || render::intents::resolve_result(&resolved))?;
    Ok(exit)
}

/// Returns the failure where the id names another object.
fn other_object(name: &str, why: &str) -> CommandFailure {
    let failure =
        CommandFailure::input("reckon::intents::differs", format!("{name} is not settled: {why}"));
    let failure = failure.help(
        "look for the object by the mark in `reckon intents`; if it does not exist, use `--as \
        not-done`",
    );
    CommandFailure { exit: Exit::NeedsAttention, ..failure }
}

/// Returns the failure where the object cannot be read.
fn unreadable_object(name: &str, why: &str, args: &ResolveArgs) -> CommandFailure {
    let id = match &args.said.0 {
        ManualResolution::Done(id) | ManualResolution::Unverified(id) => id.to_string(),
        ManualResolution::NotDone | ManualResolution::Retry => "REMOTE_ID".to_owned(),
    };
    let failure = CommandFailure::input(
        "reckon::intents::unverified",
        format!("{name} is not settled: {why}"),
    );
    failure.help(format!(
        "check the object in the portal of the service, then run `reckon intents resolve {} --as \
        unverified:{id}`; reckon records that you vouch for it",
        args.id
    ))
}
