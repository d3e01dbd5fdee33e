//! What is wrong with a state that could be opened: values that it names and that cannot be unsealed.

use serde::Serialize;

use crate::base::id::Key;
use crate::model::intent::StoredBody;
use crate::store::facts::{FactError, Facts};
use crate::store::vault::{Vault, VaultError, VaultRef};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ill {
    /// The resource whose value it is.
    pub key: Key,
    /// What the value is of it.
    pub what: String,
    /// Why it cannot be unsealed, and what to do.
    pub why: String,
}

/// Every sealed value that is known of a resource, or that an open intent would send again, and
/// that cannot be unsealed. A value that was destroyed on purpose is none.
pub fn ills(facts: &Facts, vault: &Vault) -> Result<Vec<Ill>, FactError> {
    let mut ills = Vec::new();
    facts.each_observed(|key, known| {
        for (name, fact) in known.facts.as_object().into_iter().flatten() {
            let reference = fact.get("sealed").and_then(serde_json::Value::as_str);
            let why = reference.and_then(|reference| closed(vault, reference));
            let ill = |why| Ill { key: key.clone(), what: name.clone(), why };
            ills.extend(why.map(ill));
        }
        Ok(())
    })?;
    for open in facts.open_intents()? {
        if let StoredBody::Sealed { reference, digest: _ } = &open.intent.request.body {
            let what = format!("the request of {}", open.intent.id);
            let why = closed(vault, reference);
            ills.extend(why.map(|why| Ill { key: open.intent.key.clone(), what, why }));
        }
    }
    Ok(ills)
}

/// Why a value cannot be unsealed.
fn closed(vault: &Vault, reference: &str) -> Option<String> {
    let reference: VaultRef = match reference.parse() {
        Ok(reference) => reference,
        Err(error) => return Some(format!("{error}")),
    };
    match vault.open_blob(&reference) {
        Ok(_) | Err(VaultError::Erased { .. }) => None,
        Err(error) => Some(error.to_string()),
    }
}
