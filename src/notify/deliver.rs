//! Chat and mail: sends one notification to one target of the configuration.
//!
//! Contract: [`Notifier::send`] makes one attempt and returns its result, in the four words of
//! every other call ([`DeliveryResult`]). It stores nothing, waits for no other call and never
//! retries by itself. The caller records before the attempt that it will send, and afterwards the
//! result. A repeat has the same key, so that the receiver can drop it. The targets are the
//! operator's alone. Redirects and proxies are off. Bodies are bounded and card numbers in them are
//! masked. No reason holds an address, a password or a server's text, nor a value of the
//! notification.
//!
//! An answer of a web address proves this: 2xx was accepted, 4xx was refused, 429 and 503 were not
//! accepted yet. Any other answer, and none at all, proves nothing. Every notification has a
//! connection of its own. Notifications are rare, and the other side could close a kept connection
//! during a write.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url, redirect, retry, tls};
use serde_json::Value;

use crate::base::clock::SharedClock;
use crate::base::outside_text::ServiceText;
use crate::base::outside_text::known::KnownValues;
use crate::base::secret::Secret;
use crate::base::wording::{self, causes, root_cause};
use crate::notify::message::{
    BodyFormat, DeliveryResult, NotificationTarget, OutgoingNotification, SmtpTarget,
};
use crate::notify::{mail, message};

/// Time limit of a web address's answer, and a third of the limit of each half of a conversation
/// with a mail server. Mail servers are slower, and giving up too early leaves doubt.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit of a connection; where this one runs out, nothing was sent.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const USER_AGENT: &str = "reckon";
/// The header by which a receiver recognises a repeat (draft-ietf-httpapi-idempotency-key-header).
const KEY_HEADER: &str = "Idempotency-Key";

/// The sender of notifications. `Debug` shows no address and no password.
#[derive(Debug)]
pub struct Notifier {
    targets: BTreeMap<String, NotificationTarget>,
    /// The clock of a mail's date.
    clock: SharedClock,
    /// The client for web addresses; built at the first notification.
    client: OnceLock<Result<Client, String>>,
}

impl Notifier {
    /// Returns an outbox for these targets; it opens no connection before the first notification.
    pub fn new(targets: BTreeMap<String, NotificationTarget>, clock: SharedClock) -> Self {
        Self { targets, clock, client: OnceLock::new() }
    }

    /// Sends a notification to its target, once. Dropping the future leaves doubt, as a crash does.
    pub async fn send(&self, message: &OutgoingNotification) -> DeliveryResult {
        let target = self.targets.get(&message.target);
        let result = self.attempt(message, target).await.unwrap_or_else(DeliveryResult::Refused);
        result.without_values(&sensitive_values(message, target))
    }

    /// Attempts to send a notification; an error is our own reason to refuse it.
    async fn attempt(
        &self,
        message: &OutgoingNotification,
        target: Option<&NotificationTarget>,
    ) -> Result<DeliveryResult, String> {
        message.check_key()?;
        match target {
            Some(NotificationTarget::Web { url, form }) => {
                Ok(self.post(url, &message.key, web_body(message, *form)?).await)
            }
            Some(NotificationTarget::Mail(mail)) => {
                let letter = message::build_mail(mail, message, self.clock.now())?;
                Ok(mail::send(mail, &letter, TIMEOUT).await)
            }
            None => Err(self.unknown_target(&message.target)),
        }
    }

    fn unknown_target(&self, name: &str) -> String {
        let help = wording::suggestion_help(name, self.targets.keys().map(String::as_str));
        format!("the configuration has no target `{name}`: {help}")
    }

    /// Posts this JSON. The key is visible ASCII.
    async fn post(&self, url: &Secret, key: &str, body: String) -> DeliveryResult {
        let Ok(url) = Url::parse(url.expose()) else {
            return DeliveryResult::Refused("the target's address is no web address".to_owned());
        };
        let client = match self.client.get_or_init(web_client) {
            Ok(client) => client,
            Err(reason) => return DeliveryResult::NotSent(reason.clone()),
        };
        let request = client.post(url.clone()).header(CONTENT_TYPE, "application/json");
        match request.header(KEY_HEADER, key).body(body).send().await {
            Ok(answer) => interpret_status(answer.status().as_u16()),
            Err(error) => interpret_error(error, &url),
        }
    }
}

fn web_body(message: &OutgoingNotification, form: BodyFormat) -> Result<String, String> {
    if message.to.is_some() {
        let target = &message.target;
        return Err(format!("`{target}` is a web address: only mail takes `to`"));
    }
    message::json_body(&message.body, form)
}

fn web_client() -> Result<Client, String> {
    // Another caller may have installed a provider before; that one serves as well.
    rustls::crypto::ring::default_provider().install_default().ok();
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .tls_version_min(tls::Version::TLS_1_2)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TIMEOUT);
    builder.build().map_err(|error| format!("no web address can be asked: {}", causes(&error)))
}

fn interpret_status(status: u16) -> DeliveryResult {
    match status {
        200..=299 => DeliveryResult::Done,
        429 | 503 => DeliveryResult::NotSent(format!("the target answered {status}: not now")),
        408 => {
            DeliveryResult::InDoubt("the target answered 408: it waited for the rest".to_owned())
        }
        300..=399 => DeliveryResult::InDoubt(format!(
            "the target answered {status}, and no redirect is followed"
        )),
        400..=499 => DeliveryResult::Refused(format!("the target answered {status}")),
        _ => DeliveryResult::InDoubt(format!("the target answered {status}")),
    }
}

/// Interprets an error: only an error from before the request was written proves anything.
fn interpret_error(error: reqwest::Error, url: &Url) -> DeliveryResult {
    let error = error.without_url();
    let cause = mask_address(root_cause(&error), url);
    if error.is_connect() || error.is_builder() {
        DeliveryResult::NotSent(format!("the target was not reached: {cause}"))
    } else if error.is_timeout() {
        DeliveryResult::InDoubt("the target did not answer in time".to_owned())
    } else {
        DeliveryResult::InDoubt(format!("the target did not answer: {cause}"))
    }
}

/// Masks parts of the address: an error of a mismatched certificate names the host, for example.
fn mask_address(line: String, url: &Url) -> String {
    let parts = [url.host_str(), Some(url.path()), url.query()];
    let telling = parts.into_iter().flatten().filter(|part| part.len() > 1);
    telling.fold(line, |line, part| line.replace(part, "•••"))
}

pub(crate) fn sensitive_values(
    message: &OutgoingNotification,
    target: Option<&NotificationTarget>,
) -> KnownValues {
    let mut known = KnownValues::default();
    hide_all(&mut known, &message.body);
    let texts = [&message.html, &message.subject].into_iter().flatten();
    texts.chain(message.to.iter().flatten()).for_each(|text| known.hide(text));
    match target {
        Some(NotificationTarget::Web { url, form: _ }) => known.hide_secret(url.expose()),
        Some(NotificationTarget::Mail(mail)) => hide_mail(&mut known, mail),
        None => {}
    }
    known
}

fn hide_mail(known: &mut KnownValues, mail: &SmtpTarget) {
    mail.to.iter().chain([&mail.from]).for_each(|address| known.hide(address.expose()));
    if let Some(login) = &mail.login {
        known.hide_secret(login.user.expose());
        known.hide_secret(login.password.expose());
    }
}

fn hide_all(known: &mut KnownValues, value: &Value) {
    match value {
        Value::String(text) => known.hide(text),
        Value::Number(number) => known.hide(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| hide_all(known, item)),
        Value::Object(fields) => fields.values().for_each(|field| hide_all(known, field)),
        Value::Null | Value::Bool(_) => {}
    }
}

impl DeliveryResult {
    /// Removes these values from the reason.
    pub(crate) fn without_values(self, known: &KnownValues) -> Self {
        let clean = |reason: String| ServiceText::clean(&reason, known).to_string();
        match self {
            Self::Done => Self::Done,
            Self::NotSent(reason) => Self::NotSent(clean(reason)),
            Self::Refused(reason) => Self::Refused(clean(reason)),
            Self::InDoubt(reason) => Self::InDoubt(clean(reason)),
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod web_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_status_has_its_word() {
        let word = |status| match interpret_status(status) {
            DeliveryResult::Done => "done",
            DeliveryResult::NotSent(_) => "not sent",
            DeliveryResult::Refused(_) => "refused",
            DeliveryResult::InDoubt(_) => "in doubt",
        };
        let words: Vec<_> =
            [200, 204, 302, 400, 404, 408, 410, 429, 500, 502, 503, 504].map(word).into();
        let expect = [
            "done", "done", "in doubt", "refused", "refused", "in doubt", "refused", "not sent",
            "in doubt", "in doubt", "not sent", "in doubt",
        ];
        assert_eq!(words, expect);
    }

    #[test]
    fn what_an_error_says_of_the_address_is_hidden() {
        let url = Url::parse("https://canary.example/hook/canary?k=canary").unwrap();
        let line = "not valid for canary.example, /hook/canary?k=canary".to_owned();
        assert_eq!(mask_address(line, &url), "not valid for •••, •••?•••");
        let root = Url::parse("https://x.example/").unwrap();
        assert_eq!(mask_address("either/or".to_owned(), &root), "either/or");
    }

    /// Closes S2, as far as notifications go.
    #[test]
    fn a_receiver_that_repeats_a_notification_carries_nothing_on() {
        let message = OutgoingNotification {
            key: "evt_1/tell".to_owned(),
            target: "ops".to_owned(),
            body: json!({"text": "Jane Doe owes 125.00 USD"}),
            html: None,
            subject: Some("For Jane Doe".to_owned()),
            to: Some(vec!["jane@payer.example".to_owned()]),
        };
        let url = "https://chat.example/hooks/T0K3N9".into();
        let known = sensitive_values(
            &message,
            Some(&NotificationTarget::Web { url, form: BodyFormat::Json }),
        );
        let words = "refused: jane%40payer.example FOR JANE DOE Jane Doe owes 125.00 USD \
                     https://chat.example/hooks/T0K3N9 \u{1b}[2J";
        let DeliveryResult::InDoubt(told) =
            DeliveryResult::InDoubt(words.to_owned()).without_values(&known)
        else {
            panic!("the sort of it stays");
        };
        assert_eq!(told, "refused: *** *** *** *** [2J");
    }
}
