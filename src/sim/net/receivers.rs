//! Receivers of webhooks in one life of the machine.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::event_posts::GATEWAY_URL;
use crate::base::id::{Key, Mode};
use crate::engine::core::handles::EngineShared;
use crate::engine::core::input::EngineInput;
use crate::engine::events::partner_webhook::IncomingWebhook;
use crate::engine::events::receiver::{EventReceiver, Receipt};
use crate::sandbox::state::webhook_delivery;
use crate::sim::actors::applicant::EVENT_URL;
use crate::sim::actors::sandbox_control::text;
use crate::sim::world::documents::{Doc, DocBody};

/// A posted event that was acknowledged as stored.
#[derive(Debug, Clone)]
pub(crate) struct AcknowledgedPost {
    /// Merchant of the address.
    pub merchant: String,
    pub event: String,
    /// Number of the last durable record when the post was acknowledged.
    pub head: u64,
}

/// Result of a delivery.
pub(crate) struct HandoverResult {
    /// HTTP status for the sender.
    pub(crate) status: u16,
    /// Stored post, if it was an event.
    pub(crate) stored: Option<AcknowledgedPost>,
}

/// Receivers of one life.
#[derive(Debug)]
pub(crate) struct WebhookReceivers {
    /// The engine's own inputs.
    pub(crate) engine: mpsc::Sender<EngineInput>,
    /// Receiver of posted events.
    pub(crate) inbox: EventReceiver,
    /// Shared parts of the engine's tasks.
    pub(crate) shared: Arc<EngineShared>,
}

/// Returns the key of a merchant of this name.
pub(crate) fn key_of(merchant: &str) -> Option<Key> {
    Doc::new(merchant, DocBody::Merchant).address().parse().ok()
}

impl WebhookReceivers {
    /// Delivers a webhook. Returns `None` if the engine did not answer.
    pub(crate) async fn deliver(
        &self,
        letter: webhook_delivery::OutgoingWebhook,
    ) -> Option<HandoverResult> {
        if let Some(merchant) = letter.url.strip_prefix(GATEWAY_URL) {
            return self.post_event(merchant, &letter.body).await;
        }
        let reference = letter.url.strip_prefix(EVENT_URL)?.to_owned();
        let notice = IncomingWebhook { generation: 0, reference, body: letter.body };
        let (stored, answer) = oneshot::channel();
        self.engine.send(EngineInput::PartnerWebhook(notice, stored)).await.ok()?;
        answer.await.is_ok().then_some(HandoverResult { status: 200, stored: None })
    }

    /// Posts an event.
    async fn post_event(&self, merchant: &str, body: &[u8]) -> Option<HandoverResult> {
        let taken = self.inbox.post(&key_of(merchant)?, Mode::Test, body).await.ok()?;
        let status = match taken {
            Receipt::Stored => 200,
            Receipt::Malformed => 400,
            Receipt::Unknown => 404,
            Receipt::Full => 503,
        };
        let said: Value = serde_json::from_slice(body).unwrap_or_default();
        let stored = (taken == Receipt::Stored).then(|| AcknowledgedPost {
            merchant: merchant.to_owned(),
            event: text(&said, "id").to_owned(),
            head: self.shared.writer.head().sequence,
        });
        Some(HandoverResult { status, stored })
    }
}
