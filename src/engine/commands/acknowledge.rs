//! Decisions of a person about failed hooks and about objects that were made again: acknowledged
//! entries are no longer listed, and replayed hooks run once more.

use std::collections::BTreeSet;

use super::decision::Decision;
use crate::base::id::{IntentId, Key};
use crate::engine::handles::shared::EngineError;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::events::hook_run::{HooksAcknowledged, HooksReplayed};
use crate::model::events::scripts::ScriptForgotten;
use crate::model::intents::intent::OrphanDismissed;
use crate::model::record::Record;

impl EngineView<'_> {
    /// Decides to remove an event's failed hooks and actions from the list; the reply is their
    /// number.
    pub(crate) fn acknowledge(
        &self,
        event: String,
        actor: String,
    ) -> Result<Decision, EngineError> {
        let undone = self.shared.facts.failed_actions()?;
        let undone = undone.iter().filter(|one| one.result.id.event == event).count();
        let failed = self.shared.facts.failed_of(&event)?;
        let dead = failed.iter().filter(|one| one.failed.retry_at.is_none()).count();
        let found = undone.saturating_add(dead);
        let at = self.shared.now();
        let record = Record::HooksAcknowledged(Box::new(HooksAcknowledged { event, actor, at }));
        let records = if found > 0 { vec![record] } else { Vec::new() };
        Ok(Decision::append(records, TaskResult::Replayed, Reply::Dismissed(found)))
    }

    /// Decides to remove an object that was made again from the list; the reply is its resource.
    pub(crate) fn acknowledge_orphan(
        &self,
        (intent, reason): (IntentId, String),
        actor: String,
    ) -> Result<Decision, EngineError> {
        let listed = self.shared.facts.possible_orphans()?;
        let key = listed.into_iter().find(|orphan| orphan.intent == intent).map(|one| one.key);
        let at = self.shared.now();
        let record = |key: Key| {
            Record::OrphanDismissed(Box::new(OrphanDismissed { intent, key, reason, actor, at }))
        };
        let records = key.clone().map(record).into_iter().collect();
        let result = TaskResult::RecordWritten(key.clone());
        Ok(Decision::append(records, result, Reply::OrphanSeen(key)))
    }

    /// Decides to run the hooks of an event again that failed for good; the reply is their number.
    pub(crate) fn replay(&self, event: &str, actor: &str) -> Result<Decision, EngineError> {
        let failed = self.shared.facts.failed_of(event)?;
        let dead = failed.iter().filter(|one| one.failed.retry_at.is_none());
        let merchants: BTreeSet<Key> = dead.clone().map(|one| one.merchant.clone()).collect();
        let at = self.shared.now();
        let record = |merchant| {
            let (event, actor) = (event.to_owned(), actor.to_owned());
            Record::Replayed(Box::new(HooksReplayed { merchant, event, actor, at }))
        };
        let records = merchants.into_iter().map(record).collect();
        Ok(Decision::append(records, TaskResult::Replayed, Reply::Replayed(dead.count())))
    }

    /// Decides to forget a script; the reply is the number of its stored values, or `None` if the
    /// script is not absent.
    pub(crate) fn forget_script(
        &self,
        script: String,
        actor: String,
    ) -> Result<Decision, EngineError> {
        let known = self.shared.facts.roster()?;
        if known.get(&script).is_none_or(|one| one.absent.is_none()) {
            return Ok(Decision::answer(Reply::ScriptForgotten(None)));
        }
        let kept = self.shared.facts.stored_size(&script)?.keys;
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        let forgotten = ScriptForgotten { script, actor, at: self.shared.now() };
        let records = vec![Record::ScriptForgotten(Box::new(forgotten))];
        let answer = Reply::ScriptForgotten(Some(kept));
        Ok(Decision::append(records, TaskResult::RecordWritten(None), answer))
    }
}
