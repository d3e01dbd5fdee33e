//! Tests of `/api/v1/watch`, over a feed that a test publishes.

use std::sync::Arc;

use futures::StreamExt;

use super::*;
use crate::engine::handles::feed::{EffectLog, EngineFeed};
use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::views::Overview;
use crate::http::private::answer::WATCHERS_MAX;

struct Published {
    router: Router,
    overviews: watch::Sender<Overview>,
    effects: Arc<EffectLog>,
}

fn published() -> Published {
    let (overviews, receiver) = watch::channel(overview());
    let effects = Arc::new(EffectLog::default());
    let control = engine(answer_to);
    control.set_feed(EngineFeed { overviews: receiver, effects: effects.clone() });
    let (_, ready) = watch::channel(true);
    Published { router: router(control, ready, tokens()), overviews, effects }
}

impl Published {
    fn effect(&self, position: u64) {
        let report = json!({
            "position": position, "at": "2026-11-20T12:34:56.000Z", "verb": "created",
            "intent": "i-000002", "key": "Contact/default/jane", "effect": "contact.create",
            "cause": {"file": null, "line": null, "commit": null},
        });
        self.effects.push(serde_json::from_value::<EffectReport>(report).unwrap());
    }

    async fn watch(&self, headers: &[(&str, &str)], path: &str) -> Response {
        let headers = [&[("host", "localhost:8780")], headers].concat();
        self.router.clone().oneshot(from("127.0.0.1:4000", &headers, path)).await.unwrap()
    }
}

/// Reads the next piece of a stream: one event or one comment.
async fn piece(body: &mut axum::body::BodyDataStream) -> Option<String> {
    Some(String::from_utf8(body.next().await?.unwrap().to_vec()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_stream_shows_the_overview_each_effect_and_its_end() {
    let published = published();
    let response = published.watch(&[], "/api/v1/watch").await;
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(
        (header("cache-control"), header("connection")),
        ("no-store".into(), "close".into())
    );
    let mut body = response.into_body().into_data_stream();
    let first = piece(&mut body).await.unwrap();
    assert!(first.starts_with("event: overview\ndata: {\"resources\":5,"), "{first}");
    published.overviews.send_modify(|now| now.resources = 6);
    published.effect(43);
    let effect = piece(&mut body).await.unwrap();
    assert!(effect.starts_with("event: effect\ndata: {\"position\":43,"), "{effect}");
    assert!(effect.ends_with("id: 43\n\n"), "{effect}");
    assert!(piece(&mut body).await.unwrap().contains("\"resources\":6,"));
    assert_eq!(piece(&mut body).await.as_deref(), Some(":\n\n"), "a sign of life meanwhile");
    drop(published.overviews);
    assert_eq!(piece(&mut body).await, None);
}

#[tokio::test]
async fn a_reader_that_connects_again_gets_the_effects_behind_its_last_event() {
    let published = published();
    (1..=3).for_each(|position| published.effect(position));
    for (headers, path) in
        [(&[("last-event-id", "2")][..], "/api/v1/watch?since=1"), (&[], "/api/v1/watch?since=2")]
    {
        let mut body = published.watch(headers, path).await.into_body().into_data_stream();
        assert!(piece(&mut body).await.unwrap().ends_with("id: 3\n\n"), "{path}");
    }
    assert_eq!(published.watch(&[], "/api/v1/watch?after=1").await.status(), 400);
}

#[tokio::test]
async fn streams_are_bounded_and_a_closed_one_makes_room() {
    let published = published();
    let mut open = Vec::new();
    for _ in 0..WATCHERS_MAX {
        open.push(published.watch(&[], "/api/v1/watch").await);
    }
    let refused = published.watch(&[], "/api/v1/watch").await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "10");
    open.pop();
    assert_eq!(published.watch(&[], "/api/v1/watch").await.status(), 200);
    let elsewhere = from("192.0.2.1:4000", &[("host", "localhost:8780")], "/api/v1/watch");
    assert_eq!(published.router.clone().oneshot(elsewhere).await.unwrap().status(), 403);
}
