//! All events that wake the engine.

use std::path::PathBuf;

use tokio::sync::oneshot;

use super::partner_webhook::IncomingWebhook;
use super::resync::ResyncEvents;
use super::script_set::ScriptSet;
use crate::base::id::Key;
use crate::engine::protocol::commands::action::ActionCommand;
use crate::engine::protocol::commands::attach::SubmitToken;
use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::protocol::commands::intake::{Intake, IntakeLink};
use crate::engine::protocol::commands::page_link::PageLink;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::model::events::hook_run::Scheduled;

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
    /// The runs of a script are on disk, and these actions are new; other scripts of the merchant
    /// still run.
    ActionsRequested(Vec<Scheduled>),
    /// A post to the addresses of merchants' events is on disk.
    Posted,
    /// An applicant opens the link of this application; the reply is the target page.
    Visit(Key, oneshot::Sender<PageLink>),
    /// A payer opens a link, or submits a token for a saved method.
    Payer(PayerRequest),
    /// Decides about a command; the reply follows once its records are durable.
    Command(EngineCommand, oneshot::Sender<Reply>),
    /// Performs an action; the reply follows once it is settled, or can only be settled by a
    /// person.
    Act(ActionCommand, oneshot::Sender<Reply>),
    /// Reads lists of events again; the reply follows once they were read.
    ResyncEvents(ResyncEvents, oneshot::Sender<Reply>),
    /// Compacts the state, with or without its history; the reply is the result.
    Compact(bool, String, oneshot::Sender<Reply>),
    /// Changes the state's key to the one in this file, or to a new one; the reply follows once
    /// that is durable.
    Rekey(Option<PathBuf>, String, oneshot::Sender<Reply>),
    /// Ends the run, once the answers to the calls under way are recorded.
    Stop,
}

/// A payer's request.
#[derive(Debug)]
pub enum PayerRequest {
    /// Reads the state of a link; changes nothing.
    Open(IntakeLink, oneshot::Sender<Intake>),
    /// Submits a token; the answer follows once it is durable, or with the reason of its refusal.
    Submit(SubmitToken, oneshot::Sender<Reply>),
}
