//! One POST to a web address.
//!
//! An answer proves this: 2xx was accepted, 4xx was refused, 429 and 503 were not accepted yet. Any
//! other answer, and none at all, proves nothing. Every notification has a connection of its own.
//! Notifications are rare, and the other side could close a kept connection during a write.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url, redirect, retry, tls};

use super::message::DeliveryResult;
use crate::base::secret::Secret;
use crate::base::wording::{causes, root_cause};

const USER_AGENT: &str = "reckon";
/// The header by which a receiver recognises a repeat (draft-ietf-httpapi-idempotency-key-header).
const KEY_HEADER: &str = "Idempotency-Key";

/// The client for web addresses; built at the first notification.
#[derive(Debug)]
pub(crate) struct WebSender {
    timeout: Duration,
    client: OnceLock<Result<Client, String>>,
}

impl WebSender {
    /// Returns a client with this time limit.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, client: OnceLock::new() }
    }

    /// Posts this JSON. The key is visible ASCII.
    pub(crate) async fn post(&self, url: &Secret, key: &str, body: String) -> DeliveryResult {
        let Ok(url) = Url::parse(url.expose()) else {
            return DeliveryResult::Refused("the target's address is no web address".to_owned());
        };
        let client = match self.client.get_or_init(|| client(self.timeout)) {
            Ok(client) => client,
            Err(reason) => return DeliveryResult::NotSent(reason.clone()),
        };
        let request = client.post(url.clone()).header(CONTENT_TYPE, "application/json");
        match request.header(KEY_HEADER, key).body(body).send().await {
            Ok(answer) => interpret_status(answer.status().as_u16()),
            Err(error) => interpret_error(error, &url),
        }
    }
}

fn client(timeout: Duration) -> Result<Client, String> {
    // Another caller may have installed a provider before; that one serves as well.
    rustls::crypto::ring::default_provider().install_default().ok();
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .tls_version_min(tls::Version::TLS_1_2)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .pool_max_idle_per_host(0)
        .connect_timeout(connect_timeout(timeout))
        .timeout(timeout);
    builder.build().map_err(|error| format!("no web address can be asked: {}", causes(&error)))
}

/// Shorter than the whole limit: where this one runs out, nothing was sent.
fn connect_timeout(timeout: Duration) -> Duration {
    timeout.checked_div(2).unwrap_or(timeout)
}

fn interpret_status(status: u16) -> DeliveryResult {
    match status {
        200..=299 => DeliveryResult::Done,
        429 | 503 => DeliveryResult::NotSent(format!("the target answered {status}: not now")),
        408 => {
            DeliveryResult::InDoubt("the target answered 408: it waited for the rest".to_owned())
        }
        300..=399 => DeliveryResult::InDoubt(format!(
            "the target answered {status}, and no redirect is followed"
        )),
        400..=499 => DeliveryResult::Refused(format!("the target answered {status}")),
        _ => DeliveryResult::InDoubt(format!("the target answered {status}")),
    }
}

/// Interprets an error: only an error from before the request was written proves anything.
fn interpret_error(error: reqwest::Error, url: &Url) -> DeliveryResult {
    let error = error.without_url();
    let cause = mask_address(root_cause(&error), url);
    if error.is_connect() || error.is_builder() {
        DeliveryResult::NotSent(format!("the target was not reached: {cause}"))
    } else if error.is_timeout() {
        DeliveryResult::InDoubt("the target did not answer in time".to_owned())
    } else {
        DeliveryResult::InDoubt(format!("the target did not answer: {cause}"))
    }
}

/// Masks parts of the address in the line; for example, an error of a mismatched certificate names
/// the host.
fn mask_address(line: String, url: &Url) -> String {
    let parts = [url.host_str(), Some(url.path()), url.query()];
    let telling = parts.into_iter().flatten().filter(|part| part.len() > 1);
    telling.fold(line, |line, part| line.replace(part, "•••"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_word() {
        let word = |status| match interpret_status(status) {
            DeliveryResult::Done => "done",
            DeliveryResult::NotSent(_) => "not sent",
            DeliveryResult::Refused(_) => "refused",
            DeliveryResult::InDoubt(_) => "in doubt",
        };
        let words: Vec<_> =
            [200, 204, 302, 400, 404, 408, 410, 429, 500, 502, 503, 504].map(word).into();
        let expect = [
            "done", "done", "in doubt", "refused", "refused", "in doubt", "refused", "not sent",
            "in doubt", "in doubt", "not sent", "in doubt",
        ];
        assert_eq!(words, expect);
    }

    #[test]
    fn what_an_error_says_of_the_address_is_hidden() {
        let url = Url::parse("https://canary.example/hook/canary?k=canary").unwrap();
        let line = "not valid for canary.example, /hook/canary?k=canary".to_owned();
        assert_eq!(mask_address(line, &url), "not valid for •••, •••?•••");
        let root = Url::parse("https://x.example/").unwrap();
        assert_eq!(mask_address("either/or".to_owned(), &root), "either/or");
    }
}
