//! Receivers of webhooks in one life of the machine.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::gateway::GATEWAY_URL;
use crate::base::id::{Key, Mode};
use crate::engine::{Event, Inbox, Notice, Shared, Taken};
use crate::sandbox;
use crate::sim::applicant::EVENT_URL;
use crate::sim::desk::text;
use crate::sim::world::{Body, Doc};

/// A posted event that was acknowledged as stored.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// Merchant of the address.
    pub merchant: String,
    pub event: String,
    /// Number of the last durable record when the post was acknowledged.
    pub head: u64,
}

/// Result of a delivery.
pub(super) struct Handed {
    /// HTTP status for the sender.
    pub(super) status: u16,
    /// Stored post, if it was an event.
    pub(super) stored: Option<Answered>,
}

/// Receivers of one life.
#[derive(Debug)]
pub(crate) struct Doors {
    /// The engine's own inputs.
    pub(crate) engine: mpsc::Sender<Event>,
    /// Receiver of posted events.
    pub(crate) inbox: Inbox,
    /// Shared parts of the engine's tasks.
    pub(crate) shared: Arc<Shared>,
}

/// Returns the key of a merchant of this name.
pub(crate) fn key_of(merchant: &str) -> Option<Key> {
    Doc::new(merchant, Body::Merchant).address().parse().ok()
}

impl Doors {
    /// Delivers a webhook. Returns `None` if the engine did not answer.
    pub(super) async fn hand_over(&self, letter: sandbox::Notice) -> Option<Handed> {
        if let Some(merchant) = letter.url.strip_prefix(GATEWAY_URL) {
            return self.post(merchant, &letter.body).await;
        }
        let reference = letter.url.strip_prefix(EVENT_URL)?.to_owned();
        let notice = Notice { generation: 0, reference, body: letter.body };
        let (stored, answer) = oneshot::channel();
        self.engine.send(Event::Notice(notice, stored)).await.ok()?;
        answer.await.is_ok().then_some(Handed { status: 200, stored: None })
    }

    /// Posts an event.
    async fn post(&self, merchant: &str, body: &[u8]) -> Option<Handed> {
        let taken = self.inbox.post(&key_of(merchant)?, Mode::Test, body).await.ok()?;
        let status = match taken {
            Taken::Stored => 200,
            Taken::Garbled => 400,
            Taken::Unknown => 404,
            Taken::Full => 503,
        };
        let said: Value = serde_json::from_slice(body).unwrap_or_default();
        let stored = (taken == Taken::Stored).then(|| Answered {
            merchant: merchant.to_owned(),
            event: text(&said, "id").to_owned(),
            head: self.shared.writer.head().sequence,
        });
        Some(Handed { status, stored })
    }
}
