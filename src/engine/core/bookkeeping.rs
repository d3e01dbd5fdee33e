//! Writes the bookkeeping records that are due before the next effects.

use std::collections::BTreeSet;

use super::coordinator::Engine;
use super::tasks::TaskClass;
use crate::base::id::Key;
use crate::engine::commands::actions::follow_up::is_about_accounts;
use crate::engine::commands::bookkeeping::record_keys;
use crate::engine::handles::shared::EngineError;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::commands::bookkeeping::AllowPrune;
use crate::model::action::is_action;
use crate::model::state::observed::Observed;
use crate::plan::state_view::StateView;

impl Engine {
    /// Returns true if any record has to be written before the next effects.
    pub fn has_bookkeeping(&self) -> bool {
        !self.view().due_bookkeeping().is_empty()
    }

    /// Starts to write the records, in a task of its own.
    pub(crate) fn start_bookkeeping(&mut self) {
        let records = if self.stopping { Vec::new() } else { self.view().due_bookkeeping() };
        if records.is_empty() {
            return;
        }
        let keys: BTreeSet<Key> = records.iter().flat_map(record_keys).collect();
        self.scheduler.lock(keys.iter().cloned());
        let shared = self.shared.clone();
        self.tasks.spawn(TaskClass::Upkeep, async move {
            match shared.write(Vec::new(), records).await {
                Ok(()) => TaskResult::BookkeepingDone(keys),
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Plans the resources again once their records are durable.
    pub(crate) fn bookkeeping_done(&mut self, keys: BTreeSet<Key>) -> Result<(), EngineError> {
        for key in &keys {
            self.scheduler.busy.remove(key);
            self.known_state.refresh(&self.shared.facts, key)?;
        }
        self.replan(keys);
        Ok(())
    }

    /// Returns the named resources to which a permission does not apply: their documents exist, or
    /// they stay.
    pub fn not_allowable<'a>(&self, allowing: &'a AllowPrune) -> Vec<&'a Key> {
        allowing.keys.iter().filter(|key| !self.planner.may_be_allowed(key)).collect()
    }

    /// Applies the readings of a command, once it has ended.
    pub(crate) fn read_afterwards(&mut self, key: &Key) -> Result<(), EngineError> {
        let known = self.known_state.observed(key).filter(|_| is_action(key));
        let about = |known: &Observed| {
            known.exists && known.applied.as_ref().is_some_and(is_about_accounts)
        };
        match known.filter(|known| about(known)) {
            Some(known) => self.record_written(Some(known.merchant.clone())),
            None => Ok(()),
        }
    }
}
