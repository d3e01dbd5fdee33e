//! Settles a lost answer as the effect's row defines (design.md part 3).
//!
//! Absence is proved, never assumed: it takes two complete readings, the second after the call's
//! timeout and the grace. By then no part of the first try can take effect any more. An effect that
//! only an earlier state can have sent was sent before this state began.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use super::access::{NoAccess, Wallet};
use super::found::is_looked_first;
use super::pace;
use super::perform::{answered, moved, refused, row, send, write};
use super::read;
use super::schedule::delay;
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use super::unable::Unable;
use super::{epoch, notice, token, unauthorised};
use crate::base::counted::counted;
use crate::client::Urgency;
use crate::effects::{Absent, Doubt, EffectRow, Finding, Search};
use crate::model::intent::{Intent, IntentState, OpenIntent, Progress, Proof};
use crate::model::manifest::OnDoubt;
use crate::model::outcome::Outcome;

/// The status of a decline (service-facts, 21).
const DECLINED: u16 = 422;
/// Number of times that an unprovable effect is made again before a person has to act.
const REMADE_MAX: u32 = 5;

/// Settles an intent that an earlier process left open.
pub(super) async fn recovered(shared: &Shared, open: &OpenIntent, wallet: &Wallet) -> Finished {
    let intent = &open.intent;
    let settled = async {
        let row = row(&intent.effect)?;
        if matches!(open.state, IntentState::Open { .. }) {
            let reason = "the process ended before the answer was written down".to_owned();
            write(shared, intent, Progress::Doubt { reason, unsent: false }).await?;
        }
        settle(shared, row, intent, wallet, open.state.attempt()).await
    };
    settled.await.unwrap_or_else(Finished::Broken)
}

/// Settles an intent in doubt.
pub(super) async fn settle(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &Wallet,
    attempt: u32,
) -> Result<Finished, EngineError> {
    match row.doubt {
        Doubt::Resend { most, refusal_settles } => {
            let again = Again { attempt, most, refusal_settles };
            resend(shared, row, intent, wallet, again).await
        }
        Doubt::Search(search) => look(shared, row, intent, wallet, search).await,
        Doubt::Ends { most, gone: _ } => {
            let again = Again { attempt, most, refusal_settles: true };
            resend(shared, row, intent, wallet, again).await
        }
        Doubt::Notice => notice::awaited(shared, row, intent).await,
        Doubt::Unprovable => unprovable(shared, intent).await,
    }
}

/// Number of sends so far, and their limit.
struct Again {
    attempt: u32,
    most: u32,
    refusal_settles: bool,
}

/// The result of one more try.
enum Tried {
    Settled(Finished),
    /// The answer was lost again.
    Lost(String),
    /// The call did not arrive; wait at least this long.
    NotSent(String, Duration),
}

/// Sends the same bytes again until an answer comes, up to a total number of sends.
async fn resend(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &Wallet,
    again: Again,
) -> Result<Finished, EngineError> {
    let mut attempt = again.attempt;
    let at = (intent.request.host, intent.request.auth, intent.request.web_url.as_deref());
    while attempt < again.most {
        if !shared.rest(shared.random(|rng| delay(attempt, rng))).await {
            return Ok(Finished::Stopped(intent.key.clone()));
        }
        if let Err(shut) = pace::ready(shared, wallet, at).await {
            if !shared.rest(shut.wait).await {
                return Ok(Finished::Stopped(intent.key.clone()));
            }
            continue;
        }
        write(shared, intent, Progress::Again).await?;
        let (reason, wait, unsent) = match once_more(shared, row, intent, wallet, &again).await? {
            Tried::Settled(finished) => return Ok(finished),
            Tried::Lost(reason) => {
                attempt = attempt.saturating_add(1);
                (reason, Duration::ZERO, false)
            }
            Tried::NotSent(reason, wait) => (reason, wait, true),
        };
        write(shared, intent, Progress::Doubt { reason, unsent }).await?;
        if !shared.rest(wait).await {
            return Ok(Finished::Stopped(intent.key.clone()));
        }
    }
    held(shared, intent, format!("sent {} and never answered", counted(attempt, "time"))).await
}

/// Sends the same bytes once more.
async fn once_more(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &Wallet,
    again: &Again,
) -> Result<Tried, EngineError> {
    let settled = match send(shared, intent, wallet).await? {
        Outcome::InDoubt { reason } => return Ok(Tried::Lost(reason.to_string())),
        Outcome::NotSent { reason, retry_after_s } => {
            let wait = Duration::from_secs(retry_after_s.unwrap_or(1));
            return Ok(Tried::NotSent(reason.to_string(), wait));
        }
        Outcome::Done { reply } => answered(shared, row, intent, &reply, Proof::Answer).await?,
        Outcome::Refused { status: status @ (401 | 403), problem: _ }
            if !row.is_ended_by(status) =>
        {
            if let Some(stopped) = unauthorised::sent_in_doubt(shared, intent, wallet).await? {
                return Ok(Tried::Settled(stopped));
            }
            held(shared, intent, format!("the service refused our credentials (HTTP {status})"))
                .await?
        }
        Outcome::Refused { status, problem }
            if again.refusal_settles || (row.proves)(&problem).is_some() =>
        {
            refused(shared, row, intent, status, problem).await?
        }
        Outcome::Refused { status, problem: _ } => {
            let why = "sent once more and refused: what the first try gave is lost";
            held(shared, intent, format!("{why} (HTTP {status})")).await?
        }
    };
    Ok(Tried::Settled(settled))
}

/// Puts an intent on hold: a person has to act.
pub(super) async fn held(
    shared: &Shared,
    intent: &Intent,
    reason: String,
) -> Result<Finished, EngineError> {
    moved(shared, intent, Progress::Held { reason, observation: None }).await
}

/// Queries the service until it shows the effect, or its absence is proved.
async fn look(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &Wallet,
    search: Search,
) -> Result<Finished, EngineError> {
    let deadline = deadline(shared, intent)?;
    let now = Instant::now();
    let after = now.checked_add(time_to(shared, deadline)).unwrap_or(now);
    let mut absences: u32 = 0;
    let mut failures: u32 = 0;
    loop {
        let late = Instant::now() >= after;
        let found = find(shared, intent, wallet, search).await?;
        let wait = match found.map(|found| dated(found, deadline)) {
            Ok(Finding::Happened(reply)) => {
                return answered(shared, row, intent, &reply, Proof::Found).await;
            }
            Ok(Finding::Refused(problem)) => {
                return refused(shared, row, intent, DECLINED, problem).await;
            }
            Ok(Finding::Absent) if proved(absences, late) => {
                return absent(shared, intent, search.absent).await;
            }
            Ok(Finding::Absent) => {
                absences = absences.saturating_add(1);
                after.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
            }
            Ok(Finding::Overwritten(reason)) if late => {
                let progress = Progress::GivenUp { reason: reason.clone() };
                return undone(shared, intent, progress, &reason).await;
            }
            Ok(Finding::Unknown(reason) | Finding::Unseen { newest: _, why: reason }) if late => {
                return moved(shared, intent, Progress::Held { reason, observation: None }).await;
            }
            Ok(Finding::Unknown(_) | Finding::Unseen { .. } | Finding::Overwritten(_)) => {
                after.saturating_duration_since(Instant::now())
            }
            Err(reason) => {
                if let Some(stopped) = unauthorised::stopped(shared, intent)? {
                    return Ok(stopped);
                }
                failures = failures.saturating_add(1);
                tracing::warn!(intent = %intent.id, reason, "cannot look yet");
                shared.random(|rng| delay(failures, rng)).max(Duration::from_millis(100))
            }
        };
        if !shared.rest(wait).await {
            return Ok(Finished::Stopped(intent.key.clone()));
        }
    }
}

/// Turns an unseen effect into an absent one, once any event is newer than the last time at which
/// it can have happened.
fn dated(found: Finding, deadline: DateTime<Utc>) -> Finding {
    let is_over =
        matches!(&found, Finding::Unseen { newest: Some(newest), .. } if *newest > deadline);
    if is_over { Finding::Absent } else { found }
}

/// Returns the last time at which an earlier try can take effect: the call's timeout and the grace
/// from now on. If only an earlier state can have sent the effect, both count from the beginning of
/// this state.
pub(super) fn deadline(shared: &Shared, intent: &Intent) -> Result<DateTime<Utc>, EngineError> {
    let now = shared.now();
    let began = if is_looked_first(intent) { shared.facts.began()? } else { None };
    let tried = began.map_or(now, |began| began.min(now));
    let quiet = TimeDelta::from_std(quiet(shared)).unwrap_or(TimeDelta::MAX);
    Ok(tried.checked_add_signed(quiet).unwrap_or(DateTime::<Utc>::MAX_UTC))
}

/// Returns the time left until a deadline.
fn time_to(shared: &Shared, deadline: DateTime<Utc>) -> Duration {
    let left = deadline.signed_duration_since(shared.now()).to_std().unwrap_or_default();
    left.min(quiet(shared))
}

/// Returns the time after its send during which a call can still take effect.
fn quiet(shared: &Shared) -> Duration {
    shared.settings.timeout.saturating_add(shared.settings.grace)
}

/// Returns true if an absence is proved: found a second time, and late enough.
fn proved(absences: u32, late: bool) -> bool {
    crate::base::planted::is("absent-after-one-read") || (late && absences > 0)
}

/// Reads the complete evidence once.
async fn find(
    shared: &Shared,
    intent: &Intent,
    wallet: &Wallet,
    search: Search,
) -> Result<Result<Finding, String>, EngineError> {
    let wallet = Wallet { urgency: Urgency::Poll, ..wallet.clone() };
    let looked = async {
        let answers = read::answers(shared, &(search.queries)(intent), &wallet).await?;
        let finding = (search.judge)(intent, &answers);
        token::weighed(shared, intent, &wallet, (finding, &answers)).await
    };
    match looked.await {
        Ok(finding) => Ok(Ok(finding)),
        Err(read::Unread::Access(NoAccess::Engine(error))) => Err(error),
        Err(read::Unread::Access(NoAccess::Secret(error))) => Ok(Err(error.message)),
        Err(read::Unread::Read(error)) => Ok(Err(error.to_string())),
    }
}

/// Handles proved absence.
async fn absent(shared: &Shared, intent: &Intent, absent: Absent) -> Result<Finished, EngineError> {
    let reason = "two complete readings, the second after every call had ended, show nothing";
    match absent {
        Absent::Again => {
            let progress = Progress::NotSent { reason: reason.to_owned() };
            undone(shared, intent, progress, reason).await
        }
        Absent::Hold => held(shared, intent, reason.to_owned()).await,
    }
}

/// Settles an effect that nothing can prove, as the resource's document defines.
async fn unprovable(shared: &Shared, intent: &Intent) -> Result<Finished, EngineError> {
    if let Some(reason) = epoch::older(&shared.facts, intent)? {
        return held(shared, intent, reason).await;
    }
    let remade = shared.facts.observed(&intent.key)?.map_or(0, |known| known.remade);
    let reason = match intent.on_doubt {
        OnDoubt::Hold => "nothing can prove it; reckon.dev/on-doubt: hold".to_owned(),
        OnDoubt::Recreate if remade >= REMADE_MAX => {
            let times = counted(remade, "time");
            format!("nothing can prove it, and it was made again {times} already")
        }
        OnDoubt::Recreate => {
            let reason = "nothing can prove it; reckon.dev/on-doubt: recreate";
            let progress = Progress::GivenUp { reason: reason.to_owned() };
            return undone(shared, intent, progress, reason).await;
        }
    };
    held(shared, intent, reason).await
}

/// Records that a try failed, or that its result cannot be known. Another try follows, which waits
/// longer after each failure.
async fn undone(
    shared: &Shared,
    intent: &Intent,
    progress: Progress,
    reason: &str,
) -> Result<Finished, EngineError> {
    write(shared, intent, progress).await?;
    let why = Unable::Unreachable(format!("no answer came to {}: {reason}", intent.effect));
    Ok(Finished::Again(intent.key.clone(), why, Duration::ZERO))
}
