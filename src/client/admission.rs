//! A client's route through the gate, and the probe that checks whether a host serves again.

use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;

use super::breaker::Admission;
use super::classify;
use super::classify::CallVerdict;
use super::gate::{CallRoute, Limiter, Permit, Unavailable, Urgency, whole_seconds};
use super::service_client::Client;
use crate::api::call::{Auth, Call, Host, Method};
use crate::base::outside_text::known::KnownValues;

impl Client {
    /// Returns the same client for the calls of one merchant, or for the partner's own, in that
    /// lane of the gate.
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

    /// Waits until a call may go out.
    pub(crate) async fn enter(&self, call: &Call) -> Result<Option<Permit<'_>>, Unavailable> {
        let Some(way) = &self.route else { return Ok(None) };
        let pass = way.enter(call.method != Method::Get).await?;
        self.check_host(way, call.host).await?;
        Ok(Some(pass))
    }

    /// Reports the end of a call to the gate.
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
        let call = Call {
            endpoint: "status.read".to_owned(),
            method: Method::Get,
            host,
            path: "/status".to_owned(),
            query: Vec::new(),
            auth: Auth::None,
            body: None,
        };
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
