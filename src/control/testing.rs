//! A control handle to an engine that a test simulates.

use tokio::sync::mpsc;

use crate::control::handle::Control;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::views::{Overview, StandingCounts};
use crate::model::manifest::TreeState;

/// Returns a handle to an engine that answers with this function until every handle is dropped.
pub(crate) fn engine(mut answer: impl FnMut(EngineQuery) -> Reply + Send + 'static) -> Control {
    let (events, mut asked) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Some(event) = asked.recv().await {
            if let EngineInput::Ask(question, reply) = event {
                drop(reply.send(answer(question)));
            }
        }
    });
    Control::new(events)
}

/// A sample overview.
pub(crate) fn overview() -> Overview {
    Overview {
        resources: 5,
        ready: 3,
        standings: StandingCounts {
            ready: 3,
            changing: 1,
            needs_attention: 1,
            ..StandingCounts::default()
        },
        changes: 1,
        stuck: 1,
        orphaned: 0,
        suspended: 0,
        under_way: 2,
        open_intents: 2,
        broken: 0,
        coverage: TreeState::Complete,
        position: 42,
        head: "9f86d081884c7d659a2feaa0c55ad015".to_owned(),
        traffic: crate::engine::protocol::views::TrafficView::default(),
        disk_low_bytes: None,
        freeze: None,
        rules: Vec::new(),
        alerts: Vec::new(),
        sync: None,
    }
}
