//! Commands of the wire form: a request and its actor become a command of the engine.

use super::protocol::{ControlError, ControlRequest};
use crate::engine::protocol::commands::approve::ApproveLive;
use crate::engine::protocol::commands::attach::SubmitToken;
use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::protocol::commands::plan_approval::ApprovingPlan;
use crate::engine::protocol::commands::resolve::ResolveIntent;

/// Converts a request and its actor into a command.
///
/// # Errors
/// The request is answered in another way: a bug of ours.
pub(crate) fn command(
    request: ControlRequest,
    actor: String,
) -> Result<EngineCommand, ControlError> {
    Ok(match request {
        ControlRequest::Allow(removals) => EngineCommand::AllowPrune(removals, actor),
        ControlRequest::Approve(binding) => {
            EngineCommand::ApproveLive(ApproveLive { binding: *binding, actor })
        }
        ControlRequest::ApprovePlan(plan) => {
            EngineCommand::ApprovePlan(ApprovingPlan { actor, ..*plan })
        }
        ControlRequest::Dismiss(event) => EngineCommand::Acknowledge(event, actor),
        ControlRequest::DismissOrphan(intent, why) => {
            EngineCommand::AcknowledgeOrphan((intent, why), actor)
        }
        ControlRequest::Forget(what) => EngineCommand::Forget(what, actor),
        ControlRequest::ForgetScript(script) => EngineCommand::ForgetScript(script, actor),
        ControlRequest::Import(request) => EngineCommand::Import(*request, actor),
        ControlRequest::Inventory(request) => EngineCommand::Inventory(request),
        ControlRequest::Release(request) => EngineCommand::Release(request, actor),
        ControlRequest::RemoteGet(read) => EngineCommand::RemoteGet(*read),
        ControlRequest::Replay(event) => EngineCommand::Replay(event, actor),
        ControlRequest::Resolve(id, said) => {
            EngineCommand::Resolve(ResolveIntent { id, said, actor })
        }
        ControlRequest::Rotate(request) => EngineCommand::Rotate(request, actor),
        ControlRequest::Suspend(request) => EngineCommand::Suspend(*request, actor),
        ControlRequest::Attach(attaching) => {
            EngineCommand::Attach(SubmitToken { attaching, link: None, actor })
        }
        ControlRequest::Act(_)
        | ControlRequest::Ask(_)
        | ControlRequest::Compact { .. }
        | ControlRequest::ImportAll(_)
        | ControlRequest::Link(_)
        | ControlRequest::Local(_)
        | ControlRequest::Refresh
        | ControlRequest::Rekey { .. }
        | ControlRequest::ResyncEvents(_)
        | ControlRequest::Verify => return Err(ControlError::bug("not a decision to record")),
    })
}
