//! `status`: shows the whole on one screen. `describe`: shows the state of a resource. `intents`:
//! unsettled effects, contacts that were created again, and their settlement by a person. `suspend` and
//! `resume`: stop new effects of a resource, and let them go on.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::{IntentId, Key};
use crate::cli::args::reading::ResourceArgs;
use crate::cli::args::resources::{
    DismissArgs, IntentsArgs, IntentsCommand, ResolveArgs, ResumeArgs, SuspendArgs,
};
use crate::cli::commands::get::{parse_resource, unknown_resource};
use crate::cli::commands::why;
use crate::cli::context::open::Context;
use crate::cli::context::selection;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::control::requests::{DismissOrphan, Resolve, Suspend};
use crate::engine::protocol::actions::{ManualResolution, ResolveResult};
use crate::engine::protocol::diagnostics::StatusView;
use crate::engine::protocol::query::{IntentsQuery, ResourceQuery, StatusQuery};
use crate::engine::protocol::views::{ResourceView, StandingCounts};
use crate::http::private::status_body::StatusBody;
use crate::model::issue::ProblemCounts;
use crate::model::operator::{RemainingSuspension, SuspensionRequest, SuspensionResult};
use crate::render;
use crate::render::why::EffectHistoryView;

/// A resource with its newest effects, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DescribedResource<'a> {
    #[serde(flatten)]
    resource: &'a ResourceView,
    effects: &'a [EffectHistoryView],
}

pub(crate) async fn status(setup: &Context) -> CommandResult {
    let session = StateSession::open_view(setup).await?;
    let is_live = matches!(session, StateSession::Daemon(_));
    let answer = session.ask(StatusQuery).await;
    let status = session.end(setup, answer).await?;
    let exit = status_exit(&status);
    let text = render::status::text(&status, is_live, setup.out.screen);
    setup.out.result(&StatusBody::new(status, None, None), || text)?;
    Ok(exit)
}

/// Returns 3 if a person has to act on a resource or a document.
fn status_exit(status: &StatusView) -> Exit {
    let StandingCounts { needs_attention, invalid, .. } = status.overview.standings;
    let errors = status.problems.iter().collect::<ProblemCounts>().plus(status.omitted).errors;
    let acts = needs_attention.saturating_add(invalid).saturating_add(errors);
    if acts > 0 { Exit::NeedsAttention } else { Exit::Done }
}

pub(crate) async fn describe(setup: &Context, args: &ResourceArgs) -> CommandResult {
    let found = setup.query(ResourceQuery(args.key.clone())).await?;
    let Some(found) = found else { return Err(unknown_resource(setup, &args.key).await) };
    let effects = why::recent_effects(setup, &args.key).await?;
    let described = DescribedResource { resource: &found, effects: &effects };
    let text = || render::resource::describe::describe(&found, Some(&effects), setup.out.screen);
    setup.out.finish(&described, text)
}

pub(crate) async fn intents(setup: &Context, args: &IntentsArgs) -> CommandResult {
    match &args.command {
        None => list_intents(setup).await,
        Some(IntentsCommand::Resolve(args)) => resolve(setup, args).await,
        Some(IntentsCommand::Dismiss(args)) => dismiss(setup, args).await,
    }
}

async fn list_intents(setup: &Context) -> CommandResult {
    let view = setup.query(IntentsQuery).await?;
    setup.out.result(&view, || render::intents::text(&view, setup.out.screen))?;
    let quiet = view.items.is_empty() && view.unknown_objects.is_empty();
    Ok(if quiet { Exit::Done } else { Exit::NeedsAttention })
}

/// Output of `intents dismiss -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DismissOutput<'a> {
    dismissed: IntentId,
    key: &'a Key,
}

async fn dismiss(setup: &Context, args: &DismissArgs) -> CommandResult {
    let found = setup.send(DismissOrphan(args.id, args.reason.clone())).await?;
    let Some(key) = found else {
        let message = format!("intent {} is not listed under MADE AGAIN", args.id);
        let failure = CommandFailure::input("reckon::intents::not_listed", message);
        return Err(failure.help("list objects that were created again with `reckon intents`"));
    };
    let text =
        || format!("{} of {} is no longer listed; the journal keeps it", args.id, key.short());
    setup.out.finish(&DismissOutput { dismissed: args.id, key: &key }, text)
}

async fn resolve(setup: &Context, args: &ResolveArgs) -> CommandResult {
    let resolved = setup.send(Resolve(args.id, args.said.clone())).await?;
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
    setup.out.result(&resolved, || render::intents::resolve_result(&resolved))?;
    Ok(exit)
}

fn other_object(name: &str, why: &str) -> CommandFailure {
    let failure =
        CommandFailure::input("reckon::intents::differs", format!("{name} is not settled: {why}"));
    let failure = failure.help(
        "look for the object by the mark in `reckon intents`; if it does not exist, use `--as \
        not-done`",
    );
    CommandFailure { exit: Exit::NeedsAttention, ..failure }
}

fn unreadable_object(name: &str, why: &str, args: &ResolveArgs) -> CommandFailure {
    let id = match &args.said {
        ManualResolution::Done(id) | ManualResolution::Unverified(id) => id.to_string(),
        ManualResolution::NotDone | ManualResolution::Retry => "REMOTE_ID".to_owned(),
    };
    let what = format!("{name} is not settled: {why}");
    CommandFailure::input("reckon::intents::unverified", what).help(format!(
        "check the object in the portal of the service, then run `reckon intents resolve {} --as \
        unverified:{id}`; reckon records that you vouch for it",
        args.id
    ))
}

pub(crate) async fn suspend(setup: &Context, args: &SuspendArgs) -> CommandResult {
    let help = "write the reason for the suspension; it is shown beside the resource";
    let reason = selection::parse_reason(&args.reason, "reckon::suspend::reason", help)?;
    let now = SystemClock.now();
    let until = args.until.as_deref().map(|text| selection::parse_end(text, now)).transpose()?;
    let pause = SuspensionRequest::Suspend { key: parse_resource(&args.what)?, reason, until };
    print_suspension(&record_suspension(setup, pause).await?, setup.out)
}

pub(crate) async fn resume(setup: &Context, args: &ResumeArgs) -> CommandResult {
    let pause = SuspensionRequest::Resume { key: parse_resource(&args.what)? };
    print_suspension(&record_suspension(setup, pause).await?, setup.out)
}

/// Records the command, or has the daemon do so. Without a state, only a suspension makes one.
async fn record_suspension(
    setup: &Context,
    pause: SuspensionRequest,
) -> CommandResult<SuspensionResult> {
    if let Some(draft) = StateSession::draft(setup).await? {
        let paused = record_in(setup, draft, pause.clone()).await?;
        if !matches!(paused, SuspensionResult::Suspended(_)) {
            return Ok(paused);
        }
    }
    record_in(setup, StateSession::make(setup).await?, pause).await
}

async fn record_in(
    setup: &Context,
    mut session: StateSession,
    pause: SuspensionRequest,
) -> CommandResult<SuspensionResult> {
    let suspended = session.record(Suspend(pause)).await;
    session.end(setup, suspended).await
}

fn print_suspension(paused: &SuspensionResult, out: Printer) -> CommandResult {
    match paused {
        SuspensionResult::Suspended(_) | SuspensionResult::Resumed { key: _, still: None } => {}
        SuspensionResult::Resumed { key: _, still: Some(still) } => {
            out.note(&suspended_help(still));
        }
        SuspensionResult::NotSuspended { key, still } => {
            let what = format!("not suspended by `reckon suspend`: {}", key.short());
            let failure = CommandFailure::input("reckon::resume::not_suspended", what);
            return Err(match still {
                Some(still) => failure.help(suspended_help(still)),
                None => failure.help("check its conditions with `reckon describe`"),
            });
        }
        SuspensionResult::Unknown { key, nearest } => {
            let what = format!("no such resource: {}", key.short());
            let failure = CommandFailure::input("reckon::suspend::unknown", what);
            return Err(match nearest {
                Some(name) => failure.help(format!("did you mean {name}?")),
                None => failure.help("list all resources with `reckon get`"),
            });
        }
    }
    out.finish(paused, || render::actions::suspension_result(paused))
}

fn suspended_help(still: &RemainingSuspension) -> String {
    match still {
        RemainingSuspension::Document(file, line) => format!(
            "remove reckon.dev/suspend from its document ({file}:{line}), which suspends it, too"
        ),
        RemainingSuspension::Merchant(merchant) => {
            let merchant = merchant.short();
            format!("run `reckon resume {merchant}`: it is suspended with its merchant")
        }
    }
}
