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
//! - The partner's own token is obtained by the client credentials grant, kept, and renewed when
//!   the service no longer accepts it (partner-api, POST /oauth/token). The answer names no end of
//!   life, so a 401 is the only sign.
//!
//! The client assumes that the journal already explains every `send`. It never logs a body, a query
//! or a credential.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use tokio::sync;
use tokio::time::Instant;
use tracing::{Instrument, Span, debug_span, field};

use crate::api::call::{Auth, Call, Host, Method};
use crate::api::credentials::{AccessToken, ExchangeToken, TokenRequest};
use crate::base::clock::SharedClock;
use crate::base::outside_text::ServiceText;
use crate::base::outside_text::known::KnownValues;
use crate::base::secret::Secret;
use crate::client::classify::{self, CallVerdict};
use crate::client::gate::{CallRoute, Limiter, Permit, Unavailable, Urgency, whole_seconds};
use crate::client::limits::Admission;
use crate::client::request::{
    Access, AccessDenied, ClientCredentials, ClientError, ServiceAddresses, ServiceConfig, basic,
    bearer, fits,
};
use crate::client::transport::Transport;
use crate::model::outcome::Outcome;

/// A client of the service. Clones share connections, the tenant token and the jitter.
#[derive(Clone, derive_more::Debug)]
#[debug("Client({addresses:?})")]
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
        let tokens = |partner| TenantTokens { partner, current: sync::Mutex::default() };
        Ok(Self {
            addresses: ServiceAddresses::new(&service.base_url, &service.web_url)?,
            timeout: service.timeout,
            transport,
            clock,
            tenant: service.partner.map(tokens).map(Arc::new),
            jitter: Arc::new(Mutex::new(ChaCha8Rng::seed_from_u64(service.jitter_seed))),
            route: None,
        })
    }

    /// Returns the same client for a merchant of another product brand, with its `{web_url}`.
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
        self.attempt_as(call, authorization, call.method != Method::Get).await
    }

    /// Works as `attempt`; a freeze stops the call only if it `is_change`.
    async fn attempt_as(
        &self,
        call: &Call,
        authorization: Option<HeaderValue>,
        is_change: bool,
    ) -> CallVerdict {
        let span = debug_span!(
            "call",
            endpoint = call.endpoint,
            status = field::Empty,
            elapsed_ms = field::Empty
        );
        self.send_request(call, authorization, is_change).instrument(span).await
    }

    async fn send_request(
        &self,
        call: &Call,
        authorization: Option<HeaderValue>,
        is_change: bool,
    ) -> CallVerdict {
        let started = Instant::now();
        let known = classify::sensitive_values(call, authorization.as_ref());
        let request = match self.addresses.request(call, authorization) {
            Ok(request) => request,
            Err(reason) => return CallVerdict::from(Outcome::not_sent(&reason)),
        };
        let pass = match self.enter(call, is_change).await {
            Ok(pass) => pass,
            Err(shut) => return shut.into(),
        };
        let began = self.clock.now();
        let answer = self.transport.carry(call, request, self.timeout).await;
        let ended = self.clock.now();
        let shown = answer.as_ref().ok();
        let status = shown.map(|answer| answer.status);
        let clock_ahead_s = shown.and_then(|answer| answer.clock_ahead_s((began, ended)));
        let answer = answer.map(|answer| answer.with_call(call));
        let verdict = classify::classify(answer, &known, ended);
        let verdict = CallVerdict { clock_ahead_s, ..verdict };
        self.finish(call, pass, &verdict);
        let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Span::current().record("status", status).record("elapsed_ms", elapsed_ms);
        tracing::debug!(outcome = ?verdict.outcome, "the call ended");
        verdict
    }
}

/// The one token, and the credentials for it.
pub(crate) struct TenantTokens {
    partner: ClientCredentials,
    /// Locked while a token is fetched, so that many callers cause one fetch.
    current: sync::Mutex<Option<NumberedToken>>,
}

/// A token, and the count of its predecessors.
#[derive(Clone)]
struct NumberedToken {
    number: u64,
    token: Secret,
}

enum TenantTokenError {
    /// Final, until the configuration changes.
    Denied(AccessDenied),
    /// Temporary: the token endpoint gave no good answer.
    Unavailable(CallVerdict),
}

impl TenantTokenError {
    fn into_verdict(self) -> Result<CallVerdict, AccessDenied> {
        match self {
            Self::Denied(denied) => Err(denied),
            Self::Unavailable(verdict) => Ok(verdict),
        }
    }
}

impl TenantTokens {
    /// Returns the kept token, unless it is the one numbered `stale`; else a new one.
    async fn token(
        &self,
        client: &Client,
        stale: Option<u64>,
    ) -> Result<NumberedToken, TenantTokenError> {
        let mut held = self.current.lock().await;
        if let Some(kept) = held.as_ref().filter(|kept| Some(kept.number) != stale) {
            return Ok(kept.clone());
        }
        let token = self.fetch(client).await?;
        let number = held.as_ref().map_or(0, |old| old.number.saturating_add(1));
        Ok(held.insert(NumberedToken { number, token }).clone())
    }

    async fn fetch(&self, client: &Client) -> Result<Secret, TenantTokenError> {
        // A token changes nothing at the service: reads need it during a freeze, too.
        let verdict = client.attempt_as(&self.token_request()?, None, false).await;
        match verdict.outcome {
            Outcome::Done { reply } => serde_json::from_value::<AccessToken>(reply)
                .ok()
                .and_then(|reply| reply.access_token)
                .ok_or_else(|| unavailable("the service answered without one", None)),
            Outcome::Refused { status, problem: _ } => {
                let reason = format!("the service refuses the client credentials with {status}");
                Err(TenantTokenError::Denied(AccessDenied(reason)))
            }
            Outcome::NotSent { reason, retry_after_s } => {
                Err(unavailable(reason.as_str(), retry_after_s))
            }
            Outcome::InDoubt { reason } => Err(unavailable(reason.as_str(), verdict.retry_after_s)),
        }
    }

    /// Builds the client credentials grant of scope `tenant`.
    fn token_request(&self) -> Result<Call, TenantTokenError> {
        let ClientCredentials { client_id, client_secret } = &self.partner;
        serde_json::to_vec(&TokenRequest::tenant(client_id, client_secret.clone()))
            .map(|body| Call::to::<ExchangeToken>(&[]).body(body))
            .map_err(|_unwritable| unavailable("its request cannot be written", None))
    }
}

fn unavailable(reason: &str, retry_after_s: Option<u64>) -> TenantTokenError {
    let reason = format!("no tenant token: {reason}");
    let reason = ServiceText::clean(&reason, &KnownValues::default());
    TenantTokenError::Unavailable(CallVerdict::from(Outcome::NotSent { reason, retry_after_s }))
}

impl Client {
    /// Sends a call with the tenant token; after a 401, once more with a new one. Without a token
    /// the call is not sent, whatever the token endpoint answered: its 401 is no answer to the call.
    async fn exchange_as_tenant(&self, call: &Call) -> Result<CallVerdict, AccessDenied> {
        let Some(tenant) = self.tenant.as_deref() else {
            return Err(AccessDenied("no client credentials are configured".to_owned()));
        };
        let first = match tenant.token(self, None).await {
            Ok(held) => held,
            Err(none) => return none.into_verdict(),
        };
        let verdict = self.attempt(call, Some(bearer(&first.token)?)).await;
        if !matches!(verdict.outcome, Outcome::Refused { status: 401, .. }) {
            return Ok(verdict);
        }
        match tenant.token(self, Some(first.number)).await {
            Ok(renewed) => Ok(self.attempt(call, Some(bearer(&renewed.token)?)).await),
            Err(none) => none.into_verdict(),
        }
    }

    /// Returns this client for a merchant's calls, or the partner's own, in that lane of the gate.
    #[must_use]
    pub fn limited_by(&self, gate: &Arc<Limiter>, lane: &str, urgency: Urgency) -> Self {
        let way = CallRoute { gate: gate.clone(), lane: gate.lane(lane), urgency };
        Self { route: Some(way), ..self.clone() }
    }

    /// Waits until a change may go to this host, so that no wait separates its intent from its
    /// call.
    ///
    /// # Errors
    /// The host does not serve, or requested a long pause.
    pub async fn reserve(&self, host: Host) -> Result<(), Unavailable> {
        let Some(way) = &self.route else { return Ok(()) };
        self.check_host(way, host).await?;
        way.prepay().await
    }

    /// Waits until a call may go out; a freeze stops it if it `is_change`.
    pub(crate) async fn enter(
        &self,
        call: &Call,
        is_change: bool,
    ) -> Result<Option<Permit<'_>>, Unavailable> {
        let Some(way) = &self.route else { return Ok(None) };
        let pass = way.enter(call.method != Method::Get).await?;
        self.check_host(way, call.host).await?;
        // Last: a freeze may have begun during each of the waits.
        if is_change {
            way.gate.check_frozen()?;
        }
        Ok(Some(pass))
    }

    pub(crate) fn finish(&self, call: &Call, pass: Option<Permit<'_>>, verdict: &CallVerdict) {
        if let Some(pass) = pass {
            let host = self.addresses.host(call.host);
            self.with_rng(|dice| pass.finish(&host, verdict, dice));
        }
    }

    /// Checks whether a host serves, as far as is known; probes it where that is due.
    async fn check_host(&self, way: &CallRoute, host: Host) -> Result<(), Unavailable> {
        let name = self.addresses.host(host);
        match way.gate.admit(&name) {
            Admission::Free => return Ok(()),
            Admission::Unavailable(wait) => return Err(way.gate.unavailable(&name, wait)),
            Admission::ProbeFirst => {}
        }
        let well = self.probe(host).await;
        self.with_rng(|dice| way.gate.record_probe(&name, well, dice));
        match way.gate.admit(&name) {
            Admission::Free => Ok(()),
            Admission::Unavailable(wait) => Err(way.gate.unavailable(&name, wait)),
            Admission::ProbeFirst => Err(way.gate.unavailable(&name, Duration::ZERO)),
        }
    }

    /// Requests a host's status, which changes nothing and needs no credential. Any answer of a
    /// serving host will do: one without such a path says so itself (service-facts, 16).
    async fn probe(&self, host: Host) -> bool {
        let call = Call::of("status.read", Method::Get, host, "/status", Auth::None, &[]);
        let Ok(request) = self.addresses.request(&call, None) else { return false };
        let answer = self.transport.carry(&call, request, self.timeout).await;
        !classify::classify(answer, &KnownValues::default(), self.clock.now()).is_down
    }

    fn with_rng<T>(&self, throw: impl FnOnce(&mut ChaCha8Rng) -> T) -> T {
        throw(&mut self.jitter.lock())
    }
}

impl From<Unavailable> for CallVerdict {
    fn from(shut: Unavailable) -> Self {
        Self::withheld(&shut.reason, whole_seconds(shut.wait))
    }
}

#[cfg(test)]
mod tests;
