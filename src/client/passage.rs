//! A client's way through the gate: whose calls they are, and the probe that asks whether a host serves again.

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
    /// The same client for the calls of one merchant, or for the partner's own: they pass the gate in that lane.
    #[must_use]
    pub fn through(&self, gate: &Arc<Gate>, lane: &str, urgency: Urgency) -> Self {
        let way = Way { gate: gate.clone(), lane: gate.lane(lane), urgency };
        Self { way: Some(way), ..self.clone() }
    }

    /// Waits until a change may go to this host, so that it can be promised and sent without a wait in between.
    ///
    /// # Errors
    /// The host does not serve, or asked to be left alone for long.
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

    /// Tells the gate how a call ended.
    pub(super) fn leave(&self, call: &Call, pass: Option<Pass<'_>>, verdict: &Verdict) {
        if let Some(pass) = pass {
            let host = self.addresses.host(call.host);
            self.dice(|dice| pass.leave(&host, verdict, dice));
        }
    }

    /// Whether a host serves, as far as is known; asks it where that is due.
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

    /// Asks a host for its status, which changes nothing and needs no credential. Any answer of a host that serves
    /// will do: one that has no such path says so itself (service-facts, 16).
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
