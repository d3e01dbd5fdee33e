//! Binds a merchant to the public keys of its credentials when those are read (design.md part 2).
//!
//! The first credentials bind its public keys. Later ones must open the same accounts, unless the
//! generation of its document was raised: then they bind it anew. The fold decides whether the keys
//! belong to another merchant, since only the fold knows which came first.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::base::id::PublicKey;
use crate::effects::core::row::{ReadingCx, ReadingError};
use crate::model::state::credentials::MerchantBinding;

/// Returns the fact [`crate::model::state::credentials::BINDING`] of these public keys.
///
/// # Errors
///
/// None of the keys is valid, or the merchant is bound to other keys.
pub(crate) fn bind_keys<'a>(
    cx: &ReadingCx<'_>,
    public_keys: impl IntoIterator<Item = &'a str>,
    name: Option<&str>,
) -> Result<Value, ReadingError> {
    let public_keys: BTreeSet<PublicKey> =
        public_keys.into_iter().filter_map(|key| PublicKey::new(key).ok()).collect();
    if public_keys.is_empty() {
        return Err(ReadingError::RetryLater("the credentials hold no public key".to_owned()));
    }
    let before = cx.observed.and_then(crate::model::state::observed::Observed::merchant_binding);
    let before = before.filter(|before| before.generation >= cx.generation);
    if before.is_some_and(|before| !before.public_keys.is_subset(&public_keys)) {
        let why = "the credentials belong to another merchant than those read first: mend them, or raise \
            reckon.dev/generation to bind it to this one";
        return Err(ReadingError::Mismatch(why.to_owned()));
    }
    let name = name.map(str::to_owned);
    let bound = MerchantBinding { generation: cx.generation, mode: cx.mode, name, public_keys };
    Ok(json!(bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Key, Mode};
    use crate::model::state::credentials::BINDING;
    use crate::model::state::observed::Observed;

    /// Binds credentials with `keys` under a generation, given the `known` binding.
    fn check(known: Option<&Value>, generation: u32, keys: &[&str]) -> Result<Value, ReadingError> {
        let key: Key = "Merchant/default/acme".parse().unwrap();
        let at = "2026-11-21T12:00:00Z".parse().unwrap();
        let observed = known.map(|bound| Observed {
            facts: json!({ BINDING: bound }),
            ..Observed::unknown(key.clone(), at)
        });
        let cx = ReadingCx {
            key: &key,
            mode: Mode::Test,
            generation,
            observed: observed.as_ref(),
            about: &Value::Null,
            knows_mark: &|_| true,
        };
        bind_keys(&cx, keys.iter().copied(), Some("Acme"))
    }

    #[test]
    fn later_credentials_open_what_the_first_ones_did() {
        let first = check(None, 0, &["m_2", "", "m_1", "m_1"]).unwrap();
        assert_eq!(first["public_keys"], json!(["m_1", "m_2"]));
        assert_eq!(check(Some(&first), 0, &["m_1", "m_2"]), Ok(first.clone()));
        assert!(check(Some(&first), 0, &["m_1", "m_2", "m_3"]).is_ok(), "an account was added");
        for other in [&["m_1"][..], &["m_3"], &["m_1", "m_3"]] {
            assert!(
                matches!(check(Some(&first), 0, other), Err(ReadingError::Mismatch(_))),
                "{other:?}"
            );
        }
    }

    #[test]
    fn a_raised_generation_binds_anew() {
        let first = check(None, 1, &["m_1"]).unwrap();
        assert!(matches!(check(Some(&first), 0, &["m_2"]), Err(ReadingError::Mismatch(_))));
        assert_eq!(check(Some(&first), 2, &["m_2"]).unwrap()["generation"], json!(2));
    }

    #[test]
    fn credentials_without_a_public_key_bind_nothing() {
        assert!(matches!(check(None, 0, &["", ""]), Err(ReadingError::RetryLater(_))));
    }
}
