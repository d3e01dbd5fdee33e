//! What was changed on the service by somebody else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::RemoteId;
use crate::model::observed::Observed;

/// The fact that tells which fields were changed elsewhere.
pub const DRIFT: &str = "drift";
/// The fact that tells that the object was ended or removed elsewhere.
pub const VANISHED: &str = "vanished";
/// A field that was put back so often and changed again is left alone: something else keeps changing it.
pub const RETURNS_MAX: u32 = 2;

/// Fields that were found changed, and how often each of them was since the document is what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// The document's digest then.
    pub digest: Digest,
    /// Each field, and how often it was found changed.
    pub times: BTreeMap<String, u32>,
    /// When it was found last.
    pub at: String,
}

impl Drift {
    /// What is known of a resource's drift.
    pub fn of(known: &Observed) -> Option<Self> {
        serde_json::from_value(known.fact(DRIFT).clone()).ok()
    }

    /// These fields were found changed, after what was found before.
    pub fn again(before: Option<&Self>, digest: Digest, paths: Vec<String>, at: &str) -> Self {
        let before = before.filter(|before| before.digest == digest);
        let mut times = before.map(|before| before.times.clone()).unwrap_or_default();
        for path in paths {
            let count = times.entry(path).or_default();
            *count = count.saturating_add(1);
        }
        Self { digest, times, at: at.to_owned() }
    }

    /// The fields of these that were put back too often already.
    pub fn returning<'a>(&'a self, paths: impl Iterator<Item = &'a str>) -> Vec<String> {
        let often = |path: &&str| self.times.get(*path).is_some_and(|times| *times > RETURNS_MAX);
        paths.filter(often).map(str::to_owned).collect()
    }
}

/// Why the object is not there any more, if somebody ended or removed just this one.
pub fn vanished(known: &Observed) -> Option<&str> {
    let told = known.fact(VANISHED);
    let id = told.get("id").and_then(serde_json::Value::as_str);
    let same = id.is_some() && id == known.remote_id.as_ref().map(RemoteId::as_str);
    told.get("why").and_then(serde_json::Value::as_str).filter(|_| same)
}
