//! Selects the resources of a graph: those that are not ready come first, and what they need.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::Key;
use crate::engine::protocol::graph::{GraphNode, GraphSubject, GraphView};
use crate::engine::protocol::resources::ResourceFilter;
use crate::engine::view::EngineView;

/// Resources of a graph, at most.
const NODES_MAX: usize = 60;
/// Resources that a search along needs and users visits, at most.
const VISITED_MAX: usize = 2000;
/// Edges of one resource that a search follows: one more than it can visit.
const STEPS_MAX: usize = VISITED_MAX + 1;

/// Candidates for a graph, the most important first, and the number of further ones.
#[derive(Default)]
struct GraphCandidates {
    keys: Vec<Key>,
    known: BTreeSet<Key>,
    further: usize,
    is_cut: bool,
}

impl GraphCandidates {
    /// Adds a resource; returns false if the search is at its limit.
    fn add(&mut self, key: &Key) -> bool {
        self.is_cut |= self.keys.len() >= VISITED_MAX && !self.known.contains(key);
        if !self.is_cut && self.known.insert(key.clone()) {
            self.keys.push(key.clone());
        }
        !self.is_cut
    }
}

/// Extends candidates along the edges from each of them, level by level.
fn follow(found: &mut GraphCandidates, next: impl Fn(&Key) -> Vec<Key>) {
    let mut place = 0_usize;
    while let Some(key) = found.keys.get(place).cloned() {
        if !next(&key).iter().all(|other| found.add(other)) {
            return;
        }
        place = place.saturating_add(1);
    }
}

impl EngineView<'_> {
    /// Returns the graph of a subject; `None` if no resource has its name.
    pub(crate) fn graph(&self, subject: &GraphSubject) -> Option<GraphView> {
        let candidates = match subject {
            GraphSubject::All => self.all_candidates(),
            GraphSubject::Merchant(merchant) => {
                self.planner.step(merchant)?;
                let merchant = Some(merchant.clone());
                self.selected_candidates(&ResourceFilter { merchant, ..ResourceFilter::default() })
            }
            GraphSubject::Resource(key) => {
                self.planner.step(key)?;
                self.connected_candidates(key)
            }
        };
        Some(self.graph_of(candidates))
    }

    fn is_ready(&self, key: &Key) -> bool {
        self.planner.step(key).is_some_and(|step| step.is_ready())
    }

    /// Returns a resource, then those that are not ready of all that it needs and that need it, the
    /// nearest first, then the ready ones.
    fn connected_candidates(&self, subject: &Key) -> GraphCandidates {
        let mut found = GraphCandidates::default();
        found.add(subject);
        follow(&mut found, |key| self.planner.needs(key).take(STEPS_MAX).cloned().collect());
        let needed = found.keys.split_off(1);
        follow(&mut found, |key| self.planner.users(key).take(STEPS_MAX).cloned().collect());
        let users = found.keys.split_off(1);
        let mut others: Vec<Key> = needed.into_iter().chain(users).collect();
        others.sort_by_key(|key| self.is_ready(key));
        found.keys.extend(others);
        found
    }

    /// Returns resources that are not ready, the most urgent first, what they need, then ready ones.
    fn all_candidates(&self) -> GraphCandidates {
        let open = self.planner.standings.not_ready().take(NODES_MAX).collect::<Vec<_>>();
        let others = self.planner.steps().take(VISITED_MAX).filter(|step| step.is_ready());
        let ready = others.take(NODES_MAX).map(|step| &step.key).collect::<Vec<_>>();
        let mut found = self.with_needs(&open, &ready);
        let shown = found.keys.iter().filter(|key| self.planner.step(key).is_some()).count();
        found.further = self.planner.count().saturating_sub(shown);
        found
    }

    /// Returns the resources of a filter that are not ready, what they need, then the ready ones.
    fn selected_candidates(&self, filter: &ResourceFilter) -> GraphCandidates {
        let (mut open, mut ready) = (Vec::new(), Vec::new());
        let mut total = 0_usize;
        for step in self.planner.steps().filter(|step| self.is_selected(step, filter)) {
            total = total.saturating_add(1);
            let list = if step.is_ready() { &mut ready } else { &mut open };
            if list.len() < NODES_MAX {
                list.push(&step.key);
            }
        }
        let mut found = self.with_needs(&open, &ready);
        let selected =
            |key: &&Key| self.planner.step(key).is_some_and(|step| self.is_selected(step, filter));
        found.further = total.saturating_sub(found.keys.iter().filter(selected).count());
        found
    }

    /// Returns resources that are not ready, what they need, then ready ones.
    fn with_needs(&self, open: &[&Key], ready: &[&Key]) -> GraphCandidates {
        let mut found = GraphCandidates::default();
        let needed = open.iter().flat_map(|key| self.planner.needs(key)).collect::<Vec<_>>();
        for key in open.iter().copied().chain(needed).chain(ready.iter().copied()).take(VISITED_MAX)
        {
            found.add(key);
        }
        found
    }

    fn graph_of(&self, mut candidates: GraphCandidates) -> GraphView {
        let hidden = candidates.keys.len().saturating_sub(NODES_MAX);
        candidates.keys.truncate(NODES_MAX);
        let keys = &candidates.keys;
        let places: BTreeMap<&Key, usize> = keys.iter().zip(0..).collect();
        let edges = keys.iter().zip(0..).flat_map(|(key, user)| {
            let needed = self.planner.needs(key).filter_map(|needed| places.get(needed).copied());
            needed.map(move |needed| (needed, user)).collect::<BTreeSet<_>>()
        });
        GraphView {
            edges: edges.collect(),
            nodes: keys.iter().map(|key| self.graph_node(key)).collect(),
            left_out: hidden.saturating_add(candidates.further),
            is_cut: candidates.is_cut,
        }
    }

    fn graph_node(&self, key: &Key) -> GraphNode {
        let Some(step) = self.planner.step(key) else {
            let (reason, message) = ("Missing".to_owned(), "there is no such document".to_owned());
            return GraphNode { key: key.clone(), standing: None, reason, message };
        };
        let view = self.resource_view(step);
        GraphNode {
            key: key.clone(),
            standing: Some(view.standing),
            reason: view.reason,
            message: view.message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::fixture::StateFixture;
    use crate::engine::tests::records::{card, contact, key, merchant, recurring_charge};
    use crate::model::plan::Standing;

    fn names(view: &GraphView) -> Vec<String> {
        view.nodes.iter().map(|node| node.key.short()).collect()
    }

    /// Returns the edges as names: a needed resource, and one that needs it.
    fn edges(view: &GraphView) -> Vec<(String, String)> {
        let names = names(view);
        view.edges.iter().map(|(one, other)| (names[*one].clone(), names[*other].clone())).collect()
    }

    #[test]
    fn a_resource_is_shown_with_all_that_it_needs_and_all_that_need_it() {
        let documents = [card("card"), recurring_charge("rent", "card"), contact("jane")];
        let fixture = StateFixture::with_documents(&documents.each_ref().map(String::as_str));
        let graph = |name: &str| fixture.view().graph(&GraphSubject::Resource(key(name))).unwrap();
        let card = graph("SavedMethod/card");
        assert_eq!(names(&card), ["SavedMethod/card", "RecurringCharge/rent", "Merchant/acme"]);
        let edge = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        let mut shown = edges(&card);
        shown.sort();
        assert_eq!(
            shown,
            [
                edge("Merchant/acme", "RecurringCharge/rent"),
                edge("Merchant/acme", "SavedMethod/card"),
                edge("SavedMethod/card", "RecurringCharge/rent"),
            ]
        );
        assert!(!names(&graph("RecurringCharge/rent")).contains(&"Contact/jane".to_owned()));
        let view = fixture.view();
        assert!(view.graph(&GraphSubject::Resource(key("Contact/nobody"))).is_none());
        assert!(view.graph(&GraphSubject::Merchant(key("Merchant/nobody"))).is_none());
    }

    #[test]
    fn the_whole_shows_what_is_not_ready_first_and_counts_the_others() {
        let documents: Vec<String> =
            (0..80).map(|number| contact(&format!("c-{number:02}"))).collect();
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        let mut fixture = StateFixture::with_documents(&documents);
        for number in 0..40 {
            fixture.apply(
                &format!("Contact/c-{number:02}"),
                &format!("p_{number}"),
                serde_json::json!({}),
            );
        }
        let view = fixture.view();
        let all = view.graph(&GraphSubject::All).unwrap();
        assert_eq!((all.nodes.len(), all.left_out, all.is_cut), (60, 21, false));
        let (open, others) = all.nodes.split_at(40);
        assert!(open.iter().all(|node| node.standing != Some(Standing::Ready)), "{open:?}");
        assert_eq!(others[0].key, merchant(), "the need of the first ones comes next");
        assert!(others.iter().all(|node| node.standing == Some(Standing::Ready)));
        assert_eq!(view.graph(&GraphSubject::Merchant(merchant())).unwrap(), all);
        let of = view.graph(&GraphSubject::Resource(merchant())).unwrap();
        assert_eq!((of.nodes.len(), of.left_out), (60, 21));
        assert_eq!(of.nodes[0].key, merchant());
        assert!(of.nodes[1..=40].iter().all(|node| node.standing != Some(Standing::Ready)));
    }
}
