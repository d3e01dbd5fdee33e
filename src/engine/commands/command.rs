//! The commands of people and programs that are decided from the engine's state.

use super::decision::Decision;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::view::EngineView;

impl EngineView<'_> {
    /// Decides about a command; nothing changes.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn decide(&self, command: EngineCommand) -> Result<Decision, EngineError> {
        Ok(match command {
            EngineCommand::Acknowledge(event, actor) => self.acknowledge(event, actor)?,
            EngineCommand::AcknowledgeOrphan(orphan, actor) => {
                self.acknowledge_orphan(orphan, actor)?
            }
            EngineCommand::AllowPrune(allowed, actor) => self.allow_prune(&allowed, &actor),
            EngineCommand::ApproveLive(approving) => self.approve(approving),
            EngineCommand::ApprovePlan(approving) => self.approve_plan(approving),
            EngineCommand::ApproveSigned(signed) => self.approve_signed(signed)?,
            EngineCommand::Attach(submitted) => self.attach(submitted),
            EngineCommand::Forget(what, actor) => self.forget(&what, actor)?,
            EngineCommand::ForgetScript(script, actor) => self.forget_script(script, actor)?,
            EngineCommand::Import(request, actor) => self.import(request, actor),
            EngineCommand::Inventory(request) => self.inventory(&request),
            EngineCommand::Release(request, actor) => self.release(request, actor)?,
            EngineCommand::RemoteGet(get) => self.remote_get(&get),
            EngineCommand::Replay(event, actor) => self.replay(&event, &actor)?,
            EngineCommand::Resolve(resolving) => self.resolve(resolving),
            EngineCommand::Rotate(request, actor) => self.rotate(&request, actor)?,
            EngineCommand::Suspend(request, actor) => self.suspend(&request, actor),
        })
    }
}
