//! Reads of a running script: answered at once if known, and otherwise fetched between two tries.
//!
//! A run cannot wait. So a read without an answer ends the try; the answer is fetched, and the
//! script runs again from its beginning. A script is deterministic, so it reaches the same place.
//! Requests of a try count only if it is the last one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::context::BatchContext;
use crate::model::events::scripts::ScriptValuesSize;
use crate::scripting::host::session::Reads;

/// A read that another part of the program has to make.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NeededRead {
    /// A resource, by its key.
    Resource(String),
    /// All resources of a kind with these fields.
    Find(String, Value),
    /// A read of the service: its name and arguments.
    GatewayGet(String, Value),
}

impl NeededRead {
    fn key(&self) -> String {
        match self {
            Self::Resource(key) => json!(["resource", key]).to_string(),
            Self::Find(kind, filter) => json!(["find", kind, filter]).to_string(),
            Self::GatewayGet(name, args) => json!(["remote", name, args]).to_string(),
        }
    }
}

/// The answers available to one run.
pub(crate) struct Answers {
    context: Arc<BatchContext>,
    state: Mutex<AnswerState>,
}

#[derive(Default)]
struct AnswerState {
    known: BTreeMap<String, Result<Value, String>>,
    wanted: Option<NeededRead>,
}

impl Answers {
    pub(crate) fn new(ground: Arc<BatchContext>) -> Self {
        Self { context: ground, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, AnswerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the read at which the last try stopped.
    pub(crate) fn take_needed_read(&self) -> Option<NeededRead> {
        self.state().wanted.take()
    }

    /// Stores the answer to a read.
    pub(crate) fn add_answer(&self, wanted: &NeededRead, answer: Result<Value, String>) {
        self.state().known.insert(wanted.key(), answer);
    }

    fn ask(&self, wanted: NeededRead) -> Result<Value, String> {
        let mut state = self.state();
        if let Some(known) = state.known.get(&wanted.key()) {
            return known.clone();
        }
        state.wanted.get_or_insert(wanted);
        Err("the answer is being fetched".to_owned())
    }
}

impl Reads for Answers {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.ask(NeededRead::Resource(key.to_owned()))
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.ask(NeededRead::Find(kind.to_owned(), filter.clone()))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        let BatchContext { shared, merchant, .. } = &*self.context;
        let known = shared.facts.remote_object(merchant, id);
        let known = known.map_err(|error| error.to_string())?;
        Ok(known.map_or(Value::Null, |known| json!(known)))
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        self.ask(NeededRead::GatewayGet(name.to_owned(), args.clone()))
    }

    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        if let Some(kept) = self.context.unwritten.lock().get(key) {
            return Ok(kept.clone());
        }
        self.context.shared.facts.stored_value(script, key).map_err(|error| error.to_string())
    }

    fn kept_size(&self, script: &str) -> Result<(ScriptValuesSize, ScriptValuesSize), String> {
        let facts = &self.context.shared.facts;
        let sizes = facts.stored_size(script).and_then(|own| Ok((own, facts.stored_total()?)));
        sizes.map_err(|error| error.to_string())
    }
}
