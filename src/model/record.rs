//! Journal records: the one list of all kinds.

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
    /// The first record: the owner of the state (design.md part 2).
    Bound(Binding),
    /// The intent of one effect.
    Intent(Box<Intent>),
    /// A change of an intent's state.
    Progress { intent: IntentId, at: DateTime<Utc>, progress: Progress },
    /// A person's decision on the settlement of an intent; the next record holds its consequence.
    Resolved {
        intent: IntentId,
        at: DateTime<Utc>,
        actor: String,
        /// The decision: `done`, `not-done` or `retry`.
        said: String,
    },
    /// A fact that did not come from an effect.
    Observation(Box<Observation>),
    /// A partner webhook, stored before it was answered.
    Inbox(Box<InboxEvent>),
    /// A webhook to the address of a merchant's events, stored before it was answered.
    Posted(Box<Posted>),
    /// An event as the service shows it.
    Told(Box<Told>),
    /// The service does not have a posted event.
    Forged(Box<Forged>),
    /// The hooks of an event were run: all their action requests.
    Ran(Box<Ran>),
    /// Some events match no hook.
    Passed(Box<Passed>),
    /// The outcome of an action that a hook requested.
    Granted(Box<Granted>),
    /// The delivery of a notification starts, or failed for certain.
    Telling(Box<Telling>),
    /// A person requested another run of hooks that failed for good.
    Replayed(Box<Replayed>),
    /// Every event of a merchant up to some moment is known.
    Polled(Box<Polled>),
    /// An operator's statement that a merchant's remote objects are not ours: `init
    /// --empty-remote`.
    EmptyRemote { at: DateTime<Utc>, actor: String },
    /// A resource is put on hold, not by an intent.
    Hold { key: Key, reason: String, at: DateTime<Utc> },
    /// A person approved a live binding: `approve`.
    Approval(Box<Approval>),
    /// A person approved a plan: `approve CHECKSUM`.
    PlanApproval(Box<PlanApproval>),
    /// The service refuses the credentials of a merchant.
    Unauthorised(Box<Refused>),
    /// A saved plan is used: `apply PLANFILE`.
    PlanUsed(Box<PlanUse>),
    /// A resource is suspended: `suspend`.
    Suspended(Box<Suspension>),
    /// A resource is resumed: `resume`.
    Resumed { key: Key, actor: String, at: DateTime<Utc> },
    /// A document is missing or back, or its removal is permitted.
    Absence(Box<AbsenceRecord>),
    /// A document took over the known facts of another name.
    Moved(Box<MovedRecord>),
    /// A backup was restored: `store restore`. A new epoch begins.
    Restored(Box<Restored>),
    /// A snapshot replaced the records before it: `store compact`.
    Compacted(Box<Compacted>),
    /// A person's statement that nothing was sent since the backup: `store release`.
    Released(Box<Release>),
    /// A person adopted an object: `import`.
    Adopted(Box<Adoption>),
    /// A resource is no longer managed: `forget`.
    Forgotten(Box<Forgotten>),
    /// An object with a mark of ours is disowned: `forget ID`.
    Disowned(Box<Disowned>),
    /// Unknown objects with marks of ours were found.
    Strays(Box<StraysFound>),
    /// A one-time token was supplied for a saved method: by a payer's page, or `attach`.
    Attached(Box<Attachment>),
    /// A person acknowledged the outcomes of an event's hooks: `events dead --forget`.
    Dismissed(Box<Dismissed>),
    /// The set of scripts in use changed.
    Loaded(Box<Loaded>),
    /// An absent script was forgotten: `hooks forget`.
    ScriptForgotten(Box<ScriptForgotten>),
    /// A person handled a possible orphan: `intents dismiss`.
    OrphanSeen(Box<OrphanSeen>),
    /// Settled events older than the horizon are dropped.
    Retained(Box<Retained>),
    /// A webhook named an event from before the horizon.
    Lapsed(Box<Lapsed>),
    /// Webhook addresses are rotated: `events urls --rotate`.
    Rotated(Box<Rotated>),
    /// The state's key was exchanged: `store rekey`.
    Rekeyed(Box<Rekeyed>),
}

impl Record {
    /// Returns whether this record, once durable, lets something leave the process or stops its
    /// repetition by the service: an effect, a notification, the answer to a partner webhook.
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

/// An exchange of the state's key; holds nothing of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rekeyed {
    /// The first exchange is 1.
    pub generation: u32,
    pub at: DateTime<Utc>,
    pub actor: String,
}

/// The owner of a journal's state: a mismatch is exit 4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The value of `partner.name`.
    pub partner: String,
    /// The partner application's client id, as a keyed digest.
    pub client: String,
    /// The fingerprint of the state's first key: it stays when the key is exchanged.
    pub key: String,
    /// Incremented by every restore.
    pub epoch: u32,
    /// Beginning of the state; `None` in older states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<DateTime<Utc>>,
}
