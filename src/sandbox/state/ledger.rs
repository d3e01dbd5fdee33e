//! The ledger: every movement of money, in order, so that a checker can add it up.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::lists::ObjectOwner;
use super::store::{ChangeUnit, sortable_key};
use crate::api::payments::transaction::{Transaction, TransactionType};
use crate::api::wire::Timestamp;
use crate::sandbox::http::refusal::SandboxRefusal;

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

/// A movement.
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
    /// Parent of a refund.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) charge_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recurring_charge_occurrence_id: Option<String>,
}

/// Records a movement and adds it to its total.
pub(crate) fn record(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    kind: MoneyMovement,
    transaction: &Transaction,
) -> Result<(), SandboxRefusal> {
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
    cx.put(&format!("ledger/entry/{}", sortable_key(at)), &entry)?;
    let word = serde_json::to_value(kind)?;
    let word = word.as_str().unwrap_or_default().to_owned();
    let key = format!("ledger/total/{}/{}/{word}", entry.account_id, entry.currency);
    let total = cx.get::<i64>(&key)?.unwrap_or(0).checked_add(entry.amount);
    cx.put(&key, &total.ok_or_else(SandboxRefusal::server_error)?)
}

/// Returns the whole ledger, with totals by account, currency and type.
pub(crate) fn show(cx: &ChangeUnit<'_>) -> Result<Value, SandboxRefusal> {
    let entries = cx.scan("ledger/entry/", None, usize::MAX)?;
    let entries: Vec<Value> = entries.into_iter().map(|(_, entry)| flat(entry)).collect();
    let totals = cx.scan("ledger/total/", None, usize::MAX)?;
    let totals: Vec<Value> = totals
        .into_iter()
        .map(|(key, amount)| {
            let mut parts = key.split('/').skip(2);
            json!({
                "account_id": parts.next(),
                "currency": parts.next(),
                "type": parts.next(),
                "amount": amount,
            })
        })
        .collect();
    Ok(json!({"entries": entries, "totals": totals}))
}

/// Moves the owner's fields to the top level.
fn flat(mut entry: Value) -> Value {
    if let Some(map) = entry.as_object_mut()
        && let Some(Value::Object(owner)) = map.shift_remove("owner")
    {
        map.extend(owner);
    }
    entry
}
