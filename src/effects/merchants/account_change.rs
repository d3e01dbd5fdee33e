//! Changes an account of a merchant: its name, its requirements, or its role as the primary account
//! (service-facts, 69 and 71; not in the two documents).
//!
//! The change is absolute, and the merchant's own record shows it: a lookup there settles a lost
//! answer. A new primary account takes that role from another account, so one such change is open
//! at a time.

use serde_json::{Map, Value, json};

use super::accounts::list;
use super::settings::{CARD_SETTINGS, mismatched_settings};
use crate::api::call::{Call, Endpoint};
use crate::api::merchant::{GetMerchant, PatchAccount, PatchAchAccount};
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::expect;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::effects::methods::method::PaymentMethodType;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Fields of a merchant's own record that list its accounts.
const LISTS: [&str; 2] = ["merchant_accounts", "ach_accounts"];

/// Sets the fields in `set` of the account `account`, which takes methods of type `sort`.
pub fn change_account(
    obligation: EffectContext,
    sort: PaymentMethodType,
    account: &RemoteId,
    set: Map<String, Value>,
) -> Effect {
    match sort {
        PaymentMethodType::Card => change::<PatchAccount>(CARD.name, obligation, account, set),
        PaymentMethodType::Bank => change::<PatchAchAccount>(BANK.name, obligation, account, set),
    }
}

fn change<E: Endpoint>(
    name: &'static str,
    obligation: EffectContext,
    account: &RemoteId,
    set: Map<String, Value>,
) -> Effect {
    let about = json!({ "set": set });
    let effect = obligation.effect::<E>(name, &[account.as_str()], Value::Object(set));
    effect.targeting(account).expecting("id", account.as_str()).with_subject(about)
}

/// Returns each setting that an account does not show as requested. Lists match in any order.
fn mismatches(intent: &Intent, account: &Value) -> Vec<String> {
    let set = intent.subject.get("set").unwrap_or(&Value::Null);
    mismatched_settings(&CARD_SETTINGS, set, account)
}

fn learn(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let unlike = mismatches(intent, reply);
    if !unlike.is_empty() {
        return Err(format!("the answer is not what was asked: {}", unlike.join("; ")));
    }
    let remote_id = Some(expect::id(reply)?);
    Ok(Learned { remote_id, exists: true, facts: json!({}), ..Learned::default() })
}

fn queries(_: &Intent) -> Vec<RemoteQuery> {
    vec![RemoteQuery::one(Call::to::<GetMerchant>(&[]))]
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let merchant = match answers.first() {
        Some(RemoteAnswer::Body(merchant)) => merchant,
        // A service without this record has no such change: the next attempt gets that answer.
        Some(RemoteAnswer::Missing(_)) => &Value::Null,
        Some(RemoteAnswer::Items(_)) | None => {
            return LookupResult::Inconclusive("the service was not asked".to_owned());
        }
    };
    let id = intent.target.as_ref().map_or("", RemoteId::as_str);
    let mut accounts = LISTS.iter().flat_map(|name| list(merchant.get(*name)));
    match accounts.find(|account| expect::text(account, "id") == id) {
        Some(account) if mismatches(intent, account).is_empty() => {
            LookupResult::Applied(account.clone())
        }
        Some(_) | None => LookupResult::NotFound,
    }
}

const fn row(name: &'static str) -> EffectRow {
    EffectRow::looked_up(name, Isolation::PerMerchant, queries, judge, learn)
}

pub(crate) const CARD: EffectRow = row("account.change");
pub(crate) const BANK: EffectRow = row("ach_account.change");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::{intent, judged, no_path, obligation};

    /// An intent that sets `set` of the account `ch1`.
    fn asked(set: &Value) -> Intent {
        let about = json!({ "set": set });
        Intent { subject: about, ..intent(CARD.name, &json!({"id": "ch1"}), Value::Null) }
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
        let learned = learn(&intent, &json!({"id": "ch1", "cvv_policy": "DISABLED"})).unwrap();
        assert_eq!(learned.remote_id.unwrap().as_str(), "ch1");
        let told = learn(&intent, &json!({"id": "ch1", "cvv_policy": "OPTIONAL"})).unwrap_err();
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
