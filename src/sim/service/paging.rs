//! Lists that are cut into short pages and change while they are read.
//!
//! The service may return fewer entries on a page than requested. Between two pages of one reading,
//! another party's object may disappear or appear. An entry is then skipped, repeated, or missing
//! with an unchanged count.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::request::Parts;
use http::{Uri, header};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::api::call::PAGE_SIZE_MAX;
use crate::sim::plan::trouble::{ListChange, PagingPlan};

const EVENTS: &str = " /v1/events ";
/// Failures of a reading's second page before it succeeds.
const CUTS: u32 = 4;

#[derive(Debug, Clone)]
struct ListReading {
    how: Option<ListChange>,
    last: Value,
    failures: u32,
}

/// All lists of a run; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct PagedLists(Arc<Mutex<PagingState>>);

#[derive(Debug, Default)]
struct PagingState {
    calm: bool,
    paging: Option<PagingPlan>,
    readings: u32,
    under_way: BTreeMap<String, ListReading>,
}

#[derive(Debug, Clone)]
pub(crate) struct PageRequest {
    /// Credential, path and query that identify the list.
    list: String,
    number: u64,
}

impl PagedLists {
    pub(crate) fn new(paging: Option<&PagingPlan>) -> Self {
        let shelf = PagingState { paging: paging.cloned(), ..PagingState::default() };
        Self(Arc::new(Mutex::new(shelf)))
    }

    /// Stops all changes of lists; pages stay short.
    pub(crate) fn stop_changes(&self) {
        self.0.lock().calm = true;
    }

    /// Shortens the page that a request asks for. Returns `None` for a request that is not for a
    /// page of a whole list.
    pub(crate) fn shorten(&self, parts: &mut Parts) -> Option<PageRequest> {
        let size = self.0.lock().paging.as_ref()?.size;
        let whole = format!("page_size={PAGE_SIZE_MAX}");
        let query = parts.uri.query().filter(|query| query.split('&').any(|one| one == whole))?;
        let rest: Vec<&str> = query.split('&').filter(|one| !one.starts_with("page")).collect();
        let number = query.split('&').find_map(|one| one.strip_prefix("page="))?.parse().ok()?;
        let short = query.replace(&whole, &format!("page_size={size}"));
        let uri: Uri = format!("{}?{short}", parts.uri.path()).parse().ok()?;
        let caller = parts.headers.get(header::AUTHORIZATION);
        let caller = caller.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let list = format!("{caller} {} {}", uri.path(), rest.join("&"));
        parts.uri = uri;
        Some(PageRequest { list, number })
    }

    /// Returns a page as the caller sees it, or `None` if it fails.
    pub(crate) fn alter_page(&self, asked: &PageRequest, mut page: Value) -> Option<Value> {
        let mut lists = self.0.lock();
        let total = page.get("total_entries").and_then(Value::as_u64).unwrap_or(0);
        let size = lists.paging.as_ref().map_or(1, |paging| paging.size);
        if total <= size {
            return Some(page);
        }
        let results = page.get_mut("results").and_then(Value::as_array_mut)?;
        if asked.number <= 1 {
            // Events are only ever added, so their pages never change.
            let how = if asked.list.contains(EVENTS) { None } else { lists.begin_reading() };
            let last = results.last().cloned().unwrap_or_default();
            lists.under_way.insert(asked.list.clone(), ListReading { how, last, failures: 0 });
            return Some(page);
        }
        let Some(reading) = lists.under_way.get_mut(&asked.list) else { return Some(page) };
        let second = asked.number == 2;
        match reading.how {
            Some(ListChange::Cut) if second && reading.failures < CUTS => {
                reading.failures = reading.failures.saturating_add(1);
                return None;
            }
            Some(ListChange::Added) if second => results.insert(0, reading.last.clone()),
            Some(ListChange::Removed | ListChange::Swapped) if second && !results.is_empty() => {
                let passed = results.remove(0);
                if reading.how == Some(ListChange::Swapped) {
                    results.push(foreign_entry(&passed));
                }
            }
            _ => {}
        }
        let total = match reading.how {
            Some(ListChange::Added) => total.saturating_add(1),
            Some(ListChange::Removed) => total.saturating_sub(1),
            Some(ListChange::Cut | ListChange::Swapped) | None => total,
        };
        if let Some(field) = page.get_mut("total_entries") {
            *field = json!(total);
        }
        Some(page)
    }
}

impl PagingState {
    /// Counts a reading of several pages, and returns its change.
    fn begin_reading(&mut self) -> Option<ListChange> {
        self.readings = self.readings.saturating_add(1);
        let nth = self.readings;
        let shifts = self.paging.iter().flat_map(|paging| &paging.shifts);
        let shift = shifts.into_iter().find(|shift| shift.nth == nth)?;
        (!self.calm).then_some(shift.change)
    }
}

/// Returns another party's entry of the same form.
fn foreign_entry(entry: &Value) -> Value {
    let mut other = entry.clone();
    let is_event = entry.get("data").is_some();
    let sort = if is_event { json!("stranger.came") } else { entry.get("type").cloned().into() };
    let fields = [
        ("id", json!("stranger")),
        ("reference", json!("")),
        ("description", json!("A stranger's")),
        ("data", json!({})),
        ("type", sort),
    ];
    for (field, value) in fields {
        if let Some(known) = other.get_mut(field) {
            *known = value;
        }
    }
    other
}
