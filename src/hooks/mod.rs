//! Operators' scripts: loaded as one set, checked like a program, run on one event at a time.
//!
//! The only user of `rhai`. A run performs nothing: it reads through [`Reads`] and answers a [`Run`] whose wishes
//! somebody else turns into intents, all of them or none. The same script, event and answers give the same run: there
//! is no clock, no chance and no fraction in here, and maps keep their order.
//!
//! A set is refused whole, with everything that is wrong with it ([`Hooks::load`]). Every host function stands once,
//! in [`register`]: what it takes, what it is checked for and what the documentation says of it are one row.

mod bound;
pub mod cases;
mod check;
mod engine;
pub mod events;
mod failure;
mod filter;
pub mod folder;
mod given;
mod host;
mod json;
mod kept;
mod load;
mod names;
mod private;
mod quota;
pub mod register;
pub mod repl;
mod run;
mod session;
pub mod shadow;
mod sort;
mod source;
mod stack;
mod template;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rhai::{AST, Engine};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::model::hook::Run;
use crate::model::issue::Problem;
use crate::model::kept::KeptSize;
use crate::model::ran::Lane;
use crate::policy::Rights;

use names::Names;

pub use failure::{Failure, Why};
pub use given::Given;
pub use sort::Sort;
pub use source::Source;
pub use stack::{STACK_BYTES, on_stack};
pub use template::escaped;

/// How long a run may take on the wall, but for its reads.
pub const TIME_MAX: Duration = Duration::from_millis(250);

/// What scripts may name that is not in them.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The targets of the configuration's `notify`.
    pub targets: BTreeSet<String>,
    /// Those of them that are mail, and whether each takes any address.
    pub mail: BTreeMap<String, bool>,
    /// The rights that the configuration gives.
    pub rights: Rights,
    /// The kinds that documents may have.
    pub kinds: BTreeSet<String>,
}

/// What scripts may read. Every answer is written down with the run, so that it can be held against another one.
pub trait Reads: Send + Sync {
    /// What is known of a resource, `KIND/NAME` or `KIND/NAMESPACE/NAME`: `{kind, namespace, name, labels, spec, ready,
    /// reason, message, remote_id}`; null where there is none.
    fn resource(&self, key: &str) -> Result<Value, String>;
    /// All resources of a kind whose fields are as the filter's, in the order of their names: a list of the same.
    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String>;
    /// What is known of a transaction of the service; null where there is none.
    fn transaction(&self, id: &str) -> Result<Value, String>;
    /// What the service answers to a read of [`crate::api::reads`]. `args`: its parameters and query by name, and
    /// `merchant`.
    fn remote(&self, name: &str, args: &Value) -> Result<Value, String>;
    /// What an earlier run of this script kept; null where there is nothing.
    fn kv(&self, script: &str, key: &str) -> Result<Value, String>;
    /// How much this script keeps, and all of them together.
    fn kept_size(&self, _script: &str) -> Result<(KeptSize, KeptSize), String> {
        Ok((KeptSize::default(), KeptSize::default()))
    }
}

/// A function of a script that an event goes to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handler {
    /// The script: the name of its file without `.rhai`.
    pub script: String,
    /// Its function.
    pub function: String,
}

/// One script that passed every check.
struct Script {
    name: String,
    ast: AST,
    hash: Digest,
    /// The same without its own name.
    text: Digest,
    functions: BTreeSet<String>,
    concurrency: usize,
    since: Option<DateTime<Utc>>,
}

/// How a script goes through the events of a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Which script, under its name and without it.
    pub lane: Lane,
    /// How many events it may be run for at once: its constant `CONCURRENCY`, 1 by default.
    pub concurrency: usize,
    /// From when on it is run for events that are known when it is new: its constant `SINCE`.
    pub since: Option<DateTime<Utc>>,
}

/// A whole set of scripts that passed every check. Cheap to clone.
#[derive(Clone)]
pub struct Hooks {
    engine: Arc<Engine>,
    scripts: Arc<BTreeMap<String, Script>>,
    hash: Digest,
    names: Arc<Names>,
    warnings: Arc<Vec<Problem>>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hooks({} scripts, {})", self.scripts.len(), self.hash.short())
    }
}

impl Hooks {
    /// Checks a whole set. Files in the folder itself are scripts, those in folders beneath it are modules that scripts
    /// import, and those in `templates` that end in `.txt` or `.html` are texts with places to fill in.
    ///
    /// # Errors
    /// Everything that is wrong with any of them, warnings too; then none of the set is used.
    pub fn load(sources: &[Source], known: &Known) -> Result<Self, Vec<Problem>> {
        on_stack(|| load::load(sources, known)).unwrap_or_else(|| Err(load::unchecked(sources)))
    }

    /// SHA-256 of the names and texts of all files.
    pub fn hash(&self) -> Digest {
        self.hash
    }

    /// What is odd about the set and no error.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The names of the scripts.
    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.scripts.keys().map(String::as_str)
    }

    /// Every script's way through events.
    pub fn queues(&self) -> impl Iterator<Item = Queue> {
        self.scripts.values().map(|script| Queue {
            lane: Lane { script: script.name.clone(), text: script.text },
            concurrency: script.concurrency,
            since: script.since,
        })
    }

    /// The function of a script that events of this type go to.
    pub fn handler(&self, script: &str, event_type: &str) -> Option<Handler> {
        let script = self.scripts.get(script)?;
        let exact = events::function(event_type);
        let names = [exact.as_str(), events::ANY];
        let function = names.into_iter().find(|name| script.functions.contains(*name))?;
        Some(Handler { script: script.name.clone(), function: function.to_owned() })
    }

    /// Where events of this type go: in each script to the function of this type, else to its `on_event`.
    pub fn handlers(&self, event_type: &str) -> Vec<Handler> {
        self.scripts.keys().filter_map(|script| self.handler(script, event_type)).collect()
    }

    /// Runs one function on one event, on this thread, which needs [`STACK_BYTES`] of stack. `time`: how long it may take
    /// but for its reads; none in a simulation, where the bound of operations alone stands.
    ///
    /// # Errors
    /// Why it did not end well; then it asks for nothing.
    pub fn run(
        &self,
        handler: &Handler,
        event: &Value,
        reads: &Arc<dyn Reads>,
        time: Option<Duration>,
    ) -> Result<Run, Box<Failure>> {
        self.run_given(handler, Given::new(event), reads, time)
    }

    /// The same for an event that was read for this run.
    ///
    /// # Errors
    /// Why it did not end well; then it asks for nothing.
    pub fn run_given(
        &self,
        handler: &Handler,
        event: Given,
        reads: &Arc<dyn Reads>,
        time: Option<Duration>,
    ) -> Result<Run, Box<Failure>> {
        run::run(self, handler, event, reads, time)
    }
}

#[cfg(test)]
mod tests;
