//! State of one run. Host functions reach it through the tag of their call.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::base::hash::{canonical, sha256};
use crate::base::id::{Key, Name};
use crate::model::events::hook::{ActionRequest, HookRead};
use crate::model::events::scripts::{ScriptValuesSize, sum};
use crate::policy::ScriptPower;
use crate::scripting::host::script_event::EventOrigin;
use crate::scripting::language::limits::{
    ACTIONS_MAX, LINE_MAX, LINES_MAX, READS_MAX, STORED_KEYS_MAX, VALUE_MAX, off_the_clock,
};
use crate::scripting::language::names::ScriptNames;

/// Reads of a script. Every answer is recorded with the run, so that two runs can be compared.
pub trait Reads: Send + Sync {
    /// Returns a resource, `KIND/NAME` or `KIND/NAMESPACE/NAME`: `{kind, namespace, name, labels,
    /// spec, ready, reason, message, remote_id}`; null if it does not exist.
    fn resource(&self, key: &str) -> Result<Value, String>;
    /// Returns all resources of a kind that match the filter, sorted by name, as a list of the same
    /// form.
    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String>;
    /// Returns the known state of a transaction of the service; null if it is unknown.
    fn transaction(&self, id: &str) -> Result<Value, String>;
    /// Returns the service's answer to a read of [`crate::api::reads`]. `args` holds its parameters
    /// and query by name, and `merchant`.
    fn remote(&self, name: &str, args: &Value) -> Result<Value, String>;
    /// Returns the value that an earlier run of this script stored; null if there is none.
    fn kv(&self, script: &str, key: &str) -> Result<Value, String>;
    /// Returns the size of this script's stored values, and of all scripts' together.
    fn kept_size(&self, _script: &str) -> Result<(ScriptValuesSize, ScriptValuesSize), String> {
        Ok((ScriptValuesSize::default(), ScriptValuesSize::default()))
    }
}

/// State of a run, shared between its host functions.
#[derive(Clone, derive_more::Debug, derive_more::Deref)]
#[debug("RunSession({})", _0.script)]
pub(crate) struct RunSession(#[deref(forward)] Arc<SessionState>);

pub(crate) struct SessionState {
    script: String,
    pub(crate) origin: EventOrigin,
    pub(crate) names: Arc<ScriptNames>,
    reads: Arc<dyn Reads>,
    output: Mutex<RunOutput>,
}

/// Results of a run so far.
#[derive(Debug, Default)]
pub(crate) struct RunOutput {
    pub(crate) actions: Vec<ActionRequest>,
    pub(crate) stored: BTreeMap<String, Value>,
    /// Additions to values that the run did not set itself.
    pub(crate) added: BTreeMap<String, Value>,
    pub(crate) reads: Vec<HookRead>,
    /// Answers of the reads, in the same order.
    pub(crate) answers: Vec<Value>,
    pub(crate) log: Vec<String>,
}

/// A limit of a run that a host function enforces, as the language throws it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RunLimitError(pub(crate) String);

/// Reason for which a host function refuses a call.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::From)]
pub(crate) enum HostError {
    /// The script is wrong.
    Invalid(String),
    #[from(skip)]
    LimitExceeded(String),
}

impl RunSession {
    pub(crate) fn new(
        script: &str,
        origin: EventOrigin,
        names: Arc<ScriptNames>,
        reads: Arc<dyn Reads>,
    ) -> Self {
        let (script, output) = (script.to_owned(), Mutex::default());
        Self(Arc::new(SessionState { script, origin, names, reads, output }))
    }

    /// Continues an earlier run, whose stored values are `kept`.
    pub(crate) fn continuing(self, kept: BTreeMap<String, Value>) -> Self {
        self.output.lock().stored = kept;
        self
    }

    pub(crate) fn merchant(&self) -> Option<&Key> {
        self.origin.merchant.as_ref()
    }

    /// Returns true if scripts see personal values of the event's merchant.
    pub(crate) fn may_see_personal(&self) -> bool {
        self.names.configured.rights.allows(ScriptPower::Personal, self.merchant())
    }

    /// Refuses an action for which scripts have no right at this merchant.
    pub(crate) fn require_right(
        &self,
        power: ScriptPower,
        merchant: Option<&Key>,
    ) -> Result<(), HostError> {
        if self.names.configured.rights.allows(power, merchant) {
            return Ok(());
        }
        let (message, help) = power.refusal(merchant);
        Err(HostError::Invalid(format!("{message}; {help}")))
    }

    /// Takes all results, and leaves none behind.
    pub(crate) fn take(&self) -> RunOutput {
        std::mem::take(&mut *self.output.lock())
    }

    /// Requests an action. An equal request is the same request; a different one of the same name
    /// is an error.
    pub(crate) fn request_action(&self, wish: ActionRequest) -> Result<Name, HostError> {
        let mut done = self.output.lock();
        let name = wish.name.clone();
        if let Some(known) = done.actions.iter().find(|known| known.name == name) {
            if *known == wish {
                return Ok(name);
            }
            let message = format!(
                "two different actions are named `{name}`: give one of them another `name`"
            );
            return Err(HostError::Invalid(message));
        }
        if done.actions.len() >= ACTIONS_MAX {
            let message = format!("one run asks for {ACTIONS_MAX} actions at most");
            return Err(HostError::LimitExceeded(message));
        }
        done.actions.push(wish);
        Ok(name)
    }

    /// Reads and records the answer. The run's deadline is extended by the duration of the read.
    pub(crate) fn record_read(
        &self,
        what: &str,
        arguments: Value,
        read: impl FnOnce(&dyn Reads, &str) -> Result<Value, String>,
    ) -> Result<Value, HostError> {
        if self.output.lock().reads.len() >= READS_MAX {
            let message = format!("one run reads {READS_MAX} times at most");
            return Err(HostError::LimitExceeded(message));
        }
        let answer = off_the_clock(|| read(&*self.reads, &self.script))?;
        let digest = sha256(&canonical(&answer));
        let mut done = self.output.lock();
        done.reads.push(HookRead { what: what.to_owned(), arguments, answer: digest });
        done.answers.push(answer.clone());
        Ok(answer)
    }

    /// Adds to a value that this run set itself, or else to the stored one, where the fold adds.
    pub(crate) fn add(&self, key: &str, before: &Value, number: &Value) -> Result<(), HostError> {
        let misfit = || {
            let message = "`kv_add` adds a whole number to a whole number, and money to money of its currency";
            HostError::Invalid(format!("{message}: the value of `{key}` is something else"))
        };
        if let Some(kept) = self.stored_value(key) {
            return self.store(key, sum(&kept, number).ok_or_else(misfit)?);
        }
        let added =
            self.addition(key).map_or_else(|| Some(number.clone()), |added| sum(&added, number));
        let added = added.ok_or_else(misfit)?;
        sum(before, &added).ok_or_else(misfit)?;
        let mut done = self.output.lock();
        Self::check_key_count(&done, key)?;
        done.added.insert(key.to_owned(), added);
        Ok(())
    }

    pub(crate) fn addition(&self, key: &str) -> Option<Value> {
        self.output.lock().added.get(key).cloned()
    }

    fn check_key_count(done: &RunOutput, key: &str) -> Result<(), HostError> {
        let is_known = done.stored.contains_key(key) || done.added.contains_key(key);
        let count = done.stored.len().saturating_add(done.added.len());
        if count >= STORED_KEYS_MAX && !is_known {
            let message = format!("one run keeps {STORED_KEYS_MAX} keys at most");
            return Err(HostError::LimitExceeded(message));
        }
        Ok(())
    }

    pub(crate) fn stored_value(&self, key: &str) -> Option<Value> {
        self.output.lock().stored.get(key).cloned()
    }

    /// Stores a value for later runs.
    pub(crate) fn store(&self, key: &str, value: Value) -> Result<(), HostError> {
        let mut done = self.output.lock();
        if canonical(&value).len().saturating_add(key.len()) > VALUE_MAX {
            let message = format!("what is kept has {VALUE_MAX} bytes at most");
            return Err(HostError::LimitExceeded(message));
        }
        Self::check_key_count(&done, key)?;
        done.added.remove(key);
        done.stored.insert(key.to_owned(), value);
        Ok(())
    }

    /// Appends a line to the log; a long line is cut. Lines beyond the limit are dropped, and a
    /// last line reports that.
    pub(crate) fn log(&self, line: &str) {
        let mut done = self.output.lock();
        if done.log.len() < LINES_MAX {
            let text: String = line.chars().take(LINE_MAX).collect();
            done.log.push(text);
        } else if done.log.len() == LINES_MAX {
            done.log.push(format!("more than {LINES_MAX} lines: the others are left out"));
        }
    }
}
