//! POST /v1/merchant/purge-test-data (service-facts, 70): allowed only in test mode.

use serde::de::IgnoredAny;

use crate::api::merchant::Purge;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::methods::{banks, cards, tokens};
use crate::sandbox::payments::charges;
use crate::sandbox::recurring::{occurrences, recurring_charges};
use crate::sandbox::state::lists::{MerchantMode, ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// Deletes the named data, or everything.
pub(crate) fn purge(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    wanted: &Purge,
) -> Result<(), SandboxRefusal> {
    let owner = asked.owner()?;
    if owner.mode != MerchantMode::Test {
        let text = "Only test data can be purged";
        return Err(SandboxRefusal::rule("unavailable_for_merchant_mode", text));
    }
    let (transactions, methods) = (wanted.delete_transactions, wanted.delete_payment_methods);
    let all = transactions != Some(true) && methods != Some(true);
    if all || transactions == Some(true) {
        recurring_charges(cx, &owner)?;
        clear(cx, charges::KIND, &owner.key())?;
        forget(cx, &format!("x/transaction-reference/{}/", owner.key()))?;
    }
    if all || methods == Some(true) {
        for kind in [cards::SAVED_CARDS.kind, banks::SAVED_BANKS.kind] {
            clear(cx, kind, &owner.key())?;
            forget(cx, &format!("x/{}-reference/{}/", kind.word, owner.key()))?;
        }
        clear(cx, tokens::KIND, &owner.key())?;
    }
    Ok(())
}

fn recurring_charges(cx: &mut ChangeUnit<'_>, owner: &ObjectOwner) -> Result<(), SandboxRefusal> {
    for id in cx.ids(&format!("{}/{}", recurring_charges::KIND.word, owner.key()), 0, u64::MAX)? {
        clear(cx, occurrences::KIND, &id)?;
    }
    clear(cx, recurring_charges::KIND, &owner.key())?;
    for (key, _) in cx.scan(&format!("l/hold/{}/", owner.key()), None, usize::MAX)? {
        cx.remove(&key);
    }
    cx.put(&format!("n/hold/{}", owner.key()), &0)
}

/// Deletes every object of a list.
fn clear(cx: &mut ChangeUnit<'_>, kind: ObjectKind, under: &str) -> Result<(), SandboxRefusal> {
    for id in cx.ids(&format!("{}/{under}", kind.word), 0, u64::MAX)? {
        let kept: Option<Stored<serde_json::Value, IgnoredAny>> = cx.find_any_owner(kind, &id)?;
        if let Some(kept) = kept {
            cx.delete(kind, under, &id, kept.sequence)?;
        }
    }
    Ok(())
}

fn forget(cx: &mut ChangeUnit<'_>, prefix: &str) -> Result<(), SandboxRefusal> {
    for (key, _) in cx.scan(prefix, None, usize::MAX)? {
        cx.remove(&key);
    }
    Ok(())
}
