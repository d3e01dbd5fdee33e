//! Shared rules for texts and references, and the serialisation of personal texts.
//!
//! A reference is `NAME`, in the document's own namespace, or `NAMESPACE/NAME`. It is only parsed
//! here, and two documents that both exist are compared. The existence of the other document is
//! checked elsewhere, over all documents.

use serde::{Serialize, Serializer};

use crate::api::rules::FieldProblems;
use crate::base::id::{Key, Kind, Name, NameError};
use crate::base::secret::Personal;
use crate::model::issue::Issue;
use crate::model::manifest::{Desired, Manifest, PackedManifest, Reference};

/// Characters of an e-mail address (RFC 5321, 4.5.3.1.3, less the brackets).
pub const EMAIL_LENGTH_MAX: usize = 254;

/// Checks that the text is not blank. `example` is a text to write instead.
pub fn not_blank(path: &str, text: &str, example: &str) -> Option<Issue> {
    text.trim().is_empty().then(|| {
        let help = format!("write a text, such as `{example}`");
        Issue::error("reckon::text::empty", path, "the text is empty", help)
    })
}

/// Checks that the text has at most `max` characters.
pub fn at_most(path: &str, text: &str, max: usize) -> Option<Issue> {
    let length = text.chars().count();
    (length > max).then(|| {
        let message =
            format!("the text has {length} characters, and the service keeps at most {max}");
        let help = format!("write at most {max} characters");
        Issue::error("reckon::text::too_long", path, message, help)
    })
}

/// Checks the form of an e-mail address. It is not probed, and the message does not repeat it.
pub fn email(path: &str, address: &Personal) -> Option<Issue> {
    (!is_email(address.expose())).then(|| {
        let message = "the text is not an e-mail address";
        Issue::error("reckon::text::email", path, message, "write one, such as `jane@example.com`")
    })
}

fn is_email(text: &str) -> bool {
    let strange = |c: char| c.is_whitespace() || c.is_control() || "<>(),;:\"".contains(c);
    let labels = |domain: &str| domain.contains('.') && !domain.split('.').any(str::is_empty);
    let parts = text.split_once('@');
    parts.is_some_and(|(user, domain)| !user.is_empty() && !domain.contains('@') && labels(domain))
        && !text.contains(strange)
        && text.len() <= EMAIL_LENGTH_MAX
}

/// Checks a postal code: 3 to 9 letters and digits, at most 10 characters with spaces and dashes.
/// The message does not repeat it (service-facts, 31).
pub fn postal_code(path: &str, code: &str) -> Option<Issue> {
    let mut problems = FieldProblems::default();
    problems.postal_code("", Some(code));
    let fits = !code.is_empty() && problems.into_list().is_empty();
    (!fits).then(|| {
        let help = "write 3 to 9 letters and digits, at most 10 characters with spaces and dashes";
        Issue::error("reckon::text::postal_code", path, "the text is not a postal code", help)
    })
}

pub fn serialize_exposed<S: Serializer>(text: &Personal, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text.expose())
}

pub fn serialize_exposed_option<S: Serializer>(
    text: &Option<Personal>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    text.as_ref().map(Personal::expose).serialize(serializer)
}

pub fn serialize_exposed_list<S: Serializer>(
    texts: &[Personal],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(Personal::expose))
}

/// The field that names the merchant, in every kind but the merchant's own.
pub(crate) const MERCHANT_FIELD: &str = "spec.merchant";

/// Returns the key that `text` names, seen from `namespace`.
pub fn resolve_reference(kind: &str, text: &str, namespace: &Name) -> Result<Key, NameError> {
    let kind = Kind::new(kind);
    match text.split_once('/') {
        Some((namespace, name)) => Ok(Key::new(kind, &namespace.parse()?, &name.parse()?)),
        None => Ok(Key::new(kind, namespace, &text.parse()?)),
    }
}

pub fn reference_issue(path: &str, kind: &str, text: &str) -> Option<Issue> {
    let error = resolve_reference(kind, text, &Name::default_namespace()).err()?.to_string();
    let (message, help) = error.rsplit_once("; ").unwrap_or((&error, "write a name"));
    let message = format!("invalid name of a {kind}: {message}");
    let help = format!("{help} (a name, or NAMESPACE/NAME)");
    Some(Issue::error("reckon::reference::malformed", path, message, help))
}

/// Returns the valid references among these: (path, kind, text).
pub fn references(named: &[(&str, &str, Option<&str>)], namespace: &Name) -> Vec<Reference> {
    let valid = named.iter().filter_map(|(path, kind, text)| {
        let key = resolve_reference(kind, (*text)?, namespace).ok()?;
        Some(Reference { path: (*path).to_owned(), key })
    });
    valid.collect()
}

/// Returns the valid manifest that the field at `path` refers to.
pub fn referenced_manifest(
    manifest: &PackedManifest,
    path: &str,
    desired: &Desired,
) -> Option<std::sync::Arc<Manifest>> {
    desired.manifest(target_key(manifest, path)?)
}

fn target_key<'a>(manifest: &'a PackedManifest, path: &str) -> Option<&'a Key> {
    manifest.references.iter().find(|one| one.path == path).map(|one| &one.key)
}

/// Checks that the document at `path` belongs to the merchant that this one names.
pub fn same_merchant_issue(
    manifest: &PackedManifest,
    path: &str,
    desired: &Desired,
) -> Option<Issue> {
    let ours = target_key(manifest, MERCHANT_FIELD)?;
    let other = desired.manifests.get(target_key(manifest, path)?)?;
    let theirs = target_key(other, MERCHANT_FIELD)?;
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
pub fn bearer_token_issue(
    manifest: &PackedManifest,
    what: &str,
    desired: &Desired,
) -> Option<Issue> {
    let merchant = referenced_manifest(manifest, MERCHANT_FIELD, desired)?;
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
