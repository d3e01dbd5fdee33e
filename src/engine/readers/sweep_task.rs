//! Reads one list to its end, compares it with the known state, and records the differences.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::{Key, RemoteId};
use crate::effects::core::row::{RemoteAnswer, RemoteQuery};
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{ListSeen, MerchantList, SweepResult, TaskResult};
use crate::engine::readers::compare::{ListRead, ListedObject};
use crate::engine::readers::read::{ObjectAnswer, ReadFailure};
use crate::engine::readers::{compare, read};
use crate::kinds::register::{self, KINDS};
use crate::kinds::remote::readback::ReadBack;
use crate::model::record::Record;
use crate::model::state::observed::Observed;

const BATCH_RECORDS_MAX: usize = 256;

pub(crate) async fn sweep(
    shared: &EngineShared,
    list: MerchantList,
    back: &'static ReadBack,
    wallet: &CredentialSource,
    ignored: &BTreeMap<Key, Box<[String]>>,
) -> EngineResult<TaskResult> {
    let mut batch = SweepBatch::new(shared, wallet, ignored);
    let (seen, touched) = match read::or_reason(batch.read_list(&list, back).await)? {
        Ok(seen) => (Some(seen), batch.touched),
        Err(reason) => {
            tracing::warn!(merchant = %list.0, list = list.1, reason, "cannot read the list");
            (None, BTreeSet::new())
        }
    };
    Ok(TaskResult::ListSwept(SweepResult { list, seen, touched }))
}

/// Reads single objects, each by itself; returns those with new information.
pub(crate) async fn sweep_each(
    shared: &EngineShared,
    wallet: &CredentialSource,
    keys: BTreeSet<Key>,
    ignored: &BTreeMap<Key, Box<[String]>>,
) -> Result<BTreeSet<Key>, ReadFailure> {
    let mut batch = SweepBatch::new(shared, wallet, ignored);
    for key in keys {
        let known = shared.facts.observed_state(&key)?;
        let Some(known) = known.filter(|known| known.exists) else { continue };
        let Some((back, id)) = read_back_of(&key, &known).zip(known.remote_id) else { continue };
        let look = ListRead { back, key: &shared.settings.planning.digest_key, at: shared.now() };
        batch.read_single(&look, &id, key).await?;
    }
    batch.write().await?;
    Ok(batch.touched)
}

/// Returns the read of an object's kind, as its applied state selects it.
fn read_back_of(key: &Key, known: &Observed) -> Option<&'static ReadBack> {
    let row = register::find(key.kind.as_str())?;
    (row.read_back)(&known.applied.as_ref()?.spec)
}

/// Returns every object of the merchant that this list should contain, by its id.
fn expected_objects(
    shared: &EngineShared,
    merchant: &Key,
    back: &'static ReadBack,
) -> EngineResult<BTreeMap<RemoteId, Key>> {
    let mut ours = BTreeMap::new();
    let is_back = |one: &&'static ReadBack| std::ptr::eq(*one, back);
    for row in KINDS.iter().filter(|row| row.read_backs.iter().any(is_back)) {
        shared.facts.each_observed_of(row.name, merchant, |key, known| {
            let is_shown = read_back_of(&key, &known).is_some_and(|shown| is_back(&shown));
            ours.extend(known.remote_id.filter(|_| is_shown && known.exists).map(|id| (id, key)));
        })?;
    }
    Ok(ours)
}

/// Returns the known state of an object, unless a change of it is under way or another object has
/// replaced it since the read began: the read is then older.
fn known_unless_busy(
    shared: &EngineShared,
    key: &Key,
    id: &RemoteId,
) -> EngineResult<Option<Observed>> {
    let known = shared.facts.observed_state(key)?.filter(|known| known.on_hold.is_none());
    let known = known.filter(|known| known.exists && known.remote_id.as_ref() == Some(id));
    Ok(if shared.facts.open_intent(key)?.is_some() { None } else { known })
}

/// Compares objects with the known state, and collects the records of the differences.
struct SweepBatch<'a> {
    shared: &'a EngineShared,
    wallet: &'a CredentialSource,
    /// Documents that ignore drift, with the ignored fields.
    ignored: &'a BTreeMap<Key, Box<[String]>>,
    records: Vec<Record>,
    touched: BTreeSet<Key>,
}

impl<'a> SweepBatch<'a> {
    fn new(
        shared: &'a EngineShared,
        wallet: &'a CredentialSource,
        ignored: &'a BTreeMap<Key, Box<[String]>>,
    ) -> Self {
        Self { shared, wallet, ignored, records: Vec::new(), touched: BTreeSet::new() }
    }

    async fn read_list(
        &mut self,
        list: &MerchantList,
        back: &'static ReadBack,
    ) -> Result<ListSeen, ReadFailure> {
        let (shared, at) = (self.shared, self.shared.now());
        let mut ours = expected_objects(shared, &list.0, back)?;
        let query = RemoteQuery::list((back.list)());
        let answers = read::answers(shared, &[query], self.wallet).await?;
        let Some(RemoteAnswer::Items(items)) = answers.into_iter().next() else {
            return Ok(ListSeen::Never);
        };
        let look = ListRead { back, key: &shared.settings.planning.digest_key, at };
        for item in &items {
            let Some((id, found)) = ListedObject::of(item, &mut ours) else { continue };
            if let Some(known) = known_unless_busy(shared, &found.key, &id)? {
                self.add(&found.key, look.compare(&found, &known, self.paths(&found.key))).await?;
            }
        }
        for (id, key) in ours {
            self.read_single(&look, &id, key).await?;
        }
        self.write().await?;
        for strays in compare::changed_unknown_objects(shared, &list.0, (back, at), &items)? {
            let key = strays.key.clone();
            self.add(&key, Some(Record::UnknownObjects(Box::new(strays)))).await?;
        }
        self.write().await?;
        shared.read_lists.note_read(&list.0, list.1);
        Ok(ListSeen::At(at))
    }

    /// Reads an object by itself that the list does not contain.
    async fn read_single(
        &mut self,
        look: &ListRead<'_>,
        id: &RemoteId,
        key: Key,
    ) -> Result<(), ReadFailure> {
        let Some(known) = known_unless_busy(self.shared, &key, id)? else { return Ok(()) };
        let query = RemoteQuery::one((look.back.one)(id));
        let told = match read::object(self.shared, query, self.wallet).await? {
            ObjectAnswer::Gone => look.ended_record(&key, &known, "it was removed on the service"),
            ObjectAnswer::Object(item) => {
                let found = ListedObject { key: key.clone(), item: &item };
                look.compare(&found, &known, self.paths(&key))
            }
            ObjectAnswer::NotShown => None,
        };
        self.add(&key, told).await?;
        Ok(())
    }

    fn paths(&self, key: &Key) -> &'a [String] {
        self.ignored.get(key).map_or(&[], |paths| paths)
    }

    async fn add(&mut self, key: &Key, record: Option<Record>) -> EngineResult<()> {
        if let Some(record) = record {
            self.records.push(record);
            self.touched.insert(key.clone());
        }
        if self.records.len() >= BATCH_RECORDS_MAX { self.write().await } else { Ok(()) }
    }

    async fn write(&mut self) -> EngineResult<()> {
        if self.records.is_empty() {
            return Ok(());
        }
        self.shared.write(Vec::new(), std::mem::take(&mut self.records)).await
    }
}
