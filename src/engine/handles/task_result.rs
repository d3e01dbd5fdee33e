//! The results of tasks, and the jobs of effects.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::failure::TaskFailure;
use crate::engine::handles::read_results::{PollResult, SweepResult};
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::query::Reply;
use crate::model::events::hook_run::ActionRequestId;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Cause;

/// The result of a task. Its work is in the journal; the result only decides on another try.
#[derive(Debug)]
pub enum TaskResult {
    /// Something was recorded: plan the resource again.
    Changed(Key),
    /// Unknown objects block this resource; the set names the resources under which they are
    /// recorded.
    BlockedByUnknown(Key, BTreeSet<Key>),
    /// The try failed; try again after a wait of at least this duration.
    RetryLater(Key, TaskFailure, Duration),
    /// A record about this resource, if any, was written outside its own task, such as a partner
    /// webhook.
    RecordWritten(Option<Key>),
    /// A list of the service was read.
    ListSwept(SweepResult),
    /// A merchant's events were read.
    EventsPolled(PollResult),
    /// Hooks that failed for good are to be run again.
    Replayed,
    /// The list of scripts that are used from now on is on disk.
    ScriptsRecorded,
    /// A search for settled old data has ended.
    RetentionDone,
    /// The hooks of a merchant's events have run.
    HooksRan(Key),
    /// A try of a hook's action has ended: true if it is settled, and the resource to plan again.
    ActionTried(ActionRequestId, bool, Option<Key>),
    /// A plan was approved: plan every resource again that a limit blocks.
    Approved,
    /// Bookkeeping records of these resources were written.
    BookkeepingDone(BTreeSet<Key>),
    /// A release was recorded: plan everything again.
    Released,
    /// Handles the inner result first, and then sends this answer: the asker's next question sees
    /// the consequences.
    WithReply(Box<TaskResult>, Reply, oneshot::Sender<Reply>),
    /// The task was requested to stop.
    Stopped(Key),
    /// The service refuses the credentials: the resource, and its merchant.
    Unauthorised(Key, Key),
    /// The state on disk failed, or the program has a mistake: everything ends.
    Broken(EngineError),
}

impl TaskResult {
    /// Returns the resource whose own task has ended.
    pub(crate) fn resource(&self) -> Option<&Key> {
        match self {
            Self::Changed(key)
            | Self::BlockedByUnknown(key, _)
            | Self::RetryLater(key, _, _)
            | Self::Stopped(key)
            | Self::Unauthorised(key, _) => Some(key),
            Self::RecordWritten(_)
            | Self::ListSwept(_)
            | Self::EventsPolled(_)
            | Self::HooksRan(_)
            | Self::Replayed
            | Self::ScriptsRecorded
            | Self::RetentionDone
            | Self::ActionTried(..)
            | Self::Approved
            | Self::BookkeepingDone(_)
            | Self::Released
            | Self::WithReply(..)
            | Self::Broken(_) => None,
        }
    }

    /// Adds an answer that is sent once the engine has handled this result.
    pub(crate) fn with_reply(self, reply: Reply, to: oneshot::Sender<Reply>) -> Self {
        Self::WithReply(Box::new(self), reply, to)
    }
}

/// One effect to be performed.
#[derive(Debug)]
pub(crate) struct EffectJob {
    /// The number of its intent.
    pub id: IntentId,
    pub effect: Effect,
    /// The sources of the merchant's credentials.
    pub wallet: CredentialSource,
    pub cause: Cause,
    /// Digest of its document without the amounts; approvals are bound to it.
    pub rest: Digest,
    /// True if an earlier try failed: it counts against the limits all the same.
    pub again: bool,
}

/// A task that is not started yet.
pub(crate) type Task = Pin<Box<dyn Future<Output = TaskResult> + Send>>;
