//! The decision about a command: what is recorded or run, and the answer.
//!
//! A handler decides from a read-only view and changes nothing. The coordinator carries the
//! decision out, with all other work or alone in a process that holds the state for one command.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

use crate::base::id::Key;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::input::EngineCommand;
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::intent::OpenIntent;
use crate::model::record::Record;

pub(crate) type DecisionResult = EngineResult<(TaskResult, Reply)>;

#[derive(Debug)]
pub struct Decision {
    /// Resources that start no other task until the command is done.
    pub(crate) locked: BTreeSet<Key>,
    /// The intent that the command settles; it takes its lane.
    pub(crate) settles: Option<Arc<OpenIntent>>,
    pub(crate) work: CommandWork,
}

#[derive(derive_more::Debug)]
pub(crate) enum CommandWork {
    Answer(Reply),
    /// Appends records, and then answers.
    Append(Box<Append>),
    /// Reads the service or the state first.
    #[debug("Run(…)")]
    Run(Pin<Box<dyn Future<Output = DecisionResult> + Send>>),
}

/// Records of a command, and what follows once they are durable.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) records: Vec<Record>,
    /// Subject in the vault whose values are erased.
    pub(crate) erase: Option<String>,
    pub(crate) result: TaskResult,
    pub(crate) answer: Reply,
}

impl Decision {
    /// Answers, and records nothing.
    pub(crate) fn answer(reply: Reply) -> Self {
        Self::of(CommandWork::Answer(reply))
    }

    /// Appends records; the engine handles the result, and then the answer is sent.
    pub(crate) fn append(records: Vec<Record>, result: TaskResult, answer: Reply) -> Self {
        Self::of(CommandWork::Append(Box::new(Append { records, erase: None, result, answer })))
    }

    pub(crate) fn run(task: impl Future<Output = DecisionResult> + Send + 'static) -> Self {
        Self::of(CommandWork::Run(Box::pin(task)))
    }

    /// Starts no other task of these resources until the command is done.
    pub(crate) fn locking(mut self, keys: impl IntoIterator<Item = Key>) -> Self {
        self.locked.extend(keys);
        self
    }

    /// Takes the lane of the intent that the command settles, and locks its resource.
    pub(crate) fn settling(self, open: Arc<OpenIntent>) -> Self {
        let key = open.intent.key.clone();
        Self { settles: Some(open), ..self }.locking([key])
    }

    /// Erases the sealed values of a subject, once the records are durable.
    pub(crate) fn erasing(mut self, subject: Option<String>) -> Self {
        if let CommandWork::Append(append) = &mut self.work {
            append.erase = subject;
        }
        self
    }

    fn of(work: CommandWork) -> Self {
        Self { locked: BTreeSet::new(), settles: None, work }
    }
}

impl Append {
    /// Appends the records, erases what is of no further use, and returns result and answer.
    pub(crate) async fn perform(self, shared: &EngineShared) -> DecisionResult {
        let Self { records, erase, result, answer } = self;
        if !records.is_empty() {
            shared.write(Vec::new(), records).await?;
        }
        if let Some(subject) = erase {
            shared.erase(&subject)?;
        }
        Ok((result, answer))
    }
}

impl EngineView<'_> {
    /// Decides about a command; nothing changes.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn decide(&self, command: EngineCommand) -> EngineResult<Decision> {
        Ok(match command {
            EngineCommand::Acknowledge(event, actor) => self.acknowledge(event, actor)?,
            EngineCommand::AcknowledgeOrphan(what, actor) => {
                self.acknowledge_orphan(what, actor)?
            }
            EngineCommand::AllowPrune(allowed, actor) => self.allow_prune(&allowed, &actor),
            EngineCommand::ApproveLive(approving) => self.approve(approving),
            EngineCommand::ApprovePlan(approving) => self.approve_plan(approving),
            EngineCommand::ApproveSigned(signed) => self.approve_signed(signed)?,
            EngineCommand::Attach(submitted) => self.attach(submitted),
            EngineCommand::Forget(what, actor) => self.forget(&what, actor)?,
            EngineCommand::ForgetScript(script, actor) => self.forget_script(script, actor)?,
            EngineCommand::Freeze(request, actor) => self.freeze(request, actor),
            EngineCommand::Import(request, actor) => self.import(request, actor),
            EngineCommand::Inventory(request) => self.inventory(&request),
            EngineCommand::Release(request, actor) => self.release(request, actor)?,
            EngineCommand::RemoteGet(get) => self.remote_get(&get),
            EngineCommand::Replay(event, actor) => self.replay(&event, &actor)?,
            EngineCommand::ReplaySince(selection, actor) => {
                self.request_replay(&selection, actor)?
            }
            EngineCommand::Resolve(resolving) => self.resolve(resolving),
            EngineCommand::Rotate(request, actor) => self.rotate(&request, actor)?,
            EngineCommand::Sync(checksum, actor) => self.sync(&checksum, actor),
            EngineCommand::Suspend(request, actor) => self.suspend(&request, actor),
        })
    }
}

#[cfg(test)]
mod tests;
