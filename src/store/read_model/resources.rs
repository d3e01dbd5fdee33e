//! The state's resources and their intents: the tables of the index, and their reads. The tables of
//! events and hooks have their own modules.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::events::event::PartnerWebhook;
use crate::model::intent::OpenIntent;
use crate::model::operator::{PlanUse, StoredApproval, Suspension};
use crate::model::record::StateOwner;
use crate::model::state::lifecycle::Epoch;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index, KeyValue};
use crate::store::read_model::journal_refs::{INTENT_POSITIONS, REMOTE, SEQUENCE_PAGES, SEQUENCES};
use crate::store::read_model::model::{Entries, ParsedKey, ReadModel, ReadResult, Table, decode};

/// The version of the fold: an index of another version is rebuilt.
pub const FOLD_VERSION: u32 = 12;

/// Maximum renames followed from one name: a cycle of renames ends there.
const MOVES_MAX: usize = 10_000;

pub(crate) static OBSERVED: Table<Key, Observed> = Table::new(b"o/");
pub(crate) static INTENTS: Table<IntentId, OpenIntent> = Table::new(b"i/");
/// The open intent of each resource.
pub(crate) static OPEN_BY_KEY: Table<Key, IntentId> = Table::new(b"k/");
/// The first resource of each mark that this state issued.
pub(crate) static MARKS: Table<String, Key> = Table::new(b"m/");
pub(crate) static PARTNER_WEBHOOKS: Table<Digest, PartnerWebhook> = Table::new(b"n/");
pub(crate) static ORPHANS: Table<IntentId, PossibleOrphan> = Table::new(b"r/");
/// The owner of each public key.
pub(crate) static PUBLIC_KEYS: Table<String, Key> = Table::new(b"p/");
pub(crate) const TALLIES: &[u8] = b"s/";
pub(crate) const USUAL_AMOUNTS: &[u8] = b"u/";
pub(crate) static PLAN_APPROVALS: Table<String, StoredApproval> = Table::new(b"a/");
/// The saved plans that were used, by token.
pub(crate) static PLANS: Table<String, PlanUse> = Table::new(b"y/");
pub(crate) static SUSPENDED: Table<Key, Suspension> = Table::new(b"z/");
/// The ids of objects that a person disowned.
pub(crate) static DISOWNED: Table<String, DateTime<Utc>> = Table::new(b"d/");
/// The resource that each unknown object blocks.
pub(crate) static UNKNOWN_OBJECTS: Table<String, Key> = Table::new(b"h/");
pub(crate) static BINDING: Table<(), StateOwner> = Table::new(b"f/binding");
pub(crate) static NEXT_INTENT: Table<(), IntentId> = Table::new(b"f/next-intent");
pub(crate) static EMPTY_REMOTE: Table<(), DateTime<Utc>> = Table::new(b"f/empty-remote");
pub(crate) static EPOCH: Table<(), Epoch> = Table::new(b"f/epoch");
/// Resources that a person released, in the present epoch.
pub(crate) static RELEASED: Table<Key, DateTime<Utc>> = Table::new(b"e/r/");
/// Effects that were searched in the present epoch.
pub(crate) const CONFIRMED_ABSENT: &[u8] = b"e/l/";
/// Prefix of all entries of events.
const EVERY_EVENT: &[u8] = b"v/";
/// Prefix of all entries of hooks.
const EVERY_HOOK: &[u8] = b"w/";
/// The index's own progress mark; no part of the state.
pub(crate) static PROGRESS: Table<(), FoldProgress> = Table::new(b"x/applied");

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldProgress {
    pub version: u32,
    /// The last journal record that was folded.
    pub sequence: u64,
    pub hash: [u8; 32],
}

/// A contact that may exist twice: its first creation could not be proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PossibleOrphan {
    /// The intent whose outcome is unknown.
    pub intent: IntentId,
    /// The resource that was created again.
    pub key: Key,
}

impl ReadModel {
    pub fn observed_state(&self, key: &Key) -> ReadResult<Option<Observed>> {
        OBSERVED.get(self, key)
    }

    /// Visits every observed resource, in the order of keys.
    pub fn each_observed(&self, mut take: impl FnMut(Key, Observed) -> ReadResult) -> ReadResult {
        for (key, value) in self.scan(OBSERVED.prefix())? {
            take(OBSERVED.parse(&key)?, decode(&key, &value)?)?;
        }
        Ok(())
    }

    /// Returns the observed state of every resource of a kind.
    pub fn observed_of(&self, kind: &str) -> ReadResult<Vec<(Key, Observed)>> {
        let prefix = [OBSERVED.prefix(), kind.as_bytes(), b"/"].concat();
        let entries = self.scan(&prefix)?;
        entries.iter().map(|(key, value)| Ok((OBSERVED.parse(key)?, decode(key, value)?))).collect()
    }

    pub fn open_intent(&self, key: &Key) -> ReadResult<Option<OpenIntent>> {
        OPEN_BY_KEY.get(self, key)?.map_or(Ok(None), |id| INTENTS.get(self, id))
    }

    /// Returns every open intent, oldest first.
    pub fn open_intents(&self) -> ReadResult<Vec<OpenIntent>> {
        INTENTS.list(self)
    }

    /// Returns the contacts that may exist twice.
    pub fn possible_orphans(&self) -> ReadResult<Vec<PossibleOrphan>> {
        ORPHANS.list(self)
    }

    pub fn knows_mark(&self, mark: &str) -> ReadResult<bool> {
        MARKS.has(self, mark)
    }

    /// Returns the resource that carries a mark, by its present name.
    pub fn resource_of_mark(&self, mark: &str) -> ReadResult<Option<Key>> {
        MARKS.get(self, mark)?.map(|key| self.current_name(&key)).transpose()
    }

    /// Returns the present name of a resource, following at most [`MOVES_MAX`] moves.
    pub(crate) fn current_name(&self, first: &Key) -> ReadResult<Key> {
        let mut key = first.clone();
        for _ in 0..MOVES_MAX {
            let next = self.observed_state(&key)?.and_then(|known| known.moved_to);
            match next.filter(|next| **next != *first) {
                Some(next) => key = *next,
                None => break,
            }
        }
        Ok(key)
    }

    /// Returns true if a webhook of the partner interface was stored before.
    pub fn knows_partner_webhook(&self, id: &Digest) -> ReadResult<bool> {
        PARTNER_WEBHOOKS.has(self, id)
    }

    /// Returns true if an operator declared that remote objects with unknown marks are not ours.
    pub fn is_empty_remote(&self) -> ReadResult<bool> {
        EMPTY_REMOTE.has(self, ())
    }

    pub fn use_of_plan(&self, token: &str) -> ReadResult<Option<PlanUse>> {
        PLANS.get(self, token)
    }

    /// Returns the latest suspension of a resource, expired or not.
    pub fn suspension(&self, key: &Key) -> ReadResult<Option<Suspension>> {
        SUSPENDED.get(self, key)
    }

    pub fn suspensions(&self) -> ReadResult<Vec<Suspension>> {
        SUSPENDED.list(self)
    }

    pub fn state_owner(&self) -> ReadResult<Option<StateOwner>> {
        BINDING.get(self, ())
    }

    pub fn next_intent(&self) -> ReadResult<IntentId> {
        Ok(NEXT_INTENT.get(self, ())?.unwrap_or_else(|| IntentId::new(1)))
    }

    pub fn progress_of(index: &dyn Index) -> ReadResult<Option<FoldProgress>> {
        let key = PROGRESS.prefix();
        index.get(key)?.map(|value| decode(key, &value)).transpose()
    }

    /// Returns SHA-256 over the sorted entries of the fold. Two states with the same digest are
    /// equal.
    pub fn digest(&self) -> ReadResult<Digest> {
        let mut all = Vec::new();
        for (key, value) in entries(&*self.index)? {
            for part in [key, value] {
                all.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
                all.extend(part);
            }
        }
        Ok(crate::base::hash::sha256(&all))
    }
}

/// Returns every entry that is part of the state, grouped by prefix and then by key.
pub(crate) fn entries(index: &dyn Index) -> ReadResult<Vec<KeyValue>> {
    let mut all = Vec::new();
    for prefix in [
        BINDING.prefix(),
        EMPTY_REMOTE.prefix(),
        EPOCH.prefix(),
        CONFIRMED_ABSENT,
        RELEASED.prefix(),
        NEXT_INTENT.prefix(),
        INTENTS.prefix(),
        OPEN_BY_KEY.prefix(),
        PARTNER_WEBHOOKS.prefix(),
        MARKS.prefix(),
        OBSERVED.prefix(),
        ORPHANS.prefix(),
        PUBLIC_KEYS.prefix(),
        SEQUENCE_PAGES.prefix(),
        INTENT_POSITIONS.prefix(),
        REMOTE.prefix(),
        SEQUENCES.prefix(),
        TALLIES,
        USUAL_AMOUNTS,
        PLAN_APPROVALS.prefix(),
        PLANS.prefix(),
        SUSPENDED.prefix(),
        DISOWNED.prefix(),
        UNKNOWN_OBJECTS.prefix(),
        EVERY_EVENT,
        EVERY_HOOK,
    ] {
        all.extend(index.scan(prefix)?);
    }
    Ok(all)
}

/// Returns the resources that a batch changes: their observed state, their suspension, or the
/// records about them or their intents.
pub(crate) fn changed_resources(batch: &Batch) -> ReadResult<BTreeSet<Key>> {
    let mut names = BTreeSet::new();
    for prefix in [OBSERVED.prefix(), SEQUENCES.prefix(), SUSPENDED.prefix()] {
        names.extend(batch.changes_under(prefix).filter_map(|(key, _)| key.get(prefix.len()..)));
    }
    names.into_iter().map(Key::parse).collect()
}
