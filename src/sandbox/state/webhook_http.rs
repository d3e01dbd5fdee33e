//! HTTP client for webhooks to the partner and to merchants. It is the only place of the sandbox
//! that calls out, as the service itself does, and it does not interpret the bodies.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use reqwest::{Client, redirect, retry};
use tokio::time::MissedTickBehavior;

use super::webhook_delivery::OutgoingWebhook;
use crate::sandbox::server::Sandbox;

/// Polling interval of the outbox.
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
    }
}

fn client() -> reqwest::Result<Client> {
    let builder = Client::builder().redirect(redirect::Policy::none()).retry(retry::never());
    builder.no_proxy().referer(false).timeout(TIMEOUT).build()
}

/// Sends one POST; returns the status of its answer.
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
