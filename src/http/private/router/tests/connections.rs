//! Tests of the listener with the router: its connections, their limits and its stop.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::*;
use crate::http::listener::{BoundSocket, Serving};

/// Serves a router on a free port, and returns the sender that stops it.
async fn served() -> (Serving, oneshot::Sender<()>) {
    let (router, _switch) = door();
    let (stop, stopped) = oneshot::channel::<()>();
    let listen = "127.0.0.1:0".parse().unwrap();
    let socket = BoundSocket::bind(listen).await.unwrap();
    (socket.start(router, async { drop(stopped.await) }).unwrap(), stop)
}

#[tokio::test]
async fn a_real_connection_is_answered_until_the_stop() {
    let (serving, stop) = served().await;
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut start = [0; 15];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200 OK");
    stop.send(()).unwrap();
    serving.done.await.unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(TcpStream::connect(serving.address).await.is_err());
}

#[tokio::test]
async fn a_head_without_measure_is_refused() {
    let (serving, _stop) = served().await;
    let many = "x-one: 1\r\n".repeat(70);
    for head in [many, format!("x-large: {}\r\n", "x".repeat(20_000))] {
        let mut stream = TcpStream::connect(serving.address).await.unwrap();
        let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{head}\r\n");
        // The answer may arrive, and the connection end, before the complete request is written.
        stream.write_all(request.as_bytes()).await.ok();
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 431");
    }
}

#[tokio::test]
async fn one_address_cannot_have_every_connection() {
    let (serving, _stop) = served().await;
    let mut open = Vec::new();
    for _ in 0..130 {
        open.push(TcpStream::connect(serving.address).await.unwrap());
    }
    let mut one_more = TcpStream::connect(serving.address).await.unwrap();
    let ended = one_more.read(&mut [0; 1]).await;
    assert!(matches!(ended, Ok(0) | Err(_)), "it is closed without an answer: {ended:?}");
}

#[tokio::test]
async fn an_address_in_use_is_an_error() {
    let (serving, _stop) = served().await;
    let error = BoundSocket::bind(serving.address).await.unwrap_err();
    assert_eq!(error.address, serving.address);
}
