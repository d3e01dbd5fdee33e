//! The server: TLS with its own authority, plain HTTP only on loopback, dropped answers.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rustls::SupportedProtocolVersion;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::TestSandbox;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::serve::{BoundAddress, ListeningSandbox, ServeError, serve};

const GET_STATUS: &[u8] = b"GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

fn start(
    house: &TestSandbox,
    directory: &Path,
    plain: bool,
) -> (ListeningSandbox, oneshot::Sender<()>) {
    let (stop, stopped) = oneshot::channel();
    let shutdown = async move { stopped.await.unwrap_or_default() };
    let place = BoundAddress::bind("127.0.0.1:0".parse().unwrap(), plain).unwrap();
    let url = place.url();
    let running = serve(&house.sandbox, place, directory, shutdown).unwrap();
    assert!(url == running.url && url.ends_with(&running.address.to_string()), "{url}");
    (running, stop)
}

async fn ask_over_tls(running: &ListeningSandbox, request: &[u8]) -> String {
    ask_over(&TLS12, running, request).await
}

/// Does a handshake by hand: reads and writes through a rustls connection.
async fn ask_over(
    version: &'static SupportedProtocolVersion,
    running: &ListeningSandbox,
    request: &[u8],
) -> String {
    let ca = CertificateDer::from_pem_file(running.ca.as_ref().unwrap()).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(ca).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut tls = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(running.address).await.unwrap();
    std::io::Write::write_all(&mut tls.writer(), request).unwrap();
    let mut answer = Vec::new();
    loop {
        while tls.wants_write() {
            let mut out = Vec::new();
            tls.write_tls(&mut out).unwrap();
            socket.write_all(&out).await.unwrap();
        }
        let mut chunk = vec![0; 4096];
        let read = socket.read(&mut chunk).await.unwrap_or(0);
        tls.read_tls(&mut &chunk[..read]).unwrap();
        tls.process_new_packets().unwrap();
        let mut plain = vec![0; 4096];
        while let Ok(length @ 1..) = std::io::Read::read(&mut tls.reader(), &mut plain) {
            answer.extend_from_slice(&plain[..length]);
        }
        if read == 0 {
            return String::from_utf8(answer).unwrap();
        }
    }
}

async fn ask(running: &ListeningSandbox, request: &[u8]) -> String {
    let mut socket = TcpStream::connect(running.address).await.unwrap();
    socket.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap_or_default();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn https_is_served_with_the_authority_in_the_state() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let directory = tempfile::tempdir().unwrap();
    let (running, stop) = start(&house, directory.path(), false);
    assert!(running.url.starts_with("https://127.0.0.1:"));
    let answer = ask_over_tls(&running, GET_STATUS).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("NORMAL"), "{answer}");
    assert!(!ask(&running, GET_STATUS).await.contains("HTTP"), "plain HTTP gets no answer");
    let key = std::fs::metadata(directory.path().join("ca.key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    stop.send(()).unwrap();
    running.done.await.unwrap().unwrap();
    let before = std::fs::read(directory.path().join("ca.pem")).unwrap();
    let (running, _stop) = start(&house, directory.path(), false);
    assert!(ask_over_tls(&running, GET_STATUS).await.contains("NORMAL"));
    assert_eq!(std::fs::read(directory.path().join("ca.pem")).unwrap(), before);
    super::covers(&["31.1", "52.14"]);
}

/// Returns the first message of a client whose newest version is `3.minor`, which is 3.3 in TLS 1.2
/// (RFC 5246, 7.4.1.2 and E.1). It offers one cipher, one group and one signature type that TLS 1.2
/// accepts.
fn hello(minor: u8) -> Vec<u8> {
    let extensions = [[0, 10, 0, 4, 0, 2, 0, 23], [0, 13, 0, 4, 0, 2, 4, 3]].concat();
    let rest = [&[0, 0, 2, 0xc0, 0x2b, 1, 0, 0, 16][..], &extensions].concat();
    let random = [7; 32];
    [&[22, 3, 1, 0, 63, 1, 0, 0, 59, 3, minor][..], &random, &rest].concat()
}

#[tokio::test]
async fn tls_of_1_2_and_1_3_is_taken_and_an_older_one_refused() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let directory = tempfile::tempdir().unwrap();
    let (running, _stop) = start(&house, directory.path(), false);
    for version in [&TLS12, &TLS13] {
        let answer = ask_over(version, &running, GET_STATUS).await;
        assert!(answer.contains("NORMAL"), "{version:?}: {answer}");
    }
    for (minor, kind) in [(3, 22), (2, 21), (1, 21)] {
        let mut socket = TcpStream::connect(running.address).await.unwrap();
        socket.write_all(&hello(minor)).await.unwrap();
        let mut answer = [0; 7];
        socket.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer[0], kind, "3.{minor}: a handshake is 22, an alert 21");
        let fatal_protocol_version = [2, 70];
        assert_eq!(answer[5..] == fatal_protocol_version, kind == 21, "3.{minor}: {answer:?}");
    }
    super::covers(&["31.2"]);
}

#[tokio::test]
async fn plain_http_is_for_loopback_and_a_dropped_answer_sends_no_byte() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let directory = tempfile::tempdir().unwrap();
    let (running, _stop) = start(&house, directory.path(), true);
    assert!(running.ca.is_none());
    assert!(ask(&running, GET_STATUS).await.contains("NORMAL"));
    house.control("POST", "faults", &json!({"fault": "drop_after"})).await;
    assert_eq!(ask(&running, GET_STATUS).await, "");
    let outside = "0.0.0.0:0".parse().unwrap();
    let refused = BoundAddress::bind(outside, true);
    assert!(matches!(refused, Err(ServeError::PlainNotLoopback(_))));
}
