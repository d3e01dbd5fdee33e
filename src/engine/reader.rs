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

use super::Engine;
use super::files::{Looked, Scope};
use super::question::{Question, Reply};
use super::shared::EngineError;
use crate::base::id::Key;
use crate::model::desired::Coverage;
use crate::model::plan::{Reason, Step};
use crate::plan::World;

/// Questions that are answered after a read.
type Questions = Vec<(Question, oneshot::Sender<Reply>)>;

/// A requested read.
#[derive(Debug, Default)]
pub(super) struct Look {
    scope: Scope,
    questions: Questions,
}

impl Look {
    /// Requests a read of these files, or of all files if the list is empty.
    pub(super) fn at(paths: Vec<PathBuf>) -> Self {
        Self { scope: Scope { paths, ..Scope::default() }, ..Self::default() }
    }

    /// Requests a read of all files for a question.
    pub(super) fn before(question: Question, reply: oneshot::Sender<Reply>) -> Self {
        Self { questions: vec![(question, reply)], ..Self::default() }
    }

    /// Extends the read to every file's content, regardless of size and time.
    pub(super) fn at_contents(self) -> Self {
        Self { scope: Scope { verify: true, ..self.scope }, ..self }
    }

    /// Merges two reads into one.
    fn with(mut self, other: Self) -> Self {
        self.questions.extend(other.questions);
        Self { scope: self.scope.with(other.scope), questions: self.questions }
    }
}

/// The reads of a daemon.
#[derive(Default)]
pub(super) struct Reader {
    /// True if reads have a thread of their own.
    aside: bool,
    under_way: Option<JoinHandle<Looked>>,
    /// Questions that wait for the read under way.
    questions: Questions,
    next: Option<Look>,
}

impl Reader {
    /// Returns true if a read is under way or requested.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.is_some() || self.next.is_some()
    }

    /// Waits for the end of the read under way; waits for ever without one.
    pub(super) async fn done(&mut self) -> Result<Looked, JoinError> {
        let Some(under_way) = &mut self.under_way else { return std::future::pending().await };
        let looked = under_way.await;
        self.under_way = None;
        looked
    }
}

impl Engine {
    /// Reads files on another thread from now on: for a daemon.
    pub fn read_aside(&mut self) {
        self.reader.aside = true;
        self.world.files_mut().note();
    }

    /// Reads files, here or on another thread, and answers the waiting questions.
    pub(super) fn look_at_files(&mut self, look: Look) -> Result<(), EngineError> {
        if self.reader.aside {
            self.reader.next = Some(match self.reader.next.take() {
                Some(wanted) => wanted.with(look),
                None => look,
            });
            return Ok(());
        }
        let before = self.world.desired().coverage;
        let touched = self.world.files_mut().look(&look.scope);
        self.take_in(before, touched);
        self.answer_all(look.questions)
    }

    /// Begins the requested read, unless one is under way. Effects start between two reads.
    pub(super) fn begin_look(&mut self) {
        if self.reader.under_way.is_some() {
            return;
        }
        let Some(Look { scope, questions }) = self.reader.next.take() else { return };
        self.reader.questions = questions;
        if let Some(look) = self.world.files_mut().aside(scope) {
            self.reader.under_way = Some(tokio::task::spawn_blocking(look));
        }
    }

    /// Applies the finished read of another thread.
    pub(super) fn looked_at_files(&mut self, looked: Looked) -> Result<(), EngineError> {
        self.catch_up()?;
        let before = self.world.desired().coverage;
        let touched = self.world.files_mut().take_back(looked);
        self.take_in(before, touched);
        let questions = std::mem::take(&mut self.reader.questions);
        self.answer_all(questions)
    }

    /// Answers the questions that waited for a read.
    fn answer_all(&mut self, questions: Questions) -> Result<(), EngineError> {
        for (question, reply) in questions {
            if question == Question::Settle {
                self.again.forget();
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
    fn take_in(&mut self, before: Coverage, mut touched: BTreeSet<Key>) {
        if self.world.desired().coverage != before {
            let waits = |step: &&Arc<Step>| step.reason == Reason::AbsenceNotBelieved;
            let absent = self.planner.steps();
            let absent = absent.filter(|step| step.place.is_none() || waits(step));
            touched.extend(absent.map(|step| step.key.clone()));
        }
        self.look_again(touched);
        self.look_at_whole();
    }
}
