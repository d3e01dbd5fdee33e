//! The configured limits, each with its name and its place in the operator's file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::id::{Key, Mode};
use crate::base::money::Currency;

/// Amounts by currency, in minor units. An empty list limits nothing; in any other list an unlisted
/// currency may not move at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountLimit {
    /// The limit's name, such as `policy.limits.per_day`.
    pub name: Arc<str>,
    /// The place of the list, such as `reckon.yaml:14`.
    pub place: Arc<str>,
    /// Each amount and its place.
    pub listed: BTreeMap<Currency, (i64, Arc<str>)>,
}

impl AmountLimit {
    /// Returns the allowed amount in a currency, and its place; `None` without a limit.
    pub fn allowed_in(&self, currency: Currency) -> Option<(i64, &str)> {
        if self.listed.is_empty() {
            return None;
        }
        let listed = self.listed.get(&currency);
        Some(listed.map_or((0, &*self.place), |(most, place)| (*most, &**place)))
    }
}

/// A number that may not be exceeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountLimit {
    /// The limit's name, such as `policy.limits.deletes_per_run`.
    pub name: Arc<str>,
    /// File and line.
    pub place: Arc<str>,
    pub maximum: u32,
}

/// One section of limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitSet {
    /// Limit on one amount of one resource.
    pub per_object: Option<AmountLimit>,
    /// Limit on all that one state of the files moves on one day.
    pub per_run: Option<AmountLimit>,
    /// Limit on all that is moved on one UTC day.
    pub per_day: Option<AmountLimit>,
    /// Limit relative to the typical amount, in percent.
    pub typical_percent: Option<CountLimit>,
    /// Limit on removed objects in a run.
    pub deletes_per_run: Option<CountLimit>,
    /// Limit on removed objects in a day.
    pub deletes_per_day: Option<CountLimit>,
    /// Limit on e-mails in a run.
    pub emails_per_run: Option<CountLimit>,
    /// Limit on e-mails in a day.
    pub emails_per_day: Option<CountLimit>,
}

impl LimitSet {
    /// Fills missing limits from the other section.
    #[must_use]
    pub fn with_fallback(self, other: &Self) -> Self {
        let amounts =
            |one: Option<AmountLimit>, other: &Option<AmountLimit>| one.or_else(|| other.clone());
        let most =
            |one: Option<CountLimit>, other: &Option<CountLimit>| one.or_else(|| other.clone());
        Self {
            per_object: amounts(self.per_object, &other.per_object),
            per_run: amounts(self.per_run, &other.per_run),
            per_day: amounts(self.per_day, &other.per_day),
            typical_percent: most(self.typical_percent, &other.typical_percent),
            deletes_per_run: most(self.deletes_per_run, &other.deletes_per_run),
            deletes_per_day: most(self.deletes_per_day, &other.deletes_per_day),
            emails_per_run: most(self.emails_per_run, &other.emails_per_run),
            emails_per_day: most(self.emails_per_day, &other.emails_per_day),
        }
    }
}

/// All limits. Money of the two modes is counted apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// For live money.
    pub live: LimitSet,
    /// For test money.
    pub test: LimitSet,
    /// For single merchants: their limits on one resource replace the general ones; their sums and
    /// counts apply besides the general ones.
    pub merchants: BTreeMap<Key, LimitSet>,
}

impl Limits {
    /// Returns whether there is no limit.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the general section of a mode.
    pub fn general(&self, mode: Mode) -> &LimitSet {
        match mode {
            Mode::Live => &self.live,
            Mode::Test => &self.test,
        }
    }

    /// Returns the limit for one resource of a merchant: the merchant's own, else the general one.
    pub fn for_resource<'a, T>(
        &'a self,
        mode: Mode,
        merchant: &Key,
        of: impl Fn(&'a LimitSet) -> Option<&'a T>,
    ) -> Option<&'a T> {
        let own = self.merchants.get(merchant).and_then(&of);
        own.or_else(|| of(self.general(mode)))
    }
}
