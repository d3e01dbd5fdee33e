//! Logs that only checkers and people read: served requests, a bounded log with an exact count, and
//! the ledger of every movement of money, in order.
//!
//! An entry is written with the effects of its request. The entry of a request without effects
//! reaches the operating system with the next change, or after the next round of webhooks: a killed
//! sandbox may lose the reads since then.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::api::transaction::{Transaction, TransactionType};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::faults::FaultKind;
use crate::sandbox::state::objects::ObjectOwner;
use crate::sandbox::state::store::{ChangeUnit, sortable_key};

/// Maximum number of entries; older requests are only counted.
const KEPT_MAX: u64 = 100_000;
const REQUESTS: &str = "meta/requests";

#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoggedRequest<'a> {
    pub(crate) time: Timestamp,
    pub(crate) method: Cow<'a, str>,
    pub(crate) path: Cow<'a, str>,
    pub(crate) query: Option<Cow<'a, str>>,
    /// The requested host: each product brand has its own.
    pub(crate) host: Option<Cow<'a, str>>,
    /// The account of an account's own key.
    pub(crate) account: Option<String>,
    /// The answered status, even if a fault dropped the answer.
    pub(crate) status: u16,
    pub(crate) fault: Option<FaultKind>,
}

fn request_key(number: u64) -> String {
    ["request/", &sortable_key(number)].concat()
}

pub(crate) fn record_request(cx: &mut ChangeUnit, entry: &LoggedRequest<'_>) -> Result<()> {
    let total = requests_total(cx)?.saturating_add(1);
    cx.put(&request_key(total), entry)?;
    if let Some(old) = total.checked_sub(KEPT_MAX) {
        cx.remove(&request_key(old));
    }
    cx.put(REQUESTS, &total)
}

pub(crate) fn requests_total(cx: &ChangeUnit) -> Result<u64> {
    Ok(cx.get(REQUESTS)?.unwrap_or(0))
}

/// Returns up to `take` requests with their numbers, newest first; those older than the number
/// `before`, if one is given.
pub(crate) fn newest_requests(
    cx: &ChangeUnit,
    before: Option<u64>,
    take: u64,
) -> Result<Vec<(u64, LoggedRequest<'static>)>> {
    let total = requests_total(cx)?;
    let end = before.map_or(total, |before| before.saturating_sub(1).min(total));
    let numbers = (end.saturating_sub(take)..end).rev().map(|below| below.saturating_add(1));
    let read = |number| Ok(cx.get(&request_key(number))?.map(|one| (number, one)));
    numbers.filter_map(|number| read(number).transpose()).collect()
}

/// Kind of a movement. A charge, refund or credit is an authorisation; a capture settles it. A void
/// reverses it before the capture; a return is money that did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum MoneyMovement {
    Charge,
    Refund,
    Credit,
    Capture,
    Void,
    Return,
}

impl MoneyMovement {
    fn as_str(self) -> &'static str {
        match self {
            Self::Charge => "CHARGE",
            Self::Refund => "REFUND",
            Self::Credit => "CREDIT",
            Self::Capture => "CAPTURE",
            Self::Void => "VOID",
            Self::Return => "RETURN",
        }
    }
}

#[skip_serializing_none]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LedgerEntry {
    pub(crate) time: Timestamp,
    pub(crate) owner: ObjectOwner,
    pub(crate) account_id: String,
    pub(crate) currency: String,
    #[serde(rename = "type")]
    pub(crate) kind: MoneyMovement,
    /// Minor units, always positive.
    pub(crate) amount: i64,
    pub(crate) transaction_id: String,
    /// Type of that transaction: a capture, void or return does not show it.
    #[serde(default)]
    pub(crate) transaction_type: TransactionType,
    pub(crate) charge_id: Option<String>,
    pub(crate) reference: Option<String>,
    pub(crate) recurring_charge_occurrence_id: Option<String>,
}

pub(crate) fn record_movement(
    cx: &mut ChangeUnit,
    owner: &ObjectOwner,
    kind: MoneyMovement,
    transaction: &Transaction,
) -> Result<()> {
    let at = cx.next();
    let entry = LedgerEntry {
        time: Timestamp(cx.now),
        owner: owner.clone(),
        account_id: transaction.account_id.clone(),
        currency: transaction.currency.clone(),
        kind,
        amount: transaction.amount,
        transaction_id: transaction.id.clone(),
        transaction_type: transaction.kind.clone(),
        charge_id: transaction.charge_id.clone(),
        reference: transaction.reference.clone(),
        recurring_charge_occurrence_id: transaction.recurring_charge_occurrence_id.clone(),
    };
    cx.put(&["ledger/entry/", &sortable_key(at)].concat(), &entry)?;
    let LedgerEntry { account_id, currency, .. } = &entry;
    let key = ["ledger/total/", account_id, "/", currency, "/", kind.as_str()].concat();
    let total = cx.get::<i64>(&key)?.unwrap_or(0).checked_add(entry.amount);
    cx.put(&key, &total.ok_or_else(SandboxRefusal::server_error)?)
}

/// Returns the totals of an account: currency, kind, and minor units.
pub(crate) fn totals_of(
    cx: &ChangeUnit,
    account: &str,
) -> Result<Vec<(String, MoneyMovement, i64)>> {
    let prefix = format!("ledger/total/{account}/");
    let read = |(key, amount): (String, Value)| -> Result<_> {
        let (currency, kind) =
            key.strip_prefix(&prefix).and_then(|rest| rest.split_once('/')).unwrap_or_default();
        let kind = serde_json::from_value(Value::from(kind))?;
        Ok((currency.to_owned(), kind, serde_json::from_value(amount)?))
    };
    cx.entries(&prefix)?.into_iter().map(read).collect()
}

/// Returns the whole ledger, with totals by account, currency and type.
pub(crate) fn render_ledger(cx: &ChangeUnit) -> Result<Value> {
    let entries: Vec<Value> = cx.values("ledger/entry/")?.into_iter().map(flat).collect();
    let total = |(key, amount): (String, Value)| {
        let [account_id, currency, kind] = [2, 3, 4].map(|part| key.split('/').nth(part));
        json!({"account_id": account_id, "currency": currency, "type": kind, "amount": amount})
    };
    let totals: Vec<Value> = cx.entries("ledger/total/")?.into_iter().map(total).collect();
    Ok(json!({"entries": entries, "totals": totals}))
}

fn flat(mut entry: Value) -> Value {
    if let Some(map) = entry.as_object_mut()
        && let Some(Value::Object(owner)) = map.shift_remove("owner")
    {
        map.extend(owner);
    }
    entry
}
