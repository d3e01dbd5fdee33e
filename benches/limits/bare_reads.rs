//! The limit of a plan that reads the service: the same lists, page after page, and nothing is kept.

use std::time::{Duration, Instant};

use futures::stream;
use futures::stream::{StreamExt, TryStreamExt};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::connection::Failed;

/// The lists of what the service shows again.
const LISTS: [&str; 3] = ["/v1/cards", "/v1/banks", "/v1/recurring/charges"];
/// The largest page.
const PAGE_SIZE: u64 = 100;

/// A page of a list.
#[derive(Deserialize)]
struct Page {
    total_entries: u64,
    results: Vec<IgnoredAny>,
}

/// The reads of all lists.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reads {
    /// Time of all together.
    pub(crate) wall: Duration,
    /// Number of calls.
    pub(crate) calls: u64,
    /// Number of read objects.
    pub(crate) objects: u64,
}

/// Reads all lists of the merchants with these keys to their ends, `at_once` lists at a time.
pub(crate) async fn read_lists(
    base_url: &str,
    keys: &[String],
    at_once: usize,
) -> Result<Reads, Failed> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let lists = keys.iter().flat_map(|key| LISTS.map(|list| (key, format!("{base_url}{list}"))));
    let started = Instant::now();
    let reads: Vec<Reads> = stream::iter(lists)
        .map(|(key, list)| read_list(&client, list, key))
        .buffer_unordered(at_once)
        .try_collect()
        .await?;
    let sum = |of: fn(&Reads) -> u64| reads.iter().map(of).fold(0, u64::saturating_add);
    let (calls, objects) = (sum(|read| read.calls), sum(|read| read.objects));
    Ok(Reads { wall: started.elapsed(), calls, objects })
}

async fn read_list(client: &reqwest::Client, list: String, key: &str) -> Result<Reads, Failed> {
    let mut reads = Reads::default();
    loop {
        reads.calls = reads.calls.saturating_add(1);
        let asked = client.get(&list).basic_auth(key, None::<&str>);
        let asked = asked.query(&[("page", reads.calls), ("page_size", PAGE_SIZE)]);
        let page: Page = asked.send().await?.error_for_status()?.json().await?;
        let results = u64::try_from(page.results.len())?;
        reads.objects = reads.objects.saturating_add(results);
        if results == 0 || reads.objects >= page.total_entries {
            return Ok(reads);
        }
    }
}
