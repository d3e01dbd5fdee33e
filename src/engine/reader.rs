//! A look at the files, and who waits for it. A daemon looks on a thread of its own, so that a tree of any size keeps
//! neither events nor status waiting.
//!
//! Guarantees: one look goes on at a time; a question about the files is answered after a look that began later; effects
//! of documents start between two looks.

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

/// Questions that are answered after a look.
type Questions = Vec<(Question, oneshot::Sender<Reply>)>;

/// A look that is wanted.
#[derive(Debug, Default)]
pub(super) struct Look {
    scope: Scope,
    questions: Questions,
}

impl Look {
    /// A look at these files, at all of them if there are none.
    pub(super) fn at(paths: Vec<PathBuf>) -> Self {
        Self { scope: Scope { paths, ..Scope::default() }, ..Self::default() }
    }

    /// A look at all files for a question.
    pub(super) fn before(question: Question, reply: oneshot::Sender<Reply>) -> Self {
        Self { questions: vec![(question, reply)], ..Self::default() }
    }

    /// The same, whatever sizes and times of files say.
    pub(super) fn at_contents(self) -> Self {
        Self { scope: Scope { verify: true, ..self.scope }, ..self }
    }

    /// One look in the place of two.
    fn with(mut self, other: Self) -> Self {
        self.questions.extend(other.questions);
        Self { scope: self.scope.with(other.scope), questions: self.questions }
    }
}

/// The looks of a daemon.
#[derive(Default)]
pub(super) struct Reader {
    /// Whether looks have a thread of their own.
    aside: bool,
    under_way: Option<JoinHandle<Looked>>,
    /// Who waits for the one that is under way.
    questions: Questions,
    next: Option<Look>,
}

impl Reader {
    /// Whether a look is under way, or wanted.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.is_some() || self.next.is_some()
    }

    /// Returns once the look that is under way has ended; never where none is.
    pub(super) async fn done(&mut self) -> Result<Looked, JoinError> {
        let Some(under_way) = &mut self.under_way else { return std::future::pending().await };
        let looked = under_way.await;
        self.under_way = None;
        looked
    }
}

impl Engine {
    /// Looks at files on another thread from now on: for a daemon.
    pub fn read_aside(&mut self) {
        self.reader.aside = true;
        self.world.files_mut().note();
    }

    /// Looks at files, or has another thread look, and answers who asked.
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

    /// Begins the look that is wanted, unless one is under way. Effects start between two looks.
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

    /// A look of another thread has ended.
    pub(super) fn looked_at_files(&mut self, looked: Looked) -> Result<(), EngineError> {
        self.catch_up()?;
        let before = self.world.desired().coverage;
        let touched = self.world.files_mut().take_back(looked);
        self.take_in(before, touched);
        let questions = std::mem::take(&mut self.reader.questions);
        self.answer_all(questions)
    }

    /// Answers those who waited for a look.
    fn answer_all(&mut self, questions: Questions) -> Result<(), EngineError> {
        for (question, reply) in questions {
            if question == Question::Settle {
                self.again.forget();
                self.waiters.push(reply);
                continue;
            }
            let answer = self.answer(question)?;
            // Whoever asked may have gone away: then nobody wants the answer.
            drop(reply.send(answer));
        }
        Ok(())
    }

    /// Takes in what a look at files changed. When absence becomes believable or stops being so,
    /// everything without a document is looked at too.
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
