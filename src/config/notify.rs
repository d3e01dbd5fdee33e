//! `notify`: the targets of notifications from hooks and alerts, by name. Addresses of chats are
//! secrets, since anyone who knows one may write there.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::base::id::Name;
use crate::base::secret::Secret;
use crate::config::reader::ConfigReader;
use crate::config::setting::{EnvSource, FromText, InvalidValue, Setting, words};
use crate::config::value::HttpUrl;
use crate::model::alerts::AlertChoices;
use crate::notify::message::{BodyFormat, SmtpEncryption};
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

const WEB: [&str; 2] = ["url", "type"];
const TARGET: [&str; 5] = ["url", "type", "mail", "at_least_once", "alerts"];
const MAIL: [&str; 7] = ["to", "from", "host", "port", "user", "password", "encryption"];
/// The entry of `to` that permits any address.
pub(crate) const ANY: &str = "any";
const EXAMPLE: &str = "write `{url: {env: NAME}, type: chat}` or `{mail: {to: [ops@example.com], from: \
    billing@example.com, host: smtp.example.com}}`";

pub type NotifyTargets = BTreeMap<Name, NotifyTarget>;

#[derive(Debug, Clone)]
pub enum NotifyTarget {
    Web {
        url: Setting<SecretUrl>,
        form: Setting<BodyFormat>,
        /// True if a notification is sent again after a lost answer; its key shows the repeat.
        at_least_once: Setting<bool>,
        /// The problems of resources that it is notified of.
        alerts: Box<AlertChoices>,
    },
    Mail(Box<MailTarget>),
}

/// A mail server, with sender and recipients.
#[derive(Debug, Clone, JsonSchema)]
pub struct MailTarget {
    /// The recipients of notifications that name none. With the word `any`, a script may name any
    /// address, and otherwise contacts of the event's merchant alone.
    #[schemars(with = "RecipientsForm")]
    pub to: Vec<Setting<MailAddress>>,
    /// True if `to` has the word `any`.
    #[schemars(skip)]
    pub allows_any_recipient: bool,
    /// The sender.
    pub from: Setting<MailAddress>,
    /// The mail server.
    pub host: Setting<String>,
    /// The port of the server: 587 by default, and 465 with `tls`.
    pub port: Option<Setting<u16>>,
    /// The user name at the server.
    pub user: Option<Setting<String>>,
    /// The password at the server.
    pub password: Option<Setting<Secret>>,
    /// The encryption of the connection: upgraded by `STARTTLS`, TLS from the first byte on, or none
    /// for a server at a loopback IP alone.
    #[schemars(with = "Option<Setting<SmtpEncryption>>", extend("default" = "starttls"))]
    pub encryption: Setting<SmtpEncryption>,
    /// True if a mail is sent again after a lost answer, under the same Message-ID.
    #[schemars(skip)]
    pub at_least_once: Setting<bool>,
    /// The problems of resources that it is notified of.
    #[schemars(skip)]
    pub alerts: AlertChoices,
}

/// The forms of `to`.
#[derive(JsonSchema)]
#[schemars(untagged, extend("title" = "list of e-mail addresses"))]
#[expect(dead_code, reason = "declares a schema")]
enum RecipientsForm {
    Any(AnyForm),
    List(Vec<RecipientForm>),
}

/// One of the recipients.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "declares a schema")]
enum RecipientForm {
    Any(AnyForm),
    Address(Setting<MailAddress>),
}

struct AnyForm;

impl JsonSchema for AnyForm {
    fn schema_name() -> Cow<'static, str> {
        "AnyForm".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [ANY] })
    }
}

impl NotifyTarget {
    /// Returns the problems of resources that the target is notified of.
    pub fn alerts(&self) -> &AlertChoices {
        match self {
            Self::Web { alerts, .. } => alerts,
            Self::Mail(mail) => &mail.alerts,
        }
    }

    /// Returns whether a notification may be sent more than once; false where that cannot be read.
    pub fn is_at_least_once(&self, env: &dyn EnvSource) -> bool {
        let setting = match self {
            Self::Web { at_least_once, .. } => at_least_once,
            Self::Mail(mail) => &mail.at_least_once,
        };
        setting.get(env).unwrap_or(false)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretUrl(pub(crate) Secret);

/// A mail address. It is personal: `Debug` does not show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailAddress(pub(crate) Secret);

impl FromText for SecretUrl {
    fn from_text(text: &str, dir: &Path) -> Result<Self, InvalidValue> {
        HttpUrl::from_text(text, dir).map(|_| Self(Secret::from(text))).map_err(|_| {
            InvalidValue::new(
                "the text is not an encrypted web address",
                "write one that begins with `https://`, or name its variable: `{env: NAME}`",
            )
        })
    }

    fn schema() -> Value {
        json!({ "title": "web address", "type": "string", "writeOnly": true, "pattern": "^https?://" })
    }
}

impl FromText for MailAddress {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let parts = text.split_once('@');
        let good = parts.is_some_and(|(name, host)| {
            let odd = |found: char| {
                found.is_whitespace() || found.is_control() || "@<>,;".contains(found)
            };
            !name.is_empty() && host.contains('.') && !name.contains(odd) && !host.contains(odd)
        });
        let help = "write one, such as `ops@example.com`";
        let wrong = || InvalidValue::new("the text is not an e-mail address", help);
        good.then(|| Self(Secret::from(text))).ok_or_else(wrong)
    }

    fn schema() -> Value {
        json!({ "title": "e-mail address", "type": "string", "pattern": "@" })
    }
}

words!(BodyFormat: "json" => Json, "chat" => Chat);
words!(SmtpEncryption: "starttls" => Starttls, "tls" => Tls, "none" => None);

impl FromText for u16 {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let port = text.parse().ok().filter(|port| *port > 0);
        port.ok_or_else(|| {
            InvalidValue::new(format!("`{text}` is not a port"), "write a number, such as `587`")
        })
    }

    fn schema() -> Value {
        json!({ "title": "port", "type": ["integer", "string"], "minimum": 1, "maximum": 65535, "pattern": "^\\+?[0-9]+$" })
    }
}

impl ConfigReader<'_> {
    pub(crate) fn read_notify(&mut self, root: &Node) -> NotifyTargets {
        let Some(entry) = root.present("notify") else { return NotifyTargets::new() };
        if !matches!(entry.value.value, NodeValue::Map(_)) {
            let help = "write targets under it, each with its name as key";
            self.invalid(entry.key_span.clone(), "`notify` must be a mapping", help);
        }
        let mut targets = NotifyTargets::new();
        for entry in entry.value.entries() {
            // Both parts are read, so that all mistakes are reported at once.
            let (name, target) = (self.target_name(entry), self.target(entry));
            targets.extend(name.zip(target));
        }
        targets
    }

    fn target_name(&mut self, entry: &NodeEntry) -> Option<Name> {
        let name = Name::from_text(&entry.key, &self.dir);
        let span = entry.key_span.clone();
        name.map_err(|InvalidValue { message, help }| self.invalid(span, &message, &help)).ok()
    }

    fn target(&mut self, entry: &NodeEntry) -> Option<NotifyTarget> {
        let (node, span) = (&entry.value, entry.key_span.clone());
        if !matches!(node.value, NodeValue::Map(_)) {
            self.invalid(span, "a target must be a mapping", EXAMPLE);
            return None;
        }
        self.report_unknown_keys(node, &TARGET);
        match (node.entry("url"), node.entry("mail")) {
            (Some(_), None) => self.web(node, entry),
            (None, Some(_)) => {
                for key in node.entries().iter().filter(|entry| WEB.contains(&entry.key.as_str())) {
                    let help = "remove it: this target is mail";
                    self.invalid(key.key_span.clone(), "mail has no `type`", help);
                }
                let common = (self.at_least_once(node), self.alerts(node));
                let mail = self.section(node, "mail", &MAIL)?;
                self.mail(mail, entry, common)
            }
            (Some(_), Some(_)) => {
                self.invalid(span, "the target has both `url` and `mail`", "write two targets");
                None
            }
            (None, None) => {
                self.missing(span, "the target has neither `url` nor `mail`", EXAMPLE);
                None
            }
        }
    }

    fn at_least_once(&mut self, node: &Node) -> Setting<bool> {
        self.setting(node, "at_least_once").unwrap_or(Setting::Literal(false))
    }

    fn web(&mut self, node: &Node, entry: &NodeEntry) -> Option<NotifyTarget> {
        let form = self.setting(node, "type");
        if node.entry("type").is_none() {
            let help = "write `type: json` or `type: chat`";
            self.missing(entry.key_span.clone(), "the target has no `type`", help);
        }
        let (at_least_once, alerts) = (self.at_least_once(node), Box::new(self.alerts(node)));
        let url = self.setting(node, "url")?;
        Some(NotifyTarget::Web { url, form: form?, at_least_once, alerts })
    }

    fn mail(
        &mut self,
        node: &Node,
        entry: &NodeEntry,
        (at_least_once, alerts): (Setting<bool>, AlertChoices),
    ) -> Option<NotifyTarget> {
        for key in ["to", "from", "host"] {
            if node.present(key).is_none() {
                let message = format!("the mail of this target has no `{key}`");
                self.missing(entry.key_span.clone(), &message, EXAMPLE);
            }
        }
        let (to, any) = self.recipients(node);
        Some(NotifyTarget::Mail(Box::new(MailTarget {
            to,
            allows_any_recipient: any,
            port: self.setting(node, "port"),
            user: self.setting(node, "user"),
            password: self.setting(node, "password"),
            encryption: self
                .setting(node, "encryption")
                .unwrap_or(Setting::Literal(SmtpEncryption::Starttls)),
            from: self.setting(node, "from")?,
            host: self.setting(node, "host")?,
            at_least_once,
            alerts,
        })))
    }

    /// Reads `to`: addresses, the word `any`, or a list that holds both.
    fn recipients(&mut self, node: &Node) -> (Vec<Setting<MailAddress>>, bool) {
        let is_any = |node: &Node| node.text() == Some(ANY);
        if node.entry("to").is_some_and(|entry| is_any(&entry.value)) {
            return (Vec::new(), true);
        }
        let items = self.items(node, "to");
        let named = items.iter().filter(|one| !is_any(one));
        let to = named.filter_map(|one| self.scalar(one, one.span.clone())).collect();
        (to, items.iter().any(is_any))
    }
}
