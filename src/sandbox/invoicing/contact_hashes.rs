//! Contact hashes: the portal links that a partner gives to payers (docs/design/assumptions.md).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::contact_of;
use crate::api::contact_hash::ContactHash;
use crate::api::wire::Timestamp;
use crate::base::secret::Secret;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::ids::LONG_LENGTH;
use crate::sandbox::state::lists::{ObjectKind, Stored};
use crate::sandbox::state::store::ChangeUnit;

const KIND: ObjectKind = ObjectKind { word: "contact-hash", name: "ContactHash" };

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
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<ContactHash, SandboxRefusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contact_of(cx, &merchant, asked.parameter(0))?;
    let contact_id = contact.object.id;
    if cx.get::<Value>(&invoiced_key(&contact_id))?.is_none() {
        let text = "Contact has no invoice";
        return Err(SandboxRefusal::rule("unavailable_for_current_status", text));
    }
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
    cx.create(KIND, &kept.owner.key(), &id, &kept)?;
    Ok(ContactHash { url: Some(Secret::from(format!("{portal}/contacts/{hash}"))) })
}

/// Records that a contact has an invoice.
pub(crate) fn mark_invoiced(
    cx: &mut ChangeUnit<'_>,
    contact_id: &str,
) -> Result<(), SandboxRefusal> {
    cx.put(&invoiced_key(contact_id), &true)
}

fn invoiced_key(contact_id: &str) -> String {
    format!("x/invoiced/{contact_id}")
}

fn hash_key(cx: &ChangeUnit<'_>, hash: &str) -> String {
    format!("x/contact-hash/{}", cx.digest("contact-hash", hash.as_bytes()))
}

/// Returns the contact that a hash was made for; `None` for an unknown hash.
pub(crate) fn contact_of_hash(
    cx: &ChangeUnit<'_>,
    hash: &str,
) -> Result<Option<String>, SandboxRefusal> {
    cx.get(&hash_key(cx, hash))
}
