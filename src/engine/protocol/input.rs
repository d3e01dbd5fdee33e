//! All events that wake the engine: commands, partner webhooks, sets of scripts, and others.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::engine::protocol::actions::{ActionCommand, ResolveIntent};
use crate::engine::protocol::approvals::{ApproveLive, ApproveSigned, ApprovingPlan};
use crate::engine::protocol::events::{ResyncEvents, ResyncedEvents};
use crate::engine::protocol::payers::{Intake, IntakeLink, PageLink, SubmitToken};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::replay::ReplaySelection;
use crate::model::effect::RemoteGet;
use crate::model::events::hook_run::Scheduled;
use crate::model::holds::FreezeRequest;
use crate::model::operator::{RotationRequest, SuspensionRequest};
use crate::model::state::drift::{AdoptRequest, ForgetRequest, InventoryRequest};
use crate::model::state::lifecycle::ReleaseRequest;
use crate::scripting::hooks::Hooks;

#[derive(Debug)]
pub enum EngineInput {
    /// Files may have changed; an empty list means the whole tree.
    Files(Vec<PathBuf>),
    Ask(EngineQuery, oneshot::Sender<Reply>),
    /// Reads the content of every file again, regardless of size and time, and answers the plan.
    Verify(oneshot::Sender<Reply>),
    /// Sweeps all lists of the service, and answers the plan.
    Refresh(oneshot::Sender<Reply>),
    /// Plans this resource again and ends the delay after its failure; the reply comes at once.
    Retry(Key, oneshot::Sender<Reply>),
    /// A partner webhook arrived; the reply follows once it is durable.
    PartnerWebhook(IncomingWebhook, oneshot::Sender<()>),
    Scripts(Box<ScriptSet>),
    /// The runs of a script are on disk, and these actions are new; other scripts may still run.
    ActionsRequested(Vec<Scheduled>),
    /// A post to the addresses of merchants' events is on disk.
    Posted,
    /// An applicant opens the link of this application; the reply is the target page.
    Visit(Key, oneshot::Sender<PageLink>),
    /// A payer opens a link, or submits a token for a saved method.
    Payer(PayerRequest),
    /// Decides about a command; the reply follows once its records are durable.
    Command(EngineCommand, oneshot::Sender<Reply>),
    /// Performs an action; the reply follows once it is settled, or needs a person.
    Act(ActionCommand, oneshot::Sender<Reply>),
    /// Reads lists of events again; the reply follows once they were read.
    ResyncEvents(ResyncRequest, oneshot::Sender<Reply>),
    /// Compacts the state, with or without its history; the reply is the result.
    Compact(bool, String, oneshot::Sender<Reply>),
    /// Changes the state's key to that of a file, or to a new one; the reply follows once durable.
    Rekey(Option<PathBuf>, String, oneshot::Sender<Reply>),
    /// Ends the run, once the answers to the calls under way are recorded.
    Stop,
}

/// A request to read lists of events again.
#[derive(Debug)]
pub struct ResyncRequest {
    pub asked: ResyncEvents,
    /// The lists that the engine before this one has read.
    pub done: Vec<ResyncedEvents>,
}

#[derive(Debug)]
pub enum PayerRequest {
    /// Reads the state of a link; changes nothing.
    Open(IntakeLink, oneshot::Sender<Intake>),
    /// Submits a token; the answer follows once it is durable, or with the reason of its refusal.
    Submit(SubmitToken, oneshot::Sender<Reply>),
}

/// A command; a second text is its actor. The reply follows once its records are durable.
#[derive(Debug)]
pub enum EngineCommand {
    Acknowledge(String, String),
    /// Acknowledges an object that was made again, for this reason.
    AcknowledgeOrphan((IntentId, String), String),
    AllowPrune(AllowPrune, String),
    ApproveLive(ApproveLive),
    ApprovePlan(ApprovingPlan),
    ApproveSigned(ApproveSigned),
    Attach(SubmitToken),
    Forget(ForgetRequest, String),
    ForgetScript(String, String),
    Freeze(FreezeRequest, String),
    Import(AdoptRequest, String),
    Inventory(InventoryRequest),
    /// Records what was sent for these resources (none: for any) since the backup, or nothing.
    Release(ReleaseRequest, String),
    /// Passes a read on to the service; nothing is written.
    RemoteGet(RemoteGet),
    /// Runs the hooks of this event again that failed for good.
    Replay(String, String),
    /// Runs a script again for these events, whatever the outcome of its earlier runs.
    ReplaySince(Box<ReplaySelection>, String),
    Resolve(ResolveIntent),
    Rotate(RotationRequest, String),
    Suspend(SuspensionRequest, String),
    /// Makes the service match the documents of the plan with this checksum.
    Sync(String, String),
}

/// A person's permission of removals: `apply --allow-prune`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowPrune {
    /// Everything that a guard stops now.
    pub all: bool,
    /// These resources; live ones among them do not wait, either.
    pub keys: Vec<Key>,
}

impl AllowPrune {
    pub fn is_empty(&self) -> bool {
        !self.all && self.keys.is_empty()
    }
}

#[derive(Debug, Clone)]
pub struct ScriptSet {
    /// The set, if it has no problems.
    pub hooks: Option<Hooks>,
    /// SHA-256 over the files as they are.
    pub files: Digest,
    pub problems: usize,
}

#[derive(derive_more::Debug, Clone, PartialEq, Eq)]
#[debug("Notice({} bytes)", body.len())]
pub struct IncomingWebhook {
    /// The generation of the address at which it arrived.
    pub generation: u32,
    /// The reference at the end of the path.
    pub reference: String,
    pub body: Vec<u8>,
}
