//! Hook runs of one event as plain data, with the outcome of each requested action.
//!
//! Lines and arguments are bounded and masked; sealed words stay sealed.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::base::secret::mask_digits;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::hooks::sealed_words;
use crate::engine::protocol::event_detail::{
    EventAction, EventActionEffect, EventActionState, EventDeliveryAttempt, EventRead, EventRun,
    EventRunOutcome,
};
use crate::model::events::hook::{ActionRequest, HookRead, HookRun};
use crate::model::events::hook_run::{
    ActionOutcome, ActionRequestId, HookFailure, HookRunRecord, PendingAction,
};
use crate::store::history::EffectHistory;
use crate::store::journal::read::JournalSet;

/// Lines of a log that are shown, and characters of each.
const LINES_SHOWN: usize = 20;
const CHARACTERS_SHOWN: usize = 200;

/// The history of actions: their outcomes, their effects, and their deliveries.
pub(crate) struct ActionHistory<'a> {
    shared: &'a EngineShared,
    books: &'a JournalSet,
    attempts: BTreeMap<String, Vec<EventDeliveryAttempt>>,
}

impl<'a> ActionHistory<'a> {
    pub(crate) fn new(
        shared: &'a EngineShared,
        books: &'a JournalSet,
        attempts: BTreeMap<String, Vec<EventDeliveryAttempt>>,
    ) -> Self {
        Self { shared, books, attempts }
    }

    fn action(
        &self,
        ran: &HookRunRecord,
        run: &HookRun,
        request: &ActionRequest,
    ) -> EngineResult<EventAction> {
        let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
        let id = ActionRequestId { merchant, event, name: request.name.clone() };
        let (state, message, settled) = self.outcome(&id)?;
        let script = run.script.clone();
        let pending =
            PendingAction { id, request: request.clone(), script, maybe_done: false, at: ran.at };
        let key = pending.action().ok();
        let effects = key.as_ref().map(|key| self.effects(key)).transpose()?.unwrap_or_default();
        let name = request.name.to_string();
        Ok(EventAction {
            verb: request.verb.clone(),
            fields: sealed_words::open_fields(request),
            due: request.at.as_ref().map(timestamp),
            state,
            message,
            settled,
            key: key.filter(|_| !effects.is_empty()).map(|key| key.short()),
            effects,
            attempts: self.attempts.get(&name).cloned().unwrap_or_default(),
            name,
        })
    }

    /// Returns the state of an action, with the message and the time of its result.
    fn outcome(
        &self,
        id: &ActionRequestId,
    ) -> EngineResult<(EventActionState, Option<String>, Option<String>)> {
        if let Some(result) = self.shared.facts.action_result(id)? {
            let state = match result.outcome {
                ActionOutcome::Done => EventActionState::Done,
                ActionOutcome::Refused => EventActionState::Refused,
                ActionOutcome::Invalid => EventActionState::Invalid,
                ActionOutcome::Unknown => EventActionState::Unknown,
                ActionOutcome::Skipped => EventActionState::Skipped,
            };
            return Ok((state, Some(display_text(&result.message)), Some(timestamp(&result.at))));
        }
        let is_open = self.shared.facts.pending(id)?.is_some();
        let state = if is_open { EventActionState::Open } else { EventActionState::NotKnown };
        Ok((state, None, None))
    }

    fn effects(&self, key: &Key) -> EngineResult<Vec<EventActionEffect>> {
        let sequences = self.shared.facts.record_sequences(key)?;
        let history = self.books.history(key, &sequences)?;
        let view = |effect: &EffectHistory| {
            let newest = effect.progress.last();
            EventActionEffect {
                intent: effect.intent.id.to_string(),
                effect: effect.intent.effect.clone(),
                state: newest.map_or_else(|| "open".to_owned(), |progress| progress.what.clone()),
                at: timestamp(newest.map_or(&effect.intent.at, |progress| &progress.at)),
            }
        };
        Ok(history.effects.iter().map(view).collect())
    }
}

/// The runs of one event so far, with the number of tries of each script.
#[derive(Default)]
pub(crate) struct RunViews {
    pub(crate) views: Vec<EventRun>,
    tries: BTreeMap<String, u32>,
}

impl RunViews {
    /// Counts the tries from 1 again: a person had the hooks run again.
    pub(crate) fn begin_again(&mut self) {
        self.tries.clear();
    }

    pub(crate) fn add(
        &mut self,
        record: u64,
        ran: &HookRunRecord,
        history: &ActionHistory<'_>,
    ) -> EngineResult<()> {
        for run in &ran.runs {
            let tries = self.count(&run.script);
            let actions = run.requests.iter().map(|request| history.action(ran, run, request));
            let actions = actions.collect::<EngineResult<Vec<_>>>()?;
            self.views.push(done_run((record, ran), run, (tries, actions)));
        }
        for failed in &ran.failures {
            let tries = self.count(&failed.script);
            self.views.push(failed_run((record, ran), failed, tries));
        }
        Ok(())
    }

    fn count(&mut self, script: &str) -> u32 {
        let tries = self.tries.entry(script.to_owned()).or_default();
        *tries = tries.saturating_add(1);
        *tries
    }
}

fn done_run(
    (record, ran): (u64, &HookRunRecord),
    run: &HookRun,
    (tries, actions): (u32, Vec<EventAction>),
) -> EventRun {
    let keys = run.kept.iter().chain(&run.added).map(|(key, _)| display_text(key));
    EventRun {
        at: timestamp(&ran.at),
        record,
        script: run.script.clone(),
        function: run.function.clone(),
        outcome: EventRunOutcome::Done,
        tries,
        message: None,
        again: None,
        log: log_lines(&run.log),
        log_omitted: run.log.len().saturating_sub(LINES_SHOWN),
        reads: Some(reads(run)),
        operations: Some(run.operations),
        stored: keys.collect(),
        actions,
    }
}

fn failed_run((record, ran): (u64, &HookRunRecord), failed: &HookFailure, tries: u32) -> EventRun {
    EventRun {
        at: timestamp(&ran.at),
        record,
        script: failed.script.clone(),
        function: failed.function.clone(),
        outcome: EventRunOutcome::Failed,
        tries,
        message: Some(failed.message.clone()),
        again: failed.retry_at.as_ref().map(timestamp),
        log: log_lines(&failed.log),
        log_omitted: failed.log.len().saturating_sub(LINES_SHOWN),
        reads: None,
        operations: None,
        stored: Vec::new(),
        actions: Vec::new(),
    }
}

fn reads(run: &HookRun) -> Vec<EventRead> {
    let view = |read: &HookRead| {
        let arguments = read.arguments.as_array().into_iter().flatten().map(Value::to_string);
        let arguments: Vec<String> = arguments.collect();
        EventRead { read: read.what.clone(), arguments: display_text(&arguments.join(", ")) }
    };
    run.reads.iter().map(view).collect()
}

/// Returns the first lines of a log, each cut and masked.
fn log_lines(log: &[String]) -> Vec<String> {
    log.iter().take(LINES_SHOWN).map(|line| display_text(line)).collect()
}

/// Cuts a text, and masks card numbers in it.
fn display_text(text: &str) -> String {
    let masked = mask_digits(text);
    let mut cut: String = masked.chars().take(CHARACTERS_SHOWN).collect();
    if masked.chars().count() > CHARACTERS_SHOWN {
        cut.push('…');
    }
    cut
}
