//! Reads one list to its end, compares it with the known state, and records the differences.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::{Key, RemoteId};
use crate::effects::core::row::{RemoteAnswer, RemoteQuery};
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{ListSeen, MerchantList, SweepResult, TaskResult};
use crate::engine::readers::compare::{ListRead, ListedObject};
use crate::engine::readers::read::ReadFailure;
use crate::engine::readers::{compare, read};
use crate::kinds::register;
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
) -> Result<TaskResult, EngineError> {
    let read = read_and_compare(shared, &list, back, wallet, ignored).await;
    let (seen, touched) = match read::or_reason(read)? {
        Ok((seen, touched)) => (Some(seen), touched),
        Err(reason) => {
            tracing::warn!(merchant = %list.0, list = list.1, reason, "cannot read the list");
            (None, BTreeSet::new())
        }
    };
    Ok(TaskResult::ListSwept(SweepResult { list, seen, touched }))
}

async fn read_and_compare(
    shared: &EngineShared,
    list: &MerchantList,
    back: &'static ReadBack,
    wallet: &CredentialSource,
    ignored: &BTreeMap<Key, Box<[String]>>,
) -> Result<(ListSeen, BTreeSet<Key>), ReadFailure> {
    let at = shared.now();
    let mut ours = expected_objects(shared, &list.0, back)?;
    let answers = read::answers(shared, &[RemoteQuery::list((back.list)())], wallet).await?;
    let Some(RemoteAnswer::Items(items)) = answers.into_iter().next() else {
        return Ok((ListSeen::Never, BTreeSet::new()));
    };
    let look = ListRead { back, key: &shared.settings.planning.digest_key, at };
    let mut news = RecordBatch { shared, records: Vec::new(), touched: BTreeSet::new() };
    for item in &items {
        let Some((id, found)) = ListedObject::of(item, &mut ours) else { continue };
        if let Some(known) = known_unless_busy(shared, &found.key, &id)? {
            let paths = ignored.get(&found.key).map_or(&[][..], |paths| paths);
            news.add(&found.key, look.compare(&found, &known, paths)).await?;
        }
    }
    for (id, key) in ours {
        let paths = ignored.get(&key).map_or(&[][..], |paths| paths);
        read_single(shared, wallet, (&look, paths), (&id, key), &mut news).await?;
    }
    news.write().await?;
    for strays in compare::changed_unknown_objects(shared, &list.0, (back, at), &items)? {
        let key = strays.key.clone();
        news.add(&key, Some(Record::UnknownObjects(Box::new(strays)))).await?;
    }
    news.write().await?;
    shared.read_lists.note_read(&list.0, list.1);
    Ok((ListSeen::At(at), news.touched))
}

/// Returns every object of the merchant that this list should contain, by its id.
fn expected_objects(
    shared: &EngineShared,
    merchant: &Key,
    back: &'static ReadBack,
) -> Result<BTreeMap<RemoteId, Key>, EngineError> {
    let mut ours = BTreeMap::new();
    shared.facts.each_observed(|key, known| {
        let spec = known.applied.as_ref().map(|applied| &applied.spec);
        let row = register::find(key.kind.as_str());
        let shown = row.zip(spec).and_then(|(row, spec)| (row.read_back)(spec));
        let same = shown.is_some_and(|shown| std::ptr::eq(shown, back));
        if let (true, true, Some(id)) =
            (same && known.exists, known.merchant == *merchant, known.remote_id)
        {
            ours.insert(id, key);
        }
        Ok(())
    })?;
    Ok(ours)
}

/// Returns the known state of an object, unless a change of it is under way or another object has
/// replaced it since the read began: the read is then older.
fn known_unless_busy(
    shared: &EngineShared,
    key: &Key,
    id: &RemoteId,
) -> Result<Option<Observed>, EngineError> {
    let known = shared.facts.observed_state(key)?.filter(|known| known.on_hold.is_none());
    let known = known.filter(|known| known.exists && known.remote_id.as_ref() == Some(id));
    Ok(if shared.facts.open_intent(key)?.is_some() { None } else { known })
}

/// Reads an object by itself that the list does not contain.
async fn read_single(
    shared: &EngineShared,
    wallet: &CredentialSource,
    (look, ignored): (&ListRead<'_>, &[String]),
    (id, key): (&RemoteId, Key),
    news: &mut RecordBatch<'_>,
) -> Result<(), ReadFailure> {
    let Some(known) = known_unless_busy(shared, &key, id)? else { return Ok(()) };
    let answers = read::answers(shared, &[RemoteQuery::one((look.back.one)(id))], wallet).await?;
    let told = match answers.first() {
        Some(answer @ RemoteAnswer::Missing(_)) if !answer.is_unknown_path() => {
            look.missing_record(&key, &known)
        }
        Some(RemoteAnswer::Body(item)) => {
            look.compare(&ListedObject { key: key.clone(), item }, &known, ignored)
        }
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => None,
    };
    news.add(&key, told).await?;
    Ok(())
}

/// Reads single objects, each by itself; returns those with new information.
pub(crate) async fn sweep_each(
    shared: &EngineShared,
    wallet: &CredentialSource,
    keys: BTreeSet<Key>,
    ignored: &BTreeMap<Key, Box<[String]>>,
) -> Result<BTreeSet<Key>, ReadFailure> {
    let mut news = RecordBatch { shared, records: Vec::new(), touched: BTreeSet::new() };
    for key in keys {
        let known = shared.facts.observed_state(&key).map_err(EngineError::from)?;
        let Some(known) = known.filter(|known| known.exists) else { continue };
        let spec = known.applied.as_ref().map(|applied| &applied.spec);
        let row = register::find(key.kind.as_str());
        let back = row.zip(spec).and_then(|(row, spec)| (row.read_back)(spec));
        let Some((back, id)) = back.zip(known.remote_id) else { continue };
        let look = ListRead { back, key: &shared.settings.planning.digest_key, at: shared.now() };
        let paths = ignored.get(&key).map_or(&[][..], |paths| paths);
        read_single(shared, wallet, (&look, paths), (&id, key), &mut news).await?;
    }
    news.write().await?;
    Ok(news.touched)
}

struct RecordBatch<'a> {
    shared: &'a EngineShared,
    records: Vec<Record>,
    touched: BTreeSet<Key>,
}

impl RecordBatch<'_> {
    async fn add(&mut self, key: &Key, record: Option<Record>) -> Result<(), EngineError> {
        if let Some(record) = record {
            self.records.push(record);
            self.touched.insert(key.clone());
        }
        if self.records.len() >= BATCH_RECORDS_MAX { self.write().await } else { Ok(()) }
    }

    async fn write(&mut self) -> Result<(), EngineError> {
        if self.records.is_empty() {
            return Ok(());
        }
        self.shared.write(Vec::new(), std::mem::take(&mut self.records)).await
    }
}
