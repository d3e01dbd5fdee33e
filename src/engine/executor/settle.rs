//! Settles a lost answer as the effect's row defines (design.md part 3).
//!
//! Absence is proved, never assumed: it takes two complete readings, the second after the call's
//! timeout and the grace. By then no part of the first try can take effect any more. An effect that
//! only an earlier state can have sent was sent before this state began.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use crate::base::wording::count_noun;
use crate::client::gate::Urgency;
use crate::effects::core::row::{Lookup, LookupResult, LostReply};
use crate::engine::executor::evidence::{self, is_looked_up_first};
use crate::engine::executor::progress::Attempt;
use crate::engine::executor::request::row_of;
use crate::engine::handles::access::{self, CredentialSource};
use crate::engine::handles::shared::{EngineResult, EngineShared};
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
) -> EngineResult<TaskResult> {
    let intent = &open.intent;
    let attempt = Attempt { shared, row: row_of(&intent.effect)?, intent, wallet };
    if matches!(open.state, IntentState::Open { .. }) {
        let reason = "the process ended before the answer was written down".to_owned();
        attempt.write_doubt(reason).await?;
    }
    attempt.settle(open.state.attempt()).await
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

impl Attempt<'_> {
    /// Settles an intent in doubt after this number of sends.
    pub(crate) async fn settle(self, attempt: u32) -> EngineResult<TaskResult> {
        match self.row.lost_reply {
            LostReply::Retry { max_sends: most, refusal_settles } => {
                self.resend(ResendLimit { attempt, most, refusal_settles }).await
            }
            LostReply::Lookup(search) => self.look_up(search).await,
            LostReply::RetryUntilGone { max_sends: most, gone_statuses: _ } => {
                self.resend(ResendLimit { attempt, most, refusal_settles: true }).await
            }
            LostReply::AwaitWebhook => self.await_webhook().await,
            LostReply::Undecidable => self.settle_unprovable().await,
        }
    }

    fn stopped(self) -> TaskResult {
        TaskResult::Stopped(self.intent.key.clone())
    }

    /// Sends the same bytes again until an answer comes, up to a total number of sends. After a restore
    /// it first waits until no later call of the lost state can still be on its way.
    async fn resend(self, again: ResendLimit) -> EngineResult<TaskResult> {
        let Self { shared, intent, wallet, .. } = self;
        if let Some(rest) = shared.rest_of_lost_calls()?
            && !shared.sleep_or_stop(rest).await
        {
            return Ok(self.stopped());
        }
        let mut attempt = again.attempt;
        let at = (intent.request.host, intent.request.auth, intent.request.web_url.as_deref());
        while attempt < again.most {
            if !shared.sleep_or_stop(shared.random(|rng| jittered_delay(attempt, rng))).await {
                return Ok(self.stopped());
            }
            if let Err(shut) = access::wait_until_ready(shared, wallet, at).await {
                if !shared.sleep_or_stop(shut.wait).await {
                    return Ok(self.stopped());
                }
                continue;
            }
            self.write_progress(IntentProgress::Resent).await?;
            let (reason, wait, unsent) = match self.resend_once(&again).await? {
                ResendResult::Settled(finished) => return Ok(finished),
                ResendResult::Lost(reason) => {
                    attempt = attempt.saturating_add(1);
                    (reason, Duration::ZERO, false)
                }
                ResendResult::NotSent(reason, wait) => (reason, wait, true),
            };
            self.write_progress(IntentProgress::Doubt { reason, unsent }).await?;
            if !shared.sleep_or_stop(wait).await {
                return Ok(self.stopped());
            }
        }
        let times = count_noun(attempt, "time");
        self.put_on_hold(format!("sent {times} and never answered")).await
    }

    async fn resend_once(self, again: &ResendLimit) -> EngineResult<ResendResult> {
        let settled = match self.send().await? {
            Outcome::InDoubt { reason } => return Ok(ResendResult::Lost(reason.to_string())),
            Outcome::NotSent { reason, retry_after_s } => {
                let wait = Duration::from_secs(retry_after_s.unwrap_or(1));
                return Ok(ResendResult::NotSent(reason.to_string(), wait));
            }
            Outcome::Done { reply } => self.handle_answer(&reply, EffectProof::Answer).await?,
            Outcome::Refused { status: status @ (401 | 403), problem: _ }
                if !self.row.is_ended_by(status) =>
            {
                if let Some(stopped) = self.resend_unauthorised().await? {
                    return Ok(ResendResult::Settled(stopped));
                }
                let why = format!("the service refused our credentials (HTTP {status})");
                self.put_on_hold(why).await?
            }
            Outcome::Refused { status, problem }
                if again.refusal_settles || (self.row.proven_state)(&problem).is_some() =>
            {
                self.handle_refusal(status, problem).await?
            }
            Outcome::Refused { status, problem: _ } => {
                let why = "sent once more and refused: what the first try gave is lost";
                self.put_on_hold(format!("{why} (HTTP {status})")).await?
            }
        };
        Ok(ResendResult::Settled(settled))
    }

    /// Queries the service until it shows the effect, or its absence is proved.
    async fn look_up(self, search: Lookup) -> EngineResult<TaskResult> {
        let Self { shared, intent, .. } = self;
        let deadline = deadline(shared, intent)?;
        let now = Instant::now();
        let after = now.checked_add(shared.time_to(deadline)).unwrap_or(now);
        let (mut absences, mut failures) = (0_u32, 0_u32);
        loop {
            let late = Instant::now() >= after;
            let found = self.read_evidence(search).await?;
            let wait = match found.map(|found| absent_if_past(found, deadline)) {
                Ok(LookupResult::Applied(reply)) => {
                    return self.handle_answer(&reply, EffectProof::Found).await;
                }
                Ok(LookupResult::Refused(problem)) => {
                    return self.handle_refusal(DECLINED, problem).await;
                }
                Ok(LookupResult::NotFound) if is_absence_proved(absences, late) => {
                    return self.send_absent_again().await;
                }
                Ok(LookupResult::NotFound) => {
                    absences = absences.saturating_add(1);
                    after.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
                }
                Ok(LookupResult::Superseded(reason)) if late => {
                    let progress = IntentProgress::GivenUp { reason: reason.clone() };
                    return self.write_retry(progress, &reason).await;
                }
                Ok(
                    LookupResult::Inconclusive(reason)
                    | LookupResult::NotVisibleYet { newest: _, why: reason },
                ) if late => return self.put_on_hold(reason).await,
                Ok(
                    LookupResult::Inconclusive(_)
                    | LookupResult::NotVisibleYet { .. }
                    | LookupResult::Superseded(_),
                ) => after.saturating_duration_since(Instant::now()),
                Err(reason) => {
                    if let Some(stopped) = self.check_before_lookup()? {
                        return Ok(stopped);
                    }
                    failures = failures.saturating_add(1);
                    tracing::warn!(intent = %intent.id, reason, "cannot look for the effect yet");
                    let wait = shared.random(|rng| jittered_delay(failures, rng));
                    wait.max(Duration::from_millis(100))
                }
            };
            if !shared.sleep_or_stop(wait).await {
                return Ok(self.stopped());
            }
        }
    }

    async fn read_evidence(self, search: Lookup) -> EngineResult<Result<LookupResult, String>> {
        let Self { shared, intent, .. } = self;
        let wallet = CredentialSource { urgency: Urgency::Poll, ..self.wallet.clone() };
        let looked = async {
            let answers = read::answers(shared, &(search.queries)(intent), &wallet).await?;
            let finding = (search.judge)(intent, &answers);
            evidence::weigh_token(shared, intent, &wallet, (finding, &answers)).await
        };
        read::or_reason(looked.await)
    }

    async fn send_absent_again(self) -> EngineResult<TaskResult> {
        let reason = "two complete readings, the second after every call had ended, show nothing";
        let progress = IntentProgress::NotSent { reason: reason.to_owned() };
        self.write_retry(progress, reason).await
    }

    /// Settles an effect that nothing can prove, as the resource's document defines.
    async fn settle_unprovable(self) -> EngineResult<TaskResult> {
        let Self { shared, intent, .. } = self;
        if let Some(reason) = older_epoch_reason(&shared.facts, intent)? {
            return self.put_on_hold(reason).await;
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
                return self.write_retry(progress, reason).await;
            }
        };
        self.put_on_hold(reason).await
    }

    /// Records that a try failed, or that its result cannot be known. Another try follows, which
    /// waits longer after each failure.
    async fn write_retry(self, progress: IntentProgress, reason: &str) -> EngineResult<TaskResult> {
        self.write_progress(progress).await?;
        let why = format!("no answer came to {}: {reason}", self.intent.effect);
        Ok(TaskResult::retry(self.intent.key.clone(), TaskFailure::Unreachable(why)))
    }
}

/// Turns an unseen effect into an absent one, once an event is newer than its last possible time.
fn absent_if_past(found: LookupResult, deadline: DateTime<Utc>) -> LookupResult {
    let is_over = matches!(&found, LookupResult::NotVisibleYet { newest: Some(newest), .. } if *newest > deadline);
    if is_over { LookupResult::NotFound } else { found }
}

/// Returns the last time at which an earlier try can take effect: the call's timeout and the grace
/// from now on, or from the beginning of this state if only an earlier state can have sent it.
pub(crate) fn deadline(shared: &EngineShared, intent: &Intent) -> EngineResult<DateTime<Utc>> {
    let now = shared.now();
    let began = if is_looked_up_first(intent) { shared.facts.began_at()? } else { None };
    Ok(shared.end_of_calls(began.map_or(now, |began| began.min(now))))
}

/// Returns true if an absence is proved: found a second time, and late enough.
fn is_absence_proved(absences: u32, late: bool) -> bool {
    crate::base::fault_injection::is_active("absent-after-one-read") || (late && absences > 0)
}
