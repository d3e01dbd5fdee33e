//! A merchant's own details, its accounts and its test data: changes of each, and the account that
//! the service takes by default (service-facts, 4, 67 to 71; not in the two documents).
//!
//! The details are its contact, its allowed callers, and the targets of its events. The values are
//! personal or grant access, so the body is sealed and the journal holds only their names. The
//! change is absolute, so sending the same bytes again cannot double it. The answer is not compared
//! with the request, since no value may be in plain text. Data cannot be cleared twice, so a lost
//! answer is settled by sending again. That also clears objects that were created meanwhile; all of
//! it is test data.
//!
//! The gateway credentials give every account its keys, but do not mark the primary one
//! (partner-api, Account object). The merchant's own record does, where a service has one. The
//! record is read only where this makes a difference. A change of an account is absolute, and the
//! same record shows it: a lookup there settles a lost answer. A new primary account takes that role
//! from another account, so one such change is open at a time.

pub mod authorization;
pub mod read;
pub mod settings;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::call::{Call, Endpoint};
use crate::api::merchant::{
    GetMerchant, PatchAccount, PatchAchAccount, PatchMerchant, Purge, PurgeTestData,
};
use crate::base::id::RemoteId;
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectContext, set_field};
use crate::effects::core::expect::text;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, ReadingCx, ReadingError, ReadingRow, RemoteAnswer,
    RemoteQuery,
};
use crate::effects::merchants::settings::{CARD_SETTINGS, mismatched_settings};
use crate::effects::methods::PaymentMethodType;
use crate::model::effect::{Effect, ExposureCounts};
use crate::model::intent::Intent;

pub fn change_merchant(cx: EffectContext, set: Map<String, Value>) -> Effect {
    let names: Vec<&String> = set.keys().collect();
    let about = json!({ "set": names });
    let effect = cx.effect::<PatchMerchant>(MERCHANT_CHANGE.name, &[], Value::Object(set));
    effect.with_sealed_body().with_subject(about)
}

/// Stores only the id of the merchant's record, which the service answers.
pub(crate) const MERCHANT_CHANGE: EffectRow =
    EffectRow::resent::<PatchMerchant>("merchant.change", Isolation::PerMerchant, |_, reply| {
        Learned::object(reply, json!({}))
    });

/// Clears the parts of a merchant's test data in `what`. As a rule this removes more than one
/// object; their number at the service is unknown.
pub fn purge_test_data(cx: EffectContext, what: &Purge) -> Effect {
    let effect = cx.effect::<PurgeTestData>(MERCHANT_PURGE.name, &[], json!(what));
    Effect { counts: ExposureCounts { deletes: 1, ..effect.counts }, ..effect }
}

pub fn purge_of(effect: &Effect) -> Option<Purge> {
    let purges = effect.name == MERCHANT_PURGE.name;
    let what = purges.then(|| serde_json::from_value(effect.request.body.clone()).ok());
    what.flatten()
}

pub(crate) const MERCHANT_PURGE: EffectRow =
    EffectRow::resent::<PurgeTestData>("merchant.purge", Isolation::PerMerchant, |_, _| {
        Ok(Learned::existing(json!({})))
    });

pub const ACCOUNTS: &str = "merchant.accounts";
/// Fact that names the sealed secret keys of the accounts.
pub const ACCOUNT_KEYS: &str = "account_keys";
/// Fact that lists the ids of the primary accounts.
pub(crate) const PRIMARY: &str = "primary_accounts";
/// Type of an account that takes cards.
pub(crate) const CARDS: &str = "MerchantAccount";
/// Type of an account that takes electronic checks.
const CHECKS: &str = "AchAccount";

pub(crate) const ACCOUNTS_ROW: ReadingRow =
    ReadingRow { name: ACCOUNTS, queries: account_queries, learn: learn_accounts };

/// Reads the merchant's own record.
pub(crate) fn account_queries(_: &Value) -> Vec<RemoteQuery> {
    vec![RemoteQuery::one(Call::to::<GetMerchant>(&[]))]
}

/// A service without this record marks no account as primary.
fn learn_accounts(_: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let primary = match answers.first() {
        Some(RemoteAnswer::Body(merchant)) => primary_ids(merchant),
        Some(RemoteAnswer::Missing(_)) => json!([]),
        Some(RemoteAnswer::Items(_)) | None => {
            let why = "the service did not answer with the merchant's own record";
            return Err(ReadingError::RetryLater(why.to_owned()));
        }
    };
    Ok(Learned::existing(json!({ PRIMARY: primary })))
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
            set_field(&mut account, "type", kind);
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

pub(crate) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Fields of a merchant's own record that list its accounts.
const ACCOUNT_LISTS: [&str; 2] = ["merchant_accounts", "ach_accounts"];

/// Sets the fields in `set` of the account `account`, which takes methods of this type.
pub fn change_account(
    cx: EffectContext,
    method_type: PaymentMethodType,
    account: &RemoteId,
    set: Map<String, Value>,
) -> Effect {
    let (id, about, body) = ([account.as_str()], json!({ "set": set }), Value::Object(set));
    let effect = match method_type {
        PaymentMethodType::Card => cx.effect::<PatchAccount>(ACCOUNT_CHANGE.name, &id, body),
        PaymentMethodType::Bank => cx.effect::<PatchAchAccount>(ACH_ACCOUNT_CHANGE.name, &id, body),
    };
    effect.targeting(account).expecting("id", account.as_str()).with_subject(about)
}

/// Returns each setting that an account does not show as requested. Lists match in any order.
fn mismatches(intent: &Intent, account: &Value) -> Vec<String> {
    let set = intent.subject.get("set").unwrap_or(&Value::Null);
    mismatched_settings(&CARD_SETTINGS, set, account)
}

fn learn_change(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let unlike = mismatches(intent, reply);
    if !unlike.is_empty() {
        return Err(format!("the answer is not what was asked: {}", unlike.join("; ")));
    }
    Learned::object(reply, json!({}))
}

fn judge_change(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let merchant = match answers.first() {
        Some(RemoteAnswer::Body(merchant)) => merchant,
        // A service without this record has no such change: the next attempt gets that answer.
        Some(RemoteAnswer::Missing(_)) => &Value::Null,
        Some(RemoteAnswer::Items(_)) | None => return LookupResult::not_asked(),
    };
    let id = intent.target.as_ref().map_or("", RemoteId::as_str);
    let mut accounts = ACCOUNT_LISTS.iter().flat_map(|name| list(merchant.get(*name)));
    match accounts.find(|account| text(account, "id") == id) {
        Some(account) if mismatches(intent, account).is_empty() => {
            LookupResult::Applied(account.clone())
        }
        Some(_) | None => LookupResult::NotFound,
    }
}

const fn change_row<E: Endpoint>(name: &'static str) -> EffectRow {
    EffectRow::looked_up::<E>(
        name,
        Isolation::PerMerchant,
        |_| account_queries(&Value::Null),
        judge_change,
        learn_change,
    )
}

pub(crate) const ACCOUNT_CHANGE: EffectRow = change_row::<PatchAccount>("account.change");
pub(crate) const ACH_ACCOUNT_CHANGE: EffectRow =
    change_row::<PatchAchAccount>("ach_account.change");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::core::row::LostReply;
    use crate::effects::payments::void;
    use crate::effects::testing::{intent, judged, no_path, obligation};

    #[test]
    fn the_journal_holds_the_names_of_what_is_set_and_no_value() {
        let set = json!({"contact_email": "jane@example.com", "city": "Salem"});
        let effect = change_merchant(obligation(), set.as_object().unwrap().clone());
        assert!(effect.sealed && effect.request.body == set);
        assert_eq!(effect.subject, json!({"set": ["contact_email", "city"]}));
        assert!(effect.expect.is_empty());
        let asked = intent(MERCHANT_CHANGE.name, &json!({}), Value::Null);
        let shown = json!({"id": "m1", "contact_email": "jane@example.com"});
        let learn = MERCHANT_CHANGE.learn;
        let learned = learn(&asked, &shown).unwrap();
        assert_eq!((learned.exists, &learned.facts), (true, &json!({})));
        assert!(learn(&asked, &json!({})).is_err(), "no merchant answered");
    }

    #[test]
    fn a_lost_change_is_sent_again_since_it_is_absolute() {
        assert!(matches!(
            MERCHANT_CHANGE.lost_reply,
            LostReply::Retry { max_sends: 50, refusal_settles: true }
        ));
        assert_eq!(
            MERCHANT_CHANGE.isolation,
            Isolation::PerMerchant,
            "none is overtaken by an older one"
        );
    }

    #[test]
    fn a_purge_says_what_it_clears_and_counts_as_a_removal() {
        let what = Purge { delete_transactions: Some(true), delete_payment_methods: None };
        let effect = purge_test_data(obligation(), &what);
        assert_eq!(effect.request.body, json!({"delete_transactions": true}));
        assert_eq!((effect.counts.deletes, effect.counts.emails), (1, 0));
        assert_eq!(purge_of(&effect), Some(what));
        assert_eq!(purge_of(&void(obligation(), &RemoteId::new("t1").unwrap(), None)), None);
    }

    #[test]
    fn a_lost_purge_is_sent_again_and_its_empty_answer_is_enough() {
        assert!(matches!(
            MERCHANT_PURGE.lost_reply,
            LostReply::Retry { max_sends: 50, refusal_settles: true }
        ));
        let learned = (MERCHANT_PURGE.learn)(
            &intent(MERCHANT_PURGE.name, &json!({}), Value::Null),
            &Value::Null,
        )
        .unwrap();
        assert!(learned.exists && learned.remote_id.is_none());
    }

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

    /// An intent that sets `set` of the account `ch1`.
    fn asked(set: &Value) -> Intent {
        let about = json!({ "set": set });
        Intent { subject: about, ..intent(ACCOUNT_CHANGE.name, &json!({"id": "ch1"}), Value::Null) }
    }

    #[test]
    fn a_lost_answer_is_settled_by_the_account_in_the_merchant_s_own_record() {
        let set = json!({"name": "Till", "accepted_card_types": "VISA,JCB", "primary": true});
        let check = |answer: RemoteAnswer| judged(&asked(&set), &[answer]);
        let shown = |list: &str, id: &str, name: &str| {
            let account =
                json!({"id": id, "name": name, "accepted_card_types": "JCB,VISA", "primary": true});
            RemoteAnswer::Body(
                json!({"id": "m1", list: [{"id": "other", "name": "Till"}, account]}),
            )
        };
        assert_eq!(check(shown("merchant_accounts", "ch1", "Till")), "happened ch1");
        assert_eq!(check(shown("ach_accounts", "ch1", "Till")), "happened ch1");
        assert_eq!(check(shown("merchant_accounts", "ch1", "Main")), "absent");
        assert_eq!(check(shown("merchant_accounts", "ch2", "Till")), "absent");
        assert_eq!(check(no_path()), "absent", "the next try gets the same answer");
        assert!(check(RemoteAnswer::Items(Vec::new())).starts_with("unknown"));
    }

    #[test]
    fn an_answer_of_another_account_than_was_asked_for_is_none() {
        let intent = asked(&json!({"cvv_policy": "DISABLED"}));
        let learned =
            learn_change(&intent, &json!({"id": "ch1", "cvv_policy": "DISABLED"})).unwrap();
        assert_eq!(learned.remote_id.unwrap().as_str(), "ch1");
        let told =
            learn_change(&intent, &json!({"id": "ch1", "cvv_policy": "OPTIONAL"})).unwrap_err();
        assert!(told.contains("cvv_policy: asked \"DISABLED\", answered \"OPTIONAL\""), "{told}");
    }

    #[test]
    fn each_type_of_account_has_its_own_path() {
        let set = || json!({"name": "Till"}).as_object().unwrap().clone();
        let id = RemoteId::new("a1").unwrap();
        let effect = |sort| change_account(obligation(), sort, &id, set());
        let (card, bank) = (effect(PaymentMethodType::Card), effect(PaymentMethodType::Bank));
        assert_eq!((card.name, card.request.path.as_str()), ("account.change", "/v1/accounts/a1"));
        assert_eq!(bank.name, "ach_account.change");
        assert_eq!(bank.request.path, "/v1/ach-accounts/a1");
        assert_eq!((&card.request.body, card.sealed), (&json!({"name": "Till"}), false));
        assert_eq!(card.counts.deletes, 0);
    }
}
