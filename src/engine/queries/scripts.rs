//! The scripts that the state knows: in use or absent, with the events that wait for each.

use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::engine::core::handles::EngineError;
use crate::engine::view::EngineView;

/// A script that the state knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptView {
    pub script: String,
    /// Start of its use.
    pub since: String,
    /// Time since which its file is missing; `None` while it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Merchants whose events wait for it, since too many of its runs failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped: u64,
    /// Events for which it was not run yet.
    pub waiting: u64,
    /// Number of its keys.
    pub kept_keys: u64,
    /// Bytes of its values, of at most [`crate::model::events::scripts::BYTES_MAX`].
    pub kept_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(stopped: &u64) -> bool {
    *stopped == 0
}

impl EngineView<'_> {
    /// Returns every script that the state knows.
    pub(crate) fn roster_view(&self) -> Result<Vec<ScriptView>, EngineError> {
        let facts = &self.shared.facts;
        let ledgers = facts.ledgers_by_merchant()?;
        let mut views = Vec::new();
        for (script, enrolled) in facts.roster()? {
            let (mut waiting, mut stopped) = (0_u64, 0_u64);
            for (merchant, ledger) in &ledgers {
                let cursor = facts.hook_cursor(merchant, &script)?;
                let to = cursor.map_or(ledger.ran_to, |cursor| cursor.to);
                waiting = waiting.saturating_add(ledger.verified.saturating_sub(to));
                let is_stopped = facts.is_stopped(merchant, &script)?;
                stopped = stopped.saturating_add(u64::from(is_stopped));
            }
            let kept = facts.stored_size(&script)?;
            views.push(ScriptView {
                since: timestamp(&enrolled.since),
                absent: enrolled.absent.as_ref().map(timestamp),
                stopped,
                waiting,
                kept_keys: kept.keys,
                kept_bytes: kept.bytes,
                script,
            });
        }
        Ok(views)
    }
}
