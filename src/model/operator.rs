//! Orders of people: suspensions, selections, approvals, and rotations of webhook addresses.
//!
//! An approval is of a plan that exceeds limits. It names the plan's checksum, its sums, and every
//! step with its amounts. It is valid for these steps and these amounts or less, once each, and for
//! nothing else (`policy/permission.rs`). A saved plan is applied once, too.
//!
//! A webhook address is derived from the state's key and from its generation. During a rotation the
//! newest address and the one before are both valid. So no webhook is lost.

use std::path::Path;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::base::id::{IntentId, Key, Mode};
use crate::base::money::Money;
use crate::model::effect::SpendRequest;

/// The longest reason, in characters: every list shows it.
pub const REASON_LENGTH_MAX: usize = 500;

/// Returns a reason without the white space around it; `None` if it is empty or too long.
pub fn reason_of(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && text.chars().count() <= REASON_LENGTH_MAX).then(|| text.to_owned())
}

/// Suspends a resource, or all of a merchant. Nothing new is sent; effects in progress are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, derive_more::Display)]
#[display(
    "{} was suspended by {actor} at {}{}: {reason}",
    key.short(), timestamp(at),
    until.map(|until| format!(" until {}", timestamp(&until))).unwrap_or_default()
)]
pub struct Suspension {
    pub key: Key,
    pub reason: String,
    pub actor: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    pub at: DateTime<Utc>,
}

impl Suspension {
    pub fn is_in_force(&self, now: DateTime<Utc>) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionRequest {
    Suspend { key: Key, reason: String, until: Option<DateTime<Utc>> },
    Resume { key: Key },
}

impl SuspensionRequest {
    pub fn key(&self) -> &Key {
        match self {
            Self::Suspend { key, reason: _, until: _ } | Self::Resume { key } => key,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionResult {
    Suspended(Suspension),
    Resumed { key: Key, still: Option<RemainingSuspension> },
    NotSuspended { key: Key, still: Option<RemainingSuspension> },
    Unknown { key: Key, nearest: Option<String> },
}

/// Cause that suspends a resource without a command of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemainingSuspension {
    /// `reckon.dev/suspend` in its document, at this file and line.
    Document(String, usize),
    Merchant(Key),
}

/// The selection of path arguments, `--target` and `--exclude`. The whole tree is read in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepSelection {
    /// Files and folders, relative to the folder of `reckon.yaml`.
    pub paths: Vec<String>,
    pub target: Vec<Key>,
    /// Excluded resources; exclusion overrides every choice.
    pub exclude: Vec<Key>,
}

impl StepSelection {
    pub fn is_everything(&self) -> bool {
        let Self { paths, target, exclude } = self;
        paths.is_empty() && target.is_empty() && exclude.is_empty()
    }

    pub fn contains(&self, key: &Key, file: Option<&str>) -> bool {
        let Self { paths, target, exclude } = self;
        if exclude.contains(key) {
            return false;
        }
        let file = Path::new(file.unwrap_or_default());
        let everything = paths.is_empty() && target.is_empty();
        everything || target.contains(key) || paths.iter().any(|path| file.starts_with(path))
    }

    pub fn names(&self) -> impl Iterator<Item = &Key> {
        self.target.iter().chain(&self.exclude)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    pub mode: Mode,
    pub meaning: String,
    pub amount: Money,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanApproval {
    pub id: String,
    pub checksum: String,
    pub ceilings: Vec<Ceiling>,
    pub steps: Vec<SpendRequest>,
    pub actor: String,
    pub at: DateTime<Utc>,
    /// The signed commit that contains the approval, where it was no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Box<ApprovalSignature>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalSignature {
    /// The approval's file, from the top of the repository.
    pub file: String,
    pub commit: String,
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}

/// An approval as the fold holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredApproval {
    pub approval: PlanApproval,
    /// The steps that were done under it, each with its intent: an approval is used once.
    pub used: Vec<(Key, IntentId)>,
}

impl PlanApproval {
    pub fn is_from(&self, file: &str, commit: &str) -> bool {
        self.signed.as_ref().is_some_and(|signed| signed.file == file && signed.commit == commit)
    }
}

impl StoredApproval {
    pub fn is_used_for(&self, key: &Key) -> bool {
        self.used.iter().any(|(used, _)| used == key)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanUse {
    pub plan: String,
    /// The consumed token: no plan with this token is applied again.
    pub token: String,
    pub checksum: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[derive(derive_more::Display)]
#[serde(rename_all = "snake_case")]
pub enum WebhookAddress {
    #[display("the Event URL")]
    Partner,
    #[display("the address of {}", _0.short())]
    Merchant(Key),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The newest one; addresses begin with 0.
    pub generation: u32,
    /// Beginning of the present rotation: until it is finished the generation before is valid, too.
    #[serde(rename = "unfinished")]
    pub began: Option<DateTime<Utc>>,
}

impl Rotation {
    pub fn previous(&self) -> Option<u32> {
        self.began.and_then(|_| self.generation.checked_sub(1))
    }

    pub fn is_valid(&self, generation: u32) -> bool {
        generation == self.generation || self.previous() == Some(generation)
    }

    /// Returns the state after a step. A rotation in progress is not begun again: that would end
    /// the address that the service knows.
    #[must_use]
    pub fn after(self, step: RotationStep, at: DateTime<Utc>) -> Self {
        let next = self.generation.saturating_add(1);
        match step {
            RotationStep::Begun if self.began.is_some() => self,
            RotationStep::Begun => Self { generation: next, began: Some(at) },
            RotationStep::Finished => Self { began: None, ..self },
            RotationStep::AtOnce => Self { generation: next, began: None },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RotationStep {
    /// There is a new address, and the one before stays valid.
    Begun,
    Finished,
    /// Both in one step: an outsider knows the address.
    AtOnce,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationRequest {
    /// The merchant whose address is meant; `None`: all addresses.
    pub merchant: Option<Key>,
    pub step: RotationStep,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationRecord {
    pub addresses: Vec<WebhookAddress>,
    pub step: RotationStep,
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_left_out_whatever_chose_it() {
        let keys = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
        let scope = |paths: &[&str], target: &[&str], exclude: &[&str]| StepSelection {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            target: keys(target),
            exclude: keys(exclude),
        };
        let jane: Key = "Contact/jane".parse().unwrap();
        let takes = |scope: &StepSelection| scope.contains(&jane, Some("specs/team/jane.yaml"));
        assert!(StepSelection::default().is_everything() && takes(&StepSelection::default()));
        assert!(takes(&scope(&["specs/team"], &[], &[])));
        assert!(!takes(&scope(&["specs/te"], &[], &[])), "a folder is no prefix of a text");
        assert!(takes(&scope(&["specs/other"], &["Contact/jane"], &[])));
        assert!(!takes(&scope(&[], &["Contact/june"], &[])));
        assert!(!takes(&scope(&["specs"], &["Contact/jane"], &["Contact/jane"])));
        assert!(takes(&scope(&[], &[], &["Contact/june"])));
    }

    #[test]
    fn two_generations_are_good_while_an_address_is_exchanged_and_one_before_and_after() {
        let at = DateTime::UNIX_EPOCH;
        let good =
            |one: &Rotation| (0..4).filter(|number| one.is_valid(*number)).collect::<Vec<_>>();
        let first = Rotation::default();
        assert_eq!(good(&first), [0]);
        let begun = first.after(RotationStep::Begun, at);
        assert_eq!(good(&begun), [0, 1]);
        assert_eq!(begun.after(RotationStep::Begun, at), begun, "the one in use does not end");
        let finished = begun.after(RotationStep::Finished, at);
        assert_eq!(good(&finished), [1]);
        assert_eq!(good(&finished.after(RotationStep::Begun, at)), [1, 2]);
        assert_eq!(good(&begun.after(RotationStep::AtOnce, at)), [2]);
    }
}
