//! The form of `notify` in the file, for its schema. Targets are read as an enum, whose shape differs.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::notify::{ANY, MailAddress, MailEncryption, NotifyTarget, SecretUrl, WebFormat};
use super::setting::Setting;
use crate::base::secret::Secret;

impl JsonSchema for NotifyTarget {
    fn schema_name() -> Cow<'static, str> {
        "NotifyTarget".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        TargetForm::json_schema(generator)
    }
}

/// The form of a target, which has `url` and `type`, or `mail`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "declares a schema")]
struct TargetForm {
    /// The address of a chat or program; the address alone is enough to write there.
    url: Option<Setting<SecretUrl>>,
    /// The form of the body posted to `url`: `json` posts a map unchanged and a text as
    /// `{"text": …}`, `chat` always posts `{"text": …}`.
    r#type: Option<Setting<WebFormat>>,
    /// A mail server, with sender and recipients.
    mail: Option<MailForm>,
    /// True if a notification is sent again after a lost answer, under the same key.
    #[schemars(extend("default" = false))]
    at_least_once: Option<Setting<bool>>,
}

/// The form of a mail server.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "declares a schema")]
struct MailForm {
    /// The recipients of notifications that name none. With the word `any`, a script may name any
    /// address, and otherwise contacts of the event's merchant alone.
    to: RecipientsForm,
    /// The sender.
    from: Setting<MailAddress>,
    /// The mail server.
    host: Setting<String>,
    /// The port of the server: 587 by default, and 465 with `tls`.
    port: Option<Setting<u16>>,
    /// The user name at the server.
    user: Option<Setting<String>>,
    /// The password at the server.
    password: Option<Setting<Secret>>,
    /// The encryption of the connection: upgraded by `STARTTLS`, TLS from the first byte on, or none
    /// for a server at a loopback IP alone.
    #[schemars(extend("default" = "starttls"))]
    encryption: Option<Setting<MailEncryption>>,
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

/// The word [`ANY`].
struct AnyForm;

impl JsonSchema for AnyForm {
    fn schema_name() -> Cow<'static, str> {
        "AnyForm".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [ANY] })
    }
}
