//! One read of a merchant's events: the list first, if it is due, then the posted ids that the list
//! did not contain.
//!
//! Only the id of a post is trusted; an event that the service does not have is forged. The list
//! and the read by id give the same event: the first one is recorded, and the other changes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use crate::api::call::{Call, PAGE_SIZE_MAX, Page};
use crate::api::event::{Event, GetEvent, ListEvents};
use crate::base::clock::timestamp;
use crate::base::fault_injection;
use crate::base::id::Key;
use crate::effects::core::row::{RemoteAnswer, RemoteQuery};
use crate::engine::events::ingest::Ingest;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{PollResult, ResyncCount, TaskResult};
use crate::engine::readers::read::ReadFailure;
use crate::engine::readers::{read, sweep_task};
use crate::model::events::event::{ForgedWebhook, Polled, Via};
use crate::model::record::Record;

/// Overlap: every read of the list begins this long before the newest known event, so an event that
/// the service recorded late is found.
const OVERLAP: TimeDelta = TimeDelta::minutes(5);

/// Span before its newest event at which the first read of a merchant's list begins.
const FIRST: TimeDelta = TimeDelta::hours(1);

/// Longest interval at which a read of the list is recorded, also without news.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(10);

/// The extent of a read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PollRequest {
    pub(crate) list: bool,
    /// Latest start of the list for a person's recovery, and true if hooks are skipped.
    pub(crate) again: Option<(DateTime<Utc>, bool)>,
    /// Largest number of posts looked up by their ids.
    pub(crate) read_backs: usize,
}

pub(crate) async fn poll(
    shared: &EngineShared,
    wallet: &CredentialSource,
    round: PollRequest,
    ignored: &BTreeMap<Key, Box<[String]>>,
) -> Result<TaskResult, EngineError> {
    let merchant = wallet.merchant.clone();
    let mut looked = PollResult {
        merchant,
        done: false,
        listed_at: None,
        again: round.again.is_some(),
        count: ResyncCount::default(),
        trouble: None,
        read_backs: 0,
        touched: BTreeSet::new(),
    };
    let polled = poll_list_and_posts(shared, wallet, round, ignored, &mut looked).await;
    looked.trouble = read::or_reason(polled)?.err();
    looked.done = looked.trouble.is_none();
    if let Some(reason) = &looked.trouble {
        tracing::warn!(merchant = %wallet.merchant, reason, "cannot read the events");
    }
    Ok(TaskResult::EventsPolled(looked))
}

async fn poll_list_and_posts(
    shared: &EngineShared,
    wallet: &CredentialSource,
    round: PollRequest,
    ignored: &BTreeMap<Key, Box<[String]>>,
    looked: &mut PollResult,
) -> Result<(), ReadFailure> {
    // A post is answered before its record can be read here.
    shared.wait_for_reads().await?;
    let mut about = BTreeSet::new();
    if round.list {
        read_list(shared, wallet, round.again, &mut about, looked).await?;
        looked.listed_at = Some(shared.now());
    }
    read_back(shared, wallet, round.read_backs, &mut about, looked).await?;
    let news = sweep_task::sweep_each(shared, wallet, about, ignored).await?;
    looked.touched.extend(news);
    Ok(())
}

/// Reads the list from the last known place to its end. The list only grows, so its pages stay the
/// same.
async fn read_list(
    shared: &EngineShared,
    wallet: &CredentialSource,
    again: Option<(DateTime<Utc>, bool)>,
    about: &mut BTreeSet<Key>,
    looked: &mut PollResult,
) -> Result<(), ReadFailure> {
    let ledger = shared.facts.event_ledger(&wallet.merchant).map_err(EngineError::from)?;
    let from = match ledger.polled_to {
        Some(to) => to.checked_sub_signed(OVERLAP).unwrap_or(to),
        None => first_start(shared, wallet).await?,
    };
    let from = again.map_or(from, |(since, _)| from.min(since));
    let sure = shared.facts.has_read_all_events(&wallet.merchant).map_err(EngineError::from)?;
    let mut to = ledger.polled_to;
    let mut shown = 0_u64;
    for number in 1_u64.. {
        let call = Call::to::<ListEvents>(&[]).query("start_date", timestamp(&from));
        let page = page(shared, wallet, call, number).await?;
        // A page may hold fewer entries than requested.
        let here = u64::try_from(page.results.len()).unwrap_or(u64::MAX);
        shown = shown.saturating_add(here);
        let is_last = here == 0 || shown >= page.total_entries;
        let mut telling = Ingest::new(shared, wallet);
        telling.quiet = again.is_some_and(|(_, quiet)| quiet);
        for event in &page.results {
            telling.add(event, Via::Poll).await?;
            let created = event.created.map(|created| created.0);
            to = to.max(created);
            looked.count.oldest = looked.count.oldest.into_iter().chain(created).min();
        }
        looked.count.read = looked.count.read.saturating_add(here);
        looked.count.new = looked.count.new.saturating_add(telling.new_events());
        let noted = ledger.polled_at.is_some_and(|at| is_recent(shared, at));
        if to != ledger.polled_to || !noted || (is_last && !sure) {
            let (merchant, at) = (wallet.merchant.clone(), shared.now());
            let polled = Polled { merchant, to: to.unwrap_or(from), whole: is_last, at };
            telling.records.push(Record::Polled(Box::new(polled)));
        }
        write(shared, telling, about, &mut looked.touched).await?;
        if is_last {
            break;
        }
    }
    Ok(())
}

fn is_recent(shared: &EngineShared, at: DateTime<Utc>) -> bool {
    at.checked_add_signed(NOTED_EVERY).is_some_and(|until| shared.now() < until)
}

/// Returns the start of the first read: events from long before reckon knew the merchant are no
/// news.
async fn first_start(
    shared: &EngineShared,
    wallet: &CredentialSource,
) -> Result<DateTime<Utc>, ReadFailure> {
    let newest = page(shared, wallet, Call::to::<ListEvents>(&[]), 1).await?;
    let newest = newest.results.first().and_then(|event| event.created);
    let from = newest.and_then(|newest| newest.0.checked_sub_signed(FIRST));
    Ok(from.unwrap_or(DateTime::UNIX_EPOCH))
}

async fn page(
    shared: &EngineShared,
    wallet: &CredentialSource,
    call: Call,
    number: u64,
) -> Result<Page<Event>, ReadFailure> {
    let call = call.query("page", number).query("page_size", PAGE_SIZE_MAX);
    let answers = read::answers(shared, &[RemoteQuery::one(call)], wallet).await?;
    let page = match answers.into_iter().next() {
        Some(RemoteAnswer::Body(page)) => serde_json::from_value(page).ok(),
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => None,
    };
    page.ok_or_else(|| {
        let reason = "the list of events is not a page of events".into();
        ReadFailure::Read(crate::client::read::ReadError::Unreachable { reason })
    })
}

async fn write(
    shared: &EngineShared,
    telling: Ingest<'_>,
    about: &mut BTreeSet<Key>,
    touched: &mut BTreeSet<Key>,
) -> Result<(), EngineError> {
    let Ingest { blobs, records, about: news, touched: known, .. } = telling;
    if !records.is_empty() {
        shared.write(blobs, records).await?;
    }
    about.extend(news);
    touched.extend(known);
    Ok(())
}

/// Reads events by the posted ids, up to `most`.
async fn read_back(
    shared: &EngineShared,
    wallet: &CredentialSource,
    most: usize,
    about: &mut BTreeSet<Key>,
    looked: &mut PollResult,
) -> Result<(), ReadFailure> {
    let merchant = &wallet.merchant;
    let waiting = shared.facts.events_waiting(merchant, most).map_err(EngineError::from)?;
    for id in waiting {
        looked.read_backs = looked.read_backs.saturating_add(1);
        let answer = read_event(shared, wallet, &id).await?;
        let mut telling = Ingest::new(shared, wallet);
        match answer {
            Some(RemoteAnswer::Body(event)) => {
                let event: Event = serde_json::from_value(event).unwrap_or_default();
                if event.id == id {
                    telling.add(&event, Via::ReadBack).await?;
                }
            }
            Some(answer @ RemoteAnswer::Missing(_)) if !answer.is_unknown_path() => {
                let forged =
                    ForgedWebhook { merchant: merchant.clone(), event: id, at: shared.now() };
                telling.records.push(Record::Forged(Box::new(forged)));
            }
            Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => {}
        }
        write(shared, telling, about, &mut looked.touched).await?;
    }
    Ok(())
}

async fn read_event(
    shared: &EngineShared,
    wallet: &CredentialSource,
    id: &str,
) -> Result<Option<RemoteAnswer>, ReadFailure> {
    if fault_injection::is_active("read-back-skipped") {
        let known = shared.facts.event(&wallet.merchant, id).map_err(EngineError::from)?;
        let body = known.and_then(|known| known.posted);
        let opened = body.map(|body| shared.vault.unseal_text(&body)).transpose();
        let opened = opened.map_err(EngineError::from)?;
        return Ok(opened
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .map(RemoteAnswer::Body));
    }
    let query = RemoteQuery::one(Call::to::<GetEvent>(&[id]));
    Ok(read::answers(shared, &[query], wallet).await?.into_iter().next())
}
