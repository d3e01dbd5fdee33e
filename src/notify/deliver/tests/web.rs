//! Notifications to web addresses.

use super::*;

const PATH: &str = "canary/canary?canary=canary";

fn to(address: SocketAddr, form: BodyFormat) -> Notifier {
    outbox(NotificationTarget::Web { url: format!("http://{address}/{PATH}").into(), form })
}

/// Sends one text to a server that replies with this.
async fn sent(reply: Reply) -> DeliveryResult {
    let server = server::web(reply);
    let sent = to(server.address, BodyFormat::Chat).send(&message(json!("x"))).await;
    server.heard();
    assert!(!format!("{sent:?}").contains(CANARY), "{sent:?}");
    sent
}

const OK: Reply = Reply::Say("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n");

#[tokio::test]
async fn a_notification_is_one_post_with_its_key() {
    let server = server::web(OK);
    let message = message(json!({"id": 7, "card": "4242424242424242"}));
    let sent = to(server.address, BodyFormat::Json).send(&message).await;
    check(&sent, "done", "");
    let address = server.address;
    let lines = server.heard();
    let has = |line: &str| assert!(lines.iter().any(|one| one == line), "{line}: {lines:#?}");
    has(&format!("post /{PATH} http/1.1"));
    has(&format!("host: {address}"));
    has("content-type: application/json");
    has("idempotency-key: evt_1/tell");
    has("user-agent: reckon");
    has(r#"{"id":7,"card":"•••• 4242"}"#);
}

#[tokio::test]
async fn what_was_refused_is_refused_and_what_is_put_off_was_not_sent() {
    let status = async |line| parts(&sent(Reply::Say(line)).await).0;
    assert_eq!(status("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n").await, "refused");
    assert_eq!(status("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n").await, "not sent");
    assert_eq!(status("HTTP/1.1 429 Busy\r\ncontent-length: 0\r\n").await, "not sent");
    assert_eq!(status("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n").await, "in doubt");
}

#[tokio::test]
async fn a_refused_connection_proves_that_nothing_was_sent() {
    let (_socket, address) = nobody();
    let sent = to(address, BodyFormat::Chat).send(&message(json!("x"))).await;
    let (word, reason) = parts(&sent);
    assert_eq!(word, "not sent");
    assert!(reason.contains("refused") && !reason.contains(CANARY), "{reason}");
}

#[tokio::test]
async fn an_answer_that_did_not_arrive_leaves_doubt() {
    assert_eq!(parts(&sent(Reply::HangUp).await).0, "in doubt");
    assert_eq!(parts(&sent(Reply::Say("220 this is no web server")).await).0, "in doubt");
}

#[tokio::test]
async fn an_answer_that_is_late_leaves_doubt() {
    let mut server = server::web(Reply::Hold);
    let sent = send_until_late(&to(server.address, BodyFormat::Chat), &mut server).await;
    check(&sent, "in doubt", "the target did not answer in time");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let port = elsewhere.local_addr().unwrap().port();
    let answer =
        format!("HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:{port}/\r\ncontent-length: 0\r\n");
    let sent = sent(Reply::Say(answer.leak())).await;
    check(&sent, "in doubt", "the target answered 307, and no redirect is followed");
    assert_eq!(elsewhere.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn what_cannot_be_said_is_refused_before_anything_is_opened() {
    let (_socket, address) = nobody();
    let outbox = to(address, BodyFormat::Json);
    let large = message(json!("x".repeat(70_000)));
    check(
        &outbox.send(&large).await,
        "refused",
        "its body has 70000 bytes; at most 65536 are sent",
    );
    let letter =
        OutgoingNotification { to: Some(vec!["jane@a.example".to_owned()]), ..message(json!("x")) };
    let reason = "`ops` is a web address: only mail takes `to`";
    check(&outbox.send(&letter).await, "refused", reason);
}
