//! The results of tasks, the reasons why a resource cannot be handled now, and the jobs of effects.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::oneshot;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::engine::handles::access::{CredentialError, CredentialSource};
use crate::engine::handles::shared::EngineResult;
use crate::engine::protocol::query::Reply;
use crate::model::alerts::AlertOutcome;
use crate::model::effect::Effect;
use crate::model::events::hook_run::ActionRequestId;
use crate::model::intent::Cause;

/// The result of a task. Its work is in the journal; the result only decides on another try.
#[derive(Debug)]
pub enum TaskResult {
    /// Something was recorded: plan the resource again.
    Changed(Key),
    /// Unknown objects block this resource; they are recorded under the resources of the set.
    BlockedByUnknown(Key, BTreeSet<Key>),
    /// The try failed; try again after a wait of at least this duration.
    RetryLater(Key, TaskFailure, Duration),
    /// A record about this resource, if any, was written outside its task, such as a webhook.
    RecordWritten(Option<Key>),
    ListSwept(SweepResult),
    EventsPolled(PollResult),
    /// Hooks that failed for good are to be run again.
    Replayed,
    /// The list of scripts that are used from now on is on disk.
    ScriptsRecorded,
    RetentionDone,
    HooksRan(Key),
    /// A try of a hook's action has ended: true if it is settled, and the resource to plan again.
    ActionTried(ActionRequestId, bool, Option<Key>),
    /// A plan was approved: plan every resource again that a limit blocks.
    Approved,
    /// An attempt at an alert to this target ended: its result, or `None` if it is repeated; the reason.
    AlertTried(String, Option<AlertOutcome>, String),
    BookkeepingDone(BTreeSet<Key>),
    /// A release was recorded: plan everything again.
    Released,
    /// A freeze was recorded, its end, or a sync.
    HoldsChanged,
    /// Sends the answer after the inner result: the asker's next question sees the consequences.
    WithReply(Box<TaskResult>, Reply, oneshot::Sender<Reply>),
    Stopped(Key),
    /// The service refuses the credentials: the resource, and its merchant.
    Unauthorised(Key, Key),
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
            | Self::AlertTried(..)
            | Self::BookkeepingDone(_)
            | Self::Released
            | Self::HoldsChanged
            | Self::WithReply(..) => None,
        }
    }

    /// A failed try that may be repeated after the usual wait.
    pub(crate) fn retry(key: Key, failure: TaskFailure) -> Self {
        Self::RetryLater(key, failure, Duration::ZERO)
    }

    /// Adds an answer that is sent once the engine has handled this result.
    pub(crate) fn with_reply(self, reply: Reply, to: oneshot::Sender<Reply>) -> Self {
        Self::WithReply(Box::new(self), reply, to)
    }
}

#[derive(Debug)]
pub(crate) struct EffectJob {
    pub id: IntentId,
    pub effect: Effect,
    pub wallet: CredentialSource,
    pub cause: Cause,
    /// Digest of its document without the amounts, to which approvals are bound; `None` without limits.
    pub rest: Option<Digest>,
    /// True if an earlier try failed: it counts against the limits all the same.
    pub again: bool,
    /// True for the effect of a document: its intent is written only where no rule of time holds it.
    pub is_timed: bool,
}

pub(crate) type Task = Pin<Box<dyn Future<Output = EngineResult<TaskResult>> + Send>>;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResyncCount {
    pub(crate) read: u64,
    pub(crate) new: u64,
    pub(crate) oldest: Option<DateTime<Utc>>,
}

#[derive(Debug)]
pub struct PollResult {
    pub(crate) merchant: Key,
    /// True if the read reached its end.
    pub(crate) done: bool,
    pub(crate) listed_at: Option<DateTime<Utc>>,
    /// True if a person requested the read; `count` is then its result.
    pub(crate) again: bool,
    pub(crate) count: ResyncCount,
    /// The reason why the read did not reach its end.
    pub(crate) trouble: Option<String>,
    /// Number of posts looked up by their ids.
    pub(crate) read_backs: usize,
    pub(crate) touched: BTreeSet<Key>,
}

pub(crate) type MerchantList = (Key, &'static str);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListSeen {
    At(DateTime<Utc>),
    Never,
}

#[derive(Debug)]
pub struct SweepResult {
    pub(crate) list: MerchantList,
    /// `None` if the list could not be read.
    pub(crate) seen: Option<ListSeen>,
    pub(crate) touched: BTreeSet<Key>,
}

/// Wait before the next try of a problem that a person has to solve.
const PERSON_WAIT: Duration = Duration::from_mins(5);
/// Further tries while the service is processing, each after a longer wait: some minutes in all.
const WAITING_TRIES: u32 = 4;

/// The reason why a resource could not be tried, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskFailure {
    /// A secret or setting is missing: the environment (exit code 4).
    Secret(String),
    /// The service cannot be reached or answers nothing usable (exit code 4).
    Unreachable(String),
    /// The service refuses our credentials, or lacks a required object (exit code 3).
    Blocked(String),
    /// The credentials belong to another account than the connected one (exit code 4).
    Mismatch(String),
    /// The service is still processing: an outside event (exit code 0).
    Waiting(String),
    /// The service refuses the partner application's own credentials (exit code 4).
    Denied(String),
}

impl CredentialError {
    /// Returns the end of a task that cannot continue without the credential.
    pub(crate) fn into_result(self, key: Key) -> EngineResult<TaskResult> {
        match self {
            Self::Secret(error) => Ok(TaskResult::retry(key, TaskFailure::Secret(error.message))),
            Self::Engine(error) => Err(error),
        }
    }
}

impl TaskFailure {
    /// Returns the reason as a condition has it, in CamelCase.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Secret(_) => "SecretMissing",
            Self::Unreachable(_) => "Unreachable",
            Self::Blocked(_) => "NotPossible",
            Self::Mismatch(_) => "Mismatch",
            Self::Denied(_) => "PartnerRefused",
            Self::Waiting(_) => "Processing",
        }
    }

    /// Returns the sentence for people.
    pub fn message(&self) -> &str {
        match self {
            Self::Secret(why)
            | Self::Unreachable(why)
            | Self::Blocked(why)
            | Self::Mismatch(why)
            | Self::Denied(why)
            | Self::Waiting(why) => why,
        }
    }

    /// Returns true if only a person can change the situation.
    pub fn needs_attention(&self) -> bool {
        match self {
            Self::Secret(_) | Self::Mismatch(_) | Self::Denied(_) | Self::Blocked(_) => true,
            Self::Unreachable(_) | Self::Waiting(_) => false,
        }
    }

    /// Returns the shortest wait of the next try, unless the document changes. Only a person can
    /// supply a missing secret or correct wrong credentials, so frequent tries are useless.
    pub(crate) fn wait_min(&self) -> Duration {
        match self {
            Self::Secret(_) | Self::Mismatch(_) | Self::Denied(_) => PERSON_WAIT,
            Self::Unreachable(_) | Self::Blocked(_) | Self::Waiting(_) => Duration::ZERO,
        }
    }

    /// Returns the number of tries before the resource is given up; `most` is the usual number. A
    /// missing secret or wrong credentials do not change while a command runs.
    pub(crate) fn tries(&self, most: u32) -> u32 {
        match self {
            Self::Secret(_) | Self::Mismatch(_) | Self::Denied(_) => 1,
            Self::Unreachable(_) | Self::Blocked(_) => most,
            Self::Waiting(_) => most.saturating_add(WAITING_TRIES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes M12: a problem that only a person can solve needs attention, and is not retried in
    /// seconds.
    #[test]
    fn what_a_person_has_to_mend_is_not_tried_again_in_seconds() {
        let why = || "the variable CODE_ACME is not set".to_owned();
        for unable in
            [TaskFailure::Secret(why()), TaskFailure::Mismatch(why()), TaskFailure::Denied(why())]
        {
            assert!(unable.needs_attention() && unable.wait_min() >= Duration::from_mins(5));
        }
        for unable in [TaskFailure::Unreachable(why()), TaskFailure::Waiting(why())] {
            assert!(!unable.needs_attention() && unable.wait_min() == Duration::ZERO);
        }
    }

    #[test]
    fn a_command_gives_up_sooner_what_cannot_change_while_it_runs_and_later_what_is_processed() {
        let why = || "why".to_owned();
        for (failure, tries) in [
            (TaskFailure::Secret(why()), 1),
            (TaskFailure::Mismatch(why()), 1),
            (TaskFailure::Denied(why()), 1),
            (TaskFailure::Unreachable(why()), 3),
            (TaskFailure::Blocked(why()), 3),
            (TaskFailure::Waiting(why()), 7),
        ] {
            assert_eq!(failure.tries(3), tries, "{failure:?}");
        }
        assert_eq!(TaskFailure::Waiting(why()).tries(u32::MAX), u32::MAX);
    }

    #[test]
    fn a_result_names_its_resource_only_if_the_task_of_that_resource_ended() {
        let key: Key = "Contact/jane".parse().unwrap();
        for own in [
            TaskResult::Changed(key.clone()),
            TaskResult::Stopped(key.clone()),
            TaskResult::retry(key.clone(), TaskFailure::Blocked(String::new())),
            TaskResult::Unauthorised(key.clone(), key.clone()),
            TaskResult::BlockedByUnknown(key.clone(), BTreeSet::new()),
        ] {
            assert_eq!(own.resource(), Some(&key), "{own:?}");
        }
        let (reply, _) = oneshot::channel();
        for other in [
            TaskResult::RecordWritten(Some(key.clone())),
            TaskResult::BookkeepingDone(BTreeSet::from([key.clone()])),
            TaskResult::HooksRan(key.clone()),
            TaskResult::Changed(key).with_reply(Reply::Settled, reply),
        ] {
            assert_eq!(other.resource(), None, "{other:?}");
        }
    }
}
