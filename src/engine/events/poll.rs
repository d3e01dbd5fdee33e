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
use crate::effects::core::row::RemoteQuery;
use crate::engine::events::ingest::Ingest;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{PollResult, ResyncCount, TaskResult};
use crate::engine::readers::read::{ObjectAnswer, ReadFailure};
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
) -> EngineResult<TaskResult> {
    let result = PollResult {
        merchant: wallet.merchant.clone(),
        done: false,
        listed_at: None,
        again: round.again.is_some(),
        count: ResyncCount::default(),
        trouble: None,
        read_backs: 0,
        touched: BTreeSet::new(),
    };
    let mut poll = Poll { shared, wallet, about: BTreeSet::new(), result };
    let polled = poll.read_list_and_posts(round, ignored).await;
    let mut result = poll.result;
    result.trouble = read::or_reason(polled)?.err();
    result.done = result.trouble.is_none();
    if let Some(reason) = &result.trouble {
        tracing::warn!(merchant = %wallet.merchant, reason, "cannot read the events");
    }
    Ok(TaskResult::EventsPolled(result))
}

/// A read under way.
struct Poll<'a> {
    shared: &'a EngineShared,
    wallet: &'a CredentialSource,
    /// Resources to sweep for the new events.
    about: BTreeSet<Key>,
    result: PollResult,
}

impl Poll<'_> {
    async fn read_list_and_posts(
        &mut self,
        round: PollRequest,
        ignored: &BTreeMap<Key, Box<[String]>>,
    ) -> Result<(), ReadFailure> {
        // A post is answered before its record can be read here.
        self.shared.wait_for_reads().await?;
        if round.list {
            self.read_list(round.again).await?;
            self.result.listed_at = Some(self.shared.now());
        }
        self.read_back(round.read_backs).await?;
        let about = std::mem::take(&mut self.about);
        let news = sweep_task::sweep_each(self.shared, self.wallet, about, ignored).await?;
        self.result.touched.extend(news);
        Ok(())
    }

    /// Reads the list from the last known place to its end; it only grows, so pages stay the same.
    async fn read_list(&mut self, again: Option<(DateTime<Utc>, bool)>) -> Result<(), ReadFailure> {
        let (shared, merchant) = (self.shared, &self.wallet.merchant);
        let ledger = shared.facts.event_ledger(merchant)?;
        let from = match ledger.polled_to {
            Some(to) => to.checked_sub_signed(OVERLAP).unwrap_or(to),
            None => self.first_start().await?,
        };
        let from = again.map_or(from, |(since, _)| from.min(since));
        let sure = shared.facts.has_read_all_events(merchant)?;
        let mut to = ledger.polled_to;
        let mut shown = 0_u64;
        for number in 1_u64.. {
            let call = Call::to::<ListEvents>(&[]).query("start_date", timestamp(&from));
            let page = self.page(call, number).await?;
            // A page may hold fewer entries than requested.
            let here = u64::try_from(page.results.len()).unwrap_or(u64::MAX);
            shown = shown.saturating_add(here);
            let is_last = here == 0 || shown >= page.total_entries;
            let mut telling = Ingest::new(self.shared, self.wallet);
            telling.quiet = again.is_some_and(|(_, quiet)| quiet);
            let count = &mut self.result.count;
            for event in &page.results {
                telling.add(event, Via::Poll).await?;
                let created = event.created.map(|created| created.0);
                to = to.max(created);
                count.oldest = count.oldest.into_iter().chain(created).min();
            }
            count.read = count.read.saturating_add(here);
            count.new = count.new.saturating_add(telling.new_events());
            let noted = ledger.polled_at.is_some_and(|at| is_recent(shared, at));
            if to != ledger.polled_to || !noted || (is_last && !sure) {
                let (merchant, at) = (merchant.clone(), shared.now());
                let polled = Polled { merchant, to: to.unwrap_or(from), whole: is_last, at };
                telling.records.push(Record::Polled(Box::new(polled)));
            }
            self.write(telling).await?;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// Returns the start of the first read: events from long before that are no news.
    async fn first_start(&self) -> Result<DateTime<Utc>, ReadFailure> {
        let newest = self.page(Call::to::<ListEvents>(&[]), 1).await?;
        let newest = newest.results.first().and_then(|event| event.created);
        let from = newest.and_then(|newest| newest.0.checked_sub_signed(FIRST));
        Ok(from.unwrap_or(DateTime::UNIX_EPOCH))
    }

    async fn page(&self, call: Call, number: u64) -> Result<Page<Event>, ReadFailure> {
        let call = call.query("page", number).query("page_size", PAGE_SIZE_MAX);
        let page = match read::object(self.shared, RemoteQuery::one(call), self.wallet).await? {
            ObjectAnswer::Object(page) => serde_json::from_value(page).ok(),
            ObjectAnswer::Gone | ObjectAnswer::NotShown => None,
        };
        page.ok_or_else(|| {
            let reason = "the list of events is not a page of events".into();
            ReadFailure::Read(crate::client::read::ReadError::Unreachable { reason })
        })
    }

    async fn write(&mut self, telling: Ingest<'_>) -> EngineResult<()> {
        let Ingest { blobs, records, about, touched, .. } = telling;
        if !records.is_empty() {
            self.shared.write(blobs, records).await?;
        }
        self.about.extend(about);
        self.result.touched.extend(touched);
        Ok(())
    }

    /// Reads events by the posted ids, up to `most`.
    async fn read_back(&mut self, most: usize) -> Result<(), ReadFailure> {
        let (shared, merchant) = (self.shared, &self.wallet.merchant);
        let waiting = shared.facts.events_waiting(merchant, most)?;
        for id in waiting {
            self.result.read_backs = self.result.read_backs.saturating_add(1);
            let answer = self.read_event(&id).await?;
            let mut telling = Ingest::new(self.shared, self.wallet);
            match answer {
                ObjectAnswer::Object(event) => {
                    let event: Event = serde_json::from_value(event).unwrap_or_default();
                    if event.id == id {
                        telling.add(&event, Via::ReadBack).await?;
                    }
                }
                ObjectAnswer::Gone => {
                    let (merchant, at) = (merchant.clone(), shared.now());
                    let forged = ForgedWebhook { merchant, event: id, at };
                    telling.records.push(Record::Forged(Box::new(forged)));
                }
                ObjectAnswer::NotShown => {}
            }
            self.write(telling).await?;
        }
        Ok(())
    }

    async fn read_event(&self, id: &str) -> Result<ObjectAnswer, ReadFailure> {
        let (shared, merchant) = (self.shared, &self.wallet.merchant);
        if fault_injection::is_active("read-back-skipped") {
            let known = shared.facts.event(merchant, id)?;
            let body = known.and_then(|known| known.posted);
            let opened = body.map(|body| shared.vault.unseal_text(&body)).transpose()?;
            let event = opened.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            return Ok(event.map_or(ObjectAnswer::NotShown, ObjectAnswer::Object));
        }
        read::object(shared, RemoteQuery::one(Call::to::<GetEvent>(&[id])), self.wallet).await
    }
}

fn is_recent(shared: &EngineShared, at: DateTime<Utc>) -> bool {
    at.checked_add_signed(NOTED_EVERY).is_some_and(|until| shared.now() < until)
}
