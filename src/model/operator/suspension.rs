//! Suspensions (a person's order that no new effect is done for a resource for a while), and the
//! selection of steps for one command: by file, by name, and by exclusion.

use std::fmt;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::base::id::Key;

/// The longest reason, in characters: every list shows it.
pub const REASON_LENGTH_MAX: usize = 500;

/// Suspension of a resource; of a merchant: of all its resources. Nothing new is sent; effects in
/// progress are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    pub key: Key,
    pub reason: String,
    pub actor: String,
    /// End of the suspension; `None`: until a person resumes the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Beginning of the suspension.
    pub at: DateTime<Utc>,
}

impl Suspension {
    /// Returns whether it is in force at this time.
    pub fn is_in_force(&self, now: DateTime<Utc>) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl fmt::Display for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, reason, actor, until, at } = self;
        let (name, since) = (key.short(), timestamp(at));
        write!(f, "{name} was suspended by {actor} at {since}")?;
        if let Some(until) = until {
            write!(f, " until {}", timestamp(until))?;
        }
        write!(f, ": {reason}")
    }
}

/// A person's request to suspend or resume a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionRequest {
    /// Suspend the resource.
    Suspend { key: Key, reason: String, until: Option<DateTime<Utc>> },
    /// Resume the resource.
    Resume { key: Key },
}

impl SuspensionRequest {
    pub fn key(&self) -> &Key {
        match self {
            Self::Suspend { key, reason: _, until: _ } | Self::Resume { key } => key,
        }
    }
}

/// Result of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionResult {
    /// The resource is suspended.
    Suspended(Suspension),
    /// The resource is resumed, unless another cause still suspends it.
    Resumed {
        key: Key,
        /// The cause that still suspends it.
        still: Option<RemainingSuspension>,
    },
    /// The resource was not suspended by a command.
    NotSuspended {
        key: Key,
        /// The cause that suspends it.
        still: Option<RemainingSuspension>,
    },
    /// No resource has this name.
    Unknown {
        key: Key,
        /// The most similar name.
        nearest: Option<String>,
    },
}

/// Cause that suspends a resource without a command of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemainingSuspension {
    /// `reckon.dev/suspend` in its document, at this file and line.
    Document(String, usize),
    /// Its merchant is suspended.
    Merchant(Key),
}

/// The selection of path arguments, `--target` and `--exclude`. The whole tree is read in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSelection {
    /// Files and folders, relative to the folder of `reckon.yaml`.
    pub paths: Vec<String>,
    /// Resources that are chosen by name.
    pub target: Vec<Key>,
    /// Excluded resources; exclusion overrides every choice.
    pub exclude: Vec<Key>,
}

impl StepSelection {
    /// Returns whether everything is chosen.
    pub fn is_everything(&self) -> bool {
        let Self { paths, target, exclude } = self;
        paths.is_empty() && target.is_empty() && exclude.is_empty()
    }

    /// Returns whether the selection contains this resource, whose document is in this file.
    pub fn contains(&self, key: &Key, file: Option<&str>) -> bool {
        let Self { paths, target, exclude } = self;
        if exclude.contains(key) {
            return false;
        }
        let file = Path::new(file.unwrap_or_default());
        let everything = paths.is_empty() && target.is_empty();
        everything || target.contains(key) || paths.iter().any(|path| file.starts_with(path))
    }

    /// Returns every resource that the selection names.
    pub fn names(&self) -> impl Iterator<Item = &Key> {
        self.target.iter().chain(&self.exclude)
    }
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
}
