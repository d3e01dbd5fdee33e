//! Checkers that compare the service, the journal and the manifests at the end of a run.
//!
//! They know nothing of the faults that struck, except that an answer named another amount, and
//! nothing of the engine's internals. They read the sandbox's own objects, ledger and mail, its
//! arrivals with their times, the journal's durable records, and the documents.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::epoch::LostState;
use super::{
    applications, call_laws, commands, epoch, limits, merchant_data, money, removal, settlement,
    storm, uniqueness, unmarked_charges,
};
use crate::engine::commands::action_view::ActionReport;
use crate::engine::queries::views::ResourceView;
use crate::sim::actors::sandbox_control::Objects;
use crate::sim::faults::frontend::Arrival;
use crate::sim::machine::journal_decoder::IntentHistory;
use crate::sim::net::weather::StormStretch;
use crate::sim::world::documents::{Doc, DocTree};
use crate::sim::world::script::SimScript;

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
pub struct RunEvidence<'a> {
    pub script: &'a SimScript,
    /// Files of the run, each version with the time from which it was valid.
    pub history: &'a [(DateTime<Utc>, DocTree)],
    /// Requests that reached the service.
    pub arrivals: &'a [Arrival],
    /// Time and path of each request that the service did not authorise.
    pub unauthorised_calls: &'a [(DateTime<Utc>, String)],
    /// History of each intent in the journal.
    pub histories: &'a [IntentHistory],
    /// Numbers of all intents, in journal order.
    pub numbers: &'a [u64],
    /// Times at which the machine died.
    pub deaths: &'a [DateTime<Utc>],
    /// States that were lost, in order.
    pub lost: &'a [LostState],
    /// Objects of the service at the end.
    pub objects: &'a Objects,
    /// Objects of the service two months later.
    pub later: &'a Objects,
    /// Views of all resources that the engine gave at the end.
    pub views: &'a [ResourceView],
    /// Last answer to each command of a person.
    pub answers: &'a BTreeMap<String, ActionReport>,
    /// Webhooks that were never delivered, as reference and event.
    pub lost_webhooks: &'a BTreeSet<String>,
    /// Storms that happened.
    pub storms: &'a [StormStretch],
    /// Time from the end of all faults until everything was settled.
    pub settling_time: Option<Duration>,
}

impl RunEvidence<'_> {
    /// Returns the files at the end.
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

    /// Returns the generations that a document ever had.
    pub fn generations(&self, name: &str) -> Vec<u32> {
        let mut generations: Vec<u32> =
            self.versions(name).iter().map(|doc| doc.generation).collect();
        generations.sort_unstable();
        generations.dedup();
        generations
    }

    /// Returns the intents of a document.
    pub fn intents(&self, name: &str) -> impl Iterator<Item = &IntentHistory> {
        self.histories.iter().filter(move |story| story.document() == name)
    }

    /// Returns true if a document, or a document that it needs, waits for a person.
    pub fn is_on_hold(&self, doc: &Doc) -> bool {
        let ever = self.all_documents();
        let mut names = vec![doc.name.as_str()];
        names.extend(doc.references());
        let further: Vec<_> = names
            .iter()
            .filter_map(|name| ever.get(name))
            .flat_map(|need| need.references())
            .collect();
        names.extend(further);
        unmarked_charges::waits_behind(self, doc)
            || epoch::is_waiting(self, doc, &names)
            || names.iter().any(|name| {
                let merchant = ever.get(name).map(|doc| doc.merchant());
                let own = self.intents(name).any(|story| story.hold_reason().is_some());
                own || merchant.is_some_and(|merchant| {
                    self.intents(merchant).any(|story| story.hold_reason().is_some())
                })
            })
    }
}

/// Returns true if every document of a tree is valid, with all the documents that it needs.
pub fn is_complete(tree: &DocTree) -> bool {
    tree.values().all(|doc| is_valid(tree, doc))
}

/// Returns true if a document and all that it needs are valid.
pub fn is_valid(tree: &DocTree, doc: &Doc) -> bool {
    doc.broken.is_none()
        && doc
            .references()
            .iter()
            .all(|name| tree.get(*name).is_some_and(|need| is_valid(tree, need)))
}

/// Returns every violation. Settlement is not checked in a run that was cut short.
pub fn check_run(evidence: &RunEvidence<'_>, complete: bool) -> Vec<Violation> {
    let mut found = Vec::new();
    call_laws::check_call_intents(evidence, &mut found);
    call_laws::check_deletions(evidence, &mut found);
    call_laws::check_differing_answers(evidence, &mut found);
    uniqueness::check_intent_numbers(evidence, &mut found);
    uniqueness::check_invoices(evidence, &mut found);
    uniqueness::check_methods(evidence, &mut found);
    uniqueness::check_tokens(evidence, &mut found);
    uniqueness::check_recurring_charges(evidence, &mut found);
    unmarked_charges::check_counts(evidence, &mut found);
    uniqueness::check_applications(evidence, &mut found);
    uniqueness::check_contacts(evidence, &mut found);
    uniqueness::check_mails(evidence, &mut found);
    money::check_collected(evidence, &mut found);
    commands::check_single_effect(evidence, &mut found);
    merchant_data::check_answers(evidence, &mut found);
    applications::check_codes(evidence, &mut found);
    storm::check_storms(evidence, &mut found);
    if complete {
        limits::check_blocked_steps(evidence, &mut found);
        settlement::check_holds(evidence, &mut found);
        epoch::check_waiting(evidence, &mut found);
        settlement::check_ready(evidence, &mut found);
        settlement::check_removed_methods(evidence, &mut found);
        commands::check_answers(evidence, &mut found);
        applications::check_decisions(evidence, &mut found);
        removal::check_no_collection(evidence, &mut found);
        removal::check_returned(evidence, &mut found);
        removal::check_deauthorised(evidence, &mut found);
        money::check_invoiced(evidence, &mut found);
    }
    found
}

/// Returns the number of creations that were given up without proof and made again.
pub fn recreated(evidence: &RunEvidence<'_>) -> u32 {
    let given_up = evidence.histories.iter().filter(|story| story.given_up()).count();
    u32::try_from(given_up).unwrap_or(u32::MAX).saturating_add(epoch::recreated_contacts(evidence))
}
