//! Parts of the incremental planner: sums over all steps, updated step by step; dependency order,
//! in which a resource precedes those that need it; and steps that change without a document: with
//! the date, such as the health of a card that expires, and with the service's answers about a
//! merchant's accounts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::base::id::{Key, Mode};
use crate::model::change::PlannedAction;
use crate::model::plan::{Reason, Standing, Step};
use crate::model::state::health::ConditionStatus;

/// Resources by standing: the counts of all, and the names of those that are not ready.
#[derive(Debug, Default)]
pub(crate) struct Standings {
    counts: BTreeMap<Standing, usize>,
    not_ready: BTreeSet<(Standing, Key)>,
}

impl Standings {
    pub(crate) fn replace(&mut self, key: &Key, before: Option<Standing>, after: Option<Standing>) {
        if before == after {
            return;
        }
        if let Some(before) = before {
            let count = self.counts.entry(before).or_default();
            *count = count.saturating_sub(1);
            self.not_ready.remove(&(before, key.clone()));
        }
        if let Some(after) = after {
            let count = self.counts.entry(after).or_default();
            *count = count.saturating_add(1);
            if after != Standing::Ready {
                self.not_ready.insert((after, key.clone()));
            }
        }
    }

    pub(crate) fn count(&self, standing: Standing) -> usize {
        self.counts.get(&standing).copied().unwrap_or(0)
    }

    /// Returns the resources that are not ready, the most urgent first.
    pub(crate) fn not_ready(&self) -> impl Iterator<Item = &Key> {
        self.not_ready.iter().map(|(_, key)| key)
    }
}

#[derive(Debug, Clone, Default)]
pub struct PlanTotals {
    /// Sums of money by currency, mode and meaning, in minor units.
    pub(crate) money: BTreeMap<(String, Mode, &'static str), i64>,
    verdicts: BTreeMap<PlannedAction, usize>,
    pub(crate) unready: usize,
    pub(crate) needing_attention: usize,
    pub(crate) over_limit: usize,
    sync_statuses: BTreeMap<ConditionStatus, usize>,
    health_statuses: BTreeMap<ConditionStatus, usize>,
    /// Resources that are not ready or differ from their file, by the word of their reason.
    reasons: BTreeMap<&'static str, usize>,
}

impl PlanTotals {
    pub(crate) fn replace(&mut self, before: Option<&Step>, after: Option<&Step>) {
        if let Some(step) = before {
            self.count(step, -1);
        }
        if let Some(step) = after {
            self.count(step, 1);
        }
    }

    /// Counts one step in, or out with a sign of -1.
    fn count(&mut self, step: &Step, sign: i64) {
        let moved = |count: &mut usize| {
            *count = count.checked_add_signed(if sign < 0 { -1 } else { 1 }).unwrap_or(0);
        };
        moved(self.verdicts.entry(step.action).or_default());
        moved(self.sync_statuses.entry(step.sync_status()).or_default());
        moved(self.health_statuses.entry(step.health_status()).or_default());
        if !step.is_ready() {
            moved(&mut self.unready);
        }
        if !step.is_ready() || step.action.is_change() {
            moved(self.reasons.entry(step.headline_word()).or_default());
        }
        if matches!(step.reason, Reason::OverLimit(_)) {
            moved(&mut self.over_limit);
        }
        if step.needs_operator() {
            moved(&mut self.needing_attention);
        }
        let wanted =
            if step.action == PlannedAction::Blocked { &[] } else { step.money.as_slice() };
        for money in wanted {
            let name = (money.amount.currency().to_string(), money.mode, money.meaning);
            let sum = self.money.entry(name.clone()).or_default();
            *sum = sum.saturating_add(money.amount.minor().saturating_mul(sign));
            if *sum == 0 {
                self.money.remove(&name);
            }
        }
    }

    pub fn count_of(&self, verdict: PlannedAction) -> usize {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }

    /// Returns the number of steps by the status of the condition `Synced`.
    pub(crate) fn sync_statuses(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.sync_statuses.iter().map(|(status, count)| (status.word(), *count))
    }

    /// Returns the number of steps by the status of the condition `Healthy`.
    pub(crate) fn health_statuses(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.health_statuses.iter().map(|(status, count)| (status.word(), *count))
    }

    /// Returns the number of steps that are not ready or a change, by the word of their reason.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.reasons.iter().map(|(word, count)| (*word, *count))
    }

    pub fn changes(&self) -> usize {
        let changes = self.verdicts.iter().filter(|(verdict, _)| verdict.is_change());
        changes.map(|(_, count)| count).sum()
    }
}

/// Sorts the keys in dependency order, equal ones by name. Only edges between the given keys count.
/// A cycle, which files cannot hold, would be cut at its first member.
pub(crate) fn in_dependency_order(
    keys: impl IntoIterator<Item = Key>,
    needs: &HashMap<Key, Box<[Key]>>,
) -> Vec<Key> {
    let keys: BTreeSet<Key> = keys.into_iter().collect();
    let mut walk = DependencyWalk { keys: &keys, needs, seen: HashSet::new(), order: Vec::new() };
    for key in &keys {
        walk.visit(key);
    }
    walk.order
}

/// Splits keys in dependency order into parts, none of whose keys needs another one of its part. A part
/// follows all parts that it needs.
pub(crate) fn independent_parts<'k>(
    order: &'k [Key],
    needs: &HashMap<Key, Box<[Key]>>,
) -> Vec<Vec<&'k Key>> {
    let mut part_of: HashMap<&Key, usize> = HashMap::with_capacity(order.len());
    let mut parts: Vec<Vec<&Key>> = Vec::new();
    for key in order {
        let needed = needs.get(key).into_iter().flatten();
        let number = needed.filter_map(|need| part_of.get(need)).max();
        let number = number.map_or(0, |number| number.saturating_add(1));
        part_of.insert(key, number);
        match parts.get_mut(number) {
            Some(part) => part.push(key),
            None => parts.push(vec![key]),
        }
    }
    parts
}

/// A walk over the keys, deepest need first.
struct DependencyWalk<'a> {
    keys: &'a BTreeSet<Key>,
    needs: &'a HashMap<Key, Box<[Key]>>,
    seen: HashSet<&'a Key>,
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

#[derive(Debug, Default)]
pub(crate) struct AccountBlocked {
    by_resource: BTreeMap<Key, Key>,
    merchants: BTreeMap<Key, usize>,
}

impl AccountBlocked {
    /// Notes the merchant whose accounts block a resource; `None`: no longer blocked. Returns the
    /// merchant before.
    pub(crate) fn note(&mut self, key: &Key, merchant: Option<Key>) -> Option<Key> {
        let before = self.by_resource.remove(key);
        if let Some(before) = &before
            && let Some(count) = self.merchants.get_mut(before)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.merchants.remove(before);
            }
        }
        if let Some(merchant) = merchant {
            let count = self.merchants.entry(merchant.clone()).or_default();
            *count = count.saturating_add(1);
            self.by_resource.insert(key.clone(), merchant);
        }
        before
    }

    pub(crate) fn contains(&self, merchant: &Key) -> bool {
        self.merchants.contains_key(merchant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        text.parse().expect("a key")
    }

    #[test]
    fn each_resource_is_in_one_class_and_the_urgent_ones_come_first() {
        use Standing::{Changing, NeedsAttention, Ready, Waiting};
        let (a, b, c) = (key("A/a"), key("B/b"), key("C/c"));
        let mut standings = Standings::default();
        for (key, standing) in [(&a, Waiting), (&b, NeedsAttention), (&c, Ready)] {
            standings.replace(key, None, Some(standing));
        }
        let names = |standings: &Standings| standings.not_ready().cloned().collect::<Vec<_>>();
        assert_eq!(names(&standings), [b.clone(), a.clone()]);
        standings.replace(&b, Some(NeedsAttention), Some(Changing));
        standings.replace(&a, Some(Waiting), Some(Ready));
        standings.replace(&c, Some(Ready), None);
        assert_eq!(names(&standings), [b]);
        let counts = [NeedsAttention, Changing, Waiting, Ready].map(|one| standings.count(one));
        assert_eq!(counts, [0, 1, 0, 1]);
    }

    #[test]
    fn what_is_needed_comes_first_whatever_the_names() {
        let needs = HashMap::from([
            (key("A/a"), Box::from([key("Z/z")])),
            (key("Z/z"), Box::from([key("M/m"), key("Q/not-asked")])),
        ]);
        let order = in_dependency_order(["A/a", "M/m", "Z/z"].map(key), &needs);
        assert_eq!(order, ["M/m", "Z/z", "A/a"].map(key));
    }

    /// Returns the order of these keys, each of which needs some others.
    fn order(edges: &[(&str, &[&str])]) -> Vec<String> {
        let needs = edges.iter().map(|(of, needs)| (key(of), needs.iter().map(|of| key(of))));
        let needs: HashMap<Key, Box<[Key]>> =
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

    #[test]
    fn parts_follow_what_they_need_and_hold_no_key_that_needs_another_of_them() {
        let key = |text: &str| -> Key { text.parse().unwrap() };
        let needs = |texts: &[&str]| -> Box<[Key]> { texts.iter().map(|text| key(text)).collect() };
        let needs = HashMap::from([
            (key("B/b"), needs(&["M/m"])),
            (key("C/c"), needs(&["M/m", "B/b"])),
            (key("D/d"), needs(&["M/m", "X/not-asked"])),
        ]);
        let order = in_dependency_order(["A/a", "B/b", "C/c", "D/d", "M/m"].map(key), &needs);
        let parts = independent_parts(&order, &needs);
        let texts = parts.iter().map(|part| part.iter().map(|key| key.short()).collect::<Vec<_>>());
        assert_eq!(
            texts.collect::<Vec<_>>(),
            [vec!["A/a", "M/m"], vec!["B/b", "D/d"], vec!["C/c"]]
        );
    }

    #[test]
    fn a_merchant_is_in_the_way_as_long_as_anyone_is_blocked_by_it() {
        let key = |text: &str| -> Key { text.parse().unwrap() };
        let (acme, other) = (key("Merchant/acme"), key("Merchant/other"));
        let mut stalled = AccountBlocked::default();
        stalled.note(&key("Invoice/a"), Some(acme.clone()));
        stalled.note(&key("Invoice/b"), Some(acme.clone()));
        stalled.note(&key("Invoice/a"), Some(acme.clone()));
        stalled.note(&key("Invoice/a"), None);
        assert!(stalled.contains(&acme) && !stalled.contains(&other));
        stalled.note(&key("Invoice/b"), Some(other.clone()));
        assert!(!stalled.contains(&acme) && stalled.contains(&other));
        stalled.note(&key("Invoice/b"), None);
        assert!(!stalled.contains(&other));
    }
}
