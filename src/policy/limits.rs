//! The limits that are set, each with its name and its place in the operator's file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::id::{Key, Mode};
use crate::base::money::Currency;

/// Amounts by currency, in minor units. An empty list limits nothing; in any other a currency that is
/// not listed may not move at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amounts {
    /// Its name, such as `policy.limits.per_day`.
    pub name: Arc<str>,
    /// Where the list stands, such as `reckon.yaml:14`.
    pub place: Arc<str>,
    /// Each amount and where it stands.
    pub listed: BTreeMap<Currency, (i64, Arc<str>)>,
}

impl Amounts {
    /// What it allows in a currency, and where that is set; `None` where it limits nothing.
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
    /// Its name, such as `policy.limits.deletes_per_run`.
    pub name: Arc<str>,
    /// Where it stands.
    pub place: Arc<str>,
    /// The number.
    pub most: u32,
}

/// One section of limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// Of one amount of one resource.
    pub per_object: Option<Amounts>,
    /// Of all that one state of the files sets in motion on one day.
    pub per_run: Option<Amounts>,
    /// Of all that is set in motion on one UTC day.
    pub per_day: Option<Amounts>,
    /// Of what is usual, in percent.
    pub usual_percent: Option<Most>,
    /// Removed objects of a run.
    pub deletes_per_run: Option<Most>,
    /// Removed objects of a day.
    pub deletes_per_day: Option<Most>,
    /// E-mails of a run.
    pub emails_per_run: Option<Most>,
    /// E-mails of a day.
    pub emails_per_day: Option<Most>,
}

impl Section {
    /// The same, where it says nothing as the other says.
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
    /// For single merchants: what one resource may be in place of the general limit, sums and counts beside it.
    pub merchants: BTreeMap<Key, Section>,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The general section of a mode.
    pub fn general(&self, mode: Mode) -> &Section {
        match mode {
            Mode::Live => &self.live,
            Mode::Test => &self.test,
        }
    }

    /// What holds for one resource of a merchant: the merchant's own word, else the general one.
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
