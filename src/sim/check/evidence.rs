//! Input of the checkers: everything that a run left, with the names that its documents' objects
//! must have.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use derive_more::Display;
use serde::Serialize;

use crate::base::hash::SourceId;
use crate::base::id::RemoteId;
use crate::engine::protocol::actions::ActionReport;
use crate::engine::protocol::views::ResourceView;
use crate::model::intent::IntentProgress;
use crate::sim::machine::journal::{IntentHistory, name_of};
use crate::sim::plan::chance::CallFault;
use crate::sim::plan::documents::{Doc, DocTree};
use crate::sim::plan::script::SimScript;
use crate::sim::service::frontend::Arrival;
use crate::sim::service::sandbox::Objects;
use crate::sim::service::weather::StormStretch;

#[derive(Debug, Display, Clone, PartialEq, Eq, Serialize)]
#[display("{law}: {text}")]
pub struct Violation {
    pub law: &'static str,
    pub text: String,
}

impl Violation {
    pub fn new(law: &'static str, text: String) -> Self {
        Self { law, text }
    }
}

pub type Violations = Vec<Violation>;

#[derive(Debug, Clone, Copy)]
pub struct RunEvidence<'a> {
    pub script: &'a SimScript,
    /// Files of the run, each version with the time from which it was valid.
    pub history: &'a [(DateTime<Utc>, DocTree)],
    pub arrivals: &'a [Arrival],
    /// Time and path of each request that the service did not authorise.
    pub unauthorised_calls: &'a [(DateTime<Utc>, String)],
    pub histories: &'a [IntentHistory],
    /// Numbers of all intents, in journal order.
    pub numbers: &'a [u64],
    pub deaths: &'a [DateTime<Utc>],
    pub lost: &'a [LostState],
    pub objects: &'a Objects,
    pub later: &'a Objects,
    pub views: &'a [ResourceView],
    /// Last answer to each command of a person.
    pub answers: &'a BTreeMap<String, ActionReport>,
    /// Webhooks that were never delivered, as reference and event.
    pub lost_webhooks: &'a BTreeSet<String>,
    pub storms: &'a [StormStretch],
    /// Time from the end of all faults until everything was settled.
    pub settling_time: Option<Duration>,
}

impl RunEvidence<'_> {
    pub fn files(&self) -> Option<&DocTree> {
        self.history.last().map(|(_, tree)| tree)
    }

    /// Returns every version of the document of this name, oldest first.
    pub fn versions(&self, name: &str) -> Vec<&Doc> {
        self.history.iter().filter_map(|(_, tree)| tree.get(name)).collect()
    }

    /// Returns the newest version of every document that ever existed.
    pub fn all_documents(&self) -> BTreeMap<&str, &Doc> {
        let all = self.history.iter().flat_map(|(_, tree)| tree.values());
        all.map(|doc| (doc.name.as_str(), doc)).collect()
    }

    /// Returns the newest versions of a document and of all that it needs.
    pub(crate) fn with_needs(&self, doc: &Doc) -> Vec<&Doc> {
        let ever = self.all_documents();
        let newest = |name: &str| ever.get(name).copied();
        let direct = doc.references().into_iter().chain([doc.name.as_str()]).filter_map(newest);
        let direct: Vec<&Doc> = direct.collect();
        let further = direct.iter().flat_map(|need| need.references()).filter_map(newest);
        further.chain(direct.iter().copied()).collect()
    }

    pub fn generations(&self, name: &str) -> Vec<u32> {
        let all: BTreeSet<u32> = self.versions(name).iter().map(|doc| doc.generation).collect();
        all.into_iter().collect()
    }

    pub(crate) fn view(&self, doc: &Doc) -> Option<&ResourceView> {
        self.views.iter().find(|view| view.name == doc.name && view.kind == doc.kind())
    }

    pub fn intents(&self, name: &str) -> impl Iterator<Item = &IntentHistory> {
        self.histories.iter().filter(move |story| story.document() == name)
    }

    pub(crate) fn intents_of(
        &self,
        doc: &Doc,
        generation: u32,
    ) -> impl Iterator<Item = &IntentHistory> {
        let source = doc.source_id(generation);
        self.intents(&doc.name).filter(move |one| Some(&one.intent.source_id) == source.as_ref())
    }

    /// Returns true if an answer to the intent's request named another amount.
    pub(crate) fn has_other_amount(&self, story: &IntentHistory) -> bool {
        let name = name_of(&story.intent);
        let altered = |one: &Arrival| one.fault == Some(CallFault::OtherAmount);
        self.arrivals.iter().any(|one| altered(one) && one.name == name)
    }
}

impl<'a> RunEvidence<'a> {
    pub(crate) fn arrivals_of(&self, effect: &str) -> impl Iterator<Item = &'a Arrival> {
        self.arrivals.iter().filter(move |one| one.effect == Some(effect))
    }
}

/// Returns true if every document of a tree is valid, with all the documents that it needs.
pub fn is_complete(tree: &DocTree) -> bool {
    tree.values().all(|doc| is_valid(tree, doc))
}

/// Returns true if a document and all that it needs are valid.
pub fn is_valid(tree: &DocTree, doc: &Doc) -> bool {
    let is_valid = |name: &str| tree.get(name).is_some_and(|need| is_valid(tree, need));
    doc.broken.is_none() && doc.references().into_iter().all(is_valid)
}

#[derive(Debug, Clone)]
pub struct LostState {
    pub at: DateTime<Utc>,
    /// Last record of the restored backup; `None` if no backup was restored.
    pub last_kept: Option<u64>,
    /// Every intent that the state knew.
    pub histories: Vec<IntentHistory>,
}

/// Names of effects, each with its document and generation.
pub(crate) type ExpectedNames = BTreeMap<String, (String, u32)>;

/// Returns the `source_id` of every document of a kind, in every generation that it ever had.
pub(crate) fn source_ids(evidence: &RunEvidence<'_>, kind: &str) -> ExpectedNames {
    names(evidence, kind, |source| source.to_string())
}

/// Returns the mark of every document of a kind, in every generation that it ever had.
pub(crate) fn marks(evidence: &RunEvidence<'_>, kind: &str) -> ExpectedNames {
    names(evidence, kind, |source| source.mark().to_string())
}

fn names(evidence: &RunEvidence<'_>, kind: &str, of: impl Fn(SourceId) -> String) -> ExpectedNames {
    let mut names = ExpectedNames::new();
    for doc in evidence.all_documents().into_values().filter(|doc| doc.kind() == kind) {
        for generation in evidence.generations(&doc.name) {
            let source = doc.source_id(generation);
            names.extend(source.map(|source| (of(source), (doc.name.clone(), generation))));
        }
    }
    names
}

/// Returns the id that the journal records as the result of a finished intent.
pub(crate) fn result_id(story: &IntentHistory) -> Option<&str> {
    let (_, IntentProgress::Done { observation, proof: _ }) = story.progress.last()? else {
        return None;
    };
    observation.remote_id.as_ref().map(RemoteId::as_str)
}
