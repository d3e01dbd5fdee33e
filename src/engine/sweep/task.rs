//! Reads one list to its end, compares it with the known state, and records the differences.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Found, Look};
use super::{List, Seen, Swept, strays};
use crate::base::id::{Key, RemoteId};
use crate::effects::{Answer, Query};
use crate::engine::access::{NoAccess, Wallet};
use crate::engine::read::{self, Unread};
use crate::engine::shared::{EngineError, Shared};
use crate::engine::tasks::Finished;
use crate::kinds::readback::ReadBack;
use crate::kinds::register;
use crate::model::observed::Observed;
use crate::model::record::Record;

/// Largest number of records written at once.
const BATCH_RECORDS_MAX: usize = 256;

/// Reads a list.
pub(super) async fn sweep(
    shared: &Shared,
    list: List,
    back: &'static ReadBack,
    wallet: &Wallet,
    ignored: &BTreeMap<Key, Box<[String]>>,
) -> Finished {
    match looked(shared, &list, back, wallet, ignored).await {
        Ok((seen, touched)) => Finished::Swept(Swept { list, seen: Some(seen), touched }),
        Err(Unread::Access(NoAccess::Engine(error))) => Finished::Broken(error),
        Err(Unread::Access(NoAccess::Secret(error))) => failed(list, &error.message),
        Err(Unread::Read(error)) => failed(list, &error.to_string()),
    }
}

fn failed(list: List, why: &str) -> Finished {
    tracing::warn!(merchant = %list.0, list = list.1, reason = why, "not looked at");
    Finished::Swept(Swept { list, seen: None, touched: BTreeSet::new() })
}

async fn looked(
    shared: &Shared,
    list: &List,
    back: &'static ReadBack,
    wallet: &Wallet,
    ignored: &BTreeMap<Key, Box<[String]>>,
) -> Result<(Seen, BTreeSet<Key>), Unread> {
    let at = shared.now();
    let mut ours = ours(shared, &list.0, back)?;
    let answers = read::answers(shared, &[Query::list((back.list)())], wallet).await?;
    let Some(Answer::Items(items)) = answers.into_iter().next() else {
        return Ok((Seen::Never, BTreeSet::new()));
    };
    let look = Look { back, key: &shared.settings.planning.digest_key, at };
    let mut news = News { shared, records: Vec::new(), touched: BTreeSet::new() };
    for item in &items {
        let Some((id, found)) = Found::of(item, &mut ours) else { continue };
        if let Some(known) = free(shared, &found.key, &id)? {
            let paths = ignored.get(&found.key).map_or(&[][..], |paths| paths);
            news.add(&found.key, look.at_item(&found, &known, paths)).await?;
        }
    }
    for (id, key) in ours {
        let paths = ignored.get(&key).map_or(&[][..], |paths| paths);
        missing(shared, wallet, (&look, paths), (&id, key), &mut news).await?;
    }
    news.write().await?;
    for strays in strays::found(shared, &list.0, (back, at), &items)? {
        let key = strays.key.clone();
        news.add(&key, Some(Record::Strays(Box::new(strays)))).await?;
    }
    news.write().await?;
    shared.lists().was_read(&list.0, list.1);
    Ok((Seen::At(at), news.touched))
}

/// Returns every object of the merchant that this list should contain, by its id.
fn ours(
    shared: &Shared,
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
fn free(shared: &Shared, key: &Key, id: &RemoteId) -> Result<Option<Observed>, EngineError> {
    let known = shared.facts.observed(key)?.filter(|known| known.held.is_none());
    let known = known.filter(|known| known.exists && known.remote_id.as_ref() == Some(id));
    Ok(if shared.facts.open(key)?.is_some() { None } else { known })
}

/// Reads an object by itself that the list does not contain.
async fn missing(
    shared: &Shared,
    wallet: &Wallet,
    (look, ignored): (&Look<'_>, &[String]),
    (id, key): (&RemoteId, Key),
    news: &mut News<'_>,
) -> Result<(), Unread> {
    let Some(known) = free(shared, &key, id)? else { return Ok(()) };
    let answers = read::answers(shared, &[Query::one((look.back.one)(id))], wallet).await?;
    let told = match answers.first() {
        Some(answer @ Answer::Missing(_)) if !answer.unknown_path() => look.gone(&key, &known),
        Some(Answer::Body(item)) => {
            look.at_item(&Found { key: key.clone(), item }, &known, ignored)
        }
        Some(Answer::Missing(_) | Answer::Items(_)) | None => None,
    };
    news.add(&key, told).await?;
    Ok(())
}

/// Reads single objects, each by itself; returns those with new information.
pub(in crate::engine) async fn look_at_each(
    shared: &Shared,
    wallet: &Wallet,
    keys: BTreeSet<Key>,
    ignored: &BTreeMap<Key, Box<[String]>>,
) -> Result<BTreeSet<Key>, Unread> {
    let mut news = News { shared, records: Vec::new(), touched: BTreeSet::new() };
    for key in keys {
        let known = shared.facts.observed(&key).map_err(EngineError::from)?;
        let Some(known) = known.filter(|known| known.exists) else { continue };
        let spec = known.applied.as_ref().map(|applied| &applied.spec);
        let row = register::find(key.kind.as_str());
        let back = row.zip(spec).and_then(|(row, spec)| (row.read_back)(spec));
        let Some((back, id)) = back.zip(known.remote_id) else { continue };
        let look = Look { back, key: &shared.settings.planning.digest_key, at: shared.now() };
        let paths = ignored.get(&key).map_or(&[][..], |paths| paths);
        missing(shared, wallet, (&look, paths), (&id, key), &mut news).await?;
    }
    news.write().await?;
    Ok(news.touched)
}

/// New records on their way to the journal.
struct News<'a> {
    shared: &'a Shared,
    records: Vec<Record>,
    touched: BTreeSet<Key>,
}

impl News<'_> {
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
