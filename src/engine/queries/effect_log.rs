//! Reports effects as they happen: one line for each, sent to the listener and written to the log.
//!
//! A report repeats what the journal holds, once the record is durable: the verb, the resource, the
//! money, the id, the time and the cause. It holds nothing private: no field of a document and no
//! text of the service.

use crate::engine::protocol::queries::effect_log::EffectReport;
use crate::engine::view::EngineView;

impl EngineView<'_> {
    /// Returns the effects behind this position of the journal, among the newest few thousand of
    /// this process.
    pub(crate) fn effects_since(&self, position: u64) -> Vec<EffectReport> {
        self.shared.effect_log().since(position)
    }
}
