//! All events that wake the engine.

use std::path::PathBuf;

use tokio::sync::oneshot;

use crate::base::id::{IntentId, Key};
use crate::engine::commands::action::ActionCommand;
use crate::engine::commands::approve::ApproveLive;
use crate::engine::commands::attach::PayerRequest;
use crate::engine::commands::bookkeeping::AllowPrune;
use crate::engine::commands::page_link::PageLink;
use crate::engine::commands::plan_approval::ApprovingPlan;
use crate::engine::commands::resolve::ResolveIntent;
use crate::engine::commands::signed_approval::ApproveSigned;
use crate::engine::events::partner_webhook::IncomingWebhook;
use crate::engine::events::resync::ResyncEvents;
use crate::engine::hooks::dispatch::ScriptSet;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::model::action::RemoteGet;
use crate::model::events::hook_run::Scheduled;
use crate::model::operator::rotation::RotationRequest;
use crate::model::operator::suspension::SuspensionRequest;
use crate::model::state::adoption::{AdoptRequest, ForgetRequest, InventoryRequest};
use crate::model::state::lifecycle::ReleaseRequest;

/// An event that wakes the engine.
#[derive(Debug)]
pub enum EngineInput {
    /// Files may have changed; an empty list means the whole tree.
    Files(Vec<PathBuf>),
    /// Asks a question; the answer returns over the channel.
    Ask(EngineQuery, oneshot::Sender<Reply>),
    /// Reads the content of every file again, regardless of size and time, and answers the plan.
    Verify(oneshot::Sender<Reply>),
    /// Sweeps all lists of the service, and answers the plan.
    Refresh(oneshot::Sender<Reply>),
    /// A partner webhook arrived; the reply follows once it is durable.
    PartnerWebhook(IncomingWebhook, oneshot::Sender<()>),
    /// The folder of scripts was read.
    Scripts(Box<ScriptSet>),
    /// Runs the hooks of this event again that failed for good; the reply follows once that is
    /// durable.
    Replay(String, String, oneshot::Sender<Reply>),
    /// The runs of a script are on disk, and these actions are new; other scripts of the merchant
    /// still run.
    ActionsRequested(Vec<Scheduled>),
    /// A post to the addresses of merchants' events is on disk.
    Posted,
    /// An applicant opens the link of this application; the reply is the target page.
    Visit(Key, oneshot::Sender<PageLink>),
    /// A payer opens a link, or submits a token for a saved method.
    Payer(PayerRequest),
    /// Approves a live authorisation; the reply follows once it is durable.
    Approve(ApproveLive, oneshot::Sender<Reply>),
    /// Performs an action; the reply follows once it is settled, or can only be settled by a
    /// person.
    Act(ActionCommand, oneshot::Sender<Reply>),
    /// Settles an intent as a person decides; the reply follows once that is durable.
    Resolve(ResolveIntent, oneshot::Sender<Reply>),
    /// Approves the plan; the reply follows once it is durable.
    ApprovePlan(ApprovingPlan, oneshot::Sender<Reply>),
    /// Approves the plan by a signed commit; the reply follows once it is durable.
    ApproveSigned(ApproveSigned, oneshot::Sender<Reply>),
    /// Suspends or resumes a resource in the name of this actor; the reply follows once it is
    /// durable.
    Suspend(SuspensionRequest, String, oneshot::Sender<Reply>),
    /// Allows removals in the name of this actor; the reply follows once it is durable.
    Allow(AllowPrune, String, oneshot::Sender<Reply>),
    /// Records that nothing was sent for these resources since the backup, or what was (no
    /// resources: for any); the reply follows once it is durable.
    Release(ReleaseRequest, String, oneshot::Sender<Reply>),
    /// Imports an object in the name of this actor; the reply follows once it is durable.
    Import(AdoptRequest, String, oneshot::Sender<Reply>),
    /// Lists a merchant's objects; the reply follows once they were read.
    Inventory(InventoryRequest, oneshot::Sender<Reply>),
    /// Passes a read on to the service; nothing is written.
    RemoteGet(RemoteGet, oneshot::Sender<Reply>),
    /// Forgets a resource or an object in the name of this actor; the reply follows once it is
    /// durable.
    Forget(ForgetRequest, String, oneshot::Sender<Reply>),
    /// Reads lists of events again; the reply follows once they were read.
    ResyncEvents(ResyncEvents, oneshot::Sender<Reply>),
    /// Acknowledges an event's failed hooks; the reply follows once that is durable.
    Dismiss(String, String, oneshot::Sender<Reply>),
    /// Acknowledges an object that was made again, for this reason; the reply follows once that is
    /// durable.
    DismissOrphan((IntentId, String), String, oneshot::Sender<Reply>),
    /// Forgets an absent script in the name of this actor.
    ForgetScript(String, String, oneshot::Sender<Reply>),
    /// Rotates addresses; the reply follows once it is durable.
    Rotate(RotationRequest, String, oneshot::Sender<Reply>),
    /// Compacts the state, with or without its history; the reply is the result.
    Compact(bool, String, oneshot::Sender<Reply>),
    /// Changes the state's key to the one in this file, or to a new one; the reply follows once
    /// that is durable.
    Rekey(Option<PathBuf>, String, oneshot::Sender<Reply>),
    /// Ends the run, once the answers to the calls under way are recorded.
    Stop,
}
