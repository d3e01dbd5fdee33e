//! The guards of removals (`policy.prune`). With them, a mistake in the files neither ends nor
//! doubles a collection: a renamed directory, a bad merge or an empty render.
//!
//! Pure. Inputs are the document counts, the candidates for removal and the possible renames; the
//! output is the guard that stops each removal. A person's permission (`apply --allow-prune`)
//! passes the guards; it never changes their counts.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::base::id::{Key, Kind};
use crate::model::change::GuardTripped;

/// Smallest set of which a share is meaningful.
const SET_MIN: usize = 10;
/// Number of rename candidates without money from which they count as a wave.
const WAVE_MIN: usize = 3;
/// Share of a set that may be removed at once where the file names none, in percent.
const PERCENT_DEFAULT: u32 = 30;
/// Time that a live resource stays after its mark, where the file names none.
const DELAY_DEFAULT: Duration = Duration::from_hours(24);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured<T> {
    pub value: T,
    /// File and line, or `default`.
    pub set_at: String,
}

impl<T> Configured<T> {
    pub fn default_of(value: T) -> Self {
        Self { value, set_at: "default".to_owned() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneGuards {
    /// Maximum share of a set that may be removed at once, in percent; sets of fewer than ten are
    /// not checked.
    pub percent: Configured<u32>,
    /// A set without any document left keeps all its objects.
    pub refuse_empty: Configured<bool>,
    /// A possible rename is neither removed nor created a second time.
    pub refuse_renames: Configured<bool>,
    /// Time that a live resource stays after its mark.
    pub delay: Configured<Duration>,
}

impl Default for PruneGuards {
    fn default() -> Self {
        Self::of(PERCENT_DEFAULT, true, DELAY_DEFAULT)
    }
}

impl PruneGuards {
    fn of(percent: u32, refuse: bool, delay: Duration) -> Self {
        Self {
            percent: Configured::default_of(percent),
            refuse_empty: Configured::default_of(refuse),
            refuse_renames: Configured::default_of(refuse),
            delay: Configured::default_of(delay),
        }
    }

    /// Returns a section without guards, like that of a file that allows everything.
    pub fn without_guards() -> Self {
        Self::of(100, false, Duration::ZERO)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentCounts {
    all: usize,
    by_kind: BTreeMap<Kind, usize>,
    by_merchant: BTreeMap<Key, usize>,
}

impl DocumentCounts {
    pub fn add(&mut self, kind: &Kind, merchant: Option<&Key>) {
        self.all = self.all.saturating_add(1);
        increment(self.by_kind.entry(kind.clone()).or_default());
        if let Some(merchant) = merchant {
            increment(self.by_merchant.entry(merchant.clone()).or_default());
        }
    }

    pub fn remove(&mut self, kind: &Kind, merchant: Option<&Key>) {
        self.all = self.all.saturating_sub(1);
        let less = |count: &mut usize| *count = count.saturating_sub(1);
        self.by_kind.get_mut(kind).map(less);
        merchant.and_then(|merchant| self.by_merchant.get_mut(merchant)).map(less);
    }
}

fn increment(count: &mut usize) {
    *count = count.saturating_add(1);
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum GuardedSet {
    Tree,
    Kind(Kind),
    Merchant(Key),
}

impl GuardedSet {
    fn of(key: &Key, merchant: &Key) -> [Self; 3] {
        [Self::Tree, Self::Kind(key.kind.clone()), Self::Merchant(merchant.clone())]
    }

    fn documents(&self, census: &DocumentCounts) -> usize {
        let count = match self {
            Self::Tree => Some(&census.all),
            Self::Kind(kind) => census.by_kind.get(kind),
            Self::Merchant(merchant) => census.by_merchant.get(merchant),
        };
        count.copied().unwrap_or(0)
    }

    fn words(&self) -> String {
        match self {
            Self::Tree => "in the whole tree".to_owned(),
            Self::Kind(kind) => format!("of kind {kind}"),
            Self::Merchant(merchant) => format!("of {}", merchant.short()),
        }
    }
}

/// Lost documents of a set.
#[derive(Debug, Clone, Copy, Default)]
struct LostDocuments {
    removed: usize,
    orphaned: usize,
}

/// Returns the guard that stops each removal. `going` are the candidates for removal, `orphaned`
/// the objects that stay although the same change lost their documents; each with its merchant.
pub fn check_removals<'a>(
    prune: &PruneGuards,
    census: &DocumentCounts,
    going: impl Iterator<Item = (&'a Key, &'a Key)> + Clone,
    orphaned: impl Iterator<Item = (&'a Key, &'a Key)>,
) -> BTreeMap<Key, GuardTripped> {
    let mut lost: BTreeMap<GuardedSet, LostDocuments> = BTreeMap::new();
    for set in going.clone().flat_map(|(key, merchant)| GuardedSet::of(key, merchant)) {
        increment(&mut lost.entry(set).or_default().removed);
    }
    for set in orphaned.flat_map(|(key, merchant)| GuardedSet::of(key, merchant)) {
        increment(&mut lost.entry(set).or_default().orphaned);
    }
    let tripped = |set: &GuardedSet, lost| trip(prune, set, lost, set.documents(census));
    let trips: BTreeMap<&GuardedSet, GuardTripped> =
        lost.iter().filter_map(|(set, lost)| Some((set, tripped(set, *lost)?))).collect();
    let of = |key: &Key, merchant: &Key| {
        GuardedSet::of(key, merchant).iter().find_map(|set| trips.get(set).cloned())
    };
    going.filter_map(|(key, merchant)| Some((key.clone(), of(key, merchant)?))).collect()
}

/// Trips if no document of a set is left, or if too large a share of it was lost.
fn trip(
    prune: &PruneGuards,
    set: &GuardedSet,
    lost: LostDocuments,
    left: usize,
) -> Option<GuardTripped> {
    let LostDocuments { removed, orphaned } = lost;
    if prune.refuse_empty.value && left == 0 {
        return Some(GuardTripped {
            guard: "policy.prune.empty",
            why: format!("no document {} is left, and {removed} would be removed", set.words()),
            set_at: prune.refuse_empty.set_at.clone(),
        });
    }
    let gone = removed.saturating_add(orphaned);
    let all = gone.saturating_add(left);
    let most = usize::try_from(prune.percent.value).unwrap_or(100);
    let stops = all >= SET_MIN && gone.saturating_mul(100) > all.saturating_mul(most);
    let words = set.words();
    let what = match orphaned {
        0 => format!("{gone} of {all} {words} would be removed"),
        _ => format!(
            "{gone} of {all} documents {words} are gone, and {removed} of their objects would be removed"
        ),
    };
    stops.then(|| GuardTripped {
        guard: "policy.prune.percent",
        why: format!("{what}, which is more than {most} %"),
        set_at: prune.percent.set_at.clone(),
    })
}

/// A rename candidate: a new document equal to a missing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameCandidate {
    pub old: Key,
    pub new: Key,
    /// Creating the new resource would move money that the old one moved, too.
    pub moves_money: bool,
}

/// Returns the probable renames: any that would move money twice, and the others where there is a
/// wave of them.
pub fn probable_renames(prune: &PruneGuards, twins: Vec<RenameCandidate>) -> Vec<RenameCandidate> {
    if !prune.refuse_renames.value {
        return Vec::new();
    }
    let wave = twins.len() >= WAVE_MIN;
    twins.into_iter().filter(|twin| wave || twin.moves_money).collect()
}

/// Returns the guard against the removal of the older one of a pair; `all` is the number of pairs.
pub fn rename_trip(prune: &PruneGuards, twin: &RenameCandidate, all: usize) -> GuardTripped {
    let more = if all > 1 { format!(" ({all} such pairs)") } else { String::new() };
    GuardTripped {
        guard: "policy.prune.renames",
        why: format!(
            "{} is new and has the same content{more}; a new name takes the object over by reckon.dev/moved-from",
            twin.new.short()
        ),
        set_at: prune.refuse_renames.set_at.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    fn none<'a>() -> impl Iterator<Item = (&'a Key, &'a Key)> {
        std::iter::empty()
    }

    /// Returns the guard that stops the removal of `going` cards of one merchant beside `left`
    /// documents of it.
    fn check(prune: &PruneGuards, going: usize, left: usize) -> Option<&'static str> {
        let merchant = key("Merchant/acme");
        let mut census = DocumentCounts::default();
        census.add(&merchant.kind, Some(&merchant));
        for _ in 0..left {
            census.add(&Kind::new("SavedMethod"), Some(&merchant));
        }
        let names: Vec<Key> = (0..going).map(|n| key(&format!("SavedMethod/c{n}"))).collect();
        let removed = names.iter().map(|name| (name, &merchant));
        let trips = check_removals(prune, &census, removed, none());
        assert!(trips.is_empty() || trips.len() == going, "all of a set or none");
        trips.values().next().map(|trip| trip.guard)
    }

    #[test]
    fn a_share_is_looked_at_from_ten_on_and_more_than_it_is_too_much() {
        let prune = PruneGuards::default();
        assert_eq!(check(&prune, 3, 7), None, "30 % is not more than 30 %");
        assert_eq!(check(&prune, 4, 7), Some("policy.prune.percent"));
        assert_eq!(check(&prune, 4, 4), None, "of eight and a merchant, no share is looked at");
        assert_eq!(check(&prune, 5, 4), Some("policy.prune.percent"), "ten with their merchant");
        let wide = PruneGuards { percent: Configured::default_of(50), ..PruneGuards::default() };
        assert_eq!(check(&wide, 5, 5), None);
    }

    #[test]
    fn documents_whose_objects_stay_count_as_lost_and_stop_what_would_be_removed() {
        let prune = PruneGuards::default();
        let acme = key("Merchant/acme");
        let mut census = DocumentCounts::default();
        (0..10).for_each(|_| census.add(&Kind::new("Contact"), Some(&acme)));
        let names: Vec<Key> = (0..5).map(|n| key(&format!("Contact/c{n}"))).collect();
        let (going, kept) = names.split_at(2);
        let check = |kept: &[Key]| {
            let kept = kept.iter().map(|name| (name, &acme));
            check_removals(&prune, &census, going.iter().map(|name| (name, &acme)), kept)
        };
        assert!(check(&[]).is_empty(), "2 of 12");
        let trips = check(kept);
        assert!(trips.keys().eq(going), "what stays needs no guard");
        assert_eq!(
            trips[&names[0]].why,
            "5 of 15 documents in the whole tree are gone, and 2 of their objects would be \
             removed, which is more than 30 %"
        );
    }

    #[test]
    fn a_set_of_which_nothing_is_left_keeps_all_it_has() {
        assert_eq!(check(&PruneGuards::default(), 1, 0), Some("policy.prune.empty"));
        assert_eq!(check(&PruneGuards::without_guards(), 1, 0), None);
        let trips = check_removals(
            &PruneGuards::default(),
            &DocumentCounts::default(),
            [(&key("SavedMethod/a"), &key("Merchant/acme"))].into_iter(),
            none(),
        );
        let trip = &trips[&key("SavedMethod/a")];
        assert_eq!(trip.set_at, "default");
        assert_eq!(trip.why, "no document in the whole tree is left, and 1 would be removed");
    }

    #[test]
    fn a_merchant_of_which_nothing_is_left_keeps_what_it_has_whatever_others_have() {
        let (acme, other) = (key("Merchant/acme"), key("Merchant/other"));
        let mut census = DocumentCounts::default();
        for _ in 0..50 {
            census.add(&Kind::new("SavedMethod"), Some(&other));
        }
        let card = key("SavedMethod/a");
        let trips = |census: &DocumentCounts| {
            check_removals(&PruneGuards::default(), census, [(&card, &acme)].into_iter(), none())
        };
        assert_eq!(trips(&census)[&card].guard, "policy.prune.empty");
        census.add(&Kind::new("Contact"), Some(&acme));
        assert!(trips(&census).is_empty());
        census.remove(&Kind::new("Contact"), Some(&acme));
        assert_eq!(trips(&census).len(), 1);
    }

    #[test]
    fn one_pair_that_moves_money_is_enough_and_others_need_a_wave() {
        let twin = |n: usize, moves_money| RenameCandidate {
            old: key(&format!("Contact/old{n}")),
            new: key(&format!("Contact/new{n}")),
            moves_money,
        };
        let count =
            |twins: Vec<RenameCandidate>| probable_renames(&PruneGuards::default(), twins).len();
        assert_eq!(count(vec![twin(0, true)]), 1);
        assert_eq!(count(vec![twin(0, false), twin(1, false)]), 0);
        assert_eq!(count((0..3).map(|n| twin(n, false)).collect()), 3);
        assert!(probable_renames(&PruneGuards::without_guards(), vec![twin(0, true)]).is_empty());
        let trip = rename_trip(&PruneGuards::default(), &twin(0, true), 2);
        assert!(
            trip.why.starts_with("Contact/new0 is new and has the same content (2 such pairs)")
        );
    }
}
