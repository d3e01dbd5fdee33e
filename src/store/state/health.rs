//! Health of an open state: values that the state names and that cannot be unsealed.

use serde::Serialize;

use crate::base::id::Key;
use crate::model::intents::intent::StoredBody;
use crate::store::read_model::model::{ReadModel, ReadModelError};
use crate::store::vault::error::VaultError;
use crate::store::vault::reference::VaultRef;
use crate::store::vault::values::Vault;

/// A value that cannot be unsealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableValue {
    /// The resource that the value belongs to.
    pub key: Key,
    /// The fact or the request that holds the value.
    pub what: String,
    /// The reason why the value cannot be unsealed, with the remedy.
    pub why: String,
}

/// Returns every sealed value that is known of a resource, or that an open intent would send again,
/// and that cannot be unsealed. A value that was destroyed on purpose is not included.
pub fn unreadable_values(
    facts: &ReadModel,
    vault: &Vault,
) -> Result<Vec<UnreadableValue>, ReadModelError> {
    let mut ills = Vec::new();
    facts.each_observed(|key, known| {
        for (name, fact) in known.facts.as_object().into_iter().flatten() {
            let reference = fact.get("sealed").and_then(serde_json::Value::as_str);
            let why = reference.and_then(|reference| unseal_failure(vault, reference));
            let ill = |why| UnreadableValue { key: key.clone(), what: name.clone(), why };
            ills.extend(why.map(ill));
        }
        Ok(())
    })?;
    for open in facts.open_intents()? {
        if let StoredBody::Sealed { reference, digest: _ } = &open.intent.request.body {
            let what = format!("the request of {}", open.intent.id);
            let why = unseal_failure(vault, reference);
            ills.extend(why.map(|why| UnreadableValue { key: open.intent.key.clone(), what, why }));
        }
    }
    Ok(ills)
}

/// Returns the reason why a value cannot be unsealed.
fn unseal_failure(vault: &Vault, reference: &str) -> Option<String> {
    let reference: VaultRef = match reference.parse() {
        Ok(reference) => reference,
        Err(error) => return Some(format!("{error}")),
    };
    match vault.unseal(&reference) {
        Ok(_) | Err(VaultError::Erased { .. }) => None,
        Err(error) => Some(error.to_string()),
    }
}
