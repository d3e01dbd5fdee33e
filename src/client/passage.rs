//! A client's route through the gate, and the probe that checks whether a host serves again.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;

use super::Client;
use super::breaker::Passage;
use super::classify::{self, Verdict};
use super::gate::{Gate, Pass, Shut, Urgency, Way, whole_seconds};
use crate::api::{Auth, Call, Host, Method};
use crate::base::outside::Known;

impl Client {
    /// Returns the same client for the calls of one merchant, or for the partner's own, in that
    /// lane of the gate.
    #[must_use]
    pub fn through(&self, gate: &Arc<Gate>, lane: &str, urgency: Urgency) -> Self {
        let way = Way { gate: gate.clone(), lane: gate.lane(lane), urgency };
        Self { way: Some(way), ..self.clone() }
    }

    /// Waits until a change may go to this host, so that no wait separates its intent from its
    /// call.
    ///
    /// # Errors
    /// The host does not serve, or requested a long pause.
    pub async fn ready(&self, host: Host) -> Result<(), Shut> {
        let Some(way) = &self.way else { return Ok(()) };
        self.open(way, host).await?;
        way.prepay().await
    }

    /// Waits until a call may go out.
    pub(super) async fn enter(&self, call: &Call) -> Result<Option<Pass<'_>>, Shut> {
        let Some(way) = &self.way else { return Ok(None) };
        let pass = way.enter(call.method != Method::Get).await?;
        self.open(way, call.host).await?;
        Ok(Some(pass))
    }

    /// Reports the end of a call to the gate.
    pub(super) fn leave(&self, call: &Call, pass: Option<Pass<'_>>, verdict: &Verdict) {
        if let Some(pass) = pass {
            let host = self.addresses.host(call.host);
            self.dice(|dice| pass.leave(&host, verdict, dice));
        }
    }

    /// Checks whether a host serves, as far as is known; probes it where that is due.
    async fn open(&self, way: &Way, host: Host) -> Result<(), Shut> {
        let name = self.addresses.host(host);
        match way.gate.passage(&name) {
            Passage::Free => return Ok(()),
            Passage::Shut(wait) => return Err(way.gate.shut(&name, wait)),
            Passage::ProbeFirst => {}
        }
        let well = self.probe(host).await;
        self.dice(|dice| way.gate.probed(&name, well, dice));
        match way.gate.passage(&name) {
            Passage::Free => Ok(()),
            Passage::Shut(wait) => Err(way.gate.shut(&name, wait)),
            Passage::ProbeFirst => Err(way.gate.shut(&name, Duration::ZERO)),
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
        !classify::classify(answer, &Known::default(), self.clock.now()).is_down
    }

    fn dice<T>(&self, throw: impl FnOnce(&mut ChaCha8Rng) -> T) -> T {
        throw(&mut self.jitter.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl From<Shut> for Verdict {
    fn from(shut: Shut) -> Self {
        Self::shut(&shut.reason, whole_seconds(shut.wait))
    }
}
