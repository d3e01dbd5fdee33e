//! Values that trial runs of one script keep: the next trial run sees them, and nothing is stored.

use std::sync::Arc;

use serde_json::Value;

use crate::engine::hooks::context::Unwritten;
use crate::model::events::hook::HookRun;
use crate::scripting::host::session::Reads;

#[derive(Default)]
pub(crate) struct TrialValues {
    unwritten: Unwritten,
}

impl TrialValues {
    /// Returns reads of the present state with these values in front.
    pub(crate) fn over(self: &Arc<Self>, present: Arc<dyn Reads>) -> Arc<dyn Reads> {
        Arc::new(TrialReads { values: self.clone(), present })
    }

    /// Adds the values that a run keeps and adds to; `reads` answers the present ones.
    pub(crate) fn keep(&self, run: &HookRun, reads: &Arc<dyn Reads>) {
        let stored: Vec<(String, Value)> = run
            .added
            .iter()
            .map(|(key, _)| (key.clone(), reads.kv(&run.script, key).unwrap_or_default()))
            .collect();
        let value = |key: &str| {
            let known = stored.iter().find(|(known, _)| known == key);
            known.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        self.unwritten.keep(run, value);
    }
}

struct TrialReads {
    values: Arc<TrialValues>,
    present: Arc<dyn Reads>,
}

impl Reads for TrialReads {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.present.resource(key)
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.present.find(kind, filter)
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        self.present.transaction(id)
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        self.present.remote(name, args)
    }

    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        let known = self.values.unwritten.lock().get(key).cloned();
        known.map_or_else(|| self.present.kv(script, key), Ok)
    }
}
