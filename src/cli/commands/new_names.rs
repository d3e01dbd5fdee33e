//! The names that a new document takes from the tree: its merchant, and the resource of another kind
//! that it refers to.

use crate::base::id::{Key, Kind};
use crate::base::wording;
use crate::cli::commands::get::parse_resource;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::Example;
use crate::model::manifest::Desired;

/// Refuses a name that a document of the tree has.
pub(crate) fn require_new(desired: &Desired, key: &Key) -> CommandResult<()> {
    let place = desired.manifests.get(key).map(|kept| &kept.place);
    if place.is_none() && !desired.broken.contains(key) {
        return Ok(());
    }
    let at = place.map(|place| format!(": {}:{}", place.file, place.line)).unwrap_or_default();
    let what = format!("{} has a document{at}", key.short());
    Err(CommandFailure::input("reckon::new::exists", what).help("choose another name"))
}

/// Returns the named merchant, or the only one of the tree; `None` for a kind without merchant.
pub(crate) fn merchant(
    desired: &Desired,
    row: &KindRow,
    named: Option<&str>,
) -> CommandResult<Option<Key>> {
    if !row.examples.iter().any(|(_, example)| *example == Example::Merchant) {
        let what = format!("{} belongs to no merchant", row.name);
        return match named {
            None => Ok(None),
            Some(_) => Err(merchant_failure(what).help("leave --merchant out")),
        };
    }
    named_or_only(desired, named).map(Some)
}

/// Returns the named merchant, or the only one of the tree.
pub(crate) fn named_or_only(desired: &Desired, named: Option<&str>) -> CommandResult<Key> {
    let all: Vec<&Key> =
        desired.manifests.keys().filter(|key| key.kind.as_str() == MERCHANT).collect();
    match named {
        Some(name) => named_merchant(&all, parse_resource(&format!("{MERCHANT}/{name}"))?),
        None => only_merchant(&all),
    }
}

fn merchant_failure(what: String) -> CommandFailure {
    CommandFailure::input("reckon::new::merchant", what)
}

fn named_merchant(all: &[&Key], key: Key) -> CommandResult<Key> {
    if all.contains(&&key) {
        return Ok(key);
    }
    let names: Vec<String> = all.iter().map(|one| name_in(one, None)).collect();
    let meant = wording::nearest(&name_in(&key, None), names.iter().map(String::as_str));
    let help = match meant {
        Some(meant) => format!("did you mean --merchant {meant}?"),
        None => list_help(&names),
    };
    Err(merchant_failure(format!("no document: {}", key.short())).help(help))
}

fn only_merchant(all: &[&Key]) -> CommandResult<Key> {
    match all {
        [only] => Ok((*only).clone()),
        all => {
            let names: Vec<String> = all.iter().map(|one| name_in(one, None)).collect();
            let count = if all.is_empty() { "no merchant" } else { "several merchants" };
            let what = format!("the documents contain {count}");
            Err(merchant_failure(what).help(list_help(&names)))
        }
    }
}

fn list_help(names: &[String]) -> String {
    if names.is_empty() {
        return "make one first: `reckon new Merchant NAME --file specs/NAME.yaml`".to_owned();
    }
    format!("name one of them: --merchant {}", names.join(", --merchant "))
}

/// Returns a name as a document refers to it; with the namespace unless it is that of `from`.
pub(crate) fn name_in(key: &Key, from: Option<&Key>) -> String {
    let near =
        from.map_or(key.namespace.is_default_namespace(), |from| from.namespace == key.namespace);
    if near { key.name.to_string() } else { format!("{}/{}", key.namespace, key.name) }
}

/// The resource of another kind that a new document refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReferredName {
    /// The document of the tree.
    Known(Key),
    /// A document that has to be made, too.
    Missing(Key),
}

impl ReferredName {
    pub(crate) fn key(&self) -> &Key {
        match self {
            Self::Known(key) | Self::Missing(key) => key,
        }
    }
}

/// Returns the resource that a document of a merchant refers to: the only one of the merchant, or
/// else one with the name of the document. `None` for a kind that refers to no other.
pub(crate) fn referred(
    desired: &Desired,
    row: &KindRow,
    key: &Key,
    merchant: &Key,
) -> CommandResult<Option<ReferredName>> {
    let Some(kind) = referred_kind(row) else { return Ok(None) };
    let of_merchant = resources_of(desired, kind, merchant);
    if let [only] = of_merchant.as_slice() {
        return Ok(Some(ReferredName::Known((*only).clone())));
    }
    let named = Key::new(Kind::new(kind), &key.namespace, &key.name);
    if of_merchant.contains(&&named) {
        return Ok(Some(ReferredName::Known(named)));
    }
    require_new(desired, &named)?;
    Ok(Some(ReferredName::Missing(named)))
}

fn referred_kind(row: &KindRow) -> Option<&'static str> {
    row.examples.iter().find_map(|(_, example)| match example {
        Example::Resource(kind) => Some(*kind),
        Example::Yaml(_)
        | Example::Merchant
        | Example::Plan
        | Example::Variable(_)
        | Example::Day => None,
    })
}

/// Returns the documents of a kind that refer to a merchant.
fn resources_of<'a>(desired: &'a Desired, kind: &str, merchant: &Key) -> Vec<&'a Key> {
    let of_kind = desired.manifests.iter().filter(|(key, _)| key.kind.as_str() == kind);
    let belongs = of_kind.filter(|(_, kept)| kept.references.iter().any(|to| to.key == *merchant));
    belongs.map(|(key, _)| key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_carries_its_namespace_only_where_it_differs() {
        let key = |text: &str| text.parse::<Key>().unwrap();
        assert_eq!(name_in(&key("Merchant/acme"), Some(&key("Invoice/a"))), "acme");
        assert_eq!(name_in(&key("Merchant/acme"), Some(&key("Invoice/b/a"))), "default/acme");
        assert_eq!(name_in(&key("Merchant/b/acme"), None), "b/acme");
    }

    #[test]
    fn the_merchant_is_the_only_one_or_the_named_one() {
        let keys = ["Merchant/acme", "Merchant/harbor"].map(|key| key.parse::<Key>().unwrap());
        let [acme, harbor] = [&keys[0], &keys[1]];
        let help = |chosen: CommandResult<Key>| chosen.unwrap_err().help.unwrap();
        assert_eq!(only_merchant(&[acme]).unwrap(), *acme);
        assert_eq!(
            help(only_merchant(&[acme, harbor])),
            "name one of them: --merchant acme, --merchant harbor"
        );
        let named = |text: &str| named_merchant(&[acme, harbor], text.parse().unwrap());
        assert_eq!(named("Merchant/harbor").unwrap(), *harbor);
        assert_eq!(help(named("Merchant/harbr")), "did you mean --merchant harbor?");
        assert!(help(only_merchant(&[])).contains("reckon new Merchant"));
    }
}
