//! The references between documents, kept so that one changed document costs only its dependants.
//!
//! A pure graph of keys. Guarantee: [`Graph::affected_groups`] returns every key whose verdict may differ
//! after a change of the given ones, dependencies before dependants, members of a cycle together.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::base::id::Key;
use crate::model::issue::{Issue, Path};
use crate::model::manifest::PackedManifest;

/// One need of a document, with the field that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentLink {
    pub path: Path,
    pub target: Key,
}

/// Returns what a manifest refers to and depends on.
pub fn link_targets(manifest: &PackedManifest) -> impl Iterator<Item = &Key> + Clone {
    let references = manifest.references.iter().map(|reference| &reference.key);
    references.chain(&manifest.annotations.depends_on)
}

/// Returns the references of a manifest and its `depends-on`, in this order.
pub fn links(manifest: &PackedManifest) -> Vec<DocumentLink> {
    let references = manifest
        .references
        .iter()
        .map(|found| DocumentLink { path: Path::parse(&found.path), target: found.key.clone() });
    let annotation = || Path::parse("metadata.annotations").key("reckon.dev/depends-on");
    let depends_on = manifest
        .annotations
        .depends_on
        .iter()
        .map(|target| DocumentLink { path: annotation(), target: target.clone() });
    references.chain(depends_on).collect()
}

#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// In order. A document has a few: a list takes less memory than a set.
    targets: HashMap<Key, Box<[Key]>>,
    dependants: HashMap<Key, BTreeSet<Key>>,
}

impl Graph {
    pub fn set(&mut self, key: &Key, mut targets: Vec<Key>) {
        targets.sort_unstable();
        targets.dedup();
        let before = self.targets.remove(key).unwrap_or_default();
        for gone in before.iter().filter(|key| targets.binary_search(key).is_err()) {
            if let Some(dependants) = self.dependants.get_mut(gone) {
                dependants.remove(key);
                if dependants.is_empty() {
                    self.dependants.remove(gone);
                }
            }
        }
        for new in targets.iter().filter(|key| before.binary_search(key).is_err()) {
            self.dependants.entry(new.clone()).or_default().insert(key.clone());
        }
        if !targets.is_empty() {
            self.targets.insert(key.clone(), targets.into_boxed_slice());
        }
    }

    /// Returns the keys and all their dependants, in groups. A group of several keys, or of one
    /// that refers to itself, is a cycle. Every group follows the groups to which it refers.
    pub fn affected_groups(&self, touched: &BTreeSet<Key>) -> Vec<Vec<Key>> {
        let mut begins: Vec<&Key> = touched.iter().collect();
        let mut reached: HashSet<&Key> = begins.iter().copied().collect();
        let mut next: usize = 0;
        while let Some(key) = begins.get(next).copied() {
            next = next.saturating_add(1);
            let dependants = self.dependants.get(key).into_iter().flatten();
            begins.extend(dependants.filter(|dependant| reached.insert(dependant)));
        }
        let (order, low) = (HashMap::new(), HashMap::new());
        let (open, is_open, groups) = (Vec::new(), HashSet::new(), Vec::new());
        let walk = Tarjan { graph: self, reached: &reached, order, low, open, is_open, groups };
        walk.run(&begins)
    }

    /// Returns whether a group from `affected` is a cycle.
    pub fn is_cycle(&self, group: &[Key]) -> bool {
        match group {
            [only] => self.targets.get(only).is_some_and(|targets| targets.contains(only)),
            _ => group.len() > 1,
        }
    }
}

/// Tarjan's strongly connected components without recursion, over the reached keys.
struct Tarjan<'a> {
    graph: &'a Graph,
    reached: &'a HashSet<&'a Key>,
    order: HashMap<&'a Key, usize>,
    low: HashMap<&'a Key, usize>,
    open: Vec<&'a Key>,
    is_open: HashSet<&'a Key>,
    groups: Vec<Vec<Key>>,
}

/// A key under visit, and its targets still to visit.
struct Visit<'a> {
    key: &'a Key,
    rest: Vec<&'a Key>,
}

impl<'a> Tarjan<'a> {
    fn run(mut self, begins: &[&'a Key]) -> Vec<Vec<Key>> {
        for key in begins {
            if !self.order.contains_key(key) {
                self.visit_from(key);
            }
        }
        self.groups
    }

    fn visit_from(&mut self, key: &'a Key) {
        let mut stack = vec![self.enter(key)];
        while let Some(visit) = stack.last_mut() {
            let key = visit.key;
            match visit.rest.pop() {
                Some(target) if !self.order.contains_key(target) => stack.push(self.enter(target)),
                Some(target) => {
                    if self.is_open.contains(target) {
                        let seen = self.order.get(target).copied().unwrap_or_default();
                        self.lower(key, seen);
                    }
                }
                None => {
                    stack.pop();
                    let low = self.leave(key);
                    if let Some(parent) = stack.last() {
                        self.lower(parent.key, low);
                    }
                }
            }
        }
    }

    fn enter(&mut self, key: &'a Key) -> Visit<'a> {
        let number = self.order.len();
        self.order.insert(key, number);
        self.low.insert(key, number);
        self.open.push(key);
        self.is_open.insert(key);
        let targets = self.graph.targets.get(key).into_iter().flatten();
        let rest = targets.filter(|target| self.reached.contains(target)).collect();
        Visit { key, rest }
    }

    fn lower(&mut self, key: &'a Key, to: usize) {
        if let Some(low) = self.low.get_mut(key) {
            *low = (*low).min(to);
        }
    }

    fn leave(&mut self, key: &'a Key) -> usize {
        let low = self.low.get(key).copied().unwrap_or_default();
        if Some(&low) == self.order.get(key) {
            let mut group = Vec::new();
            while let Some(member) = self.open.pop() {
                self.is_open.remove(member);
                group.push(member.clone());
                if member == key {
                    break;
                }
            }
            group.sort();
            self.groups.push(group);
        }
        low
    }
}

pub fn missing_issue(link: &DocumentLink) -> Issue {
    let target = &link.target;
    let help =
        format!("add a document of kind {} with this name, or correct the name", target.kind);
    let message = format!("there is no {} `{}`", target.kind, display_name(target));
    Issue { path: link.path.clone(), ..Issue::error("reckon::link::missing", "", message, help) }
}

/// Formats `NAME`, or `NAMESPACE/NAME` outside the default namespace.
fn display_name(key: &Key) -> String {
    if key.namespace.is_default_namespace() {
        key.name.to_string()
    } else {
        format!("{}/{}", key.namespace, key.name)
    }
}

/// Members of a cycle that its message names.
const MEMBERS_MAX: usize = 10;

pub fn cycle_issue(link: &DocumentLink, group: &[Key]) -> Issue {
    let members: Vec<_> = group.iter().take(MEMBERS_MAX).map(Key::short).collect();
    let more = match group.len().saturating_sub(MEMBERS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = match group {
        [_] => "the document refers to itself".to_owned(),
        _ => format!("these documents refer to each other: {}{more}", members.join(", ")),
    };
    let help = "remove one of the references";
    Issue { path: link.path.clone(), ..Issue::error("reckon::link::cycle", "", message, help) }
}

/// Returns the issue of a document whose name another document has too.
pub fn duplicate_issue(key: &Key) -> Issue {
    let message = format!("{} is defined more than once", key.short());
    let help = "rename or remove one of them";
    Issue::error("reckon::link::duplicate", "metadata.name", message, help)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(name: &str) -> Key {
        format!("K/{name}").parse().unwrap()
    }

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        let mut graph = Graph::default();
        for (from, to) in edges {
            graph.set(&key(from), to.iter().map(|name| key(name)).collect());
        }
        graph
    }

    fn affected(graph: &Graph, touched: &[&str]) -> Vec<String> {
        let touched = touched.iter().map(|name| key(name)).collect();
        let text = |group: Vec<Key>| {
            group.iter().map(|key| key.name.to_string()).collect::<Vec<_>>().join("+")
        };
        graph.affected_groups(&touched).into_iter().map(text).collect()
    }

    #[test]
    fn dependants_come_after_what_they_need_and_others_do_not_come_at_all() {
        let graph = graph(&[("c", &["b"]), ("b", &["a"]), ("d", &["a", "c"]), ("x", &["y"])]);
        assert_eq!(affected(&graph, &["a"]), ["a", "b", "c", "d"]);
        assert_eq!(affected(&graph, &["c"]), ["c", "d"]);
    }

    #[test]
    fn a_cycle_is_one_group_wherever_it_is_entered() {
        let mut graph = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["c"])]);
        for touched in ["a", "b", "c"] {
            assert_eq!(affected(&graph, &[touched]), ["a+b+c", "d"]);
        }
        graph.set(&key("c"), Vec::new());
        assert_eq!(affected(&graph, &["c"]), ["c", "b", "d", "a"]);
        graph.set(&key("s"), vec![key("s")]);
        assert!(graph.is_cycle(&[key("s")]));
    }

    proptest! {
        #[test]
        fn groups_come_in_order_of_need(edges in prop::collection::vec((0_u8..9, 0_u8..9), 0..20)) {
            let mut targets: HashMap<u8, Vec<Key>> = HashMap::new();
            for (from, to) in edges {
                targets.entry(from).or_default().push(key(&format!("k{to}")));
            }
            let mut graph = Graph::default();
            for (from, to) in &targets {
                graph.set(&key(&format!("k{from}")), to.clone());
            }
            let all: BTreeSet<Key> = (0..9).map(|n| key(&format!("k{n}"))).collect();
            let groups = graph.affected_groups(&all);
            prop_assert_eq!(groups.iter().flatten().cloned().collect::<BTreeSet<_>>(), all);
            let mut done = BTreeSet::new();
            for group in groups {
                done.extend(group.iter().cloned());
                for member in &group {
                    let needs = graph.targets.get(member).cloned().unwrap_or_default();
                    prop_assert!(needs.iter().all(|need| done.contains(need)));
                }
            }
        }
    }
}
