//! `suspend` and `resume`: stop new effects of a resource, and let them go on. The journal records
//! both, with the actor.

use crate::base::clock::{Clock, SystemClock};
use crate::cli::args::resources::{ResumeArgs, SuspendArgs};
use crate::cli::commands::get::parse_resource;
use crate::cli::context::open::Context;
use crate::cli::context::selection;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::control::requests::Suspend;
use crate::model::operator::{
    REASON_LENGTH_MAX, RemainingSuspension, SuspensionRequest, SuspensionResult,
};
use crate::render;

pub(crate) async fn run(setup: &Context, args: &SuspendArgs) -> CommandResult {
    let reason = args.reason.trim().to_owned();
    if reason.is_empty() || reason.chars().count() > REASON_LENGTH_MAX {
        let what = format!("--reason is empty or too long: 1 to {REASON_LENGTH_MAX} characters");
        let failure = CommandFailure::input("reckon::suspend::reason", what);
        return Err(
            failure.help("write the reason for the suspension; it is shown beside the resource")
        );
    }
    let now = SystemClock.now();
    let until = args.until.as_deref().map(|text| selection::parse_end(text, now)).transpose()?;
    let pause = SuspensionRequest::Suspend { key: parse_resource(&args.what)?, reason, until };
    print_outcome(&record(setup, pause).await?, setup.out)
}

pub(crate) async fn resume(setup: &Context, args: &ResumeArgs) -> CommandResult {
    let pause = SuspensionRequest::Resume { key: parse_resource(&args.what)? };
    print_outcome(&record(setup, pause).await?, setup.out)
}

/// Records the command, or has the daemon do so. Without a state, only a suspension makes one.
async fn record(setup: &Context, pause: SuspensionRequest) -> CommandResult<SuspensionResult> {
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

fn print_outcome(paused: &SuspensionResult, out: Printer) -> CommandResult {
    match paused {
        SuspensionResult::Suspended(_) | SuspensionResult::Resumed { key: _, still: None } => {}
        SuspensionResult::Resumed { key: _, still: Some(still) } => out.note(&help(still)),
        SuspensionResult::NotSuspended { key, still } => {
            let what = format!("not suspended by `reckon suspend`: {}", key.short());
            let failure = CommandFailure::input("reckon::resume::not_suspended", what);
            return Err(match still {
                Some(still) => failure.help(help(still)),
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
    out.result(paused, || render::actions::suspension_result(paused))?;
    Ok(Exit::Done)
}

fn help(still: &RemainingSuspension) -> String {
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
