//! Choice of the account, its currency and permissions, the signing key, and the meaning of trust
//! money.

use serde_json::{Value, json};

use crate::kinds::recurring_charge::step_tests::{
    AT_ONCE, HEAD, Known, LATER, effect, idle, money, observed,
};
use crate::model::change::PlannedAction;

/// Returns one account as stored from the credentials.
fn account(id: &str, kind: &str, currency: &str, trust: &str) -> Value {
    json!({"id": id, "name": id.to_uppercase(), "type": kind, "currency": currency,
        "recurring_charges_enabled": true, "trust_account": trust})
}

fn cards(ids: &[&str], primary: &[&str]) -> Known {
    let accounts: Vec<Value> =
        ids.iter().map(|id| account(id, "MerchantAccount", "USD", "false")).collect();
    Known::new(&json!({"accounts": accounts, "primary_accounts": primary}))
}

#[test]
fn where_none_is_named_it_is_the_only_one_or_the_primary_one_and_its_own_key_signs() {
    for (known, expect) in [(cards(&["a"], &[]), "a"), (cards(&["a", "b"], &["b"]), "b")] {
        for way in [LATER, AT_ONCE] {
            let draft = known.step(&format!("{HEAD}{way}"), None);
            let request = &effect(&draft).request;
            assert_eq!(request.body["account_id"], expect);
            assert_eq!(request.account.as_deref(), Some(expect));
            assert_eq!(effect(&draft).expect["account_id"], expect);
        }
    }
    let have = observed(Some("r1"), None, json!({"status": "ACTIVE", "account_id": "a"}));
    let spec = effect(&cards(&["a"], &[]).step(&format!("{HEAD}{LATER}"), None)).applied.clone();
    let have =
        crate::model::state::observed::Observed { exists: true, applied: Some(spec), ..have };
    let changed = format!("{HEAD}{LATER}").replace("50.00", "55.00");
    let draft = cards(&["a"], &[]).step(&changed, Some(&have));
    assert_eq!(effect(&draft).request.account.as_deref(), Some("a"));
}

#[test]
fn none_and_several_without_a_primary_are_told_before_anything_is_sent() {
    let spec = format!("{HEAD}{LATER}");
    let checks = Known::new(&json!({"accounts": [account("x", "AchAccount", "USD", "false")]}));
    assert_eq!(
        idle(&checks.step(&spec, None)),
        "Blocked AccountUnfit: the merchant has no account that takes cards"
    );
    for primary in [&[][..], &["a", "b"][..]] {
        assert_eq!(
            idle(&cards(&["a", "b"], primary).step(&spec, None)),
            "Blocked AccountUnfit: the merchant has several accounts that take cards (A, B), and the primary one is unknown: name one in `account`"
        );
    }
    let named = format!("{HEAD}account: B\n{LATER}");
    assert_eq!(effect(&cards(&["a", "b"], &[]).step(&named, None)).request.body["account_id"], "b");
    let told = idle(&cards(&["a"], &[]).step(&named, None));
    assert_eq!(told, "Blocked AccountUnfit: the merchant has no account \"B\"; it has A");
}

#[test]
fn accounts_that_cannot_be_read_are_the_service_s_own_choice() {
    let known = Known::new(&json!({"accounts": null}));
    let draft = known.step(&format!("{HEAD}{LATER}"), None);
    assert_eq!(effect(&draft).request.body.get("account_id"), None);
    let draft = known.step(&format!("{HEAD}account: acc1\n{LATER}"), None);
    assert_eq!(effect(&draft).request.body["account_id"], "acc1");
}

#[test]
fn money_of_another_currency_is_never_sent_also_to_an_account_that_is_not_named() {
    let known = Known::new(&json!({"accounts": [account("a", "MerchantAccount", "EUR", "false")]}));
    for spec in [format!("{HEAD}{LATER}"), format!("{HEAD}account: A\n{AT_ONCE}")] {
        assert_eq!(
            idle(&known.step(&spec, None)),
            "Blocked CurrencyMismatch: the amount is in USD, and the account \"A\" takes EUR: write EUR, or name another account"
        );
    }
    let euro = format!("{HEAD}{LATER}").replace("USD", "EUR");
    assert_eq!(known.step(&euro, None).verdict, PlannedAction::Create);
}

#[test]
fn money_bound_for_a_trust_account_has_a_meaning_of_its_own() {
    let known = Known::new(&json!({"accounts": [
        account("a", "MerchantAccount", "USD", "false"),
        account("t", "MerchantAccount", "USD", "true"),
    ], "primary_accounts": ["a"]}));
    let plain = known.step(&format!("{HEAD}{AT_ONCE}"), None);
    assert_eq!(money(&plain), ["50.00 USD charged_now", "50.00 USD collected_per_occurrence"]);
    let trust = known.step(&format!("{HEAD}account: T\n{AT_ONCE}"), None);
    assert_eq!(
        money(&trust),
        ["50.00 USD charged_now_into_trust", "50.00 USD collected_per_occurrence_into_trust"]
    );
    let spec = format!("{HEAD}account: T\nsurcharge: apply\n{AT_ONCE}");
    assert_eq!(
        money(&known.step(&spec, None))[0],
        "50.00 USD charged_now_into_trust_before_surcharge"
    );
    let applied = effect(&known.step(&format!("{HEAD}account: T\n{LATER}"), None)).applied.clone();
    let mut have = observed(Some("r1"), None, json!({"status": "ACTIVE", "account_id": "t"}));
    (have.exists, have.applied) = (true, Some(applied));
    let more = format!("{HEAD}account: T\n{LATER}").replace("50.00", "60.00");
    let draft = known.step(&more, Some(&have));
    assert_eq!(money(&draft), ["60.00 USD collected_per_occurrence_into_trust"]);
}
