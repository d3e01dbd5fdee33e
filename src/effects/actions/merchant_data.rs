//! Actions on a merchant's own data: its details, its accounts, its test data, and objects that no
//! document manages.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fields::{ActionEffect, Changeable, decode, without_money};
use crate::api::merchant::Purge;
use crate::base::id::{Mode, PublicKey, RemoteId};
use crate::effects::core::context::EffectContext;
use crate::effects::merchants::account_change::change_account;
use crate::effects::merchants::change::change_merchant;
use crate::effects::merchants::purge::purge_test_data;
use crate::effects::merchants::settings::{
    BANK_SETTINGS, CARD_SETTINGS, MERCHANT_SETTINGS, RemoteSetting, check,
};
use crate::effects::methods::delete::delete_method;
use crate::effects::methods::method::PaymentMethodType;
use crate::effects::recurring::delete::delete_recurring;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MerchantFields {
    set: Map<String, Value>,
}

pub(crate) fn merchant(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let MerchantFields { set } = decode(fields)?;
    check(&MERCHANT_SETTINGS, &set)?;
    Ok(without_money(change_merchant(new, set)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountFields {
    account: RemoteId,
    #[serde(rename = "type")]
    sort: PaymentMethodType,
    set: Map<String, Value>,
}

pub(crate) fn account(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let AccountFields { account, sort, set } = decode(fields)?;
    let settings: &'static [RemoteSetting] = match sort {
        PaymentMethodType::Card => &CARD_SETTINGS,
        PaymentMethodType::Bank => &BANK_SETTINGS,
    };
    check(settings, &set)?;
    Ok(without_money(change_account(new, sort, &account, set)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PurgeFields {
    #[serde(default)]
    transactions: bool,
    #[serde(default)]
    methods: bool,
}

/// Purges test data. A request that names neither type means both, and reckon sends both
/// explicitly.
pub(crate) fn purge(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let PurgeFields { transactions, methods } = decode(fields)?;
    if new.mode != Mode::Test {
        let name = new.merchant.short();
        return Err(format!("only test data can be purged, and {name} is a live merchant"));
    }
    let all = !transactions && !methods;
    let what = Purge {
        delete_transactions: (all || transactions).then_some(true),
        delete_payment_methods: (all || methods).then_some(true),
    };
    Ok(without_money(purge_test_data(new, &what)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteFields {
    #[serde(rename = "type")]
    kind: Changeable,
    id: RemoteId,
}

pub(crate) fn delete(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let DeleteFields { kind, id } = decode(fields)?;
    Ok(without_money(match kind {
        Changeable::Card => delete_method(new, PaymentMethodType::Card, &id),
        Changeable::Bank => delete_method(new, PaymentMethodType::Bank, &id),
        Changeable::Recurring => delete_recurring(new, &id),
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeauthoriseFields {
    public_key: PublicKey,
}

pub(crate) fn deauthorise(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let DeauthoriseFields { public_key } = decode(fields)?;
    Ok(ActionEffect {
        effect: crate::effects::merchants::deauthorise::deauthorise_merchant(new, &public_key),
        money: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::testing::obligation;
    use super::*;

    /// Returns the name of the effect, its path and its body.
    ///
    /// # Errors
    ///
    /// The problem of the fields.
    fn made(
        make: fn(EffectContext, &Value) -> Result<ActionEffect, String>,
        new: EffectContext,
        fields: &Value,
    ) -> Result<String, String> {
        let effect = make(new, fields)?.effect;
        Ok(format!("{} {} {}", effect.name, effect.request.path, effect.request.body))
    }

    #[test]
    fn a_purge_of_nothing_in_particular_is_one_of_everything_and_live_data_stays() {
        let check = |fields: Value| made(purge, obligation(), &fields).unwrap();
        let both = r#"{"delete_transactions":true,"delete_payment_methods":true}"#;
        for fields in [json!({}), json!({"transactions": true, "methods": true})] {
            let told = check(fields);
            assert_eq!(told, format!("merchant.purge /v1/merchant/purge-test-data {both}"));
        }
        let methods = check(json!({"methods": true}));
        assert!(methods.ends_with(r#" {"delete_payment_methods":true}"#), "{methods}");
        let live = EffectContext { mode: Mode::Live, ..obligation() };
        let told = made(purge, live, &json!({})).unwrap_err();
        assert_eq!(told, "only test data can be purged, and Merchant/acme is a live merchant");
    }

    #[test]
    fn a_bank_account_takes_nothing_that_is_for_cards() {
        let fields = |kind: &str, set: Value| json!({"account": "a1", "type": kind, "set": set});
        let cvv = json!({"cvv_policy": "DISABLED"});
        let told = made(account, obligation(), &fields("card", cvv.clone())).unwrap();
        assert_eq!(told, r#"account.change /v1/accounts/a1 {"cvv_policy":"DISABLED"}"#);
        let told = made(account, obligation(), &fields("bank", cvv)).unwrap_err();
        assert_eq!(told, "there is no `cvv_policy` to set");
        assert!(made(account, obligation(), &fields("till", json!({"name": "x"}))).is_err());
        assert!(made(account, obligation(), &json!({"account": "a1", "type": "card"})).is_err());
    }

    #[test]
    fn what_is_deleted_is_named_by_its_type_and_id() {
        let told = |kind: &str| {
            let fields = json!({"type": kind, "id": "x1"});
            made(delete, obligation(), &fields)
        };
        assert_eq!(told("card").unwrap(), "card.delete /v1/cards/x1 null");
        assert_eq!(told("bank").unwrap(), "bank.delete /v1/banks/x1 null");
        let recurring = "recurring.delete /v1/recurring/charges/x1 null";
        assert_eq!(told("recurring").unwrap(), recurring);
        assert!(told("invoice").is_err());
        assert!(made(merchant, obligation(), &json!({"set": {"nickname": "x"}})).is_err());
    }
}
