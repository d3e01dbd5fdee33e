//! Checkers that compare the service, the journal and the manifests at the end of a run.
//!
//! They know nothing of the faults that struck, except that an answer named another amount, and
//! nothing of the engine's internals. They read the sandbox's own objects, ledger and mail, its
//! arrivals with their times, the journal's durable records, and the documents.

mod approved;
mod bounds;
mod clones;
mod commands;
mod compacted;
mod damage;
mod epoch;
mod events;
mod expected;
mod hooks;
mod money;
mod once;
mod promises;
mod removal;
mod settled;
mod storm;
mod till;
mod told;
mod views;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::desk::Objects;
use super::durable::Story;
use super::front::Arrival;
use super::net::weather::Passed;
use super::script::Script;
use super::world::{Doc, Tree};
use crate::engine::{Acted, ResourceView};

pub(super) use approved::approved;
pub(super) use bounds::{bounds, plans_approved};
pub(super) use compacted::compacted;
pub(super) use damage::damage;
pub(super) use epoch::Lost;
pub use events::Heard;
pub(super) use events::{Listening, events};
pub(super) use hooks::{done as hooked, hooks};
pub(super) use once::mark_of;
pub(super) use views::{Asked, views};

/// A broken law.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Law or other guarantee that is broken.
    pub law: &'static str,
    pub text: String,
}

impl Violation {
    /// Returns a violation of `law`.
    pub fn new(law: &'static str, text: String) -> Self {
        Self { law, text }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.law, self.text)
    }
}

/// Input of the checkers.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub script: &'a Script,
    /// Files of the run, each version with the time from which it was valid.
    pub history: &'a [(DateTime<Utc>, Tree)],
    /// Requests that reached the service.
    pub arrivals: &'a [Arrival],
    /// Time and path of each request that the service did not authorise.
    pub strangers: &'a [(DateTime<Utc>, String)],
    /// History of each intent in the journal.
    pub stories: &'a [Story],
    /// Numbers of all intents, in journal order.
    pub numbers: &'a [u64],
    /// Times at which the machine died.
    pub deaths: &'a [DateTime<Utc>],
    /// States that were lost, in order.
    pub lost: &'a [Lost],
    /// Objects of the service at the end.
    pub objects: &'a Objects,
    /// Objects of the service two months later.
    pub later: &'a Objects,
    /// Views of all resources that the engine gave at the end.
    pub views: &'a [ResourceView],
    /// Last answer to each command of a person.
    pub answers: &'a BTreeMap<String, Acted>,
    /// Webhooks that were never delivered, as reference and event.
    pub swallowed: &'a BTreeSet<String>,
    /// Storms that happened.
    pub storms: &'a [Passed],
    /// Time from the end of all faults until everything was settled.
    pub took: Option<Duration>,
}

impl Evidence<'_> {
    /// Returns the files at the end.
    pub fn files(&self) -> Option<&Tree> {
        self.history.last().map(|(_, tree)| tree)
    }

    /// Returns every version of the document of this name, oldest first.
    pub fn versions(&self, name: &str) -> Vec<&Doc> {
        self.history.iter().filter_map(|(_, tree)| tree.get(name)).collect()
    }

    /// Returns the newest version of every document that ever existed.
    pub fn ever(&self) -> BTreeMap<&str, &Doc> {
        let all = self.history.iter().flat_map(|(_, tree)| tree.values());
        all.map(|doc| (doc.name.as_str(), doc)).collect()
    }

    /// Returns the generations that a document ever had.
    pub fn generations(&self, name: &str) -> Vec<u32> {
        let mut generations: Vec<u32> =
            self.versions(name).iter().map(|doc| doc.generation).collect();
        generations.sort_unstable();
        generations.dedup();
        generations
    }

    /// Returns the intents of a document.
    pub fn intents(&self, name: &str) -> impl Iterator<Item = &Story> {
        self.stories.iter().filter(move |story| story.document() == name)
    }

    /// Returns true if a document, or a document that it needs, waits for a person.
    pub fn is_held(&self, doc: &Doc) -> bool {
        let ever = self.ever();
        let mut names = vec![doc.name.as_str()];
        names.extend(doc.needs());
        let further: Vec<_> =
            names.iter().filter_map(|name| ever.get(name)).flat_map(|need| need.needs()).collect();
        names.extend(further);
        clones::waits_behind(self, doc)
            || epoch::waits(self, doc, &names)
            || names.iter().any(|name| {
                let merchant = ever.get(name).map(|doc| doc.merchant());
                let own = self.intents(name).any(|story| story.held().is_some());
                own || merchant.is_some_and(|merchant| {
                    self.intents(merchant).any(|story| story.held().is_some())
                })
            })
    }
}

/// Returns true if every document of a tree is valid, with all the documents that it needs.
pub fn is_whole(tree: &Tree) -> bool {
    tree.values().all(|doc| is_good(tree, doc))
}

/// Returns true if a document and all that it needs are valid.
pub fn is_good(tree: &Tree, doc: &Doc) -> bool {
    doc.broken.is_none()
        && doc.needs().iter().all(|name| tree.get(*name).is_some_and(|need| is_good(tree, need)))
}

/// Returns every violation. Settlement is not checked in a run that was cut short.
pub fn all(evidence: &Evidence<'_>, complete: bool) -> Vec<Violation> {
    let mut found = Vec::new();
    promises::explained(evidence, &mut found);
    promises::deletions(evidence, &mut found);
    promises::differing(evidence, &mut found);
    once::numbers(evidence, &mut found);
    once::invoices(evidence, &mut found);
    once::methods(evidence, &mut found);
    once::tokens(evidence, &mut found);
    once::recurring(evidence, &mut found);
    clones::counted(evidence, &mut found);
    once::applications(evidence, &mut found);
    once::contacts(evidence, &mut found);
    once::mails(evidence, &mut found);
    money::collected(evidence, &mut found);
    commands::once(evidence, &mut found);
    till::told(evidence, &mut found);
    told::opened(evidence, &mut found);
    storm::bounded(evidence, &mut found);
    if complete {
        bounds::justified(evidence, &mut found);
        settled::held(evidence, &mut found);
        epoch::held(evidence, &mut found);
        settled::ready(evidence, &mut found);
        settled::gone(evidence, &mut found);
        commands::settled(evidence, &mut found);
        told::decisions(evidence, &mut found);
        removal::silent(evidence, &mut found);
        removal::came_back(evidence, &mut found);
        removal::given_back(evidence, &mut found);
        money::invoiced(evidence, &mut found);
    }
    found
}

/// Returns the number of creations that were given up without proof and made again.
pub fn remade(evidence: &Evidence<'_>) -> u32 {
    let given_up = evidence.stories.iter().filter(|story| story.given_up()).count();
    u32::try_from(given_up).unwrap_or(u32::MAX).saturating_add(epoch::made_again(evidence))
}
