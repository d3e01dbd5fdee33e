//! Contact hashes: the portal links that a partner gives to payers (docs/assumptions.md).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::contact_hash::ContactHash;
use crate::api::wire::Timestamp;
use crate::base::secret::Secret;
use crate::sandbox::asked::Asked;
use crate::sandbox::files::contact_of;
use crate::sandbox::ids::LONG;
use crate::sandbox::lists::{Kept, KindOf};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

const KIND: KindOf = KindOf { word: "contact-hash", name: "ContactHash" };

/// A stored contact hash; its link is kept only masked.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptHash {
    id: String,
    contact_id: String,
    created: Timestamp,
    url: String,
    digest: String,
}

/// POST of a contact hash: refused until the contact has an invoice.
pub(crate) fn create(cx: &mut Cx<'_>, asked: &Asked) -> Result<ContactHash, Refusal> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let contact = contact_of(cx, &merchant, asked.parameter(0))?;
    let contact_id = contact.object.id;
    if cx.get::<Value>(&invoiced_key(&contact_id))?.is_none() {
        let text = "Contact has no invoice";
        return Err(Refusal::rule("unavailable_for_current_status", text));
    }
    let hash = cx.fresh("contact-hash", LONG);
    cx.put(&hash_key(cx, &hash), &contact_id)?;
    let portal = cx.world.options.portal_url.clone();
    let id = cx.id();
    let object = KeptHash {
        id: id.clone(),
        contact_id,
        created: Timestamp(cx.now),
        url: format!("{portal}/contacts/***"),
        digest: cx.digest("contact-hash", hash.as_bytes()).short(),
    };
    let sequence = cx.next();
    let kept = Kept { owner: contact.owner, sequence, object, inside: () };
    cx.create(KIND, &kept.owner.key(), &id, &kept)?;
    Ok(ContactHash { url: Some(Secret::from(format!("{portal}/contacts/{hash}"))) })
}

/// Records that a contact has an invoice.
pub(crate) fn invoiced(cx: &mut Cx<'_>, contact_id: &str) -> Result<(), Refusal> {
    cx.put(&invoiced_key(contact_id), &true)
}

fn invoiced_key(contact_id: &str) -> String {
    format!("x/invoiced/{contact_id}")
}

fn hash_key(cx: &Cx<'_>, hash: &str) -> String {
    format!("x/contact-hash/{}", cx.digest("contact-hash", hash.as_bytes()))
}

/// Returns the contact that a hash was made for; `None` for an unknown hash.
pub(crate) fn behind(cx: &Cx<'_>, hash: &str) -> Result<Option<String>, Refusal> {
    cx.get(&hash_key(cx, hash))
}
