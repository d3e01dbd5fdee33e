//! References from one document to another: `NAME`, in the document's own namespace, or
//! `NAMESPACE/NAME`.
//!
//! This module only parses a reference, and compares two documents that both exist. The existence
//! of the other document is checked elsewhere, over all documents.

use serde_json::Value;

use super::kind::Find;
use crate::base::id::{Key, Kind, Name, NameError};
use crate::model::issue::Issue;
use crate::model::manifest::{Manifest, Reference};

/// The field that names the merchant, in every kind but the merchant's own.
pub(crate) const MERCHANT_FIELD: &str = "spec.merchant";

/// Returns the key that `text` names, seen from `namespace`.
///
/// # Errors
///
/// A part that breaks the rule of names.
pub fn resolve(kind: &str, text: &str, namespace: &Name) -> Result<Key, NameError> {
    let kind = Kind::new(kind);
    match text.split_once('/') {
        Some((namespace, name)) => Ok(Key::new(kind, &namespace.parse()?, &name.parse()?)),
        None => Ok(Key::new(kind, namespace, &text.parse()?)),
    }
}

/// Returns the issue with the reference at `path`.
pub fn issue(path: &str, kind: &str, text: &str) -> Option<Issue> {
    let error = resolve(kind, text, &Name::default_namespace()).err()?.to_string();
    let (message, help) = error.rsplit_once("; ").unwrap_or((&error, "write a name"));
    let message = format!("invalid name of a {kind}: {message}");
    let help = format!("{help} (a name, or NAMESPACE/NAME)");
    Some(Issue::error("reckon::reference::malformed", path, message, help))
}

/// Returns the reference at `path`, if it is valid.
pub fn read(path: &str, kind: &str, text: &str, namespace: &Name) -> Option<Reference> {
    let key = resolve(kind, text, namespace).ok()?;
    Some(Reference { path: path.to_owned(), key })
}

/// Returns the valid manifest that the field at `path` refers to.
pub fn target(manifest: &Manifest, path: &str, find: Find<'_>) -> Option<std::sync::Arc<Manifest>> {
    find(target_key(manifest, path)?)
}

fn target_key<'a>(manifest: &'a Manifest, path: &str) -> Option<&'a Key> {
    manifest.references.iter().find(|one| one.path == path).map(|one| &one.key)
}

/// Checks that the document at `path` belongs to the merchant that this one names.
pub fn same_merchant(manifest: &Manifest, path: &str, find: Find<'_>) -> Option<Issue> {
    let ours = target_key(manifest, MERCHANT_FIELD)?;
    let other = target(manifest, path, find)?;
    let theirs = target_key(&other, MERCHANT_FIELD)?;
    (ours != theirs).then(|| {
        let message =
            format!("{} belongs to {}, not to {}", other.key, theirs.short(), ours.short());
        let help = "write one of the same merchant; nothing is shared between merchants";
        Issue::error("reckon::reference::other_merchant", path, message, help).with_related(
            Some(other.key.clone()),
            MERCHANT_FIELD,
            format!("{} is the merchant here", theirs.short()),
        )
    })
}

/// Checks that the merchant has an access token, now or by a code: gateway keys alone open only the
/// gateway (partner-api, Authentication).
pub fn bearer_token(manifest: &Manifest, what: &str, find: Find<'_>) -> Option<Issue> {
    let merchant = target(manifest, MERCHANT_FIELD, find)?;
    let credentials = merchant.spec.get("credentials")?;
    credentials.get("keys").is_some().then(|| {
        let message =
            format!("{what} needs an access token, and {} has only gateway keys", merchant.key);
        let help = "give the merchant an `authorization_code` or an `access_token`";
        Issue::error("reckon::reference::keys_alone", MERCHANT_FIELD, message, help).with_related(
            Some(merchant.key.clone()),
            "spec.credentials.keys",
            "the gateway accepts these keys, the partner interface does not",
        )
    })
}

/// Returns whether the merchant's mode is `test`.
pub fn is_test(merchant: &Manifest) -> bool {
    merchant.spec.get("mode").and_then(Value::as_str) == Some("test")
}
