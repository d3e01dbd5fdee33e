//! Settles a lost answer as the effect's row defines (design.md part 3).
//!
//! Absence is proved, never assumed: it takes two complete readings, the second after the call's
//! timeout and the grace. By then no part of the first try can take effect any more. An effect that
//! only an earlier state can have sent was sent before this state began.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use crate::base::wording::count_noun;
use crate::client::gate::Urgency;
use crate::effects::core::row::{EffectRow, Lookup, LookupResult, LostReply, OnAbsent};
use crate::engine::executor::answer::{handle_answer, handle_refusal};
use crate::engine::executor::evidence::is_looked_up_first;
use crate::engine::executor::progress::{put_on_hold, write_and_end, write_progress};
use crate::engine::executor::request::{row_of, send_intent};
use crate::engine::executor::{answer, evidence, partner_webhook};
use crate::engine::handles::access;
use crate::engine::handles::access::{CredentialError, CredentialSource};
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{TaskFailure, TaskResult};
use crate::engine::known::known_state::older_epoch_reason;
use crate::engine::readers::read;
use crate::engine::scheduler::backoff::jittered_delay;
use crate::model::intent::{EffectProof, Intent, IntentProgress, IntentState, OpenIntent};
use crate::model::manifest::OnDoubt;
use crate::model::outcome::Outcome;

/// The status of a decline (service-facts, 21).
const DECLINED: u16 = 422;

/// Number of times that an unprovable effect is made again before a person has to act.
const REMADE_MAX: u32 = 5;

/// Settles an intent that an earlier process left open.
pub(crate) async fn settle_recovered(
    shared: &EngineShared,
    open: &OpenIntent,
    wallet: &CredentialSource,
) -> TaskResult {
    let intent = &open.intent;
    let settled = async {
        let row = row_of(&intent.effect)?;
        if matches!(open.state, IntentState::Open { .. }) {
            let reason = "the process ended before the answer was written down".to_owned();
            write_progress(shared, intent, IntentProgress::Doubt { reason, unsent: false }).await?;
        }
        settle(shared, row, intent, wallet, open.state.attempt()).await
    };
    settled.await.unwrap_or_else(TaskResult::Broken)
}

pub(crate) async fn settle(
    shared: &EngineShared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &CredentialSource,
    attempt: u32,
) -> Result<TaskResult, EngineError> {
    match row.lost_reply {
        LostReply::Retry { max_sends: most, refusal_settles } => {
            let again = ResendLimit { attempt, most, refusal_settles };
            resend(shared, row, intent, wallet, again).await
        }
        LostReply::Lookup(search) => look_up(shared, row, intent, wallet, search).await,
        LostReply::RetryUntilGone { max_sends: most, gone_statuses: _ } => {
            let again = ResendLimit { attempt, most, refusal_settles: true };
            resend(shared, row, intent, wallet, again).await
        }
        LostReply::AwaitWebhook => partner_webhook::await_webhook(shared, row, intent).await,
        LostReply::Undecidable => unprovable(shared, intent).await,
    }
}

/// Number of sends so far, and their limit.
struct ResendLimit {
    attempt: u32,
    most: u32,
    refusal_settles: bool,
}

/// The result of one more try.
enum ResendResult {
    Settled(TaskResult),
    /// The answer was lost again.
    Lost(String),
    /// The call did not arrive; wait at least this long.
    NotSent(String, Duration),
}

/// Sends the same bytes again until an answer comes, up to a total number of sends.
async fn resend(
    shared: &EngineShared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &CredentialSource,
    again: ResendLimit,
) -> Result<TaskResult, EngineError> {
    let mut attempt = again.attempt;
    let at = (intent.request.host, intent.request.auth, intent.request.web_url.as_deref());
    while attempt < again.most {
        if !shared.sleep_or_stop(shared.random(|rng| jittered_delay(attempt, rng))).await {
            return Ok(TaskResult::Stopped(intent.key.clone()));
        }
        if let Err(shut) = access::wait_until_ready(shared, wallet, at).await {
            if !shared.sleep_or_stop(shut.wait).await {
                return Ok(TaskResult::Stopped(intent.key.clone()));
            }
            continue;
        }
        write_progress(shared, intent, IntentProgress::Resent).await?;
        let (reason, wait, unsent) = match resend_once(shared, row, intent, wallet, &again).await? {
            ResendResult::Settled(finished) => return Ok(finished),
            ResendResult::Lost(reason) => {
                attempt = attempt.saturating_add(1);
                (reason, Duration::ZERO, false)
            }
            ResendResult::NotSent(reason, wait) => (reason, wait, true),
        };
        write_progress(shared, intent, IntentProgress::Doubt { reason, unsent }).await?;
        if !shared.sleep_or_stop(wait).await {
            return Ok(TaskResult::Stopped(intent.key.clone()));
        }
    }
    put_on_hold(shared, intent, format!("sent {} and never answered", count_noun(attempt, "time")))
        .await
}

async fn resend_once(
    shared: &EngineShared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &CredentialSource,
    again: &ResendLimit,
) -> Result<ResendResult, EngineError> {
    let settled = match send_intent(shared, intent, wallet).await? {
        Outcome::InDoubt { reason } => return Ok(ResendResult::Lost(reason.to_string())),
        Outcome::NotSent { reason, retry_after_s } => {
            let wait = Duration::from_secs(retry_after_s.unwrap_or(1));
            return Ok(ResendResult::NotSent(reason.to_string(), wait));
        }
        Outcome::Done { reply } => {
            handle_answer(shared, row, intent, &reply, EffectProof::Answer).await?
        }
        Outcome::Refused { status: status @ (401 | 403), problem: _ }
            if !row.is_ended_by(status) =>
        {
            if let Some(stopped) = answer::resend_unauthorised(shared, intent, wallet).await? {
                return Ok(ResendResult::Settled(stopped));
            }
            put_on_hold(
                shared,
                intent,
                format!("the service refused our credentials (HTTP {status})"),
            )
            .await?
        }
        Outcome::Refused { status, problem }
            if again.refusal_settles || (row.proven_state)(&problem).is_some() =>
        {
            handle_refusal(shared, row, intent, status, problem).await?
        }
        Outcome::Refused { status, problem: _ } => {
            let why = "sent once more and refused: what the first try gave is lost";
            put_on_hold(shared, intent, format!("{why} (HTTP {status})")).await?
        }
    };
    Ok(ResendResult::Settled(settled))
}

/// Queries the service until it shows the effect, or its absence is proved.
async fn look_up(
    shared: &EngineShared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &CredentialSource,
    search: Lookup,
) -> Result<TaskResult, EngineError> {
    let deadline = deadline(shared, intent)?;
    let now = Instant::now();
    let after = now.checked_add(time_to(shared, deadline)).unwrap_or(now);
    let mut absences: u32 = 0;
    let mut failures: u32 = 0;
    loop {
        let late = Instant::now() >= after;
        let found = read_evidence(shared, intent, wallet, search).await?;
        let wait = match found.map(|found| absent_if_past(found, deadline)) {
            Ok(LookupResult::Applied(reply)) => {
                return handle_answer(shared, row, intent, &reply, EffectProof::Found).await;
            }
            Ok(LookupResult::Refused(problem)) => {
                return handle_refusal(shared, row, intent, DECLINED, problem).await;
            }
            Ok(LookupResult::NotFound) if is_absence_proved(absences, late) => {
                return handle_absent(shared, intent, search.absent).await;
            }
            Ok(LookupResult::NotFound) => {
                absences = absences.saturating_add(1);
                after.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
            }
            Ok(LookupResult::Superseded(reason)) if late => {
                let progress = IntentProgress::GivenUp { reason: reason.clone() };
                return write_and_retry(shared, intent, progress, &reason).await;
            }
            Ok(
                LookupResult::Inconclusive(reason)
                | LookupResult::NotVisibleYet { newest: _, why: reason },
            ) if late => {
                return write_and_end(
                    shared,
                    intent,
                    IntentProgress::OnHold { reason, observation: None },
                )
                .await;
            }
            Ok(
                LookupResult::Inconclusive(_)
                | LookupResult::NotVisibleYet { .. }
                | LookupResult::Superseded(_),
            ) => after.saturating_duration_since(Instant::now()),
            Err(reason) => {
                if let Some(stopped) = answer::check_before_lookup(shared, intent)? {
                    return Ok(stopped);
                }
                failures = failures.saturating_add(1);
                tracing::warn!(intent = %intent.id, reason, "cannot look for the effect yet");
                shared.random(|rng| jittered_delay(failures, rng)).max(Duration::from_millis(100))
            }
        };
        if !shared.sleep_or_stop(wait).await {
            return Ok(TaskResult::Stopped(intent.key.clone()));
        }
    }
}

/// Turns an unseen effect into an absent one, once any event is newer than the last time at which
/// it can have happened.
fn absent_if_past(found: LookupResult, deadline: DateTime<Utc>) -> LookupResult {
    let is_over = matches!(&found, LookupResult::NotVisibleYet { newest: Some(newest), .. } if *newest > deadline);
    if is_over { LookupResult::NotFound } else { found }
}

/// Returns the last time at which an earlier try can take effect: the call's timeout and the grace
/// from now on. If only an earlier state can have sent the effect, both count from the beginning of
/// this state.
pub(crate) fn deadline(
    shared: &EngineShared,
    intent: &Intent,
) -> Result<DateTime<Utc>, EngineError> {
    let now = shared.now();
    let began = if is_looked_up_first(intent) { shared.facts.began_at()? } else { None };
    let tried = began.map_or(now, |began| began.min(now));
    let quiet = TimeDelta::from_std(effect_window(shared)).unwrap_or(TimeDelta::MAX);
    Ok(tried.checked_add_signed(quiet).unwrap_or(DateTime::<Utc>::MAX_UTC))
}

fn time_to(shared: &EngineShared, deadline: DateTime<Utc>) -> Duration {
    let left = deadline.signed_duration_since(shared.now()).to_std().unwrap_or_default();
    left.min(effect_window(shared))
}

/// Returns the time after its send during which a call can still take effect.
fn effect_window(shared: &EngineShared) -> Duration {
    shared.settings.timeout.saturating_add(shared.settings.grace)
}

/// Returns true if an absence is proved: found a second time, and late enough.
fn is_absence_proved(absences: u32, late: bool) -> bool {
    crate::base::fault_injection::is_active("absent-after-one-read") || (late && absences > 0)
}

async fn read_evidence(
    shared: &EngineShared,
    intent: &Intent,
    wallet: &CredentialSource,
    search: Lookup,
) -> Result<Result<LookupResult, String>, EngineError> {
    let wallet = CredentialSource { urgency: Urgency::Poll, ..wallet.clone() };
    let looked = async {
        let answers = read::answers(shared, &(search.queries)(intent), &wallet).await?;
        let finding = (search.judge)(intent, &answers);
        evidence::weigh_token(shared, intent, &wallet, (finding, &answers)).await
    };
    match looked.await {
        Ok(finding) => Ok(Ok(finding)),
        Err(read::ReadFailure::Access(CredentialError::Engine(error))) => Err(error),
        Err(read::ReadFailure::Access(CredentialError::Secret(error))) => Ok(Err(error.message)),
        Err(read::ReadFailure::Read(error)) => Ok(Err(error.to_string())),
    }
}

async fn handle_absent(
    shared: &EngineShared,
    intent: &Intent,
    absent: OnAbsent,
) -> Result<TaskResult, EngineError> {
    let reason = "two complete readings, the second after every call had ended, show nothing";
    match absent {
        OnAbsent::Resend => {
            let progress = IntentProgress::NotSent { reason: reason.to_owned() };
            write_and_retry(shared, intent, progress, reason).await
        }
        OnAbsent::Hold => put_on_hold(shared, intent, reason.to_owned()).await,
    }
}

/// Settles an effect that nothing can prove, as the resource's document defines.
async fn unprovable(shared: &EngineShared, intent: &Intent) -> Result<TaskResult, EngineError> {
    if let Some(reason) = older_epoch_reason(&shared.facts, intent)? {
        return put_on_hold(shared, intent, reason).await;
    }
    let remade = shared.facts.observed_state(&intent.key)?.map_or(0, |known| known.recreated);
    let reason = match intent.on_doubt {
        OnDoubt::Hold => "nothing can prove it; reckon.dev/on-doubt: hold".to_owned(),
        OnDoubt::Recreate if remade >= REMADE_MAX => {
            let times = count_noun(remade, "time");
            format!("nothing can prove it, and it was made again {times} already")
        }
        OnDoubt::Recreate => {
            let reason = "nothing can prove it; reckon.dev/on-doubt: recreate";
            let progress = IntentProgress::GivenUp { reason: reason.to_owned() };
            return write_and_retry(shared, intent, progress, reason).await;
        }
    };
    put_on_hold(shared, intent, reason).await
}

/// Records that a try failed, or that its result cannot be known. Another try follows, which waits
/// longer after each failure.
async fn write_and_retry(
    shared: &EngineShared,
    intent: &Intent,
    progress: IntentProgress,
    reason: &str,
) -> Result<TaskResult, EngineError> {
    write_progress(shared, intent, progress).await?;
    let why = TaskFailure::Unreachable(format!("no answer came to {}: {reason}", intent.effect));
    Ok(TaskResult::RetryLater(intent.key.clone(), why, Duration::ZERO))
}
