//! Reads of the files, and the questions that wait for them. A daemon reads on a thread of its own,
//! so that a tree of any size delays neither events nor status.
//!
//! Guarantees: one read runs at a time. A question about the files is answered after a read that
//! began later. Effects of documents start between two reads.

use std::path::PathBuf;

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use crate::engine::known::files::{ReadScope, TreeRead};
use crate::engine::protocol::query::{EngineQuery, Reply};

/// Questions that are answered after a read.
pub(crate) type WaitingQueries = Vec<(EngineQuery, oneshot::Sender<Reply>)>;

/// A requested read.
#[derive(Debug, Default)]
pub(crate) struct TreeReadRequest {
    pub(crate) scope: ReadScope,
    pub(crate) questions: WaitingQueries,
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
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.questions.extend(other.questions);
        Self { scope: self.scope.merge(other.scope), questions: self.questions }
    }
}

/// The reads of a daemon.
#[derive(Default)]
pub(crate) struct TreeReader {
    /// True if reads have a thread of their own.
    pub(crate) aside: bool,
    pub(crate) under_way: Option<JoinHandle<TreeRead>>,
    /// Questions that wait for the read under way.
    pub(crate) questions: WaitingQueries,
    pub(crate) next: Option<TreeReadRequest>,
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
