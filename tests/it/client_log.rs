//! Log lines of the client: they hold nothing of a call's content.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::routing::get;
use axum::{Json, Router};

use reckon::api::call::{Auth, Call, Host, Method};
use reckon::base::clock::SystemClock;
use reckon::base::secret::Secret;
use reckon::client::request::{Access, ServiceConfig};
use reckon::client::service_client::Client;
use reckon::client::transport::{FaultlessWire, Transport};
use reckon::model::outcome::Outcome;

const CANARY: &str = "canary4242424242424242";

/// The lines that a subscriber wrote.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn client() -> Client {
    let service = ServiceConfig {
        base_url: "https://base.test".to_owned(),
        web_url: "https://web.test".to_owned(),
        timeout: Duration::from_secs(30),
        ca_file: None,
        partner: None,
        jitter_seed: 0,
    };
    let router = Router::new().route("/x", get(async || Json(CANARY)));
    let wire = Arc::new(FaultlessWire);
    Client::new(service, Transport::InProcess { router, wire }, Arc::new(SystemClock)).unwrap()
}

#[tokio::test]
async fn a_call_is_logged_with_status_and_time_but_without_its_content() {
    // The client's place of logging is known before the subscriber is: a place that another test's
    // thread, which has no subscriber, makes known afterwards is off for all threads.
    let call = Call {
        endpoint: "test.call".to_owned(),
        method: Method::Get,
        host: Host::Base,
        path: "/x".to_owned(),
        query: vec![("q".to_owned(), CANARY.to_owned())],
        auth: Auth::SecretKey,
        body: Some(CANARY.into()),
    };
    let (client, access) = (client(), Access::Basic(Secret::from(CANARY)));
    client.send(&call, &access).await;
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let outcome = client.send(&call, &access).await;
    assert!(matches!(outcome, Outcome::Done { .. }));
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    for told in ["endpoint=\"test.call\"", "status=200", "elapsed_ms="] {
        assert!(text.contains(told), "{text}");
    }
    assert!(!text.contains("canary"), "{text}");
}
