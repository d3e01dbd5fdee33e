//! One conversation with a mail server.
//!
//! Before the server's 354 reply no mail is handed over, so every earlier failure proves that
//! nothing was sent. After it only the server's reply counts: 250 accepted, 5xx refused, 4xx not
//! accepted. Any other reply, or none, leaves the mail in doubt. All recipients or none: a refused
//! recipient ends the conversation before the mail is handed over. Reasons hold the server's codes
//! alone, since its sentences may name people.

use std::error::Error as _;
use std::fmt::Display;
use std::net::IpAddr;
use std::time::Duration;

use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::Response;
use lettre::transport::smtp::{Error, commands};
use tokio::time::timeout;

use crate::notify::message::{DeliveryResult, MimeMail, SmtpEncryption, SmtpTarget};

/// Answers that fit into half a conversation.
const ANSWERS_PER_HALF: u32 = 3;
/// The server expects the mail itself.
const START_MAIL_INPUT: u16 = 354;
/// The server accepted the mail.
const MAIL_ACCEPTED: u16 = 250;

pub(crate) enum SmtpSecurity {
    Plaintext,
    /// Upgraded by `STARTTLS`.
    Starttls(TlsParameters),
    /// TLS from the first byte on.
    Tls(TlsParameters),
}

/// Sends the mail. `answer` is the time limit of one answer.
pub(crate) async fn send(mail: &SmtpTarget, letter: &MimeMail, answer: Duration) -> DeliveryResult {
    match security(mail) {
        Ok(way) => converse(mail, way, letter, answer).await,
        Err(sent) => sent,
    }
}

fn security(mail: &SmtpTarget) -> Result<SmtpSecurity, DeliveryResult> {
    let tls = || {
        // Another caller may have installed a provider before; that one serves as well.
        rustls::crypto::ring::default_provider().install_default().ok();
        let built = TlsParameters::builder(host(mail).to_owned()).build();
        built.map_err(|error| {
            DeliveryResult::NotSent(format!("no mail server can be asked: {error}"))
        })
    };
    match mail.encryption {
        SmtpEncryption::Starttls => tls().map(SmtpSecurity::Starttls),
        SmtpEncryption::Tls => tls().map(SmtpSecurity::Tls),
        SmtpEncryption::None if is_loopback(host(mail)) => Ok(SmtpSecurity::Plaintext),
        SmtpEncryption::None => Err(DeliveryResult::Refused(
            "the way to the target's mail server is not encrypted, which only one at a loopback IP \
             may be: write `encryption: starttls` or `tls`"
                .to_owned(),
        )),
    }
}

/// Returns the server without the brackets of an IPv6 address.
fn host(mail: &SmtpTarget) -> &str {
    mail.host.trim_start_matches('[').trim_end_matches(']')
}

fn is_loopback(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

pub(crate) async fn converse(
    mail: &SmtpTarget,
    way: SmtpSecurity,
    letter: &MimeMail,
    answer: Duration,
) -> DeliveryResult {
    let half = answer.saturating_mul(ANSWERS_PER_HALF);
    let mut server = match timeout(half, introduce(mail, way, letter, answer)).await {
        Ok(Ok(server)) => server,
        Ok(Err(sent)) => return sent,
        Err(_elapsed) => {
            let reason = "the mail server took too long before it could be given the mail";
            return DeliveryResult::NotSent(reason.to_owned());
        }
    };
    let sent = match timeout(half, server.message(&letter.bytes)).await {
        Ok(answer) => interpret_reply(answer),
        Err(_elapsed) => {
            DeliveryResult::InDoubt("the mail server did not answer in time".to_owned())
        }
    };
    if sent == DeliveryResult::Done {
        // Politeness only: the mail is accepted, however this ends.
        timeout(answer, server.abort()).await.ok();
    }
    sent
}

/// Runs the conversation up to the mail itself.
async fn introduce(
    mail: &SmtpTarget,
    way: SmtpSecurity,
    letter: &MimeMail,
    answer: Duration,
) -> Result<AsyncSmtpConnection, DeliveryResult> {
    let mut server = connect(mail, way, answer).await?;
    if let Some(login) = &mail.login {
        let (user, password) = (login.user.expose(), login.password.expose());
        let credentials = Credentials::new(user.to_owned(), password.to_owned());
        let signed = server.auth(DEFAULT_MECHANISMS, &credentials).await;
        signed.map_err(|error| interpret_early_failure(&error, "our user and password"))?;
    }
    let from = commands::Mail::new(Some(letter.from.clone()), Vec::new());
    server.command(from).await.map_err(|error| interpret_early_failure(&error, "the sender"))?;
    let count = letter.to.len();
    for (at, to) in (1..).zip(&letter.to) {
        let asked = server.command(commands::Rcpt::new(to.clone(), Vec::new())).await;
        asked.map_err(|error| {
            interpret_early_failure(&error, format_args!("recipient {at} of {count}"))
        })?;
    }
    let ready = server.command(commands::Data).await;
    let ready = ready.map_err(|error| interpret_early_failure(&error, "the mail"))?;
    if ready.has_code(START_MAIL_INPUT) {
        return Ok(server);
    }
    Err(DeliveryResult::NotSent(format!("the mail server answered {} to the mail", ready.code())))
}

async fn connect(
    mail: &SmtpTarget,
    way: SmtpSecurity,
    answer: Duration,
) -> Result<AsyncSmtpConnection, DeliveryResult> {
    let (wrapped, upgrade) = match way {
        SmtpSecurity::Plaintext => (None, None),
        SmtpSecurity::Starttls(tls) => (None, Some(tls)),
        SmtpSecurity::Tls(tls) => (Some(tls), None),
    };
    let (us, place) = (ClientId::default(), (host(mail), mail.port));
    let server = AsyncSmtpConnection::connect_tokio1(place, Some(answer), &us, wrapped, None).await;
    let mut server = server.map_err(|error| interpret_early_failure(&error, "the connection"))?;
    if let Some(tls) = upgrade {
        let upgraded = server.starttls(tls, &us).await;
        upgraded.map_err(|error| interpret_early_failure(&error, "encryption"))?;
    }
    Ok(server)
}

/// Interprets a failure before the mail is handed over, or its refusal; `at` names the step.
fn interpret_early_failure(error: &Error, at: impl Display) -> DeliveryResult {
    let reason = format!("the mail server did not take {at}: {}", describe_error(error));
    if error.is_permanent() {
        DeliveryResult::Refused(reason)
    } else {
        DeliveryResult::NotSent(reason)
    }
}

fn interpret_reply(answer: Result<Response, Error>) -> DeliveryResult {
    match answer {
        Ok(answer) if answer.has_code(MAIL_ACCEPTED) => DeliveryResult::Done,
        Ok(answer) => {
            DeliveryResult::InDoubt(format!("the mail server answered {}", answer.code()))
        }
        Err(error) => {
            if error.is_permanent() || error.is_transient() {
                return interpret_early_failure(&error, "the mail");
            }
            let cause = describe_error(&error);
            DeliveryResult::InDoubt(format!("the mail server did not answer: {cause}"))
        }
    }
}

/// Describes an error without the server's own words.
fn describe_error(error: &Error) -> String {
    if let Some(code) = error.status() {
        let words = error.source().map(ToString::to_string).unwrap_or_default();
        let enhanced = words.split_whitespace().next().filter(|word| is_enhanced(word));
        return enhanced.map_or_else(|| code.to_string(), |more| format!("{code} {more}"));
    }
    if error.is_response() {
        return "it hung up, or what it said is no answer".to_owned();
    }
    error.to_string()
}

/// Returns whether a word is an enhanced status code, such as `5.1.1` (RFC 3463).
fn is_enhanced(word: &str) -> bool {
    let number =
        |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    word.split('.').count() == 3 && word.split('.').all(number)
}
