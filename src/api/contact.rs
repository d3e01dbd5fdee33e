//! Contacts: the people who are billed, and the portal link that the partner hands to a payer
//! itself (partner-api, Contact; POST /invoices: the contact hash).
//!
//! There is no documented way to search or change a contact. The documents mention that a contact
//! hash gives a `url`, to be sent only after the invoice exists, and do not show the endpoint. Its
//! path and form here are our own choice (docs/design/assumptions.md); the documents win.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::call::{endpoints, objects};
use crate::api::rules::{self, FieldProblem};
use crate::api::wire::{Audit, serialize_exposed};
use crate::base::secret::Secret;

objects! {
    /// The request that creates a contact.
    #[schemars(extend("required" = ["first_name", "last_name"]))]
    pub struct NewContact {
        /// Given name.
        #[schemars(regex(pattern = r"\S"))]
        pub first_name: String,
        /// Family name.
        #[schemars(regex(pattern = r"\S"))]
        pub last_name: String,
        /// E-mail addresses that receive the invoices.
        pub email_addresses: Vec<NewEmailAddress>,
        /// `person`.
        #[serde(rename = "type")]
        #[schemars(extend("enum" = ["person"]))]
        pub kind: String,
        /// True for a contact of test invoices.
        pub test_mode: Option<bool>,
    }

    /// One address of a new contact.
    #[schemars(extend("required" = ["address"]))]
    pub struct NewEmailAddress {
        /// The address.
        #[schemars(email)]
        pub address: String,
    }

    /// A contact as the service shows it.
    pub struct Contact {
        /// `p_…`.
        pub id: String,
        /// Creation of the contact.
        pub created: Option<Audit>,
        /// Last change of the contact.
        pub modified: Option<Audit>,
        /// True for a contact of test invoices only.
        pub test_mode: bool,
        /// Whole name.
        pub name: Option<String>,
        /// Family name first.
        pub sort_name: Option<String>,
        /// Name for display.
        pub display_name: Option<String>,
        /// Given name.
        pub first_name: Option<String>,
        /// Family name.
        pub last_name: Option<String>,
        /// The address that receives mail.
        pub preferred_email: Option<String>,
        /// The merchant's code for the contact.
        pub contact_code: Option<String>,
        /// Id of the organization that owns the contact.
        pub owner_id: Option<String>,
        /// The organization that owns the contact.
        pub owner: Option<ContactOwner>,
        /// Addresses of the contact.
        pub email_addresses: Vec<EmailAddress>,
        /// `person`.
        #[serde(rename = "type")]
        pub kind: String,
    }

    /// The merchant's organization, as contacts show it.
    #[schemars(rename = "Owner")]
    pub struct ContactOwner {
        /// Id of the organization.
        pub id: String,
        /// True in test mode.
        pub test_mode: bool,
        /// The organization's own owner.
        pub owner_id: Option<String>,
        /// The organization's e-mail address.
        pub preferred_email: Option<String>,
        /// The organization's name.
        pub name: Option<String>,
        /// The organization's name for sorting.
        pub sort_name: Option<String>,
        /// `organization`.
        #[serde(rename = "type")]
        pub kind: String,
        /// Name for display.
        pub display_name: Option<String>,
    }

    /// One address of a contact.
    pub struct EmailAddress {
        /// `eml_…`.
        pub id: String,
        /// Creation of the address.
        pub created: Option<Audit>,
        /// Last change of the address.
        pub modified: Option<Audit>,
        /// The address.
        pub address: String,
        /// True where mail is sent to this address.
        pub preferred: bool,
        /// `email_address`.
        #[serde(rename = "type")]
        pub kind: String,
    }
}

/// Returns every problem of a new contact, all at once (partner-api, POST /contacts).
pub fn rules(new: &NewContact) -> Vec<FieldProblem> {
    let mut problems = rules::FieldProblems::default();
    problems.require_text("first_name", "First name", &new.first_name);
    problems.require_text("last_name", "Last name", &new.last_name);
    problems.unless(new.kind == "person", "type", "invalid", "Type is invalid");
    for (index, email) in new.email_addresses.iter().enumerate() {
        let context = format!("email_addresses.{index}.address");
        let is_email = rules::is_email(&email.address);
        problems.unless(is_email, &context, "invalid", "Email address is invalid");
    }
    problems.into_list()
}

endpoints! {
    /// Creates a contact. There is no later proof of the creation.
    CreateContact "contact.create": Post Base "/contacts" by Payments, NewContact => Contact;
    /// Creates a contact hash. It sends nothing.
    CreateContactHash "contact.hash": Post Base "/contacts/{contact_id}/hash" by Payments,
        () => ContactHash;
}

/// A contact hash: anyone with its link sees the contact's open payments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ContactHash {
    /// Address of the payer's page.
    #[serde(serialize_with = "serialize_exposed")]
    pub url: Option<Secret>,
}
