//! The limit of a first apply: the same requests with the same concurrency. The loop keeps nothing and checks only the
//! status.

use std::time::{Duration, Instant};

use futures::stream;
use futures::stream::{StreamExt, TryStreamExt};
use serde_json::json;

use crate::connection::Failed;

/// Makes `count` contacts, `at_once` at a time; returns the time that it took.
pub(crate) async fn make_contacts(
    base_url: &str,
    token: &str,
    count: usize,
    at_once: usize,
) -> Result<Duration, Failed> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = format!("{base_url}/contacts");
    let started = Instant::now();
    stream::iter(0..count)
        .map(|at| {
            let body = json!({
                "type": "person",
                "test_mode": true,
                "first_name": "Limit",
                "last_name": "Program",
                "email_addresses": [{"address": format!("limit-{at}@example.com")}],
            });
            let request = client.post(&url).bearer_auth(token).json(&body);
            async move {
                let answer = request.send().await?.error_for_status()?;
                answer.bytes().await.map(drop)
            }
        })
        .buffer_unordered(at_once)
        .try_collect::<Vec<()>>()
        .await?;
    Ok(started.elapsed())
}
