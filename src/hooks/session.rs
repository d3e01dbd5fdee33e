//! State of one run. Host functions reach it through the tag of their call.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::Reads;
use super::bound::{KEPT_MAX, LINE_MAX, LINES_MAX, LOOKS_MAX, VALUE_MAX, WISHES_MAX, beside};
use super::given::About;
use super::names::Names;
use crate::base::hash::{canonical, sha256};
use crate::base::id::{Key, Name};
use crate::model::hook::{Look, Wish};
use crate::model::kept::sum;
use crate::policy::Power;

/// State of a run, shared between its host functions.
#[derive(Clone)]
pub(super) struct Session(Arc<Shared>);

struct Shared {
    script: String,
    about: About,
    names: Arc<Names>,
    reads: Arc<dyn Reads>,
    done: Mutex<Done>,
}

/// Results of a run so far.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) wishes: Vec<Wish>,
    pub(super) kept: BTreeMap<String, Value>,
    /// Additions to values that the run did not set itself.
    pub(super) added: BTreeMap<String, Value>,
    pub(super) looks: Vec<Look>,
    /// Answers of the reads, in the same order.
    pub(super) answers: Vec<Value>,
    pub(super) log: Vec<String>,
}

/// Reason for which a host function refuses a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// The script is wrong.
    Wrong(String),
    /// The run exceeds a limit.
    Beyond(String),
}

impl From<String> for Refused {
    fn from(message: String) -> Self {
        Self::Wrong(message)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.0.script)
    }
}

impl Session {
    pub(super) fn new(
        script: &str,
        about: About,
        names: Arc<Names>,
        reads: Arc<dyn Reads>,
    ) -> Self {
        let done = Mutex::default();
        Self(Arc::new(Shared { script: script.to_owned(), about, names, reads, done }))
    }

    /// Continues an earlier run, whose stored values are `kept`.
    pub(super) fn going_on(self, kept: BTreeMap<String, Value>) -> Self {
        self.done().kept = kept;
        self
    }

    /// Returns the names that scripts may use.
    pub(super) fn names(&self) -> &Names {
        &self.0.names
    }

    /// Returns the merchant of the event.
    pub(super) fn merchant(&self) -> Option<&Key> {
        self.0.about.merchant.as_ref()
    }

    /// Returns the time of the event.
    pub(super) fn created(&self) -> Option<DateTime<Utc>> {
        self.0.about.created
    }

    /// Returns true for an event in live mode.
    pub(super) fn is_live(&self) -> bool {
        self.0.about.live
    }

    /// Returns true if scripts see personal values of the event's merchant.
    pub(super) fn sees_persons(&self) -> bool {
        self.names().rights.allows(Power::Personal, self.merchant())
    }

    /// Refuses an action for which scripts have no right at this merchant.
    pub(super) fn need(&self, power: Power, merchant: Option<&Key>) -> Result<(), Refused> {
        if self.names().rights.allows(power, merchant) {
            return Ok(());
        }
        let (message, help) = power.refusal(merchant);
        Err(Refused::Wrong(format!("{message}; {help}")))
    }

    fn done(&self) -> MutexGuard<'_, Done> {
        self.0.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all results, and leaves none behind.
    pub(super) fn take(&self) -> Done {
        std::mem::take(&mut *self.done())
    }

    /// Requests an action. An equal request is the same request; a different one of the same name
    /// is an error.
    pub(super) fn wish(&self, wish: Wish) -> Result<Name, Refused> {
        let mut done = self.done();
        let name = wish.name.clone();
        if let Some(known) = done.wishes.iter().find(|known| known.name == name) {
            return if *known == wish { Ok(name) } else { Err(twice(&name).into()) };
        }
        if done.wishes.len() >= WISHES_MAX {
            return Err(Refused::Beyond(format!("one run asks for {WISHES_MAX} actions at most")));
        }
        done.wishes.push(wish);
        Ok(name)
    }

    /// Reads and records the answer. The run's deadline is extended by the duration of the read.
    pub(super) fn look(
        &self,
        what: &str,
        arguments: Value,
        read: impl FnOnce(&dyn Reads, &str) -> Result<Value, String>,
    ) -> Result<Value, Refused> {
        if self.done().looks.len() >= LOOKS_MAX {
            return Err(Refused::Beyond(format!("one run reads {LOOKS_MAX} times at most")));
        }
        let answer = beside(|| read(&*self.0.reads, &self.0.script))?;
        let digest = sha256(&canonical(&answer));
        let mut done = self.done();
        done.looks.push(Look { what: what.to_owned(), arguments, answer: digest });
        done.answers.push(answer.clone());
        Ok(answer)
    }

    /// Adds to a value that this run set itself, or else to the stored one, where the fold adds.
    pub(super) fn add(&self, key: &str, before: &Value, number: &Value) -> Result<(), Refused> {
        let misfit = || {
            let message = "`kv_add` adds a whole number to a whole number, and money to money of its currency";
            Refused::Wrong(format!("{message}: the value of `{key}` is something else"))
        };
        if let Some(kept) = self.kept(key) {
            return self.keep(key, sum(&kept, number).ok_or_else(misfit)?);
        }
        let added =
            self.added(key).map_or_else(|| Some(number.clone()), |added| sum(&added, number));
        let added = added.ok_or_else(misfit)?;
        sum(before, &added).ok_or_else(misfit)?;
        let mut done = self.done();
        Self::room(&done, key)?;
        done.added.insert(key.to_owned(), added);
        Ok(())
    }

    /// Returns the addition of this run to a value.
    pub(super) fn added(&self, key: &str) -> Option<Value> {
        self.done().added.get(key).cloned()
    }

    fn room(done: &Done, key: &str) -> Result<(), Refused> {
        let is_known = done.kept.contains_key(key) || done.added.contains_key(key);
        let count = done.kept.len().saturating_add(done.added.len());
        if count >= KEPT_MAX && !is_known {
            return Err(Refused::Beyond(format!("one run keeps {KEPT_MAX} keys at most")));
        }
        Ok(())
    }

    /// Returns the value that this run stored under a key.
    pub(super) fn kept(&self, key: &str) -> Option<Value> {
        self.done().kept.get(key).cloned()
    }

    /// Stores a value for later runs.
    pub(super) fn keep(&self, key: &str, value: Value) -> Result<(), Refused> {
        let mut done = self.done();
        if canonical(&value).len().saturating_add(key.len()) > VALUE_MAX {
            return Err(Refused::Beyond(format!("what is kept has {VALUE_MAX} bytes at most")));
        }
        Self::room(&done, key)?;
        done.added.remove(key);
        done.kept.insert(key.to_owned(), value);
        Ok(())
    }

    /// Appends a line to the log; a long line is cut. Lines beyond the limit are dropped, and a
    /// last line reports that.
    pub(super) fn log(&self, line: &str) {
        let mut done = self.done();
        if done.log.len() < LINES_MAX {
            let text: String = line.chars().take(LINE_MAX).collect();
            done.log.push(text);
        } else if done.log.len() == LINES_MAX {
            done.log.push(format!("more than {LINES_MAX} lines: the others are left out"));
        }
    }
}

fn twice(name: &Name) -> String {
    format!("two different actions are named `{name}`: give one of them another `name`")
}
