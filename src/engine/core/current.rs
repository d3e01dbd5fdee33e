//! Keeps the engine's own copy equal to the fold and to the files, and answers the questions that wait
//! for a read of the files.
//!
//! A task writes records while it runs, and the engine plans its resource again only once it ends:
//! settling a lost answer can take minutes. So every answer begins with the resources that records
//! changed since the last catch-up.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::fault_injection;
use crate::base::id::Key;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::tasks::{TreeReadRequest, WaitingQueries};
use crate::engine::handles::shared::EngineResult;
use crate::engine::known::files::TreeRead;
use crate::engine::protocol::query::EngineQuery;
use crate::model::effect::is_action;
use crate::model::manifest::TreeState;
use crate::model::plan::{Reason, Step};
use crate::plan::state_view::StateView;

impl Engine {
    /// Reads again the resources that records changed, and plans them again: the next answer is
    /// made of the same fold as the journal's newest record.
    pub(crate) fn catch_up(&mut self) -> EngineResult<()> {
        if fault_injection::is_active("view-of-a-stale-copy") {
            return Ok(());
        }
        let keys = self.shared.writer.changed_resources().take();
        self.known_state.refresh_all(&keys)?;
        // An action has no document, so it has no step.
        self.recompute(keys.into_iter().filter(|key| !is_action(key)));
        Ok(())
    }

    /// Plans everything again: resources on hold may be ready now.
    pub(crate) fn replan_all(&mut self) -> EngineResult<()> {
        let known = self.known_state.known_keys();
        self.known_state.refresh_all(&known)?;
        let made = self.planner.recompute_all(&self.known_state);
        self.money.note(&made);
        self.enqueue(made);
        // An action that waited for a person may be permitted now.
        self.scripts.agenda.reload();
        self.dispatch_actions()
    }

    /// Reads files on another thread from now on: for a daemon.
    pub fn read_in_background(&mut self) {
        self.reader.aside = true;
        self.known_state.files.remember_report();
    }

    /// Reads files, here or on another thread, and answers the waiting questions.
    pub(crate) fn read_files(&mut self, look: TreeReadRequest) -> EngineResult<()> {
        if self.reader.aside {
            self.reader.next = Some(match self.reader.next.take() {
                Some(wanted) => wanted.merge(look),
                None => look,
            });
            return Ok(());
        }
        let before = self.known_state.desired().tree_state;
        let touched = self.known_state.files.read(&look.scope);
        self.apply_changes(before, touched)?;
        self.answer_all(look.questions)
    }

    /// Begins the requested read, unless one is under way. Effects start between two reads.
    pub(crate) fn begin_read(&mut self) {
        if self.reader.under_way.is_some() {
            return;
        }
        let Some(TreeReadRequest { scope, questions }) = self.reader.next.take() else { return };
        (self.reader.questions, self.reader.verifies) = (questions, scope.verify);
        if let Some(look) = self.known_state.files.read_elsewhere(scope) {
            self.reader.under_way = Some(tokio::task::spawn_blocking(look));
        }
    }

    pub(crate) fn files_read(&mut self, looked: TreeRead) -> EngineResult<()> {
        self.catch_up()?;
        let before = self.known_state.desired().tree_state;
        let touched = self.known_state.files.apply_read(looked);
        self.apply_changes(before, touched)?;
        let questions = std::mem::take(&mut self.reader.questions);
        self.answer_all(questions)
    }

    fn answer_all(&mut self, questions: WaitingQueries) -> EngineResult<()> {
        for (question, reply) in questions {
            if question == EngineQuery::Settle {
                self.readers.accounts.allow_all();
                self.waiters.push(reply);
                continue;
            }
            let answer = self.answer(question)?;
            // The asker may have gone away; the answer is dropped then.
            drop(reply.send(answer));
        }
        Ok(())
    }

    /// Applies the changes of a read. If pruning becomes allowed or suspended, every resource
    /// without a document is planned again, too.
    fn apply_changes(&mut self, before: TreeState, mut touched: BTreeSet<Key>) -> EngineResult<()> {
        if self.known_state.desired().tree_state != before {
            let waits = |step: &&Arc<Step>| step.reason == Reason::PruneSuspended;
            let absent = self.planner.steps();
            let absent = absent.filter(|step| step.place.is_none() || waits(step));
            touched.extend(absent.map(|step| step.key.clone()));
        }
        self.replan(touched);
        self.check_whole_plan();
        self.rename_synced_tree()
    }
}
