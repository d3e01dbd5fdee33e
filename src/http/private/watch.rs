//! The live stream: server-sent events of the daemon, `GET /api/v1/watch`.
//!
//! An `overview` event holds the present overview, at once and after each change; an `effect` event
//! one effect, once it is durable. A reader that is too slow misses effects, and gets a `lagged`
//! event with their number. The id of an event is its record's position: a reader that connects
//! again with it gets the kept effects behind it. The stream ends with the engine.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{Stream, unfold};
use serde::Serialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until};

use crate::control::protocol::{BEAT, ControlError};
use crate::engine::handles::feed::{FeedEvent, FollowedFeed};
use crate::http::listener::ValidTokenSeen;
use crate::http::private::answer::{self, AppState, UNBUFFERED, WATCHERS_MAX, refuse};

/// Shortest time between two overviews of a stream.
const OVERVIEW_EVERY: Duration = Duration::from_millis(250);
/// Header of a reader that connects again: the id of its last event.
const LAST_EVENT_ID: &str = "last-event-id";

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WatchParameters {
    /// Position of a record: kept effects behind it come first.
    since: Option<u64>,
}

/// Streams overviews and effects until the reader disconnects or the engine ends.
pub(super) async fn watch(
    State(door): State<AppState>,
    trust: Option<Extension<ValidTokenSeen>>,
    headers: HeaderMap,
    asked: Result<Query<WatchParameters>, QueryRejection>,
) -> Response {
    let since = match asked {
        Ok(Query(asked)) => last_event_id(&headers).or(asked.since),
        Err(why) => return answer::bad_request(why.body_text(), "send since=POSITION, or nothing"),
    };
    let Some(feed) = door.control.feed() else { return starting() };
    let Ok(place) = door.watchers.clone().try_acquire_owned() else { return too_many() };
    if let Some(Extension(trust)) = trust {
        // The guard let this reader in: its connection may live as long as the stream.
        trust.record();
    }
    let stream =
        WatchStream { feed: feed.follow(since), quiet_until: Instant::now(), _place: place };
    let beat = KeepAlive::new().interval(BEAT);
    let mut response = Sse::new(events(stream)).keep_alive(beat).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

fn last_event_id(headers: &HeaderMap) -> Option<u64> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.trim().parse().ok()
}

fn starting() -> Response {
    let message = "the daemon is starting: there is nothing to watch yet";
    refuse(StatusCode::SERVICE_UNAVAILABLE, ControlError::BUSY, message, "try again in a moment")
}

fn too_many() -> Response {
    let message = format!("too many streams are open: {WATCHERS_MAX} at most");
    let help = "close a page or a program that watches, and try again";
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, "too_many_watchers", message, help);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
    response
}

/// One reader's stream; dropping it frees its place.
struct WatchStream {
    feed: FollowedFeed,
    /// Time before which no overview is sent.
    quiet_until: Instant,
    _place: OwnedSemaphorePermit,
}

fn events(stream: WatchStream) -> impl Stream<Item = Result<Event, Infallible>> {
    unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok(wire_event(&event)), stream))
    })
}

impl WatchStream {
    async fn next(&mut self) -> Option<FeedEvent> {
        loop {
            let permits_overview = Instant::now() >= self.quiet_until;
            let event = tokio::select! {
                biased;
                event = self.feed.next(permits_overview) => event,
                () = sleep_until(self.quiet_until), if !permits_overview => continue,
            };
            if matches!(event, Some(FeedEvent::Overview(_))) {
                let now = Instant::now();
                self.quiet_until = now.checked_add(OVERVIEW_EVERY).unwrap_or(now);
            }
            return event;
        }
    }
}

fn wire_event(event: &FeedEvent) -> Event {
    match event {
        FeedEvent::Overview(overview) => with_data("overview", overview),
        FeedEvent::Effect(effect) => with_data("effect", &**effect).id(effect.position.to_string()),
        FeedEvent::Lagged(missed) => with_data("lagged", &json!({ "missed": missed })),
    }
}

/// Returns an event with a value as one line of JSON.
fn with_data(name: &str, value: &impl Serialize) -> Event {
    let event = Event::default().event(name);
    event.data(serde_json::to_string(value).unwrap_or_default())
}
