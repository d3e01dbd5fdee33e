//! Effects as they happen: one line for each, told to whoever waits and written to the log.
//!
//! Told is what the journal holds already, once its record is durable: the verb, the resource, the money, the id and the
//! time; who or what asked for it. Nothing private: no field of a document and no word of the service's.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::Engine;
use super::question::MoneyView;
use super::shared::Shared;
use crate::base::clock::timestamp;
use crate::base::id::{Key, RemoteId};
use crate::base::money::{Currency, Money};
use crate::model::intent::{Cause, Intent, Progress};
use crate::model::observed::{Observation, Observed};

/// So many of the newest are kept for whoever waits for a daemon.
const KEPT_MAX: usize = 10_000;
/// Effects that only prepare another one.
const PREPARES: [&str; 2] = ["token.create", "file.upload"];

/// What became of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// An object was made.
    Created,
    /// An object was changed.
    Changed,
    /// An object was removed, ended or given back.
    Removed,
    /// Something was made that only the next effect needs, such as a one-time token.
    Prepared,
    /// The service refused it and did nothing.
    Refused,
    /// Its answer was lost; it is being settled.
    InDoubt,
    /// A person has to settle it.
    Held,
    /// Its absence was proved, or nothing arrived: nothing was done.
    NotSent,
    /// Nothing can prove it: it is made again.
    GivenUp,
}

/// One effect whose fate was written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happened {
    /// The last record of the journal then: what is asked for by `since` is behind it.
    pub position: u64,
    /// When.
    pub at: String,
    /// What became of it.
    pub verb: Verb,
    /// The resource.
    pub key: Key,
    /// The effect.
    pub effect: String,
    /// Its intent.
    pub intent: String,
    /// The service's id, where one is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
    /// The money that it set in motion; empty where it did nothing.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub money: Vec<MoneyView>,
    /// The status of a refusal, and the service's code of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<String>,
    /// The document that asked for it, the commit of its tree, or who did by a command.
    pub cause: Cause,
}

impl Verb {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Prepared => "prepared",
            Self::Refused => "refused",
            Self::InDoubt => "in doubt",
            Self::Held => "held",
            Self::NotSent => "not sent",
            Self::GivenUp => "given up",
        }
    }

    /// Whether something was done.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Created | Self::Changed | Self::Removed | Self::Prepared)
    }
}

/// The newest effects, and who is told of the next ones.
#[derive(Debug, Default)]
pub(super) struct Witness(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    kept: VecDeque<Happened>,
    told: Option<mpsc::UnboundedSender<Happened>>,
}

impl Witness {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, happened: Happened) {
        let mut inner = self.inner();
        if let Some(told) = &inner.told {
            // Whoever listened may have gone away.
            drop(told.send(happened.clone()));
        }
        if inner.kept.len() >= KEPT_MAX {
            inner.kept.pop_front();
        }
        inner.kept.push_back(happened);
    }

    fn since(&self, position: u64) -> Vec<Happened> {
        let inner = self.inner();
        inner.kept.iter().filter(|one| one.position > position).cloned().collect()
    }
}

impl Engine {
    /// Effects from now on, each once its record is durable. A second listener takes the place of the first.
    pub fn effects(&self) -> mpsc::UnboundedReceiver<Happened> {
        let (told, effects) = mpsc::unbounded_channel();
        self.shared.witness().inner().told = Some(told);
        effects
    }

    /// Ends what [`Self::effects`] began: its receiver is at its end.
    pub fn no_more_effects(&self) {
        self.shared.witness().inner().told = None;
    }

    /// Effects behind this position of the journal, the newest few thousand of this process.
    pub(super) fn happened(&self, position: u64) -> Vec<Happened> {
        self.shared.witness().since(position)
    }
}

/// Tells of progress that was just written down; `before` is what was known of the resource until then.
pub(super) fn tell(
    shared: &Shared,
    intent: &Intent,
    before: Option<&Observed>,
    progress: &Progress,
) {
    let Some(verb) = verb(intent, before, progress) else { return };
    let learned = match progress {
        Progress::Done { observation, proof: _ } => Some(&**observation),
        Progress::Held { reason: _, observation } => observation.as_deref(),
        Progress::Again
        | Progress::Doubt { .. }
        | Progress::Refused { .. }
        | Progress::NotSent { .. }
        | Progress::GivenUp { .. } => None,
    };
    let happened = made(shared, intent, before, (verb, learned, progress));
    log(&happened);
    shared.witness().tell(happened);
}

fn made(
    shared: &Shared,
    intent: &Intent,
    before: Option<&Observed>,
    (verb, learned, progress): (Verb, Option<&Observation>, &Progress),
) -> Happened {
    let id = learned.and_then(|learned| learned.remote_id.as_ref()).or(intent.target.as_ref());
    let id = id.or_else(|| before.and_then(|before| before.remote_id.as_ref()));
    let moves = intent.stake.moves.iter().filter(|_| verb.is_done());
    let money = moves.map(|moved| MoneyView {
        currency: moved.amount.currency().to_string(),
        mode: intent.mode,
        meaning: moved.meaning.clone(),
        amount: moved.amount.minor(),
    });
    let refusal = if let Progress::Refused { status, problem } = progress {
        Some(format!("HTTP {status} {}", problem.code()))
    } else {
        None
    };
    Happened {
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

/// What became of an effect; nothing where it only goes on.
fn verb(intent: &Intent, before: Option<&Observed>, progress: &Progress) -> Option<Verb> {
    Some(match progress {
        Progress::Again => return None,
        Progress::Doubt { .. } => Verb::InDoubt,
        Progress::Refused { .. } => Verb::Refused,
        Progress::NotSent { .. } => Verb::NotSent,
        Progress::GivenUp { .. } => Verb::GivenUp,
        Progress::Held { .. } => Verb::Held,
        Progress::Done { observation, proof: _ } => {
            let was = before.is_some_and(|before| before.exists);
            let is = observation.exists.unwrap_or(was);
            match (was, is) {
                _ if PREPARES.contains(&intent.effect.as_str()) => Verb::Prepared,
                (true, true) if is_replaced(before, observation) => Verb::Created,
                (false, true) => Verb::Created,
                (true, true) => Verb::Changed,
                (true, false) => Verb::Removed,
                (false, false) => Verb::Prepared,
            }
        }
    })
}

/// Whether a new object took the place of another one.
fn is_replaced(before: Option<&Observed>, now: &Observation) -> bool {
    let old = before.and_then(|before| before.remote_id.as_ref());
    now.remote_id.is_some() && old.is_some() && now.remote_id.as_ref() != old
}

/// Writes one line of the log: fields that programs can read. A field that has no value is left out.
fn log(happened: &Happened) {
    let Happened { verb, key, effect, intent, remote_id, money, cause, refusal, .. } = happened;
    let money: Vec<String> = money.iter().map(amount).collect();
    let money = Some(money.join(", ")).filter(|money| !money.is_empty());
    let (id, refusal) = (remote_id.as_deref(), refusal.as_deref());
    let Cause { file, line, commit, uncommitted, actor, .. } = cause;
    let (file, commit, actor) = (file.as_deref(), commit.as_deref(), actor.as_deref());
    let uncommitted = Some(true).filter(|_| *uncommitted);
    let word = verb.word();
    tracing::info!(target: "reckon::effects", %key, verb = word, effect, intent, id, money, file, line = *line, commit, uncommitted, actor, refusal, "effect");
}

/// `10.00 USD refunded (test)`.
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
