//! POST /contacts (partner-api). The service has no endpoint to search, change or read contacts.

use crate::api::audit::Audit;
use crate::api::contact;
use crate::api::contact::{Contact, ContactOwner as Organization, EmailAddress, NewContact};
use crate::api::wire::Timestamp;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::accounts::owner_email;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::merchants::oauth::client_id;
use crate::sandbox::state::ids::derive_id;
use crate::sandbox::state::lists::{MerchantMode, ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

pub(crate) const KIND: ObjectKind = ObjectKind { word: "contact", name: "Contact" };

/// Length of the code that the sandbox gives each contact.
const CODE_LENGTH: usize = 8;

/// POST /contacts.
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    mut new: NewContact,
) -> Result<Contact, SandboxRefusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    if new.kind.is_empty() {
        "person".clone_into(&mut new.kind);
    }
    SandboxRefusal::fields("", &contact::rules(&new))?;
    let owner = ObjectOwner {
        merchant: merchant.id.clone(),
        mode: MerchantMode::of_test(new.test_mode == Some(true)),
    };
    let sequence = cx.next();
    let contact = build(cx, &merchant, &owner, new);
    let kept = Stored { owner: owner.clone(), sequence, object: contact.clone(), internal: () };
    cx.create(KIND, &owner.key(), &contact.id, &kept)?;
    Ok(contact)
}

fn build(
    cx: &mut ChangeUnit<'_>,
    merchant: &MerchantRecord,
    owner: &ObjectOwner,
    new: NewContact,
) -> Contact {
    let audit = audit(cx, merchant);
    let test_mode = owner.mode == MerchantMode::Test;
    let name = format!("{} {}", new.first_name, new.last_name);
    let mut emails = Vec::new();
    for email in new.email_addresses {
        emails.push(EmailAddress {
            id: cx.id_with_prefix("eml_"),
            created: Some(audit.clone()),
            modified: Some(audit.clone()),
            address: email.address,
            preferred: emails.is_empty(),
            kind: "email_address".to_owned(),
        });
    }
    let organization = organization(cx, merchant, test_mode);
    Contact {
        id: cx.id_with_prefix("p_"),
        created: Some(audit.clone()),
        modified: Some(audit),
        test_mode,
        display_name: Some(name.clone()),
        name: Some(name),
        sort_name: Some(format!("{}, {}", new.last_name, new.first_name)),
        first_name: Some(new.first_name),
        last_name: Some(new.last_name),
        preferred_email: emails.first().map(|email| email.address.clone()),
        contact_code: Some(cx.fresh_secret("contact code", CODE_LENGTH).to_uppercase()),
        owner_id: Some(organization.id.clone()),
        owner: Some(organization),
        email_addresses: emails,
        kind: "person".to_owned(),
    }
}

fn organization(cx: &ChangeUnit<'_>, merchant: &MerchantRecord, test_mode: bool) -> Organization {
    let id = format!("o_{}", derive_id(&cx.environment.seed, "organization", &merchant.name));
    Organization {
        owner_id: Some(id.clone()),
        id,
        test_mode,
        preferred_email: Some(owner_email(merchant)),
        name: Some(merchant.shown_name().to_owned()),
        sort_name: Some(merchant.shown_name().to_owned()),
        kind: "organization".to_owned(),
        display_name: Some(merchant.shown_name().to_owned()),
    }
}

/// Builds an audit entry of now: the partner, acting for the merchant.
pub(crate) fn audit(cx: &ChangeUnit<'_>, merchant: &MerchantRecord) -> Audit {
    let text = |text: &str| Some(text.to_owned());
    Audit {
        user: Some(owner_email(merchant)),
        timestamp: Some(Timestamp(cx.now)),
        client_id: Some(client_id(cx.environment)),
        client_inet_address: text("127.0.0.1"),
        client_country_code: text("US"),
        client_location: text("Springfield, IL, US"),
        caller_inet_address: text("127.0.0.1"),
        caller_country_code: text("US"),
        caller_location: text("Springfield, IL, US"),
    }
}
