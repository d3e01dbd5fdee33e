//! The words of hook actions, sealed under the merchant's key within the record of the request.
//!
//! A script puts a payer's text into an action: bodies, addresses, descriptions. Journal, index and
//! backups hold these words sealed; ids, amounts and dates stay readable. Erasing the merchant
//! erases the words, and an action that was not done before then is no longer done.

use rand_core::CryptoRng;
use serde_json::{Map, Value};

use crate::base::hash::Digest;
use crate::model::events::hook::{ActionRequest, NAMED_BY_CONTENT, SEALED};
use crate::store::vault::frame::VaultError;
use crate::store::vault::keys::SealedValue;
use crate::store::vault::values::Vault;

/// Fields that hold ids, names of documents and targets, money, dates and choices.
const OPEN: &[&str] = &[
    "account",
    "amount",
    "charge",
    "contact",
    "days",
    "end",
    "hold",
    "id",
    "interval_delay",
    "interval_unit",
    "key",
    "method",
    "next_run",
    "occurrence",
    "recurring",
    "start",
    "target",
    "transaction",
    "type",
    "until",
    "ends",
];

/// Seals the words of an action; returns the sealed value if it belongs in the vault.
pub(crate) fn seal(
    vault: &Vault,
    subject: &str,
    wish: &mut ActionRequest,
    rng: &mut dyn CryptoRng,
) -> Result<Option<SealedValue>, VaultError> {
    let named_by_content = wish.is_named_by_content();
    let Some(fields) = wish.fields.as_object_mut() else { return Ok(None) };
    let (open, words): (Map<_, _>, Map<_, _>) =
        std::mem::take(fields).into_iter().partition(|(name, _)| OPEN.contains(&name.as_str()));
    *fields = open;
    if words.is_empty() {
        return Ok(None);
    }
    let sealed = vault.seal(subject, Value::Object(words).to_string().as_bytes(), rng)?;
    let within = sealed.inline_text();
    let is_within = within.is_some();
    let text = within.unwrap_or_else(|| sealed.reference().to_string());
    fields.insert(SEALED.to_owned(), Value::String(text));
    fields.insert(NAMED_BY_CONTENT.to_owned(), Value::Bool(named_by_content));
    // An unkeyed digest of the words would let anyone who reads the journal try texts against it.
    wish.content = wish.content.map(|content| vault.digest(subject, content.as_bytes()));
    Ok((!is_within).then_some(sealed))
}

/// Returns the digest of an action's content as the journal has it, for an action whose words are
/// not sealed yet.
pub(crate) fn journal_digest(vault: &Vault, subject: &str, wish: &ActionRequest) -> Option<Digest> {
    let fields = wish.fields.as_object()?;
    let has_words = fields.keys().any(|name| !OPEN.contains(&name.as_str()));
    let digest = wish.content?;
    Some(if has_words { vault.digest(subject, digest.as_bytes()) } else { digest })
}

/// Returns the action with its words; `None`: they were erased. Older records hold them unsealed.
pub(crate) fn open(
    vault: &Vault,
    wish: ActionRequest,
) -> Result<Option<ActionRequest>, VaultError> {
    match open_words(vault, wish) {
        Ok(wish) => Ok(Some(wish)),
        Err(VaultError::Erased { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the fields of an action that are never sealed.
pub(crate) fn open_fields(wish: &ActionRequest) -> Value {
    let fields = wish.fields.as_object().into_iter().flatten();
    let open = fields.filter(|(name, _)| OPEN.contains(&name.as_str()));
    open.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>().into()
}

/// Returns an action for display: without its words if they are unavailable.
pub(crate) fn for_display(vault: &Vault, wish: &ActionRequest) -> ActionRequest {
    open_words(vault, wish.clone()).unwrap_or_else(|_| wish.clone())
}

fn open_words(vault: &Vault, mut wish: ActionRequest) -> Result<ActionRequest, VaultError> {
    let Some(fields) = wish.fields.as_object_mut() else { return Ok(wish) };
    let Some(Value::String(sealed)) = fields.remove(SEALED) else { return Ok(wish) };
    fields.remove(NAMED_BY_CONTENT);
    let bytes = vault.unseal_text(&sealed)?;
    let words: Map<String, Value> = serde_json::from_slice(&bytes).unwrap_or_default();
    fields.extend(words);
    Ok(if wish.content.is_some() { wish.with_content_digest() } else { wish })
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;
    use serde_json::json;
    use std::sync::Arc;

    use super::*;
    use crate::store::disk::traits::MemoryDisk;
    use crate::store::vault::key::MasterKey;

    const MERCHANT: &str = "Merchant/default/acme";

    fn vault() -> Vault {
        Vault::open(Arc::new(MemoryDisk::new()), &MasterKey::new([1; 32])).unwrap()
    }

    fn notification() -> ActionRequest {
        let fields = json!({"target": "ops", "body": "Jane Doe owes", "to": "jane@payer.example",
            "subject": "For Jane", "amount": {"minor": 700, "currency": "USD"}});
        let name = ActionRequest::content_name("notify", None, &fields, None).unwrap();
        ActionRequest {
            name,
            verb: "notify".to_owned(),
            merchant: None,
            fields,
            at: None,
            at_most: None,
            content: None,
        }
    }

    /// Seals one action twice: the first value of a subject brings its key and goes to the vault,
    /// the second one stays within.
    fn sealed(vault: &Vault) -> [ActionRequest; 2] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        [(); 2].map(|()| {
            let mut wish = notification();
            let blob = seal(vault, MERCHANT, &mut wish, &mut rng).unwrap();
            vault.write(&Vec::from_iter(blob)).unwrap();
            wish
        })
    }

    /// Closes S8.
    #[test]
    fn words_are_sealed_and_ids_and_money_stay_readable() {
        let vault = vault();
        for wish in sealed(&vault) {
            let kept = serde_json::to_string(&wish).unwrap();
            assert!(!kept.contains("Jane") && !kept.contains("payer"), "{kept}");
            assert!(kept.contains("ops") && kept.contains("700"), "{kept}");
            assert!(wish.is_named_by_content(), "its name is still one by content");
            assert_eq!(open(&vault, wish.clone()).unwrap(), Some(notification()));
            assert_eq!(for_display(&vault, &wish), notification());
        }
    }

    /// Closes S8.
    #[test]
    fn erasing_the_merchant_erases_the_words_of_its_actions() {
        let vault = vault();
        let all = sealed(&vault);
        vault.erase(MERCHANT).unwrap();
        for wish in all {
            assert_eq!(open(&vault, wish.clone()).unwrap(), None);
            assert_eq!(for_display(&vault, &wish).fields["target"], "ops");
        }
    }

    /// Closes S8: the digest beside sealed words does not help to guess them, and still
    /// distinguishes requests.
    #[test]
    fn the_digest_of_sealed_words_is_keyed() {
        let vault = vault();
        let chosen = |body: &str| {
            let mut wish = notification();
            wish.name = "tell".parse().unwrap();
            wish.fields["body"] = json!(body);
            wish.with_content_digest()
        };
        let plain = chosen("Jane Doe owes");
        let kept = |wish: &ActionRequest, subject: &str| {
            let mut wish = wish.clone();
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            vault
                .write(&Vec::from_iter(seal(&vault, subject, &mut wish, &mut rng).unwrap()))
                .unwrap();
            wish
        };
        let first = kept(&plain, MERCHANT);
        assert!(first.content.is_some() && first.content != plain.content, "keyed");
        assert_eq!(kept(&plain, MERCHANT).content, first.content, "equal content, equal digest");
        assert_ne!(kept(&chosen("Jane Doe paid"), MERCHANT).content, first.content);
        assert_ne!(kept(&plain, "Merchant/default/other").content, first.content);
        assert_eq!(
            open(&vault, first).unwrap(),
            Some(plain),
            "what was asked for comes back whole"
        );
    }

    /// Closes S8: an older record is read as it is.
    #[test]
    fn an_action_of_an_older_record_holds_its_words_in_the_open() {
        let old = include_str!("../../../tests/data/hook-action-in-the-open.json");
        let wish: ActionRequest = serde_json::from_str(old).unwrap();
        assert_eq!(open(&vault(), wish.clone()).unwrap(), Some(wish.clone()));
        assert_eq!(wish.fields["body"], "Jane Doe owes 7.00 USD");
    }
}
