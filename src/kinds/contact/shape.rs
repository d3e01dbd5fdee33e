//! YAML shape of a contact, and its checks without the service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Name;
use crate::base::secret::Personal;
use crate::kinds::merchant::Merchant;
use crate::kinds::refused::Refused;
use crate::kinds::{Change, CheckCx, Field, Find, Privacy, Shape, reference, text};
use crate::model::issue::Issue;
use crate::model::manifest::{Manifest, Reference};

#[derive(Debug, Clone, Copy)]
pub struct Contact;

/// Contact of a merchant, who receives invoices (partner-api, POST /contacts).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The merchant that the contact belongs to.
    pub merchant: String,
    /// Given name.
    #[serde(serialize_with = "text::exposed")]
    pub first_name: Personal,
    /// Family name.
    #[serde(serialize_with = "text::exposed")]
    pub last_name: Personal,
    /// E-mail addresses, at least one.
    pub email_addresses: Vec<EmailAddress>,
    /// Not accepted: follows the merchant's mode.
    #[serde(default, skip_serializing)]
    pub test_mode: Refused,
}

/// One e-mail address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmailAddress {
    /// The address itself.
    #[serde(serialize_with = "text::exposed")]
    pub address: Personal,
}

const fn field(path: &'static str, privacy: Privacy, doc: &'static str) -> Field {
    Field { path, privacy, change: Change::Never, doc }
}

impl Shape for Contact {
    const NAME: &'static str = "Contact";
    const FIELDS: &'static [Field] = &[
        field(
            "merchant",
            Privacy::Plain,
            "The merchant that the contact belongs to, NAME or NAMESPACE/NAME (design, Files).",
        ),
        field("first_name", Privacy::Personal, "Given name (partner-api, POST /contacts)."),
        field("last_name", Privacy::Personal, "Family name (partner-api, POST /contacts)."),
        field(
            "email_addresses",
            Privacy::Personal,
            "A list of at least one `{address: …}` (partner-api, POST /contacts).",
        ),
        field(
            "email_addresses[].address",
            Privacy::Personal,
            "An e-mail address (partner-api, Contact).",
        ),
    ];
    type Spec = Spec;

    fn check(spec: &Spec, _cx: &CheckCx) -> Vec<Issue> {
        let Spec { merchant, first_name, last_name, email_addresses, test_mode } = spec;
        let mut issues = Vec::new();
        issues.extend(reference::issue("spec.merchant", Merchant::NAME, merchant));
        issues.extend(text::filled("spec.first_name", first_name.expose(), "Jane"));
        issues.extend(text::filled("spec.last_name", last_name.expose(), "Doe"));
        issues.extend(addresses(email_addresses));
        issues.extend(test_mode.issue(
            "spec.test_mode",
            "the merchant's mode decides whether a contact is for tests",
            "leave it out, or write `mode` in the merchant",
        ));
        issues
    }

    fn references(spec: &Spec, namespace: &Name) -> Vec<Reference> {
        reference::read("spec.merchant", Merchant::NAME, &spec.merchant, namespace)
            .into_iter()
            .collect()
    }

    fn check_links(_spec: &Spec, manifest: &Manifest, find: Find<'_>) -> Vec<Issue> {
        reference::bearer_token(manifest, "a contact", find).into_iter().collect()
    }
}

fn addresses(list: &[EmailAddress]) -> Vec<Issue> {
    if list.is_empty() {
        let help = "write at least one, such as `[{address: jane@example.com}]`";
        let message = "the service wants an e-mail address";
        return vec![Issue::error(
            "reckon::contact::no_address",
            "spec.email_addresses",
            message,
            help,
        )];
    }
    let issues = list.iter().enumerate().filter_map(|(index, one)| {
        text::email(&format!("spec.email_addresses[{index}].address"), &one.address)
    });
    issues.collect()
}
