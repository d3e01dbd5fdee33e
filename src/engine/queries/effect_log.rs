//! Reports effects as they happen: one line for each, sent to the listener and written to the log.
//!
//! A report repeats what the journal holds, once the record is durable: the verb, the resource, the
//! money, the id, the time and the cause. It holds nothing private: no field of a document and no
//! text of the service.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::views::MoneyView;
use crate::base::clock::timestamp;
use crate::base::id::{Key, RemoteId};
use crate::base::money::{Currency, Money};
use crate::engine::core::handles::EngineShared;
use crate::engine::view::EngineView;
use crate::model::intents::intent::{Cause, Intent, IntentProgress};
use crate::model::state::observed::{Observation, Observed};

/// Number of the newest effects that are kept for clients of a daemon.
const KEPT_MAX: usize = 10_000;
/// Effects that only prepare another one.
const PREPARES: [&str; 2] = ["token.create", "file.upload"];

/// The result of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectVerb {
    Created,
    Changed,
    Removed,
    /// Something that only the next effect needs was made, such as a one-time token.
    Prepared,
    /// The service refused it and did nothing.
    Refused,
    /// Its answer was lost; it is being settled.
    InDoubt,
    /// A person has to settle it.
    #[serde(rename = "held")]
    OnHold,
    /// Its absence was proved, or nothing arrived: nothing was done.
    NotSent,
    /// No evidence can prove it; the effect is made again.
    GivenUp,
}

/// One effect whose result was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectReport {
    /// Sequence of the journal's last record at that time; `since` selects later ones.
    pub position: u64,
    pub at: String,
    pub verb: EffectVerb,
    pub key: Key,
    pub effect: String,
    pub intent: String,
    /// The service's id, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
    /// The money that it moved; empty if nothing was done.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub money: Vec<MoneyView>,
    /// The status of a refusal, and the service's code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<String>,
    /// The document that asked for it with the commit of its tree, or the actor of a command.
    pub cause: Cause,
}

impl EffectVerb {
    /// Returns the word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Prepared => "prepared",
            Self::Refused => "refused",
            Self::InDoubt => "in doubt",
            Self::OnHold => "held",
            Self::NotSent => "not sent",
            Self::GivenUp => "given up",
        }
    }

    /// Returns true if something was done.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Created | Self::Changed | Self::Removed | Self::Prepared)
    }
}

/// The newest effects, and the listener for further ones.
#[derive(Debug, Default)]
pub(crate) struct EffectLog(Mutex<EffectLogState>);

#[derive(Debug, Default)]
struct EffectLogState {
    kept: VecDeque<EffectReport>,
    listener: Option<mpsc::UnboundedSender<EffectReport>>,
}

impl EffectLog {
    fn inner(&self) -> MutexGuard<'_, EffectLogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends effects to a listener from now on. A second listener replaces the first.
    pub(crate) fn subscribe(&self) -> mpsc::UnboundedReceiver<EffectReport> {
        let (told, effects) = mpsc::unbounded_channel();
        self.inner().listener = Some(told);
        effects
    }

    /// Ends the subscription: its receiver ends.
    pub(crate) fn unsubscribe(&self) {
        self.inner().listener = None;
    }

    fn push(&self, happened: EffectReport) {
        let mut inner = self.inner();
        if let Some(told) = &inner.listener {
            // The listener may have gone away.
            drop(told.send(happened.clone()));
        }
        if inner.kept.len() >= KEPT_MAX {
            inner.kept.pop_front();
        }
        inner.kept.push_back(happened);
    }

    fn since(&self, position: u64) -> Vec<EffectReport> {
        let inner = self.inner();
        inner.kept.iter().filter(|one| one.position > position).cloned().collect()
    }
}

impl EngineView<'_> {
    /// Returns the effects behind this position of the journal, among the newest few thousand of
    /// this process.
    pub(crate) fn effects_since(&self, position: u64) -> Vec<EffectReport> {
        self.shared.effect_log().since(position)
    }
}

/// Reports progress that was just recorded; `before` is the resource's state until then.
pub(crate) fn report(
    shared: &EngineShared,
    intent: &Intent,
    before: Option<&Observed>,
    progress: &IntentProgress,
) {
    let Some(verb) = verb(intent, before, progress) else { return };
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
    log(&happened);
    shared.effect_log().push(happened);
}

fn build_report(
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
fn verb(
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
            match (was, is) {
                _ if PREPARES.contains(&intent.effect.as_str()) => EffectVerb::Prepared,
                (true, true) if is_replaced(before, observation) => EffectVerb::Created,
                (false, true) => EffectVerb::Created,
                (true, true) => EffectVerb::Changed,
                (true, false) => EffectVerb::Removed,
                (false, false) => EffectVerb::Prepared,
            }
        }
    })
}

/// Returns true if a new object replaced another one.
fn is_replaced(before: Option<&Observed>, now: &Observation) -> bool {
    let old = before.and_then(|before| before.remote_id.as_ref());
    now.remote_id.is_some() && old.is_some() && now.remote_id.as_ref() != old
}

/// Writes one line of the log with machine-readable fields. A field without a value is omitted.
fn log(happened: &EffectReport) {
    let EffectReport { verb, key, effect, intent, remote_id, money, cause, refusal, .. } = happened;
    let money: Vec<String> = money.iter().map(amount).collect();
    let money = Some(money.join(", ")).filter(|money| !money.is_empty());
    let (id, refusal) = (remote_id.as_deref(), refusal.as_deref());
    let Cause { file, line, commit, uncommitted, actor, .. } = cause;
    let (file, commit, actor) = (file.as_deref(), commit.as_deref(), actor.as_deref());
    let uncommitted = Some(true).filter(|_| *uncommitted);
    let word = verb.word();
    tracing::info!(target: "reckon::effects", %key, verb = word, effect, intent, id, money, file, line = *line, commit, uncommitted, actor, refusal, "effect");
}

/// Formats an amount: `10.00 USD refunded (test)`.
fn amount(money: &MoneyView) -> String {
    let MoneyView { currency, mode, meaning, amount } = money;
    let shown = currency.parse::<Currency>().map_or_else(
        |_| format!("{amount} minor units of {currency}"),
        |currency| Money::new(*amount, currency).to_string(),
    );
    format!("{shown} {meaning} ({mode})")
}

#[cfg(test)]
mod tests;
