//! Accounts of a merchant: their own keys, and the account that the service takes by default.
//!
//! The gateway credentials give every account its keys, but do not mark the primary one
//! (partner-api, Account object). The merchant's own record does, where a service has one
//! (service-facts, 67 and 69). The record is read only where this makes a difference.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::merchant::GetMerchant;
use crate::base::secret::Secret;
use crate::effects::core::row::{
    Learned, ReadingCx, ReadingError, ReadingRow, RemoteAnswer, RemoteQuery,
};

/// Reading of the primary accounts.
pub const ACCOUNTS: &str = "merchant.accounts";
/// Fact that names the sealed secret keys of the accounts.
pub const ACCOUNT_KEYS: &str = "account_keys";
/// Fact that lists the ids of the primary accounts.
pub(crate) const PRIMARY: &str = "primary_accounts";
/// Type of an account that takes cards.
pub(crate) const CARDS: &str = "MerchantAccount";
/// Type of an account that takes electronic checks.
const CHECKS: &str = "AchAccount";

pub(crate) const ROW: ReadingRow = ReadingRow { name: ACCOUNTS, queries, learn };

fn queries(_: &Value) -> Vec<RemoteQuery> {
    vec![RemoteQuery::one(Call::to::<GetMerchant>(&[]))]
}

/// A service without this record marks no account as primary.
fn learn(_: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let primary = match answers.first() {
        Some(RemoteAnswer::Body(merchant)) => primary_ids(merchant),
        Some(RemoteAnswer::Missing(_)) => json!([]),
        Some(RemoteAnswer::Items(_)) | None => {
            let why = "the service did not answer with the merchant's own record";
            return Err(ReadingError::RetryLater(why.to_owned()));
        }
    };
    Ok(Learned { exists: true, facts: json!({ PRIMARY: primary }), ..Learned::default() })
}

/// Returns the ids of the accounts that a merchant's own record marks as primary.
pub(crate) fn primary_ids(merchant: &Value) -> Value {
    let accounts = usable_accounts(merchant);
    let primary = accounts.iter().filter(|one| one.get("primary") == Some(&Value::Bool(true)));
    primary.map(|account| json!(text(account, "id"))).collect()
}

/// Returns the usable accounts of a merchant's own record, each with its type. There the type is
/// only the name of the list.
pub(crate) fn usable_accounts(merchant: &Value) -> Vec<Value> {
    let of = |field: &str, kind: &'static str| {
        let accounts = list(merchant.get(field)).to_vec().into_iter();
        accounts.map(move |mut account| {
            crate::effects::core::context::put(&mut account, "type", kind);
            account
        })
    };
    let all = of("merchant_accounts", CARDS).chain(of("ach_accounts", CHECKS));
    all.filter(|account| matches!(text(account, "status"), "" | "ACTIVE")).collect()
}

/// Returns whether more than one account takes the same type of payment.
pub fn has_several(accounts: &Value) -> bool {
    let accounts = list(Some(accounts));
    let of = |kind: &str| accounts.iter().filter(|account| text(account, "type") == kind).count();
    of(CARDS) > 1 || of(CHECKS) > 1
}

/// Packs the secret keys of accounts into one secret, by account id.
pub(crate) fn account_keys(accounts: &[Value]) -> Secret {
    let keys: BTreeMap<&str, &str> = accounts
        .iter()
        .map(|account| (text(account, "id"), text(account, "secret_key")))
        .filter(|(_, key)| !key.is_empty())
        .collect();
    Secret::from(json!(keys).to_string())
}

/// Returns the secret key of one account from those that were sealed together.
pub fn account_key(keys: &Secret, account: &str) -> Option<Secret> {
    let mut keys: BTreeMap<String, String> = serde_json::from_str(keys.expose()).ok()?;
    keys.remove(account).map(Secret::from)
}

/// Returns a sequence; empty if missing.
pub(crate) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns a text field; empty if missing.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_the_key_that_the_credentials_gave_it() {
        let accounts = json!([
            {"id": "a", "type": CARDS, "secret_key": "first"},
            {"id": "b", "type": CHECKS, "secret_key": "second"},
            {"id": "c", "type": CHECKS},
        ]);
        let keys = account_keys(accounts.as_array().unwrap());
        assert!(!format!("{keys:?}").contains("first"));
        let key = |id: &str| account_key(&keys, id).map(|key| key.expose().to_owned());
        assert_eq!((key("a").as_deref(), key("b").as_deref()), (Some("first"), Some("second")));
        assert_eq!((key("c"), key("d")), (None, None));
        assert!(has_several(&accounts));
        assert!(!has_several(&json!([accounts[0], accounts[1]])));
    }

    #[test]
    fn the_merchant_s_own_record_says_which_accounts_are_primary() {
        let merchant = json!({
            "merchant_accounts": [
                {"id": "a", "primary": true, "status": "ACTIVE"},
                {"id": "b", "primary": false},
                {"id": "c", "primary": true, "status": "DELETED"},
            ],
            "ach_accounts": [{"id": "d", "primary": true}],
        });
        assert_eq!(primary_ids(&merchant), json!(["a", "d"]));
        let kinds: Vec<String> =
            usable_accounts(&merchant).iter().map(|one| text(one, "type").to_owned()).collect();
        assert_eq!(kinds, [CARDS, CARDS, CHECKS]);
    }
}
