//! The scripts that the state knows: in use or absent, with the events that wait for each.

use crate::base::clock::timestamp;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::queries::scripts::ScriptView;
use crate::engine::view::EngineView;

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
