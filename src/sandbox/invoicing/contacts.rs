//! Contacts (partner-api, POST /contacts), their portal links, and their own payment methods, which
//! are made from one-time tokens (service-facts, 85; docs/design/assumptions.md). The service has no
//! endpoint to search, change or read contacts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::contact::{
    self, Contact, ContactHash, ContactOwner as Organization, EmailAddress, NewContact,
};
use crate::api::method::MethodKind;
use crate::api::method_token::{NewVaultMethod, VaultMethod, vault_rules};
use crate::api::wire::{Audit, Timestamp};
use crate::base::secret::Secret;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::accounts::owner_email;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::methods::payment_methods::StoredMethod;
use crate::sandbox::methods::tokens;
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{
    LONG_LENGTH, MerchantMode, ObjectKind, ObjectOwner, Stored, derive_id,
};
use crate::sandbox::state::store::ChangeUnit;

const CODE_LENGTH: usize = 8;

pub(crate) fn create(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    mut new: NewContact,
) -> Result<Contact> {
    let merchant = cx.merchant(asked.merchant()?)?;
    if new.kind.is_empty() {
        "person".clone_into(&mut new.kind);
    }
    SandboxRefusal::fields("", &contact::rules(&new))?;
    let mode = MerchantMode::of_test(new.test_mode == Some(true));
    let owner = ObjectOwner { merchant: merchant.id.clone(), mode };
    let sequence = cx.next();
    let contact = build(cx, &merchant, new);
    let kept = Stored { owner: owner.clone(), sequence, object: contact.clone(), internal: () };
    cx.create(ObjectKind::CONTACT, &owner.key(), &contact.id, &kept)?;
    Ok(contact)
}

fn build(cx: &mut ChangeUnit, merchant: &MerchantRecord, new: NewContact) -> Contact {
    let audit = audit(cx, merchant);
    let test_mode = new.test_mode == Some(true);
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

fn organization(cx: &ChangeUnit, merchant: &MerchantRecord, test_mode: bool) -> Organization {
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
pub(crate) fn audit(cx: &ChangeUnit, merchant: &MerchantRecord) -> Audit {
    let text = |text: &str| Some(text.to_owned());
    Audit {
        user: Some(owner_email(merchant)),
        timestamp: Some(Timestamp(cx.now)),
        client_id: Some(cx.environment.client_id.clone()),
        client_inet_address: text("127.0.0.1"),
        client_country_code: text("US"),
        client_location: text("Springfield, IL, US"),
        caller_inet_address: text("127.0.0.1"),
        caller_country_code: text("US"),
        caller_location: text("Springfield, IL, US"),
    }
}

/// Returns a contact of this merchant. 404 for any other contact.
pub(crate) fn contact_of(
    cx: &ChangeUnit,
    merchant: &MerchantRecord,
    id: &str,
) -> Result<Stored<Contact, ()>> {
    let contact: Stored<Contact, ()> = cx.load(ObjectKind::CONTACT, id)?;
    let is_own = contact.owner.merchant == merchant.id;
    if is_own { Ok(contact) } else { Err(SandboxRefusal::not_found("Contact", id)) }
}

/// Returns the calling merchant and its contact that the path names.
pub(crate) fn contact_of_path(
    cx: &ChangeUnit,
    asked: &ParsedRequest,
) -> Result<(Arc<MerchantRecord>, Stored<Contact, ()>)> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contact_of(cx, &merchant, asked.parameter(0))?;
    Ok((merchant, contact))
}

/// A stored contact hash; its link is kept only masked.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ContactHashRecord {
    id: String,
    contact_id: String,
    created: Timestamp,
    url: String,
    digest: String,
}

/// POST of a contact hash: refused until the contact has an invoice.
pub(crate) fn create_hash(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<ContactHash> {
    let (_, contact) = contact_of_path(cx, asked)?;
    let contact_id = contact.object.id;
    let is_invoiced = cx.get::<Value>(&invoiced_key(&contact_id))?.is_some();
    let text = "Contact has no invoice";
    SandboxRefusal::unless(is_invoiced, "unavailable_for_current_status", text)?;
    let hash = cx.fresh_secret("contact-hash", LONG_LENGTH);
    cx.put(&hash_key(cx, &hash), &contact_id)?;
    let portal = cx.environment.options.portal_url.clone();
    let id = cx.fresh_gateway_id();
    let object = ContactHashRecord {
        id: id.clone(),
        contact_id,
        created: Timestamp(cx.now),
        url: format!("{portal}/contacts/***"),
        digest: cx.digest("contact-hash", hash.as_bytes()).short(),
    };
    let sequence = cx.next();
    let kept = Stored { owner: contact.owner, sequence, object, internal: () };
    cx.create(ObjectKind::CONTACT_HASH, &kept.owner.key(), &id, &kept)?;
    Ok(ContactHash { url: Some(Secret::from(format!("{portal}/contacts/{hash}"))) })
}

/// Notes that a contact has an invoice.
pub(crate) fn mark_invoiced(cx: &mut ChangeUnit, contact_id: &str) -> Result<()> {
    cx.put(&invoiced_key(contact_id), &true)
}

/// Returns the key that exists once a contact has an invoice.
fn invoiced_key(contact_id: &str) -> String {
    format!("x/invoiced/{contact_id}")
}

pub(crate) fn hash_key(cx: &ChangeUnit, hash: &str) -> String {
    format!("x/contact-hash/{}", cx.digest("contact-hash", hash.as_bytes()))
}

/// POST: uses the token up; its CVV is not kept.
pub(crate) fn create_vault_method(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewVaultMethod,
) -> Result<VaultMethod> {
    let (merchant, contact) = contact_of_path(cx, asked)?;
    SandboxRefusal::fields("", &vault_rules(&new))?;
    let owner = contact.owner;
    let is_same = new.test_mode.is_none_or(|test| MerchantMode::of_test(test) == owner.mode);
    let text = "Contact and payment method must be of one mode";
    SandboxRefusal::unless(is_same, "unavailable_for_merchant_mode", text)?;
    let method = take_vault_token(cx, &owner, &new)?;
    let audit = audit(cx, &merchant);
    let object = VaultMethod {
        id: cx.id_with_prefix("pm_"),
        created: Some(audit.clone()),
        modified: Some(audit),
        contact_id: contact.object.id,
        payment_type: new.payment_type,
        authorized_uses: new.authorized_uses,
        test_mode: owner.mode == MerchantMode::Test,
        method: Some(method.shown.clone()),
        kind: "payment_method".to_owned(),
    };
    let sequence = cx.next();
    let kept = Stored { owner, sequence, object, internal: method };
    cx.create(ObjectKind::VAULT_METHOD, &kept.owner.key(), &kept.object.id, &kept)?;
    Ok(kept.object)
}

fn take_vault_token(
    cx: &mut ChangeUnit,
    owner: &ObjectOwner,
    new: &NewVaultMethod,
) -> Result<StoredMethod> {
    let token = &new.one_time_token;
    let method = tokens::find(cx, owner, token)?.into_method();
    let said = if new.payment_type == "credit_card" { MethodKind::Card } else { MethodKind::Bank };
    let text = "Token is of another payment type";
    SandboxRefusal::unless(method.shown.kind == said, "incorrect_payment_type", text)?;
    method.check("", cx.now)?;
    tokens::end(cx, token)?;
    Ok(method.without_cvv())
}
