//! What is written down before anything is done about it: marks of documents that are gone, moves to new names, and
//! a person's word that a removal is meant.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::Engine;
use super::question::Reply;
use super::shared::EngineError;
use super::tasks::Finished;
use crate::base::id::Key;
use crate::model::absence::{AbsenceRecord, Allowed, Said};
use crate::model::record::Record;

/// What a person says is meant: `apply --allow-prune`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowing {
    /// Everything that a guard stops now.
    pub all: bool,
    /// These resources; what is live among them does not wait, either.
    pub keys: Vec<Key>,
}

impl Allowing {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        !self.all && self.keys.is_empty()
    }
}

/// The resources that a record of bookkeeping speaks of; its own one last.
fn about(record: &Record) -> Vec<Key> {
    if let Record::Absence(absence) = record {
        return vec![absence.key.clone()];
    }
    if let Record::Moved(moved) = record {
        return vec![moved.from.clone(), moved.to.clone()];
    }
    Vec::new()
}

impl Engine {
    /// Whether anything has to be written down before the next effects.
    pub fn has_bookings(&self) -> bool {
        !self.bookings().is_empty()
    }

    /// What has to be written down now, of resources that nothing is under way for.
    fn bookings(&self) -> Vec<Record> {
        let commit = self.world.files().commit();
        let mut records = self.planner.booking(&self.world, self.shared.now(), commit.as_deref());
        let chosen = |key: &Key| self.chosen.as_ref().is_none_or(|chosen| chosen.contains(key));
        records.retain(|record| {
            let keys = about(record);
            keys.last().is_some_and(chosen) && !keys.iter().any(|key| self.busy.contains(key))
        });
        records
    }

    /// Starts writing it down, in a task of its own.
    pub(super) fn book(&mut self) {
        let records = if self.stopping { Vec::new() } else { self.bookings() };
        if records.is_empty() {
            return;
        }
        let keys: BTreeSet<Key> = records.iter().flat_map(about).collect();
        self.busy.extend(keys.iter().cloned());
        self.queue.retain(|key| !keys.contains(key));
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match shared.write(Vec::new(), records).await {
                Ok(()) => Finished::Booked(keys),
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// Looks again once it is written down.
    pub(super) fn booked(&mut self, keys: BTreeSet<Key>) -> Result<(), EngineError> {
        for key in &keys {
            self.busy.remove(key);
            self.world.refresh(&self.shared.facts, key)?;
        }
        self.look_again(keys);
        Ok(())
    }

    /// Writes a person's word down in a task of its own; the reply names what it is about.
    pub(super) fn allow(
        &mut self,
        allowing: &Allowing,
        actor: &str,
        reply: oneshot::Sender<Reply>,
    ) {
        let (keys, records) = self.allowed(allowing, actor);
        let answer = Reply::Allowed(keys.iter().cloned().collect());
        if records.is_empty() {
            return reply.send(answer).unwrap_or_default();
        }
        self.busy.extend(keys.iter().cloned());
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match shared.write(Vec::new(), records).await {
                Ok(()) => Finished::Booked(keys).answering(answer, reply),
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// The resources of those named about which a word means nothing: their documents are there, or they stay.
    pub fn not_meant<'a>(&self, allowing: &'a Allowing) -> Vec<&'a Key> {
        allowing.keys.iter().filter(|key| !self.planner.may_be_allowed(key)).collect()
    }

    /// The same in a process in which nothing runs. Answers what the word is about.
    pub async fn allow_alone(
        &mut self,
        allowing: &Allowing,
        actor: &str,
    ) -> Result<Vec<Key>, EngineError> {
        let (keys, records) = self.allowed(allowing, actor);
        self.shared.write(Vec::new(), records).await?;
        self.booked(keys.clone())?;
        Ok(keys.into_iter().collect())
    }

    /// The resources of which a word means something now, and what is written of them.
    fn allowed(&self, allowing: &Allowing, actor: &str) -> (BTreeSet<Key>, Vec<Record>) {
        let named = |key: &Key| allowing.keys.contains(key);
        let mut keys = if allowing.all { self.planner.guarded() } else { BTreeSet::new() };
        keys.extend(allowing.keys.iter().filter(|key| self.planner.may_be_allowed(key)).cloned());
        keys.retain(|key| !self.busy.contains(key));
        let at = self.shared.now();
        let records = keys.iter().map(|key| {
            let word = Allowed { at, actor: actor.to_owned(), at_once: named(key) };
            let said = Said::Allowed(word);
            Record::Absence(Box::new(AbsenceRecord { key: key.clone(), said }))
        });
        (keys.clone(), records.collect())
    }
}
