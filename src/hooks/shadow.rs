//! Repeats a run with the recorded reads, and compares its action requests with the original ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::Reads;
use crate::base::hash::{canonical, sha256};
use crate::base::id::Name;
use crate::model::hook::{Look, Run, Wish};

/// Reads with recorded answers. A read without one goes to the present state, and is counted.
pub struct Remembered {
    known: BTreeMap<String, Value>,
    present: Arc<dyn Reads>,
    read_now: AtomicUsize,
    read_then: AtomicUsize,
}

impl std::fmt::Debug for Remembered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Remembered({} reads)", self.known.len())
    }
}

/// Returns the identity of a read. Stored values are separate for each script.
fn name(script: &str, what: &str, arguments: &Value) -> String {
    let script = if what == KEPT { script } else { "" };
    json!([script, what, arguments]).to_string()
}

const KEPT: &str = "kv_get";

impl Remembered {
    /// Returns reads without recorded answers over the present state.
    pub fn over(present: Arc<dyn Reads>) -> Self {
        let (read_now, read_then) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { known: BTreeMap::new(), present, read_now, read_then }
    }

    /// Records the reads of a run. An answer that does not match its digest is ignored.
    pub fn learn(&mut self, script: &str, looks: &[Look], answers: &[Value]) {
        for (look, answer) in looks.iter().zip(answers) {
            if sha256(&canonical(answer)) == look.answer {
                self.known.insert(name(script, &look.what, &look.arguments), answer.clone());
            }
        }
    }

    /// Returns the number of reads answered from the record, and from the present state.
    pub fn counts(&self) -> (usize, usize) {
        (self.read_then.load(Ordering::Relaxed), self.read_now.load(Ordering::Relaxed))
    }

    fn ask(
        &self,
        (script, what, arguments): (&str, &str, Value),
        now: impl FnOnce() -> Result<Value, String>,
    ) -> Result<Value, String> {
        if let Some(known) = self.known.get(&name(script, what, &arguments)) {
            self.read_then.fetch_add(1, Ordering::Relaxed);
            return Ok(known.clone());
        }
        self.read_now.fetch_add(1, Ordering::Relaxed);
        now()
    }
}

impl Reads for Remembered {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.ask(("", "resource", json!([key])), || self.present.resource(key))
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.ask(("", "find", json!([kind, filter])), || self.present.find(kind, filter))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        self.ask(("", "transaction", json!([id])), || self.present.transaction(id))
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        self.ask(("", "remote", json!([name, args])), || self.present.remote(name, args))
    }

    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        self.ask((script, KEPT, json!([key])), || self.present.kv(script, key))
    }
}

/// Differences between two sets of runs on one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Differences {
    /// Actions that only the second set requests.
    pub added: Vec<Wish>,
    /// Actions that only the first set requests.
    pub gone: Vec<Wish>,
    /// Actions with equal names and different content: first, second.
    pub changed: Vec<(Wish, Wish)>,
    /// Differences of stored values: script, key, first, second; `None` for no value.
    pub kept: Vec<(String, String, Option<Value>, Option<Value>)>,
}

impl Differences {
    /// Returns true if there are no differences.
    pub fn is_none(&self) -> bool {
        let Self { added, gone, changed, kept } = self;
        added.is_empty() && gone.is_empty() && changed.is_empty() && kept.is_empty()
    }

    /// Compares two sets of runs. Actions are compared by name, whichever script requests them.
    pub fn between(first: &[&Run], second: &[&Run]) -> Self {
        let (old, new) = (wishes(first), wishes(second));
        let mut found = Self::default();
        for (name, wish) in &new {
            match old.get(name) {
                None => found.added.push((*wish).clone()),
                Some(before) if before != wish => {
                    found.changed.push(((*before).clone(), (*wish).clone()));
                }
                Some(_) => {}
            }
        }
        let gone = old.iter().filter(|(name, _)| !new.contains_key(*name));
        found.gone.extend(gone.map(|(_, wish)| (*wish).clone()));
        found.kept = kept_otherwise(first, second);
        found
    }
}

/// Returns the action requests by name; the first one of a name counts.
fn wishes<'r>(runs: &[&'r Run]) -> BTreeMap<&'r Name, &'r Wish> {
    let all = runs.iter().flat_map(|run| &run.wishes);
    let mut named = BTreeMap::new();
    for wish in all {
        named.entry(&wish.name).or_insert(wish);
    }
    named
}

fn kept_otherwise(
    first: &[&Run],
    second: &[&Run],
) -> Vec<(String, String, Option<Value>, Option<Value>)> {
    let (old, new) = (kept(first), kept(second));
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let differ = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
    let told = differ.map(|key @ (script, name)| {
        let value = |kept: &Kept<'_>| kept.get(key).map(|value| (*value).clone());
        ((*script).to_owned(), (*name).to_owned(), value(&old), value(&new))
    });
    told.collect()
}

type Kept<'r> = BTreeMap<(&'r str, &'r str), &'r Value>;

fn kept<'r>(runs: &[&'r Run]) -> Kept<'r> {
    let of = |run: &&'r Run| {
        let run: &'r Run = run;
        run.kept
            .iter()
            .chain(&run.added)
            .map(|(key, value)| ((run.script.as_str(), key.as_str()), value))
    };
    runs.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests;
