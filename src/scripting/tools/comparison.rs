//! Comparison of a repeated run with the recorded one, whose reads it uses, and of texts by lines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::base::hash::{canonical, sha256};
use crate::base::id::Name;
use crate::model::events::hook::{ActionRequest, HookRead, HookRun};
use crate::scripting::host::session::Reads;

/// Reads with recorded answers. A read without one goes to the present state, and is counted.
#[derive(derive_more::Debug)]
#[debug("RecordedReads({} reads)", known.len())]
pub struct RecordedReads {
    known: BTreeMap<String, Value>,
    present: Arc<dyn Reads>,
    present_reads: AtomicUsize,
    read_count: AtomicUsize,
}

/// Returns the identity of a read. Stored values are separate for each script.
fn read_identity(script: &str, what: &str, arguments: &Value) -> String {
    let script = if what == KEPT { script } else { "" };
    json!([script, what, arguments]).to_string()
}

const KEPT: &str = "kv_get";

impl RecordedReads {
    /// Returns reads without recorded answers over the present state.
    pub fn new(present: Arc<dyn Reads>) -> Self {
        let (present_reads, read_count) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { known: BTreeMap::new(), present, present_reads, read_count }
    }

    /// Records the reads of a run. An answer that does not match its digest is ignored.
    pub fn record(&mut self, script: &str, looks: &[HookRead], answers: &[Value]) {
        for (look, answer) in looks.iter().zip(answers) {
            if sha256(&canonical(answer)) == look.answer {
                self.known
                    .insert(read_identity(script, &look.what, &look.arguments), answer.clone());
            }
        }
    }

    /// Returns the number of reads answered from the record, and from the present state.
    pub fn counts(&self) -> (usize, usize) {
        (self.read_count.load(Ordering::Relaxed), self.present_reads.load(Ordering::Relaxed))
    }

    fn answer(
        &self,
        (script, what, arguments): (&str, &str, Value),
        now: impl FnOnce() -> Result<Value, String>,
    ) -> Result<Value, String> {
        if let Some(known) = self.known.get(&read_identity(script, what, &arguments)) {
            self.read_count.fetch_add(1, Ordering::Relaxed);
            return Ok(known.clone());
        }
        self.present_reads.fetch_add(1, Ordering::Relaxed);
        now()
    }
}

impl Reads for RecordedReads {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.answer(("", "resource", json!([key])), || self.present.resource(key))
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.answer(("", "find", json!([kind, filter])), || self.present.find(kind, filter))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        self.answer(("", "transaction", json!([id])), || self.present.transaction(id))
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        self.answer(("", "remote", json!([name, args])), || self.present.remote(name, args))
    }

    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        self.answer((script, KEPT, json!([key])), || self.present.kv(script, key))
    }
}

/// Differences between two sets of runs on one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunDifferences {
    /// Actions that only the second set requests.
    pub added: Vec<ActionRequest>,
    /// Actions that only the first set requests.
    pub removed: Vec<ActionRequest>,
    /// Actions with equal names and different content: first, second.
    pub changed: Vec<(ActionRequest, ActionRequest)>,
    /// Differences of stored values: script, key, first, second; `None` for no value.
    pub kept: Vec<(String, String, Option<Value>, Option<Value>)>,
}

impl RunDifferences {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Compares two sets of runs. Actions are compared by name, whichever script requests them.
    pub fn between(first: &[&HookRun], second: &[&HookRun]) -> Self {
        let (old, new) = (actions_by_name(first), actions_by_name(second));
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
        found.removed.extend(gone.map(|(_, wish)| (*wish).clone()));
        found.kept = stored_differences(first, second);
        found
    }
}

/// Returns the action requests by name; the first one of a name counts.
fn actions_by_name<'r>(runs: &[&'r HookRun]) -> BTreeMap<&'r Name, &'r ActionRequest> {
    let mut named = BTreeMap::new();
    for wish in runs.iter().flat_map(|run| &run.requests) {
        named.entry(&wish.name).or_insert(wish);
    }
    named
}

fn stored_differences(
    first: &[&HookRun],
    second: &[&HookRun],
) -> Vec<(String, String, Option<Value>, Option<Value>)> {
    let (old, new) = (stored_values(first), stored_values(second));
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let differ = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
    let told = differ.map(|key @ (script, name)| {
        let value = |kept: &StoredValues<'_>| kept.get(key).map(|value| (*value).clone());
        ((*script).to_owned(), (*name).to_owned(), value(&old), value(&new))
    });
    told.collect()
}

type StoredValues<'r> = BTreeMap<(&'r str, &'r str), &'r Value>;

fn stored_values<'r>(runs: &[&'r HookRun]) -> StoredValues<'r> {
    let of = |run: &'r HookRun| {
        let values = run.kept.iter().chain(&run.added);
        values.map(|(key, value)| ((run.script.as_str(), key.as_str()), value))
    };
    runs.iter().copied().flat_map(of).collect()
}

/// Returns the lines of both texts with a sign: `-` for expected only, `+` for real only, a space
/// for both.
pub(crate) fn diff_lines(expected: &str, real: &str) -> String {
    let (one, other): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), real.lines().collect());
    let mut out = String::from("  (- expected, + real)\n");
    let (mut left, mut right) = (one.as_slice(), other.as_slice());
    for line in longest_common(&one, &other) {
        left = write_until(left, line, '-', &mut out);
        right = write_until(right, line, '+', &mut out);
        write_line(' ', line, &mut out);
    }
    for line in left {
        write_line('-', line, &mut out);
    }
    for line in right {
        write_line('+', line, &mut out);
    }
    out
}

/// Writes the lines before `line`, and returns those after it.
fn write_until<'l, 's>(
    lines: &'l [&'s str],
    line: &str,
    sign: char,
    out: &mut String,
) -> &'l [&'s str] {
    let mut rest = lines;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first == line {
            break;
        }
        write_line(sign, first, out);
    }
    rest
}

fn write_line(sign: char, line: &str, out: &mut String) {
    out.extend([' ', ' ', sign, ' ']);
    out.push_str(line);
    out.push('\n');
}

fn longest_common<'s>(one: &[&'s str], other: &[&str]) -> Vec<&'s str> {
    // `best`: for each prefix of `other`, by its length, the longest subsequence so far.
    let mut best: Vec<Vec<&'s str>> = vec![Vec::new(); other.len().saturating_add(1)];
    for line in one {
        let before = best.clone();
        let mut longest: Vec<&'s str> = Vec::new();
        for ((slot, kept), candidate) in best.iter_mut().skip(1).zip(&before).zip(other) {
            let mut next = slot.clone();
            if candidate == line && kept.len() >= next.len() {
                next.clone_from(kept);
                next.push(line);
            }
            if longest.len() > next.len() {
                next.clone_from(&longest);
            }
            longest.clone_from(&next);
            *slot = next;
        }
    }
    best.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod diff_tests {
    use super::*;

    #[test]
    fn what_differs_stands_beside_what_does_not() {
        let told = diff_lines("a\nb\nc\nd\n", "a\nc\nx\nd\n");
        assert_eq!(told, "  (- expected, + real)\n    a\n  - b\n    c\n  + x\n    d\n");
        let none = diff_lines("", "a\n");
        assert_eq!(none, "  (- expected, + real)\n  + a\n");
    }
}
