//! Names that no resource has, with the most similar name that one has.

use serde::{Deserialize, Serialize};

use crate::base::id::Key;
use crate::base::wording::nearest;

/// A selected name that no resource has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownName {
    pub key: Key,
    pub nearest: Option<String>,
}

impl UnknownName {
    /// Returns those of these names that are not known; `keys` are all that exist.
    pub(crate) fn among<'a, 'k>(
        names: impl Iterator<Item = &'a Key>,
        known: impl Fn(&Key) -> bool,
        keys: impl Iterator<Item = &'k Key>,
    ) -> Vec<Self> {
        let (unknown, keys) = (names.filter(|key| !known(key)), keys.collect::<Vec<_>>());
        let like = |key: &Key| nearest_key(key, keys.iter().copied());
        let view = |key: &Key| Self { key: key.clone(), nearest: like(key) };
        unknown.map(view).collect()
    }
}

/// Returns the resource with the most similar name: one of the same kind, which may be longer, or
/// else one of another kind.
/// The kind counts for no similarity: `Merchant/acme` does not resemble `Merchant/harbor`.
pub(crate) fn nearest_key<'k>(key: &Key, keys: impl Iterator<Item = &'k Key>) -> Option<String> {
    let (same, others): (Vec<&Key>, Vec<&Key>) = keys.partition(|one| one.kind == key.kind);
    let wanted = own_name(key);
    let near = |keys: &[&Key]| {
        let names: Vec<String> = keys.iter().map(|one| own_name(one)).collect();
        let meant = nearest(&wanted, names.iter().map(String::as_str))?;
        keys.iter().zip(&names).find(|(_, name)| *name == meant).map(|(key, _)| key.short())
    };
    let longer = || same.iter().find(|one| own_name(one).starts_with(&wanted));
    near(&same).or_else(|| longer().map(|one| one.short())).or_else(|| near(&others))
}

/// Returns the name of a resource without its kind, as people write it.
fn own_name(key: &Key) -> String {
    let short = key.short();
    short.split_once('/').map_or(short.clone(), |(_, name)| name.to_owned())
}

/// Message: there is no such merchant.
pub(crate) fn no_merchant(key: &Key, merchants: &[Key]) -> String {
    let meant = nearest_key(key, merchants.iter());
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
    format!("there is no merchant {}{meant}", key.short())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_near_by_name_and_of_the_same_kind_first() {
        let keys = ["Merchant/acme", "Contact/jane", "Invoice/jane-2", "Invoice/b/june"];
        let keys = keys.map(|key| key.parse::<Key>().unwrap());
        let meant = |key: &str| nearest_key(&key.parse().unwrap(), keys.iter());
        for (given, found) in [
            ("Merchant/harbor", None),
            ("Merchant/acne", Some("Merchant/acme")),
            ("Invoice/jane", Some("Invoice/jane-2")),
            ("Invoice/b/jun", Some("Invoice/b/june")),
            ("SavedMethod/jane", Some("Contact/jane")),
        ] {
            assert_eq!(meant(given).as_deref(), found, "{given}");
        }
    }
}
