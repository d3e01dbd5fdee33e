//! Drift: changes of the service by other programs or people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::observed::Observed;
use crate::base::hash::Digest;
use crate::base::id::RemoteId;

/// The fact that names the drifted fields.
pub const DRIFT: &str = "drift";
/// The fact that reports an object ended or removed elsewhere.
pub const VANISHED: &str = "vanished";
/// Maximum times that a drifted field is put back. After one more change it is left alone: another
/// program keeps changing it.
pub const RETURNS_MAX: u32 = 2;

/// Drifted fields, and how often each of them drifted since the document last changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// The document's digest at that time.
    pub digest: Digest,
    /// Each field, and how often it was found changed.
    pub times: BTreeMap<String, u32>,
    /// When drift was last found.
    pub at: String,
}

impl Drift {
    /// Returns the known drift of a resource.
    pub fn of(known: &Observed) -> Option<Self> {
        serde_json::from_value(known.fact(DRIFT).clone()).ok()
    }

    /// Counts these fields as found changed, after the earlier findings.
    pub fn with_found(before: Option<&Self>, digest: Digest, paths: Vec<String>, at: &str) -> Self {
        let before = before.filter(|before| before.digest == digest);
        let mut times = before.map(|before| before.times.clone()).unwrap_or_default();
        for path in paths {
            let count = times.entry(path).or_default();
            *count = count.saturating_add(1);
        }
        Self { digest, times, at: at.to_owned() }
    }

    /// Returns the fields of these that were put back too often already.
    pub fn often_returned<'a>(&'a self, paths: impl Iterator<Item = &'a str>) -> Vec<String> {
        let often = |path: &&str| self.times.get(*path).is_some_and(|times| *times > RETURNS_MAX);
        paths.filter(often).map(str::to_owned).collect()
    }
}

/// Returns the cause of the object's disappearance, if another program or person ended or removed
/// just this one.
pub fn vanished_reason(known: &Observed) -> Option<&str> {
    let told = known.fact(VANISHED);
    let id = told.get("id").and_then(serde_json::Value::as_str);
    let same = id.is_some() && id == known.remote_id.as_ref().map(RemoteId::as_str);
    told.get("why").and_then(serde_json::Value::as_str).filter(|_| same)
}
