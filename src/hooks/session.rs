//! What one run has done so far. Host functions reach it through the tag of their call.

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

/// One run, shared between its host functions.
#[derive(Clone)]
pub(super) struct Session(Arc<Shared>);

struct Shared {
    script: String,
    about: About,
    names: Arc<Names>,
    reads: Arc<dyn Reads>,
    done: Mutex<Done>,
}

/// What it did.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) wishes: Vec<Wish>,
    pub(super) kept: BTreeMap<String, Value>,
    /// What it adds to values that it did not set itself.
    pub(super) added: BTreeMap<String, Value>,
    pub(super) looks: Vec<Look>,
    /// Their answers, in the same order.
    pub(super) answers: Vec<Value>,
    pub(super) log: Vec<String>,
}

/// Why a host function does not do what it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// The script is wrong.
    Wrong(String),
    /// It is more than a run may.
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

    /// The same, of a run that goes on where another one ended: what that kept is there.
    pub(super) fn going_on(self, kept: BTreeMap<String, Value>) -> Self {
        self.done().kept = kept;
        self
    }

    /// What scripts may name.
    pub(super) fn names(&self) -> &Names {
        &self.0.names
    }

    /// The merchant of the event.
    pub(super) fn merchant(&self) -> Option<&Key> {
        self.0.about.merchant.as_ref()
    }

    /// When the event happened.
    pub(super) fn created(&self) -> Option<DateTime<Utc>> {
        self.0.about.created
    }

    /// Whether that is live.
    pub(super) fn is_live(&self) -> bool {
        self.0.about.live
    }

    /// Whether scripts see personal values of the event's merchant.
    pub(super) fn sees_persons(&self) -> bool {
        self.names().rights.allows(Power::Personal, self.merchant())
    }

    /// Refuses what the configuration gives scripts no right to at this merchant.
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

    /// Everything it did; nothing is left behind.
    pub(super) fn take(&self) -> Done {
        std::mem::take(&mut *self.done())
    }

    /// Asks for an action. The same one a second time is the same one; another one of its name is an error.
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

    /// Reads something and writes it down. The run's time waits meanwhile.
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

    /// Adds to a value that this run set itself, or else to the one that is kept: then it is the fold that adds.
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

    /// What this run adds to a value.
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

    /// What this run keeps under a key.
    pub(super) fn kept(&self, key: &str) -> Option<Value> {
        self.done().kept.get(key).cloned()
    }

    /// Keeps a value for later runs.
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

    /// Tells the operator something. What is too much is cut off, and said to be.
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
