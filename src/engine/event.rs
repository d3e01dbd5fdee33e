//! Everything that wakes the engine.

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

/// What wakes the engine.
#[derive(Debug)]
pub enum Event {
    /// Files may have changed; an empty list means: look at the whole tree.
    Files(Vec<PathBuf>),
    /// Someone asks; the answer goes back over the channel.
    Ask(Question, oneshot::Sender<Reply>),
    /// Read every file's content again, whatever its size and time say, and answer with the plan.
    Verify(oneshot::Sender<Reply>),
    /// Look at everything that the service shows, and answer with the plan.
    Refresh(oneshot::Sender<Reply>),
    /// The service told something; the sender hears once it is durable.
    Notice(Notice, oneshot::Sender<()>),
    /// The folder of scripts was read.
    Scripts(Box<Found>),
    /// A person wants the hooks of this event run again that failed for good; the sender hears once that is durable.
    Replay(String, String, oneshot::Sender<Reply>),
    /// The runs of a script are on disk, and these actions are new; other scripts of the merchant still run.
    Wished(Vec<Scheduled>),
    /// Something was posted to the addresses of merchants' events, and is on disk.
    Posted,
    /// An applicant clicks on the link of this application; the sender hears where to go.
    Visit(Key, oneshot::Sender<Page>),
    /// A payer opens a link, or a token is brought for a saved method.
    Payer(Payer),
    /// A person approves a live binding; the sender hears once it is durable.
    Approve(Approving, oneshot::Sender<Reply>),
    /// A person asks for a change; the sender hears once it is settled, or can only be settled by someone.
    Act(Asked, oneshot::Sender<Reply>),
    /// A person says how an intent is to be settled; the sender hears once that is durable.
    Resolve(Resolving, oneshot::Sender<Reply>),
    /// A person approves the plan; the sender hears once it is durable.
    ApprovePlan(ApprovingPlan, oneshot::Sender<Reply>),
    /// A signed commit approves the plan; the sender hears once it is durable.
    ApproveSigned(Signing, oneshot::Sender<Reply>),
    /// A person suspends or resumes something, by this name; the sender hears once it is durable.
    Pause(Pause, String, oneshot::Sender<Reply>),
    /// A person says that removals are meant; the sender hears once it is durable.
    Allow(Allowing, String, oneshot::Sender<Reply>),
    /// A person says that nothing was sent for these since the backup (none: for any); the sender hears once it is durable.
    Release(Releasing, String, oneshot::Sender<Reply>),
    /// A person takes an object over, by this name; the sender hears once it is durable.
    Import(Adopting, String, oneshot::Sender<Reply>),
    /// What a merchant has, object by object; the sender hears once it was read.
    Inventory(Inventory, oneshot::Sender<Reply>),
    /// What the service answers to a read; nothing is written down.
    Show(Showing, oneshot::Sender<Reply>),
    /// A person lets something go, by this name; the sender hears once it is durable.
    Forget(Forgetting, String, oneshot::Sender<Reply>),
    /// A person wants lists of events read again; the sender hears once they were.
    Recover(Recovering, oneshot::Sender<Reply>),
    /// A person has seen what became of the hooks of an event; the sender hears once that is durable.
    Dismiss(String, String, oneshot::Sender<Reply>),
    /// A person has looked after what was made again, for this reason; the sender hears once that is durable.
    DismissOrphan((IntentId, String), String, oneshot::Sender<Reply>),
    /// An absent script is let go, by this actor.
    ForgetScript(String, String, oneshot::Sender<Reply>),
    /// A person exchanges addresses; the sender hears once it is durable.
    Rotate(Rotating, String, oneshot::Sender<Reply>),
    /// A person wants the state compacted, its history dropped or not; the sender hears what it did.
    Compact(bool, String, oneshot::Sender<Reply>),
    /// A person wants the key of the state exchanged, for the one in this file or a new one; the answer comes once that is
    /// durable.
    Rekey(Option<PathBuf>, String, oneshot::Sender<Reply>),
    /// End, once the calls under way have their answers written down.
    Stop,
}
