//! Steps that change without a document: with the date, such as the health of a card that expires,
//! and with the service's answers about a merchant's accounts.

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

/// The blocked resources, each with its merchant.
#[derive(Debug, Default)]
pub(crate) struct AccountBlocked {
    by_resource: BTreeMap<Key, Key>,
    merchants: BTreeMap<Key, usize>,
}

impl AccountBlocked {
    /// Notes the merchant whose accounts block a resource; `None`: no longer blocked.
    pub(crate) fn note(&mut self, key: &Key, merchant: Option<Key>) {
        if let Some(before) = self.by_resource.remove(key)
            && let Some(count) = self.merchants.get_mut(&before)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.merchants.remove(&before);
            }
        }
        if let Some(merchant) = merchant {
            let count = self.merchants.entry(merchant.clone()).or_default();
            *count = count.saturating_add(1);
            self.by_resource.insert(key.clone(), merchant);
        }
    }

    /// Returns the merchants that block a resource.
    pub(crate) fn merchants(&self) -> impl Iterator<Item = &Key> {
        self.merchants.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merchant_is_in_the_way_as_long_as_anyone_is_blocked_by_it() {
        let key = |text: &str| -> Key { text.parse().unwrap() };
        let (acme, other) = (key("Merchant/acme"), key("Merchant/other"));
        let mut stalled = AccountBlocked::default();
        stalled.note(&key("Invoice/a"), Some(acme.clone()));
        stalled.note(&key("Invoice/b"), Some(acme.clone()));
        stalled.note(&key("Invoice/a"), Some(acme.clone()));
        stalled.note(&key("Invoice/a"), None);
        assert_eq!(stalled.merchants().collect::<Vec<_>>(), [&acme]);
        stalled.note(&key("Invoice/b"), Some(other.clone()));
        assert_eq!(stalled.merchants().collect::<Vec<_>>(), [&other]);
        stalled.note(&key("Invoice/b"), None);
        assert_eq!(stalled.merchants().count(), 0);
    }
}
