//! Fingerprints of findings: the same finding has the same one after lines above it changed.

use std::collections::BTreeMap;

use crate::base::hash::sha256;
use crate::model::issue::PlacedIssue;

/// Fingerprints of one report. A finding that occurs again in a file gets another one.
#[derive(Debug, Default)]
pub(super) struct Fingerprints(BTreeMap<(String, String, String), usize>);

impl Fingerprints {
    /// Returns the fingerprint of the next finding, made of its code, its file, its message and the
    /// number of equal findings before it.
    pub(super) fn take(&mut self, item: &PlacedIssue) -> String {
        let PlacedIssue { code, file, message, .. } = item;
        let seen = self.0.entry((code.clone(), file.clone(), message.clone())).or_default();
        let number = *seen;
        *seen = seen.saturating_add(1);
        sha256(format!("{code}\0{file}\0{message}\0{number}").as_bytes()).to_string()
    }
}
