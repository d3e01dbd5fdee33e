//! The configured limits, each with its name and its place in the operator's file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::id::{Key, Mode};
use crate::base::money::Currency;

/// Amounts by currency, in minor units. An empty list limits nothing; in any other list an unlisted
/// currency may not move at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amounts {
    /// The limit's name, such as `policy.limits.per_day`.
    pub name: Arc<str>,
    /// The place of the list, such as `reckon.yaml:14`.
    pub place: Arc<str>,
    /// Each amount and its place.
    pub listed: BTreeMap<Currency, (i64, Arc<str>)>,
}

impl Amounts {
    /// Returns the allowed amount in a currency, and its place; `None` without a limit.
    pub fn of(&self, currency: Currency) -> Option<(i64, &str)> {
        if self.listed.is_empty() {
            return None;
        }
        let listed = self.listed.get(&currency);
        Some(listed.map_or((0, &*self.place), |(most, place)| (*most, &**place)))
    }
}

/// A number that may not be exceeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Most {
    /// The limit's name, such as `policy.limits.deletes_per_run`.
    pub name: Arc<str>,
    /// File and line.
    pub place: Arc<str>,
    pub most: u32,
}

/// One section of limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// Limit on one amount of one resource.
    pub per_object: Option<Amounts>,
    /// Limit on all that one state of the files moves on one day.
    pub per_run: Option<Amounts>,
    /// Limit on all that is moved on one UTC day.
    pub per_day: Option<Amounts>,
    /// Limit relative to the typical amount, in percent.
    pub usual_percent: Option<Most>,
    /// Limit on removed objects in a run.
    pub deletes_per_run: Option<Most>,
    /// Limit on removed objects in a day.
    pub deletes_per_day: Option<Most>,
    /// Limit on e-mails in a run.
    pub emails_per_run: Option<Most>,
    /// Limit on e-mails in a day.
    pub emails_per_day: Option<Most>,
}

impl Section {
    /// Fills missing limits from the other section.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        let amounts = |one: Option<Amounts>, other: &Option<Amounts>| one.or_else(|| other.clone());
        let most = |one: Option<Most>, other: &Option<Most>| one.or_else(|| other.clone());
        Self {
            per_object: amounts(self.per_object, &other.per_object),
            per_run: amounts(self.per_run, &other.per_run),
            per_day: amounts(self.per_day, &other.per_day),
            usual_percent: most(self.usual_percent, &other.usual_percent),
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
    pub live: Section,
    /// For test money.
    pub test: Section,
    /// For single merchants: their limits on one resource replace the general ones; their sums and
    /// counts apply besides the general ones.
    pub merchants: BTreeMap<Key, Section>,
}

impl Limits {
    /// Returns whether there is no limit.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the general section of a mode.
    pub fn general(&self, mode: Mode) -> &Section {
        match mode {
            Mode::Live => &self.live,
            Mode::Test => &self.test,
        }
    }

    /// Returns the limit for one resource of a merchant: the merchant's own, else the general one.
    pub fn single<'a, T>(
        &'a self,
        mode: Mode,
        merchant: &Key,
        of: impl Fn(&'a Section) -> Option<&'a T>,
    ) -> Option<&'a T> {
        let own = self.merchants.get(merchant).and_then(&of);
        own.or_else(|| of(self.general(mode)))
    }
}
