//! The only user of reqwest towards the service: a [`Call`] goes in, an [`Outcome`] comes out.
//!
//! One place decides which fact an answer, or its absence, proves. Guarantees:
//!
//! - A call that may have an effect goes out at most once per `send`, with exactly the bytes of its
//!   body. The one exception is a 401 of a tenant token, which proves that nothing happened: then
//!   the client sends again.
//! - The client never follows redirects and never uses proxies.
//! - A read is repeated a bounded number of times.
//! - A list is complete or an error.
//!
//! The client assumes that the journal already explains every `send`. It never logs a body, a query
//! or a credential.

#[cfg(test)]
mod tests;

use super::http::access::Access;
use super::http::error::ClientError;
use super::http::transport::Transport;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::HeaderValue;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use tokio::time::Instant;
use tracing::{Instrument, Span, debug_span, field};

use super::http::access::{AccessDenied, basic, bearer, fits};
use super::http::address::ServiceAddresses;
use super::http::classify::CallVerdict;
use super::http::tenant::TenantTokens;
use super::http::{classify, sensitive};
use super::limiter::gate::CallRoute;
use crate::api::Call;
use crate::base::clock::SharedClock;
use crate::base::secret::Secret;
use crate::model::intents::outcome::Outcome;

/// The addresses of the service, and our credentials there.
#[derive(Clone)]
pub struct ServiceConfig {
    /// `{base_url}`: https, or http to a loopback IP.
    pub base_url: String,
    /// `{web_url}`; the same rule.
    pub web_url: String,
    /// The time limit of one call, from connecting to the last byte of its answer.
    pub timeout: Duration,
    /// Certificates in PEM that are trusted beside those of the operating system.
    pub ca_file: Option<Vec<u8>>,
    /// The credentials for a tenant token; without them,
    /// [`Auth::Tenant`](crate::api::Auth::Tenant) is denied.
    pub partner: Option<ClientCredentials>,
    /// Seeds the jitter between the repetitions of a read.
    pub jitter_seed: u64,
}

/// The partner application's client credentials (partner-api, POST /oauth/token).
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    pub client_id: String,
    pub client_secret: Secret,
}

/// A client of the service. Clones share connections, the tenant token and the jitter.
#[derive(Clone)]
pub struct Client {
    pub(crate) addresses: ServiceAddresses,
    pub(crate) timeout: Duration,
    pub(crate) transport: Transport,
    pub(crate) clock: SharedClock,
    pub(crate) tenant: Option<Arc<TenantTokens>>,
    pub(crate) jitter: Arc<Mutex<ChaCha8Rng>>,
    /// The route through the gate; without one the calls are unbounded.
    pub(crate) route: Option<CallRoute>,
}

impl Client {
    /// Returns a client of `service` over `transport`; `clock` reads dates in `Retry-After`.
    ///
    /// # Errors
    /// An invalid address, or plain HTTP to anything but a loopback IP.
    pub fn new(
        service: ServiceConfig,
        transport: Transport,
        clock: SharedClock,
    ) -> Result<Self, ClientError> {
        Ok(Self {
            addresses: ServiceAddresses::new(&service.base_url, &service.web_url)?,
            timeout: service.timeout,
            transport,
            clock,
            tenant: service.partner.map(|partner| Arc::new(TenantTokens::new(partner))),
            jitter: Arc::new(Mutex::new(ChaCha8Rng::seed_from_u64(service.jitter_seed))),
            route: None,
        })
    }

    /// Returns the same client for a merchant of another product brand, with its `{web_url}`.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_web_url(&self, web_url: &str) -> Result<Self, ClientError> {
        let mut other = self.clone();
        other.addresses = self.addresses.with_web(web_url)?;
        Ok(other)
    }

    /// Returns `{base_url}`, where a payer's browser finds the service's own fields.
    pub fn base_url(&self) -> &str {
        self.addresses.base()
    }

    /// Sends one call once and returns the outcome that its answer proves. A tenant token that the
    /// service refuses is renewed once and the call sent again. A credential that is missing or
    /// does not fit the call gives `NotSent`.
    pub async fn send(&self, call: &Call, access: &Access) -> Outcome {
        match self.exchange(call, access).await {
            Ok(verdict) => verdict.outcome,
            Err(AccessDenied(reason)) => Outcome::not_sent(&reason),
        }
    }

    /// Works as `send`, but keeps a missing credential apart from the answers of the call.
    pub(crate) async fn exchange(
        &self,
        call: &Call,
        access: &Access,
    ) -> Result<CallVerdict, AccessDenied> {
        if !fits(call.auth, access) {
            return Err(AccessDenied(format!("{} takes another credential", call.endpoint)));
        }
        match access {
            Access::None => Ok(self.attempt(call, None).await),
            Access::Bearer(token) => Ok(self.attempt(call, Some(bearer(token)?)).await),
            Access::Basic(key) => Ok(self.attempt(call, Some(basic(key)?)).await),
            Access::Tenant => self.exchange_as_tenant(call).await,
        }
    }

    /// Sends one request and returns its verdict, inside its span.
    pub(crate) async fn attempt(
        &self,
        call: &Call,
        authorization: Option<HeaderValue>,
    ) -> CallVerdict {
        let span = debug_span!(
            "call",
            endpoint = call.endpoint,
            status = field::Empty,
            elapsed_ms = field::Empty
        );
        self.send_request(call, authorization).instrument(span).await
    }

    async fn send_request(&self, call: &Call, authorization: Option<HeaderValue>) -> CallVerdict {
        let started = Instant::now();
        let known = sensitive::sensitive_values(call, authorization.as_ref());
        let request = match self.addresses.request(call, authorization) {
            Ok(request) => request,
            Err(reason) => return CallVerdict::from(Outcome::not_sent(&reason)),
        };
        let pass = match self.enter(call).await {
            Ok(pass) => pass,
            Err(shut) => return shut.into(),
        };
        let answer = self.transport.carry(call, request, self.timeout).await;
        let status = answer.as_ref().ok().map(|answer| answer.status);
        let answer = answer.map(|answer| answer.with_call(call));
        let verdict = classify::classify(answer, &known, self.clock.now());
        self.finish(call, pass, &verdict);
        let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Span::current().record("status", status).record("elapsed_ms", elapsed_ms);
        tracing::debug!(outcome = ?verdict.outcome, "the call ended");
        verdict
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({:?})", self.addresses)
    }
}

impl fmt::Debug for ServiceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Service({}, {})", self.base_url, self.web_url)
    }
}
