//! Steps whose health changes with the date alone, such as a card that expires.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::base::id::Key;

/// The time of the next change, by resource.
#[derive(Debug, Default)]
pub(crate) struct HealthChanges {
    moments: BTreeMap<Key, DateTime<Utc>>,
    due: BTreeSet<(DateTime<Utc>, Key)>,
}

impl HealthChanges {
    /// Notes a resource's next change; `None`: it does not change by itself.
    pub(crate) fn note(&mut self, key: &Key, moment: Option<DateTime<Utc>>) {
        if let Some(before) = self.moments.remove(key) {
            self.due.remove(&(before, key.clone()));
        }
        if let Some(moment) = moment {
            self.moments.insert(key.clone(), moment);
            self.due.insert((moment, key.clone()));
        }
    }

    /// Returns the first time.
    pub(crate) fn next(&self) -> Option<DateTime<Utc>> {
        self.due.first().map(|(moment, _)| *moment)
    }

    /// Returns the resources whose time has passed.
    pub(crate) fn due(&self, now: DateTime<Utc>) -> impl Iterator<Item = &Key> {
        self.due.iter().take_while(move |(moment, _)| *moment <= now).map(|(_, key)| key)
    }
}
