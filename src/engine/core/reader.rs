//! Reads of the files, and the questions that wait for them. A daemon reads on a thread of its own,
//! so that a tree of any size delays neither events nor status.
//!
//! Guarantees: one read runs at a time. A question about the files is answered after a read that
//! began later. Effects of documents start between two reads.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use super::coordinator::Engine;
use super::handles::EngineError;
use crate::base::id::Key;
use crate::engine::known::files::{ReadScope, TreeRead};
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::model::manifest::TreeState;
use crate::model::plans::plan::{Reason, Step};
use crate::plan::state_view::StateView;

/// Questions that are answered after a read.
type WaitingQueries = Vec<(EngineQuery, oneshot::Sender<Reply>)>;

/// A requested read.
#[derive(Debug, Default)]
pub(crate) struct TreeReadRequest {
    scope: ReadScope,
    questions: WaitingQueries,
}

impl TreeReadRequest {
    /// Requests a read of these files, or of all files if the list is empty.
    pub(crate) fn of_paths(paths: Vec<PathBuf>) -> Self {
        Self { scope: ReadScope { paths, ..ReadScope::default() }, ..Self::default() }
    }

    /// Requests a read of all files for a question.
    pub(crate) fn for_query(question: EngineQuery, reply: oneshot::Sender<Reply>) -> Self {
        Self { questions: vec![(question, reply)], ..Self::default() }
    }

    /// Extends the read to every file's content, regardless of size and time.
    pub(crate) fn with_contents(self) -> Self {
        Self { scope: ReadScope { verify: true, ..self.scope }, ..self }
    }

    /// Merges two reads into one.
    fn merge(mut self, other: Self) -> Self {
        self.questions.extend(other.questions);
        Self { scope: self.scope.merge(other.scope), questions: self.questions }
    }
}

/// The reads of a daemon.
#[derive(Default)]
pub(crate) struct TreeReader {
    /// True if reads have a thread of their own.
    aside: bool,
    under_way: Option<JoinHandle<TreeRead>>,
    /// Questions that wait for the read under way.
    questions: WaitingQueries,
    next: Option<TreeReadRequest>,
}

impl TreeReader {
    /// Returns true if a read is under way or requested.
    pub(crate) fn is_busy(&self) -> bool {
        self.under_way.is_some() || self.next.is_some()
    }

    /// Waits for the end of the read under way; waits for ever without one.
    pub(crate) async fn wait(&mut self) -> Result<TreeRead, JoinError> {
        let Some(under_way) = &mut self.under_way else { return std::future::pending().await };
        let looked = under_way.await;
        self.under_way = None;
        looked
    }
}

impl Engine {
    /// Reads files on another thread from now on: for a daemon.
    pub fn read_in_background(&mut self) {
        self.reader.aside = true;
        self.known_state.files_mut().remember_report();
    }

    /// Reads files, here or on another thread, and answers the waiting questions.
    pub(crate) fn read_files(&mut self, look: TreeReadRequest) -> Result<(), EngineError> {
        if self.reader.aside {
            self.reader.next = Some(match self.reader.next.take() {
                Some(wanted) => wanted.merge(look),
                None => look,
            });
            return Ok(());
        }
        let before = self.known_state.desired().tree_state;
        let touched = self.known_state.files_mut().read(&look.scope);
        self.apply_changes(before, touched);
        self.answer_all(look.questions)
    }

    /// Begins the requested read, unless one is under way. Effects start between two reads.
    pub(crate) fn begin_read(&mut self) {
        if self.reader.under_way.is_some() {
            return;
        }
        let Some(TreeReadRequest { scope, questions }) = self.reader.next.take() else { return };
        self.reader.questions = questions;
        if let Some(look) = self.known_state.files_mut().read_elsewhere(scope) {
            self.reader.under_way = Some(tokio::task::spawn_blocking(look));
        }
    }

    /// Applies the finished read of another thread.
    pub(crate) fn files_read(&mut self, looked: TreeRead) -> Result<(), EngineError> {
        self.catch_up()?;
        let before = self.known_state.desired().tree_state;
        let touched = self.known_state.files_mut().apply_read(looked);
        self.apply_changes(before, touched);
        let questions = std::mem::take(&mut self.reader.questions);
        self.answer_all(questions)
    }

    /// Answers the questions that waited for a read.
    fn answer_all(&mut self, questions: WaitingQueries) -> Result<(), EngineError> {
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
    fn apply_changes(&mut self, before: TreeState, mut touched: BTreeSet<Key>) {
        if self.known_state.desired().tree_state != before {
            let waits = |step: &&Arc<Step>| step.reason == Reason::PruneSuspended;
            let absent = self.planner.steps();
            let absent = absent.filter(|step| step.place.is_none() || waits(step));
            touched.extend(absent.map(|step| step.key.clone()));
        }
        self.replan(touched);
        self.check_whole_plan();
    }
}
