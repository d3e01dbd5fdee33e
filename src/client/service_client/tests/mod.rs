//! The client against small routers written here, not against the sandbox: the two share types.

mod gates;
mod reads;
mod sends;
mod sockets;
mod tenants;

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use chrono::DateTime;

use super::*;
use crate::api::call::{Auth, Host, Method};
use crate::base::clock::VirtualClock;
use crate::client::gate::{Limiter, Urgency};
use crate::client::read::ReadError;
use crate::client::transport::{FaultlessWire, Wire, WireDecision, install_crypto};

/// A value that must not appear anywhere.
const CANARY: &str = "canary4242424242424242";

const LIMIT: Duration = Duration::from_secs(30);

fn service(base_url: &str) -> ServiceConfig {
    ServiceConfig {
        base_url: base_url.to_owned(),
        web_url: "https://web.test".to_owned(),
        timeout: LIMIT,
        ca_file: None,
        partner: Some(ClientCredentials {
            client_id: "partner-id".to_owned(),
            client_secret: Secret::from(CANARY),
        }),
        jitter_seed: 1,
    }
}

fn over(router: Router, wire: impl Wire + 'static) -> Client {
    let clock = Arc::new(VirtualClock::new(DateTime::UNIX_EPOCH));
    let transport = Transport::InProcess { router, wire: Arc::new(wire) };
    Client::new(service("https://base.test"), transport, clock).unwrap()
}

fn client(router: Router) -> Client {
    over(router, FaultlessWire)
}

fn call(method: Method, path: &str, auth: Auth) -> Call {
    Call {
        endpoint: "test.call".to_owned(),
        method,
        host: Host::Base,
        path: path.to_owned(),
        query: Vec::new(),
        auth,
        body: None,
    }
}

fn post(path: &str) -> Call {
    call(Method::Post, path, Auth::None)
}

fn get(path: &str) -> Call {
    call(Method::Get, path, Auth::None)
}

fn is_in_doubt(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::InDoubt { .. })
}

fn is_not_sent(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::NotSent { .. })
}

/// Counts the requests that reached a handler.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    /// Counts one more and returns the count before.
    fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}
