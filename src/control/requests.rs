//! Typed requests: each is one small type that ties its answer to it; and the conversion of a
//! request and its actor into a command of the engine.
//!
//! A request becomes a [`ControlRequest`] where it leaves for another process or for the engine, so
//! the wire form is the same for all of them. An answer of another type is one error
//! ([`typed`]), wherever the request was sent.

use std::path::PathBuf;

use crate::base::id::{IntentId, Key};
use crate::control::page_sessions::EntryLink;
use crate::control::protocol::{ControlError, ControlRequest};
use crate::control::protocol::{LocalQuery, SentTree, TreeContents, TreeDifferences};
use crate::engine::hooks::event::PastEvent;
use crate::engine::protocol::actions::{
    ActionReport, ManualResolution, ResolveIntent, ResolveResult,
};
use crate::engine::protocol::approvals::{ApproveLive, ApprovingPlan, PlanApprovalResult};
use crate::engine::protocol::diagnostics::{LocalReply, StateReply};
use crate::engine::protocol::event_detail::EventDetail;
use crate::engine::protocol::events::{ResyncEvents, ResyncedEvents};
use crate::engine::protocol::input::{AllowPrune, EngineCommand};
use crate::engine::protocol::payers::{AttachToken, IntakeTerms, SecretLink, SubmitToken};
use crate::engine::protocol::query::{Query, Reply};
use crate::engine::protocol::replay::ReplaySelection;
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::PlanView;
use crate::model::effect::{Action, RemoteGet};
use crate::model::holds::{FreezeRequest, FreezeResult, SyncResult};
use crate::model::operator::{
    RotationRequest, SuspensionRequest, SuspensionResult, WebhookAddress,
};
use crate::model::record::Rekeyed;
use crate::model::state::credentials::{BindingApproval, LiveBinding};
use crate::model::state::drift::{
    AdoptRequest, AdoptionReport, ForgetRequest, ForgetResult, InventoryItem, InventoryRequest,
};
use crate::model::state::lifecycle::ReleaseRequest;
use crate::store::state::compact::CompactionResult;

/// A request whose answer has one type. A [`ControlRequest`] itself is answered by any [`Reply`].
pub trait Request {
    type Response;

    fn into_request(self) -> ControlRequest;

    /// Returns the response in a reply; `None` if the reply is another request's.
    fn response(reply: Reply) -> Option<Self::Response>;
}

/// Returns the response to a request of type `R`.
///
/// # Errors
/// The reply is another request's, which is a bug.
pub fn typed<R: Request>(reply: Reply) -> Result<R::Response, ControlError> {
    R::response(reply).ok_or_else(|| ControlError::bug("unexpected response type"))
}

impl Request for ControlRequest {
    type Response = Reply;

    fn into_request(self) -> ControlRequest {
        self
    }

    fn response(reply: Reply) -> Option<Reply> {
        Some(reply)
    }
}

impl<Q: Query> Request for Q {
    type Response = Q::Answer;

    fn into_request(self) -> ControlRequest {
        ControlRequest::Ask(self.into_query())
    }

    fn response(reply: Reply) -> Option<Q::Answer> {
        Q::answer(reply)
    }
}

/// A query about the plan, for this tree instead of the daemon's own.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOf<Q>(pub SentTree, pub Q);

impl<Q: Query> Request for PlanOf<Q> {
    type Response = Q::Answer;

    fn into_request(self) -> ControlRequest {
        let Self(tree, query) = self;
        ControlRequest::Local(Box::new(LocalQuery::PlanOf(tree, query.into_query())))
    }

    fn response(reply: Reply) -> Option<Q::Answer> {
        Q::answer(reply)
    }
}

/// Makes a type of each request: its parameters, response, request, and reply with the response.
macro_rules! requests {
    ($($vis:vis $name:ident $(($($field:ident: $type:ty),+))? -> $response:ty:
        $request:expr, $reply:pat => $value:expr;)*) => {$(
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name $(($(pub $type),+))?;

        impl $crate::control::requests::Request for $name {
            type Response = $response;

            fn into_request(self) -> $crate::control::protocol::ControlRequest {
                let Self $(($($field),+))? = self;
                $request
            }

            fn response(
                reply: $crate::engine::protocol::query::Reply,
            ) -> Option<$response> {
                if let $reply = reply { $value } else { None }
            }
        }
    )*};
}

pub(crate) use requests;

requests! {
    pub Approve(binding: LiveBinding) -> Option<BindingApproval>:
        ControlRequest::Approve(Box::new(binding)),
        Reply::Approved(approval) => Some(approval.map(|approval| *approval));
    pub Act(action: Action) -> ActionReport:
        ControlRequest::Act(Box::new(action)), Reply::Action(done) => Some(*done);
    pub Resolve(intent: IntentId, resolution: ManualResolution) -> ResolveResult:
        ControlRequest::Resolve(intent, resolution), Reply::Resolved(done) => Some(done);
    pub ApprovePlan(plan: ApprovingPlan) -> PlanApprovalResult:
        ControlRequest::ApprovePlan(Box::new(plan)), Reply::PlanApproved(done) => Some(*done);
    pub Allow(removals: AllowPrune) -> Vec<Key>:
        ControlRequest::Allow(removals), Reply::Allowed(keys) => Some(keys);
    pub Verify -> PlanView: ControlRequest::Verify, Reply::Plan(plan) => Some(*plan);
    pub Refresh -> PlanView: ControlRequest::Refresh, Reply::Plan(plan) => Some(*plan);
    pub Retry(resource: Key) -> Result<(), UnknownName>:
        ControlRequest::Retry(resource), Reply::Retried(done) => Some(done);
    pub PortalLink(invoice: Key) -> Option<SecretLink>:
        ControlRequest::Link(invoice), Reply::Link(link) => Some(link);
    pub Suspend(request: SuspensionRequest) -> SuspensionResult:
        ControlRequest::Suspend(Box::new(request)), Reply::Suspension(done) => Some(*done);
    pub EnterPage -> EntryLink: ControlRequest::EnterPage,
        Reply::Local(LocalReply(value)) => serde_json::from_value(value).ok();
    pub FreezeAll(request: FreezeRequest) -> FreezeResult:
        ControlRequest::Freeze(request), Reply::Freeze(done) => Some(done);
    pub Sync(checksum: String) -> SyncResult:
        ControlRequest::Sync(checksum), Reply::Sync(done) => Some(done);
    pub Release(request: ReleaseRequest) -> bool:
        ControlRequest::Release(request), Reply::State(StateReply::Released(done)) => Some(done);
    pub Import(request: AdoptRequest) -> AdoptionReport:
        ControlRequest::Import(Box::new(request)), Reply::Imported(done) => Some(*done);
    pub Inventory(request: InventoryRequest) -> Result<Vec<InventoryItem>, String>:
        ControlRequest::Inventory(request), Reply::Inventory(found) => Some(found);
    pub ServiceRead(read: RemoteGet) -> Result<serde_json::Value, String>:
        ControlRequest::RemoteGet(Box::new(read)), Reply::RemoteGet(answer) => Some(answer);
    pub ImportAll(requests: Vec<AdoptRequest>) -> Vec<AdoptionReport>:
        ControlRequest::ImportAll(requests), Reply::AllImported(done) => Some(done);
    pub Replay(event: String) -> usize:
        ControlRequest::Replay(event), Reply::Replayed(hooks) => Some(hooks);
    pub ReplaySince(selection: ReplaySelection) -> usize:
        ControlRequest::ReplaySince(Box::new(selection)),
        Reply::Replayed(events) => Some(events);
    pub Forget(what: ForgetRequest) -> ForgetResult:
        ControlRequest::Forget(what), Reply::Forgot(done) => Some(*done);
    pub Attach(token: AttachToken) -> Result<Key, String>:
        ControlRequest::Attach(token), Reply::Attached(done) => Some(done);
    pub Rotate(request: RotationRequest) -> Result<Vec<WebhookAddress>, String>:
        ControlRequest::Rotate(request), Reply::Rotated(done) => Some(done);
    pub Resync(lists: ResyncEvents) -> Result<Vec<ResyncedEvents>, String>:
        ControlRequest::ResyncEvents(lists), Reply::Recovered(done) => Some(done);
    pub Dismiss(event: String) -> usize:
        ControlRequest::Dismiss(event), Reply::Dismissed(items) => Some(items);
    pub DismissOrphan(intent: IntentId, reason: String) -> Option<Key>:
        ControlRequest::DismissOrphan(intent, reason), Reply::OrphanSeen(found) => Some(found);
    pub ForgetScript(script: String) -> Option<usize>:
        ControlRequest::ForgetScript(script), Reply::ScriptForgotten(kept) => Some(kept);
    pub Compact(drop_history: bool) -> Result<Box<CompactionResult>, String>:
        ControlRequest::Compact { drop_history }, Reply::Compacted(done) => Some(done);
    pub Rekey(new_key_file: Option<PathBuf>) -> Result<Rekeyed, String>:
        ControlRequest::Rekey { new_key_file }, Reply::Rekeyed(done) => Some(done);
    pub Compare(tree: TreeContents) -> TreeDifferences:
        ControlRequest::Local(Box::new(LocalQuery::Compare(tree))),
        Reply::Local(LocalReply(value)) => serde_json::from_value(value).ok();
    pub IntakeUrl(method: Key, terms: IntakeTerms, days: u16) -> String:
        ControlRequest::Local(Box::new(LocalQuery::Intake { key: method, terms, days })),
        Reply::Local(LocalReply(value)) => serde_json::from_value(value).ok();
    pub ShowEvent(id: String) -> Option<EventDetail>:
        ControlRequest::Local(Box::new(LocalQuery::Event(id))),
        Reply::Local(LocalReply(value)) => serde_json::from_value(value).ok();
    pub PastEvents(since: chrono::DateTime<chrono::Utc>) -> Vec<PastEvent>:
        ControlRequest::Local(Box::new(LocalQuery::Past(since))),
        Reply::Local(LocalReply(value)) => serde_json::from_value(value).ok();
}

/// Converts a request and its actor into a command.
pub(crate) fn engine_command(
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
        ControlRequest::Freeze(request) => EngineCommand::Freeze(request, actor),
        ControlRequest::Import(request) => EngineCommand::Import(*request, actor),
        ControlRequest::Inventory(request) => EngineCommand::Inventory(request),
        ControlRequest::Release(request) => EngineCommand::Release(request, actor),
        ControlRequest::RemoteGet(read) => EngineCommand::RemoteGet(*read),
        ControlRequest::Replay(event) => EngineCommand::Replay(event, actor),
        ControlRequest::ReplaySince(selection) => EngineCommand::ReplaySince(selection, actor),
        ControlRequest::Resolve(id, said) => {
            EngineCommand::Resolve(ResolveIntent { id, said, actor })
        }
        ControlRequest::Rotate(request) => EngineCommand::Rotate(request, actor),
        ControlRequest::Sync(checksum) => EngineCommand::Sync(checksum, actor),
        ControlRequest::Suspend(request) => EngineCommand::Suspend(*request, actor),
        ControlRequest::Attach(attaching) => {
            EngineCommand::Attach(SubmitToken { attaching, link: None, actor })
        }
        ControlRequest::Act(_)
        | ControlRequest::Ask(_)
        | ControlRequest::Compact { .. }
        | ControlRequest::EnterPage
        | ControlRequest::ImportAll(_)
        | ControlRequest::Link(_)
        | ControlRequest::Local(_)
        | ControlRequest::Refresh
        | ControlRequest::Rekey { .. }
        | ControlRequest::ResyncEvents(_)
        | ControlRequest::Retry(_)
        | ControlRequest::Verify => return Err(ControlError::bug("not a decision to record")),
    })
}
