//! Writes the progress of an intent, and reports its effect once that record is durable.

use crate::base::clock::timestamp;
use crate::base::id::RemoteId;
use crate::base::money::{Currency, Money};
use crate::effects::core::row::EffectRow;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::actions::{EffectReport, EffectVerb};
use crate::engine::protocol::views::MoneyView;
use crate::model::intent::{Cause, Intent, IntentProgress};
use crate::model::record::Record;
use crate::model::state::observed::{Observation, Observed};

/// An intent on its way to its result, with all that its task needs.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) shared: &'a EngineShared,
    pub(crate) row: &'static EffectRow,
    pub(crate) intent: &'a Intent,
    pub(crate) wallet: &'a CredentialSource,
}

impl Attempt<'_> {
    pub(crate) async fn write_progress(self, progress: IntentProgress) -> EngineResult<()> {
        let Self { shared, intent, .. } = self;
        let goes_on = matches!(progress, IntentProgress::Doubt { .. } | IntentProgress::Resent);
        let told = progress.clone();
        let record = Record::Progress { intent: intent.id, at: shared.now(), progress };
        shared.write(Vec::new(), vec![record]).await?;
        report_effect(shared, intent, shared.facts.observed_state(&intent.key)?.as_ref(), &told);
        if goes_on {
            shared.in_doubt_signal.notify_one();
        }
        Ok(())
    }

    /// Records that the answer of a call that was sent is not known.
    pub(crate) async fn write_doubt(self, reason: String) -> EngineResult<()> {
        self.write_progress(IntentProgress::Doubt { reason, unsent: false }).await
    }

    pub(crate) async fn write_and_end(self, progress: IntentProgress) -> EngineResult<TaskResult> {
        self.write_progress(progress).await?;
        Ok(TaskResult::Changed(self.intent.key.clone()))
    }

    /// Puts an intent on hold: a person has to act.
    pub(crate) async fn put_on_hold(self, reason: String) -> EngineResult<TaskResult> {
        self.write_and_end(IntentProgress::OnHold { reason, observation: None }).await
    }
}

/// Effects that only prepare another one.
pub(crate) const PREPARES: [&str; 2] = ["token.create", "file.upload"];

/// Reports progress that was just recorded; `before` is the resource's state until then.
pub(crate) fn report_effect(
    shared: &EngineShared,
    intent: &Intent,
    before: Option<&Observed>,
    progress: &IntentProgress,
) {
    let Some(verb) = effect_verb(intent, before, progress) else { return };
    let learned = match progress {
        IntentProgress::Done { observation, proof: _ } => Some(&**observation),
        IntentProgress::OnHold { reason: _, observation } => observation.as_deref(),
        IntentProgress::Resent
        | IntentProgress::Doubt { .. }
        | IntentProgress::Refused { .. }
        | IntentProgress::NotSent { .. }
        | IntentProgress::GivenUp { .. } => None,
    };
    let happened = build_report(shared, intent, before, (verb, learned, progress));
    log_effect(&happened);
    shared.effect_log.push(happened);
}

pub(crate) fn build_report(
    shared: &EngineShared,
    intent: &Intent,
    before: Option<&Observed>,
    (verb, learned, progress): (EffectVerb, Option<&Observation>, &IntentProgress),
) -> EffectReport {
    let id = learned.and_then(|learned| learned.remote_id.as_ref()).or(intent.target.as_ref());
    let id = id.or_else(|| before.and_then(|before| before.remote_id.as_ref()));
    let moves = intent.exposure.moves.iter().filter(|_| verb.is_done());
    let money = moves.map(|moved| MoneyView {
        currency: moved.amount.currency().to_string(),
        mode: intent.mode,
        meaning: moved.meaning.clone(),
        amount: moved.amount.minor(),
    });
    let refusal = if let IntentProgress::Refused { status, problem } = progress {
        Some(format!("HTTP {status} {}", problem.code()))
    } else {
        None
    };
    EffectReport {
        position: shared.writer.head().sequence,
        at: timestamp(&shared.now()),
        verb,
        key: intent.key.clone(),
        effect: intent.effect.clone(),
        intent: intent.id.to_string(),
        remote_id: id.map(RemoteId::to_string),
        money: money.collect(),
        refusal,
        cause: intent.cause.clone(),
    }
}

/// Returns the result of an effect; `None` while it continues.
pub(crate) fn effect_verb(
    intent: &Intent,
    before: Option<&Observed>,
    progress: &IntentProgress,
) -> Option<EffectVerb> {
    Some(match progress {
        IntentProgress::Resent => return None,
        IntentProgress::Doubt { .. } => EffectVerb::InDoubt,
        IntentProgress::Refused { .. } => EffectVerb::Refused,
        IntentProgress::NotSent { .. } => EffectVerb::NotSent,
        IntentProgress::GivenUp { .. } => EffectVerb::GivenUp,
        IntentProgress::OnHold { .. } => EffectVerb::OnHold,
        IntentProgress::Done { observation, proof: _ } => {
            let was = before.is_some_and(|before| before.exists);
            let is = observation.exists.unwrap_or(was);
            let old = before.and_then(|before| before.remote_id.as_ref());
            let new = observation.remote_id.as_ref();
            let is_replaced = old.is_some() && new.is_some() && old != new;
            match (was, is) {
                _ if PREPARES.contains(&intent.effect.as_str()) => EffectVerb::Prepared,
                (true, true) if is_replaced => EffectVerb::Created,
                (false, true) => EffectVerb::Created,
                (true, true) => EffectVerb::Changed,
                (true, false) => EffectVerb::Removed,
                (false, false) => EffectVerb::Prepared,
            }
        }
    })
}

/// Writes one line of the log with machine-readable fields. A field without a value is omitted.
pub(crate) fn log_effect(happened: &EffectReport) {
    let EffectReport { verb, key, effect, intent, remote_id, money, cause, refusal, .. } = happened;
    let money: Vec<String> = money.iter().map(amount_text).collect();
    let money = Some(money.join(", ")).filter(|money| !money.is_empty());
    let (id, refusal) = (remote_id.as_deref(), refusal.as_deref());
    let Cause { file, line, commit, uncommitted, actor, .. } = cause;
    let (file, commit, actor) = (file.as_deref(), commit.as_deref(), actor.as_deref());
    let uncommitted = Some(true).filter(|_| *uncommitted);
    let word = verb.word();
    tracing::info!(target: "reckon::effects", %key, verb = word, effect, intent, id, money, file, line = *line, commit, uncommitted, actor, refusal, "effect");
}

/// Formats an amount: `10.00 USD refunded (test)`.
pub(crate) fn amount_text(money: &MoneyView) -> String {
    let MoneyView { currency, mode, meaning, amount } = money;
    let shown = currency.parse::<Currency>().map_or_else(
        |_| format!("{amount} minor units of {currency}"),
        |currency| Money::new(*amount, currency).to_string(),
    );
    format!("{shown} {meaning} ({mode})")
}

#[cfg(test)]
mod tests;
