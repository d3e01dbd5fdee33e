//! All events that wake the engine.

use std::path::PathBuf;

use tokio::sync::oneshot;

use super::{
    Allowing, Approving, ApprovingPlan, Asked, Found, Notice, Page, Payer, Question, Recovering,
    Reply, Resolving, Signing,
};
use crate::base::id::{IntentId, Key};
use crate::model::adoption::{Adopting, Forgetting, Inventory};
use crate::model::epoch::Releasing;
use crate::model::ran::Scheduled;
use crate::model::rotation::Rotating;
use crate::model::showing::Showing;
use crate::model::suspension::Pause;

/// An event that wakes the engine.
#[derive(Debug)]
pub enum Event {
    /// Files may have changed; an empty list means the whole tree.
    Files(Vec<PathBuf>),
    /// Asks a question; the answer returns over the channel.
    Ask(Question, oneshot::Sender<Reply>),
    /// Reads the content of every file again, regardless of size and time, and answers the plan.
    Verify(oneshot::Sender<Reply>),
    /// Sweeps all lists of the service, and answers the plan.
    Refresh(oneshot::Sender<Reply>),
    /// A partner webhook arrived; the reply follows once it is durable.
    Notice(Notice, oneshot::Sender<()>),
    /// The folder of scripts was read.
    Scripts(Box<Found>),
    /// Runs the hooks of this event again that failed for good; the reply follows once that is
    /// durable.
    Replay(String, String, oneshot::Sender<Reply>),
    /// The runs of a script are on disk, and these actions are new; other scripts of the merchant
    /// still run.
    Wished(Vec<Scheduled>),
    /// A post to the addresses of merchants' events is on disk.
    Posted,
    /// An applicant opens the link of this application; the reply is the target page.
    Visit(Key, oneshot::Sender<Page>),
    /// A payer opens a link, or submits a token for a saved method.
    Payer(Payer),
    /// Approves a live authorisation; the reply follows once it is durable.
    Approve(Approving, oneshot::Sender<Reply>),
    /// Performs an action; the reply follows once it is settled, or can only be settled by a
    /// person.
    Act(Asked, oneshot::Sender<Reply>),
    /// Settles an intent as a person decides; the reply follows once that is durable.
    Resolve(Resolving, oneshot::Sender<Reply>),
    /// Approves the plan; the reply follows once it is durable.
    ApprovePlan(ApprovingPlan, oneshot::Sender<Reply>),
    /// Approves the plan by a signed commit; the reply follows once it is durable.
    ApproveSigned(Signing, oneshot::Sender<Reply>),
    /// Suspends or resumes a resource in the name of this actor; the reply follows once it is
    /// durable.
    Pause(Pause, String, oneshot::Sender<Reply>),
    /// Allows removals in the name of this actor; the reply follows once it is durable.
    Allow(Allowing, String, oneshot::Sender<Reply>),
    /// Records that nothing was sent for these resources since the backup, or what was (no
    /// resources: for any); the reply follows once it is durable.
    Release(Releasing, String, oneshot::Sender<Reply>),
    /// Imports an object in the name of this actor; the reply follows once it is durable.
    Import(Adopting, String, oneshot::Sender<Reply>),
    /// Lists a merchant's objects; the reply follows once they were read.
    Inventory(Inventory, oneshot::Sender<Reply>),
    /// Passes a read on to the service; nothing is written.
    Show(Showing, oneshot::Sender<Reply>),
    /// Forgets a resource or an object in the name of this actor; the reply follows once it is
    /// durable.
    Forget(Forgetting, String, oneshot::Sender<Reply>),
    /// Reads lists of events again; the reply follows once they were read.
    Recover(Recovering, oneshot::Sender<Reply>),
    /// Acknowledges an event's failed hooks; the reply follows once that is durable.
    Dismiss(String, String, oneshot::Sender<Reply>),
    /// Acknowledges an object that was made again, for this reason; the reply follows once that is
    /// durable.
    DismissOrphan((IntentId, String), String, oneshot::Sender<Reply>),
    /// Forgets an absent script in the name of this actor.
    ForgetScript(String, String, oneshot::Sender<Reply>),
    /// Rotates addresses; the reply follows once it is durable.
    Rotate(Rotating, String, oneshot::Sender<Reply>),
    /// Compacts the state, with or without its history; the reply is the result.
    Compact(bool, String, oneshot::Sender<Reply>),
    /// Changes the state's key to the one in this file, or to a new one; the reply follows once
    /// that is durable.
    Rekey(Option<PathBuf>, String, oneshot::Sender<Reply>),
    /// Ends the run, once the answers to the calls under way are recorded.
    Stop,
}
