//! `suspend` and `resume`: stop new effects of a resource, and let them go on. The journal records
//! both, with the actor.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};

use super::inspect::get::parse_resource;
use crate::base::clock::{Clock, SystemClock};
use crate::cli::args::suspend::{ResumeArgs, SuspendArgs};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::engine::queries::protocol::Reply;
use crate::model::operator::suspension::{
    REASON_LENGTH_MAX, RemainingSuspension, SuspensionRequest, SuspensionResult,
};
use crate::render;

/// Runs `suspend`.
pub(crate) async fn run(
    setup: &Context,
    args: &SuspendArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let reason = args.reason.trim().to_owned();
    if reason.is_empty() || reason.chars().count() > REASON_LENGTH_MAX {
        let what = format!("--reason is empty or too long: 1 to {REASON_LENGTH_MAX} characters");
        let failure = CommandFailure::input("reckon::suspend::reason", what);
        return Err(failure.help(
            "write the reason for the suspension; it is shown beside the \
            resource",
        ));
    }
    let now = SystemClock.now();
    let until = args.until.as_deref().map(|text| parse_end(text, now)).transpose()?;
    let pause = SuspensionRequest::Suspend { key: parse_resource(&args.what)?, reason, until };
    print_outcome(&record(setup, pause).await?, out)
}

/// Runs `resume`.
pub(crate) async fn resume(
    setup: &Context,
    args: &ResumeArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let pause = SuspensionRequest::Resume { key: parse_resource(&args.what)? };
    print_outcome(&record(setup, pause).await?, out)
}

/// Records the command, or has the daemon do so. Without a state, only a suspension makes one.
async fn record(
    setup: &Context,
    pause: SuspensionRequest,
) -> Result<SuspensionResult, CommandFailure> {
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
) -> Result<SuspensionResult, CommandFailure> {
    let reply = session.suspend(pause).await;
    let Reply::Suspension(paused) = session.end(setup, reply).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a \
            suspension",
        ));
    };
    Ok(*paused)
}

/// Prints the outcome.
fn print_outcome(paused: &SuspensionResult, out: Printer) -> Result<Exit, CommandFailure> {
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
    out.result(paused, || render::suspension::text(paused))?;
    Ok(Exit::Done)
}

/// Returns the help about another suspension of the resource, and its end.
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

/// Parses a future moment: as it is written, the beginning of a date, or a duration from now.
///
/// # Errors
/// The text is none of these, or past.
pub(crate) fn parse_end(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, CommandFailure> {
    let wrong = |what: String| {
        CommandFailure::input("reckon::suspend::until", what)
            .help("write a moment such as 2026-11-30T12:00:00Z, a date, or a time from now: 90m, 12h, 3d, 2w")
    };
    let date = |text: &str| text.parse::<NaiveDate>().ok();
    let moment = text.parse::<DateTime<Utc>>().ok();
    let moment = moment.or_else(|| Some(date(text)?.and_time(NaiveTime::MIN).and_utc()));
    let moment = moment.or_else(|| now.checked_add_signed(parse_duration(text)?));
    let moment = moment.ok_or_else(|| wrong(format!("{text:?} is not a time")))?;
    if moment <= now {
        return Err(wrong(format!("{text:?} is in the past")));
    }
    Ok(moment)
}

/// Parses `90m`, `12h`, `3d`, `2w`.
pub(crate) fn parse_duration(text: &str) -> Option<TimeDelta> {
    let unit = text.char_indices().next_back()?;
    let count: i64 = text.get(..unit.0)?.parse().ok()?;
    match unit.1 {
        's' => TimeDelta::try_seconds(count),
        'm' => TimeDelta::try_minutes(count),
        'h' => TimeDelta::try_hours(count),
        'd' => TimeDelta::try_days(count),
        'w' => TimeDelta::try_weeks(count),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_moment_a_date_or_a_time_from_now_and_never_past() {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let read = |text: &str| parse_end(text, now).map(|until| until.to_rfc3339()).ok();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("2026-11-30T10:00:00+02:00"), some("2026-11-30T08:00:00+00:00"));
        assert_eq!(read("2026-11-30"), some("2026-11-30T00:00:00+00:00"));
        assert_eq!(read("90m"), some("2026-11-21T13:30:00+00:00"));
        assert_eq!(read("2w"), some("2026-12-05T12:00:00+00:00"));
        for wrong in ["", "soon", "m", "-3d", "0h", "3y", "2026-11-21", "2026-11-21T12:00:00Z", "é"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
