//! Delivers the webhooks in the outbox through a function of the caller: over HTTP, or to a router
//! in this process. The HTTP client is the only place of the sandbox that calls out, as the service
//! itself does, and it does not interpret the bodies.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::time::Duration;

use http::Uri;
use reqwest::{Client, redirect, retry};
use tokio::time::MissedTickBehavior;

use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::server::{LockedState, Sandbox};
use crate::sandbox::state::faults::{FAULTS, FaultKind, pick};
use crate::sandbox::state::outbox::{self, Delivery, WebhookAttempt};
use crate::sandbox::state::store::ChangeUnit;

/// One POST to the partner, or to a URL of a merchant.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("POST {url}")]
pub struct OutgoingWebhook {
    pub url: String,
    /// JSON; it may hold an authorization code.
    pub body: Vec<u8>,
}

/// Failed delivery round: the sandbox's own state failed.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("send the posts of the sandbox's outbox: its state failed")]
pub struct DeliverError;

impl From<SandboxRefusal> for DeliverError {
    fn from(_: SandboxRefusal) -> Self {
        Self
    }
}

struct DueDelivery {
    queue_key: String,
    delivery: Delivery,
    webhook: OutgoingWebhook,
    fault: Option<FaultKind>,
}

impl Sandbox {
    /// Runs everything that is due now, then tries each due webhook once, one after the other.
    /// `post` returns the receiver's status, or `None` without an answer. Returns the number of
    /// webhooks tried.
    ///
    /// Call it repeatedly: nothing else sends webhooks. A jump of the sandbox's clock over several
    /// attempts counts as one.
    pub async fn deliver_due<F, Sent>(&self, post: F) -> Result<usize, DeliverError>
    where
        F: Fn(OutgoingWebhook) -> Sent,
        Sent: Future<Output = Option<u16>>,
    {
        let _only_one = self.inner.delivering.lock().await;
        let mut tried: usize = 0;
        while let Some(next) = self.next_delivery()? {
            let mut statuses = Vec::new();
            for _ in 0..next.fault.map_or(1, FaultKind::copies) {
                statuses.push(post(next.webhook.clone()).await);
            }
            self.settle_delivery(next, &statuses)?;
            tried = tried.saturating_add(1);
        }
        Ok(tried)
    }

    /// Returns the first webhook due now, after those that a fault holds back.
    fn next_delivery(&self) -> Result<Option<DueDelivery>, DeliverError> {
        let mut live = self.lock();
        loop {
            let now = self.now(&live);
            self.catch_up(&mut live, now)?;
            let mut cx = self.cx(&live, now);
            let Some((place, delivery)) = outbox::first_due(&cx)? else { return Ok(None) };
            let url = outbox::url(&cx, &delivery.message);
            let fault = pick_fault(&mut live, &mut cx, &url)?;
            if fault == Some(FaultKind::WebhookReordered) && !delivery.was_held_back {
                outbox::hold_back(&mut cx, &place, delivery)?;
                self.commit(&mut live, cx)?;
                continue;
            }
            let body = outbox::body(&delivery.message)?;
            self.commit(&mut live, cx)?;
            let webhook = OutgoingWebhook { url, body };
            return Ok(Some(DueDelivery { queue_key: place, delivery, webhook, fault }));
        }
    }

    fn settle_delivery(
        &self,
        next: DueDelivery,
        statuses: &[Option<u16>],
    ) -> Result<(), DeliverError> {
        let mut live = self.lock();
        let now = self.now(&live);
        let mut cx = self.cx(&live, now);
        let logged = if statuses.is_empty() { &[None] } else { statuses };
        for status in logged {
            let attempt = WebhookAttempt {
                delivery: next.delivery.id.clone(),
                time: Timestamp(now),
                url: next.webhook.url.clone(),
                status: *status,
                count: next.delivery.attempts.saturating_add(1),
                fault: next.fault,
            };
            outbox::log(&mut cx, &attempt)?;
        }
        let status = statuses.last().copied().flatten();
        outbox::settle(&mut cx, &next.queue_key, next.delivery, status)?;
        self.commit(&mut live, cx)?;
        drop(live);
        Ok(self.inner.index.flush().map_err(SandboxRefusal::from)?)
    }
}

fn pick_fault(live: &mut LockedState, cx: &mut ChangeUnit, url: &str) -> Result<Option<FaultKind>> {
    if live.faults.is_empty() {
        return Ok(None);
    }
    let path = url.parse::<Uri>().map(|url| url.path().to_owned()).unwrap_or_default();
    let fault = pick(&mut live.faults, true, "POST", &path);
    cx.put(FAULTS, &live.faults)?;
    Ok(fault.map(|fault| fault.kind))
}

const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum time for a receiver's answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends due webhooks for ever; dropped when the sandbox stops.
pub(crate) async fn deliver_forever(sandbox: Sandbox) -> Infallible {
    // An error means that another provider is installed already; that one serves as well.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = match client() {
        Ok(client) => client,
        Err(error) => {
            tracing::error!(%error, "the sandbox cannot send webhooks");
            return pending().await;
        }
    };
    let mut ticks = tokio::time::interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let sent = sandbox.deliver_due(|notice| {
            let client = client.clone();
            async move { post(&client, notice).await }
        });
        if let Err(error) = sent.await {
            tracing::error!(%error, "the sandbox cannot send webhooks now");
        }
        // Entries of requests that changed nothing wait for this (`state::logs`).
        if let Err(error) = sandbox.inner.index.flush() {
            tracing::error!(%error, "the sandbox cannot write its log");
        }
    }
}

fn client() -> reqwest::Result<Client> {
    let builder = Client::builder().redirect(redirect::Policy::none()).retry(retry::never());
    builder.no_proxy().referer(false).timeout(TIMEOUT).build()
}

async fn post(client: &Client, notice: OutgoingWebhook) -> Option<u16> {
    let request = client.post(&notice.url).header("content-type", "application/json");
    match request.body(notice.body).send().await {
        Ok(answer) => Some(answer.status().as_u16()),
        Err(error) => {
            let error = error.without_url();
            tracing::debug!(%error, "a webhook was not accepted");
            None
        }
    }
}
