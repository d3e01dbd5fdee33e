//! Journal records: the one list of all kinds.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::{IntentId, Key};
use crate::model::alerts::{AlertRecord, AlertStep};
use crate::model::events::event::{
    ForgedWebhook, PartnerWebhook, Polled, ReceivedWebhook, VerifiedEvent,
};
use crate::model::events::hook_run::{
    ActionResult, CursorAdvanced, HookRunRecord, HooksAcknowledged, HooksReplayed,
    NotificationAttempt,
};
use crate::model::events::replay::ReplayRequest;
use crate::model::events::scripts::{ScriptForgotten, ScriptsLoaded};
use crate::model::holds::{Freeze, SyncGrant, Thaw};
use crate::model::intent::{Intent, IntentProgress, OrphanDismissed};
use crate::model::operator::{PlanApproval, PlanUse, RotationRecord, Suspension};
use crate::model::state::credentials::{BindingApproval, CredentialsRefused};
use crate::model::state::drift::{Adoption, Disowned, Forgotten};
use crate::model::state::lifecycle::{Compacted, EventsDropped, Lapsed, Release, Restored};
use crate::model::state::observed::Observation;
use crate::model::state::orphan::{MissingDocumentRecord, MovedRecord, UnknownObjectsFound};
use crate::model::state::token_attachment::TokenAttachment;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The first record: the owner of the state (design.md part 2).
    #[serde(rename = "bound")]
    StateOwner(StateOwner),
    Intent(Box<Intent>),
    Progress {
        intent: IntentId,
        at: DateTime<Utc>,
        progress: IntentProgress,
    },
    /// A person's decision; the next record holds its consequence.
    Resolved {
        intent: IntentId,
        at: DateTime<Utc>,
        actor: String,
        /// `done`, `not-done` or `retry`.
        #[serde(rename = "said")]
        decision: String,
    },
    /// A fact that did not come from an effect.
    Observation(Box<Observation>),
    #[serde(rename = "inbox")]
    PartnerWebhook(Box<PartnerWebhook>),
    #[serde(rename = "posted")]
    WebhookReceived(Box<ReceivedWebhook>),
    #[serde(rename = "told")]
    EventVerified(Box<VerifiedEvent>),
    Forged(Box<ForgedWebhook>),
    #[serde(rename = "ran")]
    HooksRun(Box<HookRunRecord>),
    /// Some events match no hook.
    #[serde(rename = "passed")]
    CursorAdvanced(Box<CursorAdvanced>),
    #[serde(rename = "granted")]
    ActionSettled(Box<ActionResult>),
    #[serde(rename = "telling")]
    NotificationAttempt(Box<NotificationAttempt>),
    Replayed(Box<HooksReplayed>),
    /// A person requested runs of a script for the events of a period: `events replay --since`.
    ReplayRequested(Box<ReplayRequest>),
    Polled(Box<Polled>),
    /// A merchant's remote objects are declared not ours: `init --empty-remote`.
    EmptyRemote {
        at: DateTime<Utc>,
        actor: String,
    },
    /// A resource is put on hold, not by an intent.
    #[serde(rename = "hold")]
    OnHold {
        key: Key,
        reason: String,
        at: DateTime<Utc>,
    },
    Approval(Box<BindingApproval>),
    PlanApproval(Box<PlanApproval>),
    Unauthorised(Box<CredentialsRefused>),
    PlanUsed(Box<PlanUse>),
    Suspended(Box<Suspension>),
    Resumed {
        key: Key,
        actor: String,
        at: DateTime<Utc>,
    },
    #[serde(rename = "absence")]
    MissingDocument(Box<MissingDocumentRecord>),
    Moved(Box<MovedRecord>),
    /// A backup was restored: `store restore`. A new epoch begins.
    Restored(Box<Restored>),
    /// A snapshot replaced the records before it: `store compact`.
    Compacted(Box<Compacted>),
    /// A person's statement that nothing was sent since the backup: `store release`.
    Released(Box<Release>),
    Adopted(Box<Adoption>),
    Forgotten(Box<Forgotten>),
    /// An object with a mark of ours is disowned: `forget ID`.
    Disowned(Box<Disowned>),
    #[serde(rename = "strays")]
    UnknownObjects(Box<UnknownObjectsFound>),
    /// A one-time token was supplied for a saved method: by a payer's page, or `attach`.
    #[serde(rename = "attached")]
    TokenAttached(Box<TokenAttachment>),
    /// A person acknowledged the outcomes of an event's hooks: `events failed --ack`.
    #[serde(rename = "dismissed")]
    HooksAcknowledged(Box<HooksAcknowledged>),
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
    Lapsed(Box<Lapsed>),
    /// Webhook addresses are rotated: `events urls --rotate`.
    Rotated(Box<RotationRecord>),
    /// The state's key was exchanged: `store rekey`.
    Rekeyed(Box<Rekeyed>),
    /// A person stops every change at the service: `freeze`.
    Frozen(Box<Freeze>),
    Thawed(Box<Thaw>),
    /// A person lets a manual daemon make the service match these documents: `sync`.
    Synced(Box<SyncGrant>),
    /// A step of the alerts to a target of `notify`.
    Alert(Box<AlertRecord>),
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
        ) || self.is_alert_message()
    }

    fn is_alert_message(&self) -> bool {
        matches!(self, Self::Alert(one) if matches!(one.step, AlertStep::Sending { .. }))
    }

    pub fn time(&self) -> Option<DateTime<Utc>> {
        Some(match self {
            Self::Intent(one) => one.at,
            Self::Progress { at, .. }
            | Self::Resolved { at, .. }
            | Self::OnHold { at, .. }
            | Self::EmptyRemote { at, .. }
            | Self::Resumed { at, .. } => *at,
            Self::Observation(one) => one.at,
            Self::PartnerWebhook(one) => one.at,
            Self::WebhookReceived(one) => one.at,
            Self::EventVerified(one) => one.at,
            Self::Forged(one) => one.at,
            Self::HooksRun(one) => one.at,
            Self::ActionSettled(one) => one.at,
            Self::NotificationAttempt(one) => one.at,
            Self::Replayed(one) => one.at,
            Self::ReplayRequested(one) => one.at,
            Self::Polled(one) => one.at,
            Self::Approval(one) => one.at,
            Self::PlanApproval(one) => one.at,
            Self::PlanUsed(one) => one.at,
            Self::Suspended(one) => one.at,
            Self::MissingDocument(one) => one.change.time(),
            Self::Moved(one) => one.at,
            Self::Restored(one) => one.at,
            Self::Compacted(one) => one.at,
            Self::Released(one) => one.at,
            Self::Forgotten(one) => one.at,
            Self::Disowned(one) => one.at,
            Self::UnknownObjects(one) => one.at,
            Self::TokenAttached(one) => one.at,
            Self::HooksAcknowledged(one) => one.at,
            Self::ScriptsLoaded(one) => one.at,
            Self::ScriptForgotten(one) => one.at,
            Self::OrphanDismissed(one) => one.at,
            Self::EventsDropped(one) => one.at,
            Self::Lapsed(one) => one.at,
            Self::Rotated(one) => one.at,
            Self::Rekeyed(one) => one.at,
            Self::Frozen(one) => one.at,
            Self::Thawed(one) => one.at,
            Self::Synced(one) => one.at,
            Self::Alert(one) => one.at,
            Self::Adopted(one) => one.fact.at,
            Self::StateOwner(_) | Self::CursorAdvanced(_) | Self::Unauthorised(_) => return None,
        })
    }

    /// Returns the named resources; a record that names an intent alone concerns that one's.
    pub fn subjects(&self) -> Vec<&Key> {
        match self {
            Self::Intent(one) => vec![&one.key],
            Self::Observation(one) => vec![&one.key],
            Self::OnHold { key, .. } | Self::Resumed { key, .. } => vec![key],
            Self::Approval(one) => vec![&one.binding.merchant],
            Self::Released(one) => one.keys.iter().collect(),
            Self::PlanApproval(one) => one.steps.iter().map(|step| &step.key).collect(),
            Self::Unauthorised(one) => vec![&one.merchant],
            Self::Suspended(one) => vec![&one.key],
            Self::MissingDocument(one) => vec![&one.key],
            Self::Moved(one) => vec![&one.from, &one.to],
            Self::Adopted(one) => vec![&one.fact.key],
            Self::Forgotten(one) => vec![&one.key],
            Self::Disowned(one) => vec![&one.key],
            Self::UnknownObjects(one) => vec![&one.key],
            Self::EventVerified(one) => one.resources.iter().collect(),
            Self::TokenAttached(one) => vec![&one.key],
            Self::OrphanDismissed(one) => vec![&one.key],
            Self::Progress { .. }
            | Self::Resolved { .. }
            | Self::StateOwner(_)
            | Self::PartnerWebhook(_)
            | Self::WebhookReceived(_)
            | Self::Forged(_)
            | Self::Polled(_)
            | Self::HooksRun(_)
            | Self::CursorAdvanced(_)
            | Self::ActionSettled(_)
            | Self::NotificationAttempt(_)
            | Self::Replayed(_)
            | Self::ReplayRequested(_)
            | Self::Rotated(_)
            | Self::Rekeyed(_)
            | Self::Frozen(_)
            | Self::Thawed(_)
            | Self::Synced(_)
            | Self::Alert(_)
            | Self::EventsDropped(_)
            | Self::Lapsed(_)
            | Self::HooksAcknowledged(_)
            | Self::ScriptsLoaded(_)
            | Self::ScriptForgotten(_)
            | Self::EmptyRemote { .. }
            | Self::PlanUsed(_)
            | Self::Compacted(_)
            | Self::Restored(_) => Vec::new(),
        }
    }

    pub fn observation(&self) -> Option<&Observation> {
        if let Self::Observation(fact) = self {
            return Some(fact);
        }
        if let Self::Adopted(adoption) = self {
            return Some(&adoption.fact);
        }
        if let Self::Progress { progress, .. } = self { progress.observation() } else { None }
    }

    pub fn intent_id(&self) -> Option<IntentId> {
        if let Self::Intent(intent) = self {
            return Some(intent.id);
        }
        if let Self::Progress { intent, .. } | Self::Resolved { intent, .. } = self {
            return Some(*intent);
        }
        None
    }
}

/// An exchange of the state's key; holds nothing of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rekeyed {
    /// The first exchange is 1.
    pub generation: u32,
    pub at: DateTime<Utc>,
    pub actor: String,
}

/// The owner of a journal's state: a mismatch is exit 4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateOwner {
    pub partner: String,
    /// The partner application's client id, as a keyed digest.
    pub client: String,
    /// The fingerprint of the state's first key: it stays when the key is exchanged.
    pub key: String,
    /// Incremented by every restore.
    pub epoch: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<DateTime<Utc>>,
}
