//! Journal records: the one list of all kinds.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::events::event::{ForgedWebhook, Polled, ReceivedWebhook, VerifiedEvent};
use super::events::hook_run::{
    ActionResult, CursorAdvanced, HookRunRecord, HooksAcknowledged, HooksReplayed,
    NotificationAttempt,
};
use super::events::known_scripts::{ScriptForgotten, ScriptsLoaded};
use super::events::partner_webhook::PartnerWebhook;
use super::intents::intent::{Intent, IntentProgress, OrphanDismissed};
use super::operator::live_binding::BindingApproval;
use super::operator::plan_approval::PlanApproval;
use super::operator::plan_use::PlanUse;
use super::operator::rotation::RotationRecord;
use super::operator::suspension::Suspension;
use super::operator::token_attachment::TokenAttachment;
use super::plans::missing_document::{MissingDocumentRecord, MovedRecord};
use super::state::adoption::{Adoption, Disowned, Forgotten, UnknownObjectsFound};
use super::state::compaction::Compacted;
use super::state::epoch::{Release, Restored};
use super::state::observed::Observation;
use super::state::refused_credentials::CredentialsRefused;
use super::state::retention::{EventsDropped, Lapsed};
use crate::base::id::{IntentId, Key};

/// The body of one journal record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The first record: the owner of the state (design.md part 2).
    #[serde(rename = "bound")]
    StateOwner(StateOwner),
    /// The intent of one effect.
    Intent(Box<Intent>),
    /// A change of an intent's state.
    Progress { intent: IntentId, at: DateTime<Utc>, progress: IntentProgress },
    /// A person's decision on the settlement of an intent; the next record holds its consequence.
    Resolved {
        intent: IntentId,
        at: DateTime<Utc>,
        actor: String,
        /// The decision: `done`, `not-done` or `retry`.
        #[serde(rename = "said")]
        decision: String,
    },
    /// A fact that did not come from an effect.
    Observation(Box<Observation>),
    /// A partner webhook, stored before it was answered.
    #[serde(rename = "inbox")]
    PartnerWebhook(Box<PartnerWebhook>),
    /// A webhook to the address of a merchant's events, stored before it was answered.
    #[serde(rename = "posted")]
    WebhookReceived(Box<ReceivedWebhook>),
    /// An event as the service shows it.
    #[serde(rename = "told")]
    EventVerified(Box<VerifiedEvent>),
    /// The service does not have a posted event.
    Forged(Box<ForgedWebhook>),
    /// The hooks of an event were run: all their action requests.
    #[serde(rename = "ran")]
    HooksRun(Box<HookRunRecord>),
    /// Some events match no hook.
    #[serde(rename = "passed")]
    CursorAdvanced(Box<CursorAdvanced>),
    /// The outcome of an action that a hook requested.
    #[serde(rename = "granted")]
    ActionSettled(Box<ActionResult>),
    /// The delivery of a notification starts, or failed for certain.
    #[serde(rename = "telling")]
    NotificationAttempt(Box<NotificationAttempt>),
    /// A person requested another run of hooks that failed for good.
    Replayed(Box<HooksReplayed>),
    /// Every event of a merchant up to some moment is known.
    Polled(Box<Polled>),
    /// An operator's statement that a merchant's remote objects are not ours: `init
    /// --empty-remote`.
    EmptyRemote { at: DateTime<Utc>, actor: String },
    /// A resource is put on hold, not by an intent.
    #[serde(rename = "hold")]
    OnHold { key: Key, reason: String, at: DateTime<Utc> },
    /// A person approved a live binding: `approve`.
    Approval(Box<BindingApproval>),
    /// A person approved a plan: `approve CHECKSUM`.
    PlanApproval(Box<PlanApproval>),
    /// The service refuses the credentials of a merchant.
    Unauthorised(Box<CredentialsRefused>),
    /// A saved plan is used: `apply PLANFILE`.
    PlanUsed(Box<PlanUse>),
    /// A resource is suspended: `suspend`.
    Suspended(Box<Suspension>),
    /// A resource is resumed: `resume`.
    Resumed { key: Key, actor: String, at: DateTime<Utc> },
    /// A document is missing or back, or its removal is permitted.
    #[serde(rename = "absence")]
    MissingDocument(Box<MissingDocumentRecord>),
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
    #[serde(rename = "strays")]
    UnknownObjects(Box<UnknownObjectsFound>),
    /// A one-time token was supplied for a saved method: by a payer's page, or `attach`.
    #[serde(rename = "attached")]
    TokenAttached(Box<TokenAttachment>),
    /// A person acknowledged the outcomes of an event's hooks: `events dead --forget`.
    #[serde(rename = "dismissed")]
    HooksAcknowledged(Box<HooksAcknowledged>),
    /// The set of scripts in use changed.
    #[serde(rename = "loaded")]
    ScriptsLoaded(Box<ScriptsLoaded>),
    /// An absent script was forgotten: `hooks forget`.
    ScriptForgotten(Box<ScriptForgotten>),
    /// A person handled a possible orphan: `intents dismiss`.
    #[serde(rename = "orphan_seen")]
    OrphanDismissed(Box<OrphanDismissed>),
    /// Settled events older than the horizon are dropped.
    #[serde(rename = "retained")]
    EventsDropped(Box<EventsDropped>),
    /// A webhook named an event from before the horizon.
    Lapsed(Box<Lapsed>),
    /// Webhook addresses are rotated: `events urls --rotate`.
    Rotated(Box<RotationRecord>),
    /// The state's key was exchanged: `store rekey`.
    Rekeyed(Box<Rekeyed>),
}

impl Record {
    /// Returns whether this record, once durable, lets something leave the process or stops its
    /// repetition by the service: an effect, a notification, the answer to a partner webhook.
    pub fn is_outgoing(&self) -> bool {
        matches!(
            self,
            Self::Intent(_)
                | Self::Progress { progress: IntentProgress::Resent, .. }
                | Self::NotificationAttempt(_)
                | Self::PartnerWebhook(_)
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
pub struct StateOwner {
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
