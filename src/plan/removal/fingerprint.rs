//! The content of a document apart from its name: two documents with the same essence may be one
//! that was renamed.

use serde_json::Value;

use crate::base::hash::{Digest, canonical, sha256};
use crate::kinds::schema::register;
use crate::kinds::secrets::redact::redact;
use crate::model::spec::manifest::Manifest;

/// The fields that name resources which may have been renamed along with the document, and borrowed
/// details.
const NAMES: [&str; 3] = ["method", "contact", "method.details"];
/// The field that names the owner: it counts without its namespace.
const OWNER: &str = "merchant";

/// A digest of the content; `None` where it is unknown.
pub(crate) type Fingerprint = Option<Digest>;

/// Returns the essence of an applied spec.
pub(crate) fn of_applied(spec: &Value) -> Fingerprint {
    let mut spec = spec.clone();
    let fields = spec.as_object_mut()?;
    fields.retain(|name, _| !NAMES.contains(&name.as_str()));
    if let Some(Value::String(owner)) = fields.get_mut(OWNER)
        && let Some((_, name)) = owner.split_once('/')
    {
        *owner = name.to_owned();
    }
    Some(sha256(&canonical(&spec)))
}

/// Returns the essence of a document.
pub(crate) fn of_manifest(manifest: &Manifest, digest_key: &[u8; 32]) -> Option<Fingerprint> {
    let row = register::find(manifest.key.kind.as_str())?;
    let essence = of_applied(&redact(row.fields, &manifest.spec, digest_key));
    essence.is_some().then_some(essence)
}
