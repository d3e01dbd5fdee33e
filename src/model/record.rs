//! What the journal holds: every kind of record there is.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::{IntentId, Key};
use crate::model::absence::{AbsenceRecord, MovedRecord};
use crate::model::adoption::{Adoption, Disowned, Forgotten, StraysFound};
use crate::model::attachment::Attachment;
use crate::model::bound::Approval;
use crate::model::compacted::Compacted;
use crate::model::epoch::{Release, Restored};
use crate::model::event::{Forged, Polled, Posted, Told};
use crate::model::inbox::InboxEvent;
use crate::model::intent::{Intent, OrphanSeen, Progress};
use crate::model::observed::Observation;
use crate::model::plan_approval::PlanApproval;
use crate::model::ran::{Dismissed, Granted, Passed, Ran, Replayed, Telling};
use crate::model::retained::{Lapsed, Retained};
use crate::model::roster::{Loaded, ScriptForgotten};
use crate::model::rotation::Rotated;
use crate::model::saved::PlanUse;
use crate::model::suspension::Suspension;
use crate::model::unauthorised::Refused;

/// The body of one journal record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The first record: whose state this is (design.md part 2).
    Bound(Binding),
    /// A promise of one effect.
    Intent(Box<Intent>),
    /// What became of it.
    Progress {
        /// The intent.
        intent: IntentId,
        /// When.
        at: DateTime<Utc>,
        /// What happened.
        progress: Progress,
    },
    /// A person said how an intent is to be settled; what follows from it is the next record.
    Resolved {
        /// The intent.
        intent: IntentId,
        /// When.
        at: DateTime<Utc>,
        /// Who said so.
        actor: String,
        /// What: `done`, `not-done` or `retry`.
        said: String,
    },
    /// A fact that did not come from an effect.
    Observation(Box<Observation>),
    /// A notification of the service, stored before it was answered.
    Inbox(Box<InboxEvent>),
    /// Something was posted to the address of a merchant's events, stored before it was answered.
    Posted(Box<Posted>),
    /// An event as the service shows it.
    Told(Box<Told>),
    /// The service does not have an event that was posted.
    Forged(Box<Forged>),
    /// The hooks of an event were run: all that they ask for.
    Ran(Box<Ran>),
    /// No hook is for some events.
    Passed(Box<Passed>),
    /// What became of an action that a hook asked for.
    Granted(Box<Granted>),
    /// A notification is being told, or was not after all.
    Telling(Box<Telling>),
    /// A person wants hooks run again that failed for good.
    Replayed(Box<Replayed>),
    /// Every event of a merchant up to some moment is known.
    Polled(Box<Polled>),
    /// An operator's word that a merchant's remote objects are not ours: `init --empty-remote`.
    EmptyRemote {
        /// When.
        at: DateTime<Utc>,
        /// Who said so.
        actor: String,
    },
    /// A resource is put on hold, not by an intent.
    Hold {
        /// The resource.
        key: Key,
        /// Why.
        reason: String,
        /// When.
        at: DateTime<Utc>,
    },
    /// A person approved a live binding: `approve`.
    Approval(Box<Approval>),
    /// A person approved a plan: `approve CHECKSUM`.
    PlanApproval(Box<PlanApproval>),
    /// The service takes the credentials of a merchant no more.
    Unauthorised(Box<Refused>),
    /// A saved plan is used: `apply PLANFILE`.
    PlanUsed(Box<PlanUse>),
    /// Nothing new is done to a resource: `suspend`.
    Suspended(Box<Suspension>),
    /// It goes on: `resume`.
    Resumed {
        /// The resource.
        key: Key,
        /// Who said so.
        actor: String,
        /// When.
        at: DateTime<Utc>,
    },
    /// A document is gone, is back, or its removal is meant.
    Absence(Box<AbsenceRecord>),
    /// A document took over what was known under another name.
    Moved(Box<MovedRecord>),
    /// A backup was restored: `store restore`. A new epoch begins.
    Restored(Box<Restored>),
    /// A snapshot took the place of the records before: `store compact`.
    Compacted(Box<Compacted>),
    /// A person's word that nothing was sent since the backup: `store release`.
    Released(Box<Release>),
    /// A person took an object over: `import`.
    Adopted(Box<Adoption>),
    /// A resource is managed no more: `forget`.
    Forgotten(Box<Forgotten>),
    /// An object with a mark of ours is nobody's: `forget ID`.
    Disowned(Box<Disowned>),
    /// Objects with marks of ours were found that are not known.
    Strays(Box<StraysFound>),
    /// A one-time token was brought for a saved method: a payer's page, or `attach`.
    Attached(Box<Attachment>),
    /// A person has seen what became of the hooks of an event: `events dead --forget`.
    Dismissed(Box<Dismissed>),
    /// Other scripts are in use.
    Loaded(Box<Loaded>),
    /// An absent script was let go: `hooks forget`.
    ScriptForgotten(Box<ScriptForgotten>),
    /// A person has looked after what was made again: `intents dismiss`.
    OrphanSeen(Box<OrphanSeen>),
    /// Events that are settled and older than the horizon are dropped.
    Retained(Box<Retained>),
    /// A post named an event from before the horizon.
    Lapsed(Box<Lapsed>),
    /// Addresses of ours are exchanged: `events urls --rotate`.
    Rotated(Box<Rotated>),
    /// The state's key was exchanged: `store rekey`.
    Rekeyed(Box<Rekeyed>),
}

impl Record {
    /// Whether something leaves the process once this is durable, or is not sent to it a second time: an effect, a
    /// notification, the answer to the partner's notification.
    pub fn leaves(&self) -> bool {
        matches!(
            self,
            Self::Intent(_)
                | Self::Progress { progress: Progress::Again, .. }
                | Self::Telling(_)
                | Self::Inbox(_)
        )
    }
}

/// An exchange of the state's key: nothing of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rekeyed {
    /// The first exchange is 1.
    pub generation: u32,
    /// The time of the exchange.
    pub at: DateTime<Utc>,
    /// The person who asked for it.
    pub actor: String,
}

/// Whose state a journal is: a mismatch is exit 4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// `partner.name`.
    pub partner: String,
    /// The partner application's client id, as a keyed digest.
    pub client: String,
    /// The fingerprint of the state's first key: it stays when the key is exchanged.
    pub key: String,
    /// Counted up by every restore.
    pub epoch: u32,
    /// When the state began; older states do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<DateTime<Utc>>,
}
