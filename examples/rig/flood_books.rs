//! The daemon's counts and the service's books, for comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use http::Method;
use serde_json::Value;

use crate::connection::Failed;
use crate::control;
use crate::stand::{Stand, text};

/// The first word in the references of hooks' payments; the event's id follows.
pub(crate) const HOOK: &str = "hook";
/// The amount of the first hook's payment, in minor units.
const ACT_MINOR: u64 = 100;

/// Counts of a merchant's events at the daemon.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LedgerCounts {
    /// Events that the daemon verified.
    pub(crate) verified: usize,
    /// Events that the service does not know, or that the daemon has not verified yet.
    pub(crate) made_up: usize,
    ran: usize,
    /// Actions of hooks that are not settled.
    actions: usize,
}

impl LedgerCounts {
    /// Returns the number of events whose hooks have run.
    pub(crate) fn processed(self) -> usize {
        self.ran
    }

    /// Returns whether all hooks have run and none of their actions waits.
    pub(crate) fn is_at_rest(self) -> bool {
        self.ran == self.verified && self.actions == 0
    }
}

/// Reads the counts of a merchant from the daemon.
pub(crate) async fn daemon(listen: SocketAddr, merchant: &str) -> Result<LedgerCounts, Failed> {
    let status = control::json(listen, Method::GET, "/api/v1/status", None).await?;
    let receivers = status.pointer("/events/receivers").and_then(Value::as_array);
    let is_own = |one: &&Value| {
        let named = one.get("merchant").and_then(Value::as_str).unwrap_or_default();
        named.rsplit('/').next() == Some(merchant)
    };
    let own = receivers
        .and_then(|all| all.iter().find(is_own))
        .ok_or("the status has no such receiver")?;
    let number = |field: &str| -> Result<usize, Failed> {
        let number = own.get("ledger").and_then(|ledger| ledger.get(field)?.as_u64());
        Ok(usize::try_from(number.ok_or("a ledger lacks a number")?)?)
    };
    let actions = status.pointer("/hooks/waiting").and_then(Value::as_array).map_or(0, Vec::len);
    let made_up = number("forged")?.saturating_add(number("waiting")?);
    Ok(LedgerCounts { verified: number("told")?, made_up, ran: number("ran_to")?, actions })
}

/// Returns the amounts of a merchant's payments by their references, in minor units. It removes the mark `[…]` that the
/// daemon appends to a reference.
pub(crate) async fn payments(
    stand: &Stand,
    merchant: &str,
) -> Result<BTreeMap<String, Vec<u64>>, Failed> {
    let path = "/_sandbox/objects/transactions";
    let lines = control::ask(stand.sandbox.address, Method::GET, path, None).await?;
    let mut payments: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let payment: Value = serde_json::from_str(line)?;
        let reference = payment.get("reference").and_then(Value::as_str).unwrap_or_default();
        if payment.get("merchant").is_some_and(|name| name == merchant) {
            let amount = payment.get("amount").and_then(Value::as_u64).unwrap_or(0);
            let words = reference.split_once(" [").map_or(reference, |(words, _)| words);
            payments.entry(words.to_owned()).or_default().push(amount);
        }
    }
    Ok(payments)
}

/// Returns the number of hook payments that were made once, and every deviation.
pub(crate) fn compare(
    events: &BTreeMap<String, Value>,
    payments: &BTreeMap<String, Vec<u64>>,
) -> (usize, Vec<String>) {
    let asks = |event: &Value| {
        let reference = event.pointer("/data/reference").and_then(Value::as_str);
        reference == Some("act")
            && text(event, "type").is_ok_and(|kind| kind == "transaction.authorized")
    };
    let asking = events.iter().filter(|(_, event)| asks(event));
    let wanted: BTreeSet<String> = asking.map(|(id, _)| format!("{HOOK} {id}")).collect();
    let mut wrong = Vec::new();
    let mut once = 0_usize;
    for reference in &wanted {
        match payments.get(reference).map(Vec::as_slice) {
            Some([ACT_MINOR]) => once = once.saturating_add(1),
            other => wrong.push(format!("{reference}: {other:?}")),
        }
    }
    let unasked = payments.keys().filter(|reference| reference.starts_with(HOOK));
    let unasked = unasked.filter(|reference| !wanted.contains(*reference));
    wrong.extend(unasked.map(|reference| format!("{reference}: no event requested it")));
    (once, wrong)
}

/// Returns the daemon's resources besides the merchants of the tree. A stranger's code would have made one.
pub(crate) async fn strangers(listen: SocketAddr) -> Result<Vec<String>, Failed> {
    let all = control::json(listen, Method::GET, "/api/v1/resources", None).await?;
    let items =
        all.get("items").or(Some(&all)).and_then(Value::as_array).cloned().unwrap_or_default();
    if items.is_empty() {
        return Ok(vec!["the daemon shows no resources".to_owned()]);
    }
    let key = |item: &Value| item.get("key").or_else(|| item.get("name")).map(Value::to_string);
    let names = items.iter().filter_map(key);
    Ok(names.filter(|name| !name.contains("shop-")).collect())
}
