//! The receiver of posts to the addresses of merchants' events: a post is on disk before it is
//! answered.
//!
//! It bypasses the engine's loop, so that many posts share one sync; the loop only receives a
//! signal.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::base::fault_injection;
use crate::base::hash::keyed_digest;
use crate::base::id::{Key, Mode};
use crate::base::secret::mask_digits;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::protocol::input::EngineInput;
use crate::model::events::event::{EventLedger, EventStatus, ReceivedWebhook, WebhookContent};
use crate::model::operator::WebhookAddress;
use crate::model::record::Record;
use crate::store::read_model::resources::CachedEntry;
use crate::store::vault::keys::SealedValue;

/// Longest id of an event; the service's have 22 characters (gateway-api, Event).
const EVENT_ID_LENGTH_MAX: usize = 64;
/// Largest number of waiting posts of one merchant; further ones are refused, to be sent again.
const WAITING_MAX: u64 = 100_000;
/// Largest number of malformed bodies stored for one merchant.
const MALFORMED_MAX: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// The post is on disk, now or from before.
    Stored,
    /// The body is malformed; it is stored all the same, up to a limit.
    Malformed,
    /// No such merchant.
    Unknown,
    /// Too many wait: the service has to send it again.
    Full,
}

/// The receiver; share it behind an `Arc`.
#[derive(derive_more::Debug)]
#[debug("Inbox(…)")]
pub struct EventReceiver {
    shared: Arc<EngineShared>,
    engine: mpsc::Sender<EngineInput>,
    ledgers: Mutex<BTreeMap<Key, CachedEntry<EventLedger>>>,
}

/// The only part of a post that is used.
#[derive(Deserialize)]
struct PostedId {
    id: String,
}

impl EventReceiver {
    /// Builds a receiver of this state that signals the engine through this channel.
    pub(crate) fn new(shared: Arc<EngineShared>, engine: mpsc::Sender<EngineInput>) -> Self {
        Self { shared, engine, ledgers: Mutex::default() }
    }

    /// Stores a post; returns once it is on disk.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub async fn post(&self, merchant: &Key, mode: Mode, body: &[u8]) -> EngineResult<Receipt> {
        let Some(own) = self.shared.merchant(merchant)? else { return Ok(Receipt::Unknown) };
        let is_own =
            serde_json::from_value(own.fact("mode").clone()).is_ok_and(|own: Mode| own == mode);
        let what = self.classify(body, is_own);
        let garbled = matches!(what, WebhookContent::Malformed(_));
        let taken = if garbled { Receipt::Malformed } else { Receipt::Stored };
        if self.is_known(merchant, &what)? {
            return Ok(taken);
        }
        let ledger = self.ledger(merchant)?;
        if garbled && ledger.malformed >= MALFORMED_MAX {
            return Ok(taken);
        }
        if ledger.waiting >= WAITING_MAX {
            return Ok(Receipt::Full);
        }
        let (blobs, posted) = self.posted_record(merchant, mode, what, body)?;
        let records = vec![Record::WebhookReceived(Box::new(posted))];
        if fault_injection::is_active("answered-before-sync") {
            let shared = self.shared.clone();
            drop(tokio::spawn(async move { shared.write(blobs, records).await }));
            return Ok(taken);
        }
        self.shared.append_durable(blobs, records).await?;
        self.signal(merchant);
        Ok(taken)
    }

    /// Returns true if the events of this merchant are accepted.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn accepts_events_of(&self, merchant: &Key) -> EngineResult<bool> {
        Ok(self.shared.merchant(merchant)?.is_some())
    }

    /// Returns the ledger of a merchant's events. Every post needs it, and many posts change it, so
    /// the decoded value is cached.
    fn ledger(&self, merchant: &Key) -> EngineResult<Arc<EventLedger>> {
        let mut ledgers = self.ledgers.lock();
        let now = self.shared.facts.event_ledger_cached(merchant, ledgers.get(merchant))?;
        let Some(now) = now else { return Ok(Arc::default()) };
        let known = now.value.clone();
        ledgers.insert(merchant.clone(), now);
        Ok(known)
    }

    fn classify(&self, body: &[u8], is_own: bool) -> WebhookContent {
        let named = serde_json::from_slice::<PostedId>(body).ok().map(|named| named.id);
        let fits = |id: &String| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            (1..=EVENT_ID_LENGTH_MAX).contains(&id.len()) && id.bytes().all(plain)
        };
        match named.filter(fits) {
            Some(id) if is_own => WebhookContent::Event(id),
            Some(id) => WebhookContent::OtherMode(id),
            None => {
                let key = &self.shared.settings.planning.digest_key;
                WebhookContent::Malformed(keyed_digest(key, "garbled-post", body))
            }
        }
    }

    /// Returns true if all that a post contains is on disk already.
    fn is_known(&self, merchant: &Key, what: &WebhookContent) -> EngineResult<bool> {
        let facts = &self.shared.facts;
        Ok(match what {
            WebhookContent::Malformed(digest) => facts.knows_malformed(merchant, digest)?,
            WebhookContent::OtherMode(id) => facts.event(merchant, id)?.is_some(),
            WebhookContent::Event(id) => facts
                .event(merchant, id)?
                .is_some_and(|known| known.status != EventStatus::OtherMode),
        })
    }

    /// Builds the record of a post, its sealed body within if it fits, so that one sync suffices.
    fn posted_record(
        &self,
        merchant: &Key,
        mode: Mode,
        what: WebhookContent,
        body: &[u8],
    ) -> EngineResult<(Vec<SealedValue>, ReceivedWebhook)> {
        let text = mask_digits(&String::from_utf8_lossy(body));
        let subject = merchant.to_string();
        let sealed =
            self.shared.random(|rng| self.shared.vault.seal(&subject, text.as_bytes(), rng))?;
        let at = self.shared.now();
        let (blobs, body) = match sealed.inline_text() {
            Some(body) => (Vec::new(), body),
            None => (vec![sealed.clone()], sealed.reference().to_string()),
        };
        Ok((blobs, ReceivedWebhook { merchant: merchant.clone(), mode, what, body, at }))
    }

    /// Returns true if an address of this generation is valid.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn accepts_address(&self, address: &WebhookAddress, generation: u32) -> EngineResult<bool> {
        Ok(self.shared.facts.rotation(address)?.is_valid(generation))
    }

    /// Signals the engine, which also reads once a minute by itself: a lost signal costs nothing.
    fn signal(&self, merchant: &Key) {
        let news = self.shared.unread_posts.insert(merchant);
        if news && self.engine.try_send(EngineInput::Posted).is_err() {
            self.shared.unread_posts.remove(merchant);
        }
    }
}

#[cfg(test)]
mod tests;
