//! A few calls over real sockets on free ports, for behaviour that only they can show.

use std::net::SocketAddr;

use axum::http::StatusCode;
use axum::routing::{get as on_get, post as on_post};
use axum_server::tls_rustls::RustlsConfig;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::*;
use crate::base::clock::SystemClock;

fn http(base_url: &str, ca_file: Option<Vec<u8>>) -> Client {
    install_crypto();
    let service = ServiceConfig { ca_file, ..service(base_url) };
    let transport = Transport::http(&service).unwrap();
    Client::new(service, transport, Arc::new(SystemClock)).unwrap()
}

/// Returns a listener on a free port, and its address.
fn listen() -> (std::net::TcpListener, SocketAddr) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[tokio::test]
async fn a_refused_connection_proves_that_nothing_was_sent() {
    let (listener, address) = listen();
    drop(listener);
    let outcome = http(&format!("http://{address}"), None).send(&post("/x"), &Access::None).await;
    assert!(is_not_sent(&outcome), "{outcome:?}");
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_request_leaves_doubt() {
    let (listener, address) = listen();
    let listener = TcpListener::from_std(listener).unwrap();
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
    };
    let client = http(&format!("http://{address}"), None);
    let asked = post("/x");
    let (outcome, ()) = tokio::join!(client.send(&asked, &Access::None), server);
    assert!(is_in_doubt(&outcome), "{outcome:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let reached = Count::default();
    let counted = reached.clone();
    let router = Router::new()
        .route("/x", on_post(async || (StatusCode::TEMPORARY_REDIRECT, [("location", "/y")])))
        .route("/y", on_post(async move || counted.next().to_string()));
    let (listener, address) = listen();
    let server = axum_server::from_tcp(listener).unwrap().serve(router.into_make_service());
    let server = tokio::spawn(server);
    let client = http(&format!("http://{address}"), None);
    let outcome = client.send(&post("/x").body(b"{}".to_vec()), &Access::None).await;
    server.abort();
    assert!(is_in_doubt(&outcome), "{outcome:?}");
    assert_eq!(reached.get(), 0);
}

/// Returns a server certificate for 127.0.0.1: its PEM and its key's.
fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

#[tokio::test]
async fn tls_is_spoken_with_the_authority_given_and_no_other() {
    install_crypto();
    let (trusted, key) = certificate();
    let config = RustlsConfig::from_pem(trusted.clone().into(), key.into()).await.unwrap();
    let (listener, address) = listen();
    let router = Router::new().route("/x", on_get(async || "7"));
    let server = axum_server::from_tcp_rustls(listener, config).unwrap();
    let server = tokio::spawn(server.serve(router.into_make_service()));
    let base = format!("https://{address}");
    let good = http(&base, Some(trusted.into())).send(&get("/x"), &Access::None).await;
    let (other, _) = certificate();
    let bad = http(&base, Some(other.into())).send(&get("/x"), &Access::None).await;
    server.abort();
    assert_eq!(good, Outcome::Done { reply: 7.into() });
    assert!(is_not_sent(&bad), "{bad:?}");
}
