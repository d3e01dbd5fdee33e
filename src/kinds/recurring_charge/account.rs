//! The account that a recurring charge pays into, as far as it is known, and what it allows.

use serde_json::Value;

use crate::base::money::Money;
use crate::kinds::step::{StepCx, named, reference, text};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::Reason;

/// The type of method that pays, `card` or `bank`: as its document says, else as it was saved.
pub(super) fn method_type(cx: &StepCx<'_>, manifest: &Manifest) -> Option<String> {
    let method = reference(manifest, "SavedMethod")?;
    let said = cx.view.manifest(&method).and_then(|method| method.spec.get("type").cloned());
    let saved = || cx.view.observed(&method)?.applied.as_ref()?.spec.get("type").cloned();
    said.or_else(saved)?.as_str().map(str::to_owned)
}

/// The accounts that may be meant: the one named, else every one that takes this type of method.
fn candidates<'a>(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &'a Observed,
) -> Result<Vec<&'a Value>, Reason> {
    let accounts = owner.fact("accounts");
    if let Some(wanted) = manifest.spec.get("account").and_then(Value::as_str) {
        return Ok(vec![named(accounts, wanted, "account")?]);
    }
    let takes = takes(cx, manifest);
    let fits = |account: &&Value| {
        let own = account.get("type").and_then(Value::as_str);
        own.zip(takes).is_none_or(|(own, takes)| own == takes)
    };
    Ok(accounts.as_array().into_iter().flatten().filter(fits).collect())
}

/// The type of account that takes the method.
fn takes(cx: &StepCx<'_>, manifest: &Manifest) -> Option<&'static str> {
    match method_type(cx, manifest).as_deref() {
        Some("card") => Some("MerchantAccount"),
        Some("bank") => Some("AchAccount"),
        Some(_) | None => None,
    }
}

/// Whether the merchant and its accounts allow recurring charges (partner-api, Gateway credentials).
pub(super) fn allow(cx: &StepCx<'_>, manifest: &Manifest, owner: &Observed) -> Result<(), Reason> {
    if says(owner.fact("reference_required"), true) {
        let why = "the merchant requires a reference with every payment, and the service documents \
                   none for the payments of a recurring charge";
        return Err(Reason::Unfit(why.to_owned()));
    }
    let candidates = candidates(cx, manifest, owner)?;
    if let (Some(takes), [account]) = (takes(cx, manifest), candidates.as_slice())
        && account.get("type").and_then(Value::as_str).is_some_and(|own| own != takes)
    {
        let why =
            format!("the account {:?} does not take this type of method", text(account, "name"));
        return Err(Reason::Unfit(why));
    }
    let off = |account: &&Value| says(&account["recurring_charges_enabled"], false);
    match candidates.first() {
        Some(first) if candidates.iter().all(off) => Err(Reason::Unfit(format!(
            "recurring charges are not enabled on the account {:?}: ask the service to enable them",
            text(first, "name")
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Whether a flag has this value; some come as text (partner-api, Account object).
fn says(flag: &Value, wanted: bool) -> bool {
    let text = if wanted { "true" } else { "false" };
    *flag == Value::Bool(wanted) || flag.as_str() == Some(text)
}

/// The id of the account that the spec names by name or id, `None` where it leaves the choice to
/// the service. Money of another currency than the account's is never sent.
pub(super) fn id(spec: &Value, owner: &Observed, money: Money) -> Result<Option<String>, Reason> {
    let Some(wanted) = spec.get("account").and_then(Value::as_str) else {
        return Ok(None);
    };
    let account = named(owner.fact("accounts"), wanted, "account")?;
    if text(account, "currency") != money.currency().code() {
        let why = format!("the account {wanted:?} does not take {}", money.currency());
        return Err(Reason::Unfit(why));
    }
    Ok(Some(text(account, "id").to_owned()))
}

/// The bank account whose surcharge counts: the one that the account pays into, of a trust account
/// the trust one.
pub(super) fn deposit(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
) -> Result<String, Reason> {
    let unfit = |why: &str| Reason::Unfit(format!("{why}, so its surcharge cannot be read"));
    let candidates = candidates(cx, manifest, owner)?;
    let [account] = candidates.as_slice() else {
        return Err(unfit("more than one account may be meant: name one in `account`"));
    };
    let banks = owner.fact("bank_accounts").as_array().map_or(&[][..], Vec::as_slice);
    let trust = says(&account["trust_account"], true);
    let alike = banks.iter().filter(|bank| says(&bank["trust"], true) == trust);
    let alike: Vec<&Value> = alike.collect();
    let fed = alike.iter().copied().filter(|bank| feeds(account, bank));
    let fed: Vec<&Value> = fed.collect();
    match (fed.as_slice(), alike.as_slice()) {
        ([bank], _) | ([], [bank]) => Ok(text(bank, "id").to_owned()),
        ([], []) => Err(unfit("no bank account of the merchant is known")),
        _ => Err(unfit("the account pays into more than one bank account")),
    }
}

/// Whether a bank account says that this account pays into it.
fn feeds(account: &Value, bank: &Value) -> bool {
    let id = &account["id"];
    bank["processing_accounts"].as_array().is_some_and(|accounts| accounts.contains(id))
}
