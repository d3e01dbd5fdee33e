//! Dependency order: a resource precedes those that need it.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::Key;

/// Sorts the keys in dependency order, equal ones by name. Only edges between the given keys count.
/// A cycle, which files cannot hold, would be cut at its first member.
pub(crate) fn in_dependency_order(
    keys: impl IntoIterator<Item = Key>,
    needs: &BTreeMap<Key, Box<[Key]>>,
) -> Vec<Key> {
    let keys: BTreeSet<Key> = keys.into_iter().collect();
    let mut walk = DependencyWalk { keys: &keys, needs, seen: BTreeSet::new(), order: Vec::new() };
    for key in &keys {
        walk.visit(key);
    }
    walk.order
}

/// A walk over the keys, deepest need first.
struct DependencyWalk<'a> {
    keys: &'a BTreeSet<Key>,
    needs: &'a BTreeMap<Key, Box<[Key]>>,
    seen: BTreeSet<&'a Key>,
    order: Vec<Key>,
}

impl<'a> DependencyWalk<'a> {
    /// Visits a key after all its needs, without recursion: chains may be long.
    fn visit(&mut self, key: &'a Key) {
        let mut path = vec![(key, false)];
        while let Some((key, done)) = path.pop() {
            if done {
                self.order.push(key.clone());
                continue;
            }
            if !self.seen.insert(key) {
                continue;
            }
            path.push((key, true));
            let needs = self.needs.get(key).into_iter().flatten();
            path.extend(needs.filter_map(|need| self.keys.get(need)).map(|need| (need, false)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        text.parse().expect("a key")
    }

    #[test]
    fn what_is_needed_comes_first_whatever_the_names() {
        let needs = BTreeMap::from([
            (key("A/a"), Box::from([key("Z/z")])),
            (key("Z/z"), Box::from([key("M/m"), key("Q/not-asked")])),
        ]);
        let order = in_dependency_order(["A/a", "M/m", "Z/z"].map(key), &needs);
        assert_eq!(order, ["M/m", "Z/z", "A/a"].map(key));
    }

    /// Returns the order of these keys, each of which needs some others.
    fn order(edges: &[(&str, &[&str])]) -> Vec<String> {
        let needs = edges.iter().map(|(of, needs)| (key(of), needs.iter().map(|of| key(of))));
        let needs: BTreeMap<Key, Box<[Key]>> =
            needs.map(|(of, needs)| (of, needs.collect())).collect();
        in_dependency_order(needs.keys().cloned(), &needs).iter().map(Key::short).collect()
    }

    #[test]
    fn what_two_need_comes_once_and_before_both() {
        let diamond =
            [("A/a", &["B/b", "C/c"][..]), ("B/b", &["D/d"]), ("C/c", &["D/d"]), ("D/d", &[])];
        let order = order(&diamond);
        assert_eq!(order.len(), 4);
        assert_eq!((order[0].as_str(), order[3].as_str()), ("D/d", "A/a"));
    }

    #[test]
    fn what_needs_nothing_comes_in_the_order_of_names_and_a_cycle_ends() {
        assert_eq!(order(&[("C/c", &[]), ("A/a", &[]), ("B/b", &[])]), ["A/a", "B/b", "C/c"]);
        let cycle = order(&[("A/a", &["B/b"]), ("B/b", &["A/a"]), ("C/c", &["C/c"])]);
        assert_eq!(cycle, ["B/b", "A/a", "C/c"]);
    }
}
