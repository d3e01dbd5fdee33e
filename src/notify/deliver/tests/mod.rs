//! The outbox against servers of this process, over real sockets on free ports.

mod mail;
mod server;
mod web;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use server::{Reply, Server};
use tokio::net::TcpSocket;

use crate::base::clock::SystemClock;
use crate::notify::deliver::*;
use crate::notify::message::{SmtpEncryption, SmtpLogin};

/// A word that must not appear anywhere.
const CANARY: &str = "canary";

fn outbox(target: NotificationTarget) -> Notifier {
    let targets = BTreeMap::from([("ops".to_owned(), target)]);
    Notifier::new(targets, Arc::new(SystemClock))
}

fn message(body: Value) -> OutgoingNotification {
    let (key, target) = ("evt_1/tell".to_owned(), "ops".to_owned());
    OutgoingNotification { key, target, body, html: None, subject: None, to: None }
}

/// Returns the first word of an outcome, and its reason.
fn parts(sent: &DeliveryResult) -> (&'static str, &str) {
    match sent {
        DeliveryResult::Done => ("done", ""),
        DeliveryResult::NotSent(reason) => ("not sent", reason),
        DeliveryResult::Refused(reason) => ("refused", reason),
        DeliveryResult::InDoubt(reason) => ("in doubt", reason),
    }
}

fn check(sent: &DeliveryResult, word: &str, reason: &str) {
    assert_eq!(parts(sent), (word, reason));
}

/// An address without a listener: while the socket is kept, it holds the port and refuses
/// connections.
fn nobody() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// Sends to a server that holds its answer back, and lets the time run out once it has received the
/// line that it waits for.
async fn send_until_late(outbox: &Notifier, server: &mut Server) -> DeliveryResult {
    let message = message(json!("x"));
    let late = async {
        server.holds().await;
        tokio::time::pause();
        tokio::time::advance(Duration::from_hours(1)).await;
    };
    tokio::join!(outbox.send(&message), late).0
}

#[tokio::test]
async fn a_target_that_is_none_is_refused_with_what_was_probably_meant() {
    let outbox = outbox(NotificationTarget::Web { url: CANARY.into(), form: BodyFormat::Chat });
    let message = OutgoingNotification { target: "opps".to_owned(), ..message(json!("x")) };
    let reason = "the configuration has no target `opps`: did you mean `ops`?";
    check(&outbox.send(&message).await, "refused", reason);
}

#[tokio::test]
async fn a_key_that_cannot_stand_in_a_header_is_refused() {
    let (_socket, address) = nobody();
    let outbox = outbox(NotificationTarget::Web {
        url: format!("http://{address}").into(),
        form: BodyFormat::Chat,
    });
    for key in
        [String::new(), "a b".to_owned(), "a\r\nx: y".to_owned(), "é".to_owned(), "x".repeat(257)]
    {
        let message = OutgoingNotification { key, ..message(json!("x")) };
        let reason = "its key is not 1 to 256 visible characters of ASCII";
        check(&outbox.send(&message).await, "refused", reason);
    }
}

#[test]
fn nothing_secret_or_personal_shows_in_debug() {
    let login = Some(SmtpLogin { user: CANARY.into(), password: CANARY.into() });
    let mail = SmtpTarget { login, ..mail::target(25) };
    let mail = SmtpTarget { to: vec![CANARY.into()], from: CANARY.into(), ..mail };
    let web = NotificationTarget::Web {
        url: "https://canary.example/canary".into(),
        form: BodyFormat::Json,
    };
    let to = Some(vec![CANARY.to_owned()]);
    let message = OutgoingNotification {
        to,
        subject: Some(CANARY.to_owned()),
        ..message(json!({CANARY: 1}))
    };
    let shown = format!(
        "{:?} {:?} {message:?}",
        outbox(web),
        outbox(NotificationTarget::Mail(Box::new(mail)))
    );
    assert!(!shown.contains(CANARY), "{shown}");
    assert!(shown.contains("Message(evt_1/tell to ops)"), "{shown}");
}
