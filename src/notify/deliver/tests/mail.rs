//! Notifications by mail.

use lettre::transport::smtp::client::{Certificate, TlsParameters};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;

use super::server::{Script, willing};
use super::*;
use crate::notify::mail::{SmtpSecurity, converse};
use crate::notify::message::build_mail;

/// A server at a loopback IP that requires no password.
pub(super) fn target(port: u16) -> SmtpTarget {
    SmtpTarget {
        to: vec!["canary@a.example".into(), "b@b.example".into()],
        from: "billing@c.example".into(),
        host: "127.0.0.1".to_owned(),
        port,
        login: None,
        encryption: SmtpEncryption::None,
    }
}

fn with_login(mail: SmtpTarget) -> SmtpTarget {
    let login = SmtpLogin { user: "canary-user".into(), password: "canary-password".into() };
    SmtpTarget { login: Some(login), ..mail }
}

fn to(mail: SmtpTarget) -> Notifier {
    outbox(NotificationTarget::Mail(Box::new(mail)))
}

/// Sends one text to a server that follows this script; returns the result, and the lines that the
/// server received.
async fn told(script: Script, login: bool) -> (DeliveryResult, Vec<String>) {
    let server = server::mail(script, None);
    let mail = target(server.address.port());
    let mail = if login { with_login(mail) } else { mail };
    let sent = to(mail).send(&message(json!("x"))).await;
    assert!(!format!("{sent:?}").contains(CANARY), "{sent:?}");
    (sent, server.heard())
}

async fn sent(script: Script) -> DeliveryResult {
    told(script, true).await.0
}

#[tokio::test]
async fn a_mail_is_handed_over_once_to_everyone() {
    let server = server::mail(willing, None);
    let message = OutgoingNotification {
        subject: Some("Hello".to_owned()),
        ..message(json!(".\none\n..two"))
    };
    check(&to(with_login(target(server.address.port()))).send(&message).await, "done", "");
    let heard = server.heard();
    let commands: Vec<&str> =
        heard.iter().map(|said| said.split([' ', ':']).next().unwrap()).collect();
    assert_eq!(commands, ["EHLO", "AUTH", "MAIL", "RCPT", "RCPT", "DATA", "From", "QUIT"]);
    assert_eq!(heard[2], "MAIL FROM:<billing@c.example>");
    assert_eq!(heard[4], "RCPT TO:<b@b.example>");
    assert!(heard[6].contains("\nSubject: Hello\n"), "{}", heard[6]);
    assert!(heard[6].ends_with("\n\n..\none\n...two\n"), "{}", heard[6]);
}

#[tokio::test]
async fn what_is_refused_for_good_is_refused_without_the_server_s_words() {
    let reason = "the mail server did not take recipient 1 of 2: 550 5.1.1";
    let (sent, heard) = told(
        |line| match line {
            line if line.starts_with("RCPT") => Reply::Say("550 5.1.1 <canary@a.example> unknown"),
            line => willing(line),
        },
        false,
    )
    .await;
    check(&sent, "refused", reason);
    assert!(!heard.iter().any(|said| said == "DATA"), "{heard:?}");
    let refused = |line: &str| match line {
        "." => Reply::Say("554 canary: no"),
        line => willing(line),
    };
    check(&self::sent(refused).await, "refused", "the mail server did not take the mail: 554");
    let refused = |line: &str| match line {
        line if line.starts_with("AUTH") => Reply::Say("535-5.7.8 canary\r\n535 5.7.8 no"),
        line => willing(line),
    };
    let reason = "the mail server did not take our user and password: 535 5.7.8";
    check(&self::sent(refused).await, "refused", reason);
}

#[tokio::test]
async fn what_is_put_off_or_ends_before_the_mail_was_not_sent() {
    let busy = |line: &str| match line {
        "." => Reply::Say("451 4.3.0 canary"),
        line => willing(line),
    };
    check(&sent(busy).await, "not sent", "the mail server did not take the mail: 451 4.3.0");
    let deaf = |line: &str| match line {
        "DATA" => Reply::HangUp,
        line => willing(line),
    };
    let reason = "the mail server did not take the mail: it hung up, or what it said is no answer";
    check(&sent(deaf).await, "not sent", reason);
    let odd = |line: &str| match line {
        "DATA" => Reply::Say("250 canary"),
        line => willing(line),
    };
    check(&sent(odd).await, "not sent", "the mail server answered 250 to the mail");
    assert_eq!(parts(&sent(|_| Reply::Say("canary")).await).0, "not sent");
    let (_socket, address) = nobody();
    let sent = to(target(address.port())).send(&message(json!("x"))).await;
    assert_eq!(parts(&sent).0, "not sent");
}

#[tokio::test]
async fn an_answer_to_the_mail_that_did_not_arrive_leaves_doubt() {
    let deaf = |line: &str| match line {
        "." => Reply::HangUp,
        line => willing(line),
    };
    let reason = "the mail server did not answer: it hung up, or what it said is no answer";
    check(&sent(deaf).await, "in doubt", reason);
    let odd = |line: &str| match line {
        "." => Reply::Say("354 canary"),
        line => willing(line),
    };
    check(&sent(odd).await, "in doubt", "the mail server answered 354");
}

#[tokio::test]
async fn an_answer_that_is_late_leaves_doubt_only_where_the_mail_was_handed_over() {
    let late = |line: &str| if line == "." { Reply::Hold } else { willing(line) };
    let mut server = server::mail(late, None);
    let outbox = to(target(server.address.port()));
    let reason = "the mail server did not answer in time";
    check(&send_until_late(&outbox, &mut server).await, "in doubt", reason);
}

#[tokio::test]
async fn a_server_that_does_not_greet_in_time_got_nothing() {
    let mut server = server::mail(|_| Reply::Hold, None);
    let outbox = to(target(server.address.port()));
    let reason = "the mail server took too long before it could be given the mail";
    check(&send_until_late(&outbox, &mut server).await, "not sent", reason);
}

#[tokio::test]
async fn nothing_goes_in_the_open_but_to_a_loopback_ip() {
    let (_socket, address) = nobody();
    for host in ["localhost", "smtp.example", "192.0.2.1"] {
        let mail = SmtpTarget { host: host.to_owned(), ..with_login(target(address.port())) };
        let sent = to(mail).send(&message(json!("x"))).await;
        let (word, reason) = parts(&sent);
        assert_eq!(word, "refused", "{host}: {reason}");
        assert!(reason.contains("write `encryption: starttls` or `tls`"), "{reason}");
    }
}

/// Returns a certificate for 127.0.0.1, as a server shows it and as a client trusts it.
fn certificate() -> (Arc<ServerConfig>, Certificate) {
    rustls::crypto::ring::default_provider().install_default().ok();
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![made.cert.der().clone()], key.into()).unwrap();
    (Arc::new(config), Certificate::from_pem(made.cert.pem().as_bytes()).unwrap())
}

#[tokio::test]
async fn the_password_and_the_mail_go_through_tls_after_starttls() {
    let (config, trusted) = certificate();
    let server = server::mail(willing, Some(config));
    let mail = with_login(target(server.address.port()));
    let letter = build_mail(&mail, &message(json!("x")), chrono::DateTime::UNIX_EPOCH).unwrap();
    let tls = TlsParameters::builder("127.0.0.1".to_owned()).add_root_certificate(trusted);
    let way = SmtpSecurity::Starttls(tls.build().unwrap());
    check(&converse(&mail, way, &letter, Duration::from_secs(10)).await, "done", "");
    let heard = server.heard();
    let commands: Vec<&str> =
        heard.iter().map(|said| said.split([' ', ':']).next().unwrap()).collect();
    let expect =
        ["EHLO", "STARTTLS", "EHLO", "AUTH", "MAIL", "RCPT", "RCPT", "DATA", "From", "QUIT"];
    assert_eq!(commands, expect);
}

#[tokio::test]
async fn a_server_that_cannot_prove_itself_hears_neither_password_nor_mail() {
    let (config, _) = certificate();
    let server = server::mail(willing, Some(config));
    let mail = with_login(target(server.address.port()));
    let mail = SmtpTarget { encryption: SmtpEncryption::Starttls, ..mail };
    let sent = to(mail).send(&message(json!("x"))).await;
    let (word, reason) = parts(&sent);
    assert_eq!(word, "not sent");
    assert!(reason.contains("encryption") && reason.contains("certificate"), "{reason}");
    assert_eq!(server.heard().last().unwrap(), "STARTTLS");
}

#[tokio::test]
async fn a_server_without_starttls_hears_neither_password_nor_mail() {
    let bare = |line: &str| match line {
        line if line.starts_with("EHLO") => Reply::Say("250 AUTH PLAIN LOGIN"),
        line => willing(line),
    };
    let server = server::mail(bare, None);
    let mail = with_login(target(server.address.port()));
    let sent = to(SmtpTarget { encryption: SmtpEncryption::Starttls, ..mail })
        .send(&message(json!("x")))
        .await;
    let (word, reason) = parts(&sent);
    assert_eq!(
        (word, reason.contains("STARTTLS is not supported")),
        ("not sent", true),
        "{reason}"
    );
    let heard = server.heard();
    assert_eq!(heard.len(), 1, "{heard:?}");
}
