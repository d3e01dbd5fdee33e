//! Reads the objects that a merchant's credentials open, and surveys them for marks before the
//! first effect on it (partner-api, GET /gateway-credentials and /bank-accounts; service-facts 67
//! for keys alone).
//!
//! An empty state does not prove an empty service: a mark of ours that the journal does not know
//! means that a journal was lost. It stops everything for the merchant (design.md part 2).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::credentials::GetCredentials;
use crate::api::merchant::ListBankAccounts;
use crate::api::recurring::ListRecurring;
use crate::api::saved_method::{ListBanks, ListCards};
use crate::base::hash::Mark;
use crate::base::id::Mode;
use crate::base::money::Money;
use crate::base::secret::Secret;
use crate::effects::core::context::{copy_fields, set_field};
use crate::effects::core::expect::text;
use crate::effects::core::row::{
    Learned, ReadingCx, ReadingError, ReadingRow, RemoteAnswer, RemoteQuery,
};
use crate::effects::merchants::authorization::{APPLICATION, bind_keys};
use crate::effects::merchants::{
    ACCOUNT_KEYS, CARDS, PRIMARY, account_keys, account_queries, list, primary_ids, usable_accounts,
};
use crate::model::state::credentials::BINDING;
use crate::model::state::observed::Observed;
use crate::model::state::orphan::{Collection, UnknownObject};

/// Reading of a merchant that has a `payments` token.
pub const CREDENTIALS: &str = "merchant.credentials";
/// Reading of a merchant that has keys alone, about `{public_key}`.
pub const KEYS: &str = "merchant.keys";

pub(crate) const CREDENTIALS_ROW: ReadingRow = ReadingRow {
    name: CREDENTIALS,
    queries: |_| {
        let calls = [Call::to::<GetCredentials>(&[]), Call::to::<ListBankAccounts>(&[])];
        calls.into_iter().map(RemoteQuery::one).collect()
    },
    learn: learn_credentials,
};

pub(crate) const KEYS_ROW: ReadingRow =
    ReadingRow { name: KEYS, queries: account_queries, learn: learn_keys };

fn learn_credentials(
    cx: &ReadingCx<'_>,
    answers: &[RemoteAnswer],
) -> Result<Learned, ReadingError> {
    let [RemoteAnswer::Body(credentials), RemoteAnswer::Body(banks)] = answers else {
        let why = "the service did not answer with credentials and bank accounts";
        return Err(ReadingError::RetryLater(why.to_owned()));
    };
    let (mode, field) = match cx.mode {
        Mode::Test => ("test", "test_accounts"),
        Mode::Live => ("live", "live_accounts"),
    };
    let accounts = list(credentials.get(field));
    let Some(first) = bound_account(cx, accounts) else {
        return Err(ReadingError::RetryLater(format!("the merchant has no {mode} accounts")));
    };
    let name = credentials.pointer("/merchant/name").and_then(Value::as_str);
    let bound = bind_keys(cx, accounts.iter().map(|account| text(account, "public_key")), name)?;
    let mut facts = json!({
        BINDING: bound,
        "mode": cx.mode,
        "public_key": text(first, "public_key"),
        "accounts": accounts.iter().map(account).collect::<Vec<_>>(),
        "bank_accounts": deposits(banks, credentials, field),
        "other_bank_accounts": other_mode_accounts(banks, credentials, field),
        "timezone": credentials.pointer("/merchant/timezone"),
        "reference_required": credentials.pointer("/merchant/reference_required"),
        "merchant_name": name,
    });
    if opens_new_account(cx) {
        set_field(&mut facts, "surveyed", Value::Null);
    }
    let key = Secret::from(text(first, "secret_key").to_owned());
    let secrets = vec![("secret_key", key), (ACCOUNT_KEYS, account_keys(accounts))];
    Ok(Learned { secrets, ..Learned::existing(facts) })
}

/// Returns the account whose keys represent the merchant: the one bound first, while it exists,
/// else the first that takes cards.
fn bound_account<'a>(cx: &ReadingCx<'_>, accounts: &'a [Value]) -> Option<&'a Value> {
    let before = cx.observed.and_then(|observed| observed.text("public_key"));
    let same = |account: &&Value| Some(text(account, "public_key")) == before;
    let cards = |account: &&Value| text(account, "type") == CARDS;
    accounts.iter().find(same).or_else(|| accounts.iter().find(cards)).or(accounts.first())
}

/// Returns the bank accounts of this mode. A bank account has no mode field, but names the accounts
/// that pay into it: one that names only accounts of the other mode is left out.
fn deposits(banks: &Value, credentials: &Value, field: &str) -> Vec<Value> {
    let ids = |field: &str| -> BTreeSet<String> {
        list(credentials.get(field)).iter().map(|one| text(one, "id").to_owned()).collect()
    };
    let other = if field == "test_accounts" { "live_accounts" } else { "test_accounts" };
    let (own, other) = (ids(field), ids(other));
    let serves = |bank: &&Value| {
        let fed = list(bank.get("processing_accounts")).iter().map(|one| text(one, "id"));
        let fed: Vec<&str> = fed.collect();
        fed.iter().any(|id| own.contains(*id)) || !fed.iter().any(|id| other.contains(*id))
    };
    list(Some(banks)).iter().filter(serves).map(bank_account).collect()
}

/// Returns id and name of the other mode's bank accounts, so that a document which names one gets a
/// clear message.
fn other_mode_accounts(banks: &Value, credentials: &Value, field: &str) -> Vec<Value> {
    let own = deposits(banks, credentials, field);
    let is_own = |bank: &&Value| own.iter().any(|one| text(one, "id") == text(bank, "id"));
    let others = list(Some(banks)).iter().filter(|bank| !is_own(bank));
    others.map(|bank| pick(bank, &["id", "name"])).collect()
}

/// Facts that a token gave or opened: with keys alone they are neither known nor used.
const OPENED_BY_TOKEN: [&str; 6] =
    ["token", APPLICATION, "secret_key", "accounts", "bank_accounts", "merchant_name"];

/// Returns whether this reading may open another account than before: its objects were not
/// surveyed.
fn opens_new_account(cx: &ReadingCx<'_>) -> bool {
    let before = cx.observed.and_then(Observed::merchant_binding);
    before.is_none_or(|before| before.generation < cx.generation)
}

fn learn_keys(cx: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let read = answers.first().and_then(|answer| match answer {
        RemoteAnswer::Body(merchant) => Some(merchant),
        RemoteAnswer::Items(_) | RemoteAnswer::Missing(_) => None,
    });
    let own = text(cx.about, "public_key");
    let keys = [own, read.map_or(own, |merchant| text(merchant, "public_key"))];
    let name = read.and_then(|merchant| merchant.get("name")).and_then(Value::as_str);
    let bound = bind_keys(cx, keys, name)?;
    let mut facts = json!({BINDING: bound, "connected": true, "mode": cx.mode, "public_key": own});
    copy_fields(&mut facts, &Value::Null, &OPENED_BY_TOKEN);
    if opens_new_account(cx) {
        set_field(&mut facts, "surveyed", Value::Null);
    }
    if let Some(merchant) = read {
        set_field(&mut facts, "public_key", json!(text(merchant, "public_key")));
        set_field(&mut facts, "timezone", json!(merchant.get("timezone")));
        let accounts: Value = usable_accounts(merchant).iter().map(account).collect();
        set_field(&mut facts, "accounts", accounts);
        set_field(&mut facts, PRIMARY, primary_ids(merchant));
    }
    Ok(Learned::existing(facts))
}

/// Returns the stored fields of an account: nothing secret.
fn account(account: &Value) -> Value {
    const KEPT: &[&str] = &[
        "id",
        "name",
        "type",
        "currency",
        "recurring_charges_enabled",
        "trust_account",
        "public_key",
    ];
    pick(account, KEPT)
}

/// Returns the stored fields of a bank account: nothing secret.
fn bank_account(account: &Value) -> Value {
    let mut kept = pick(account, &["id", "name", "currency", "trust", "test_mode"]);
    let fed = list(account.get("processing_accounts")).iter().map(|one| text(one, "id"));
    set_field(&mut kept, "processing_accounts", json!(fed.collect::<Vec<_>>()));
    kept
}

/// Returns those of `fields` that an object has.
fn pick(object: &Value, fields: &[&str]) -> Value {
    let present = fields
        .iter()
        .filter_map(|field| object.get(*field).map(|value| ((*field).to_owned(), value.clone())));
    Value::Object(present.collect())
}

/// Reading that searches for marks of ours.
pub const SURVEY: &str = "merchant.survey";

pub(crate) const SURVEY_ROW: ReadingRow = ReadingRow {
    name: SURVEY,
    queries: |_| {
        let cards = Call::to::<ListCards>(&[]);
        let lists = [cards, Call::to::<ListBanks>(&[]), Call::to::<ListRecurring>(&[])];
        lists.into_iter().map(RemoteQuery::list).collect()
    },
    learn: learn_survey,
};

const SURVEYED_LISTS: [&str; 3] = ["cards", "banks", "recurring charges"];

fn learn_survey(cx: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let lists = SURVEYED_LISTS.iter().zip(answers);
    let items = lists.flat_map(|(list, answer)| answer.items().iter().map(move |one| (*list, one)));
    let marked = items.filter_map(|(list, item)| marked_object(list, item));
    let unknown: Vec<UnknownObject> =
        marked.filter(|one| !(cx.knows_mark)(one.mark.as_str())).collect();
    if !unknown.is_empty() {
        return Err(ReadingError::UnknownObjects(unknown));
    }
    Ok(Learned::existing(json!({"surveyed": true})))
}

/// Returns the object if it carries a mark.
fn marked_object(list: &str, item: &Value) -> Option<UnknownObject> {
    Some(UnknownObject {
        id: text(item, "id").parse().ok()?,
        mark: mark_of(item)?,
        list: list.to_owned(),
        is_duplicate: false,
        collection: collection_of(item),
    })
}

/// Returns what an object of a list collects from its payer: only a recurring charge shows an
/// amount and a status.
pub fn collection_of(item: &Value) -> Option<Collection> {
    let text = |field: &str| item.get(field).and_then(Value::as_str);
    let currency = text("currency")?.parse().ok()?;
    let amount = Money::new(item.get("amount")?.as_i64()?, currency);
    Some(Collection { amount, status: text("status")?.to_owned() })
}

/// Returns the mark that an object carries in its reference or its description.
pub fn mark_of(item: &Value) -> Option<Mark> {
    Mark::parse(text(item, "reference")).or_else(|| Mark::find_in(text(item, "description")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a reading under this generation opens something new, after one under
    /// generation 1.
    fn anew(generation: u32) -> bool {
        let key: crate::base::id::Key = "Merchant/acme".parse().unwrap();
        let bound = json!({"generation": 1, "mode": "test", "name": null, "public_keys": ["m_1"]});
        let unknown = Observed::unknown(key.clone(), chrono::DateTime::UNIX_EPOCH);
        let known = Observed { facts: json!({ BINDING: bound }), ..unknown };
        let (key, about) = (&key, &Value::Null);
        let (observed, knows_mark) = (Some(&known), &|_: &str| false);
        opens_new_account(&ReadingCx {
            key,
            mode: Mode::Test,
            generation,
            observed,
            about,
            knows_mark,
        })
    }

    #[test]
    fn only_a_replaced_document_opens_what_was_not_looked_at() {
        assert_eq!((anew(1), anew(2)), (false, true));
    }
}
