//! The commands of people and programs that are decided from the engine's state.

use super::approve::ApproveLive;
use super::attach::SubmitToken;
use super::bookkeeping::AllowPrune;
use super::plan_approval::ApprovingPlan;
use super::resolve::ResolveIntent;
use super::signed_approval::ApproveSigned;
use crate::base::id::IntentId;
use crate::model::action::RemoteGet;
use crate::model::operator::rotation::RotationRequest;
use crate::model::operator::suspension::SuspensionRequest;
use crate::model::state::adoption::{AdoptRequest, ForgetRequest, InventoryRequest};
use crate::model::state::lifecycle::ReleaseRequest;

/// A command. Where a second field is a text, it is the actor. The reply follows once its records
/// are durable.
#[derive(Debug)]
pub enum EngineCommand {
    /// Acknowledges the failed hooks of an event.
    Acknowledge(String, String),
    /// Acknowledges an object that was made again, for this reason.
    AcknowledgeOrphan((IntentId, String), String),
    /// Allows removals.
    AllowPrune(AllowPrune, String),
    /// Approves a live authorisation.
    ApproveLive(ApproveLive),
    /// Approves the plan.
    ApprovePlan(ApprovingPlan),
    /// Approves the plan by a signed commit.
    ApproveSigned(ApproveSigned),
    /// Submits a payer's tokens for a saved method.
    Attach(SubmitToken),
    /// Forgets a resource or an object.
    Forget(ForgetRequest, String),
    /// Forgets an absent script.
    ForgetScript(String, String),
    /// Imports an object.
    Import(AdoptRequest, String),
    /// Lists a merchant's objects.
    Inventory(InventoryRequest),
    /// Records that nothing was sent for these resources since the backup, or what was (no
    /// resources: for any).
    Release(ReleaseRequest, String),
    /// Passes a read on to the service; nothing is written.
    RemoteGet(RemoteGet),
    /// Runs the hooks of this event again that failed for good.
    Replay(String, String),
    /// Settles an intent as a person decides.
    Resolve(ResolveIntent),
    /// Rotates addresses.
    Rotate(RotationRequest, String),
    /// Suspends or resumes a resource.
    Suspend(SuspensionRequest, String),
}
