//! Account that a recurring charge pays into, chosen as the service chooses it, the permissions of
//! that account, and the surcharge on a charge made now.
//!
//! A document names an account by its name or id, else the primary one of the type that takes the
//! method is used (gateway-api, POST /v1/charges, `account_id`). If a merchant has several of that
//! type and none is known to be primary, nothing is sent. The service computes the surcharge, and
//! its answer is valid for an hour. Only the charge that is made now carries one: the documents
//! have no such field for a scheduled payment, so every later payment collects exactly `amount`.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::base::money::Money;
use crate::kinds::planning::diff::amount;
use crate::kinds::planning::step::{
    MERCHANT, StepCx, find_account, ready_state, reference, text, unsuitable,
};
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::observed::Observed;

/// Returns the type of method that pays, `card` or `bank`: from its document, else as it was saved.
pub(super) fn method_type(cx: &StepCx<'_>, manifest: &Manifest) -> Option<String> {
    let method = reference(manifest, SavedMethodKind::NAME)?;
    let said = cx.view.manifest(&method).and_then(|method| method.spec.get("type").cloned());
    let saved = || cx.view.observed_state(&method)?.applied.as_ref()?.spec.get("type").cloned();
    said.or_else(saved)?.as_str().map(str::to_owned)
}

fn takes(cx: &StepCx<'_>, manifest: &Manifest) -> Option<&'static str> {
    match method_type(cx, manifest).as_deref() {
        Some("card") => Some("MerchantAccount"),
        Some("bank") => Some("AchAccount"),
        Some(_) | None => None,
    }
}

fn unfit<T>(why: String) -> Result<T, Reason> {
    Err(Reason::AccountUnsuitable(why))
}

/// Returns the account that is paid. `None` if the merchant's accounts are unknown, or if an
/// earlier charge supplies its own. Fails if no account exists, the named one does not fit, or
/// several are possible.
pub(super) fn select<'a>(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &'a Observed,
) -> Result<Option<&'a Value>, Reason> {
    let Some(accounts) = owner.fact("accounts").as_array() else { return Ok(None) };
    let takes = takes(cx, manifest);
    if let Some(wanted) = manifest.spec.get("account").and_then(Value::as_str) {
        let account = find_account(owner.fact("accounts"), wanted, "account")?;
        if takes.is_some_and(|takes| !is_of(account, takes)) {
            let name = text(account, "name");
            return unfit(format!("the account {name:?} does not take this type of method"));
        }
        return Ok(Some(account));
    }
    let Some(takes) = takes else { return Ok(None) };
    let fitting: Vec<&Value> = accounts.iter().filter(|one| is_of(one, takes)).collect();
    primary(&fitting, owner, takes).map(Some)
}

/// Returns whether an account is of a type; one without a type may be.
fn is_of(account: &Value, kind: &str) -> bool {
    account.get("type").and_then(Value::as_str).is_none_or(|own| own == kind)
}

fn primary<'a>(fitting: &[&'a Value], owner: &Observed, takes: &str) -> Result<&'a Value, Reason> {
    let paid = if takes == "AchAccount" { "eChecks" } else { "cards" };
    if let [only] = fitting {
        return Ok(only);
    }
    let known = owner.fact("primary_accounts").as_array().map_or(&[][..], Vec::as_slice);
    let mut first = fitting.iter().filter(|one| known.contains(&one["id"]));
    match (first.next(), first.next()) {
        (Some(one), None) => Ok(one),
        (None, _) if fitting.is_empty() => {
            unfit(format!("the merchant has no account that takes {paid}"))
        }
        (_, _) => {
            let names: Vec<&str> = fitting.iter().map(|one| text(one, "name")).collect();
            unfit(format!(
                "the merchant has several accounts that take {paid} ({}), and the primary one is unknown: name one \
                 in `account`",
                names.join(", ")
            ))
        }
    }
}

/// Checks that merchant and account allow recurring charges (partner-api, Gateway credentials).
pub(super) fn allow(cx: &StepCx<'_>, manifest: &Manifest, owner: &Observed) -> Result<(), Reason> {
    if flag_is(owner.fact("reference_required"), true) {
        let why = "the merchant requires a reference with every payment, and the service documents \
                   none for the payments of a recurring charge";
        return unfit(why.to_owned());
    }
    let off = |account: &&Value| flag_is(&account["recurring_charges_enabled"], false);
    let all = owner.fact("accounts").as_array().map_or(&[][..], Vec::as_slice);
    let off = if let Some(account) = select(cx, manifest, owner)? {
        Some(account).filter(off)
    } else {
        all.first().filter(|_| all.iter().all(|one| off(&one)))
    };
    match off {
        Some(account) => unfit(format!(
            "recurring charges are not enabled on the account {:?}: ask the service to enable them",
            text(account, "name")
        )),
        None => Ok(()),
    }
}

/// Returns whether a flag has this value; some flags are texts (partner-api, Account object).
pub(super) fn flag_is(flag: &Value, wanted: bool) -> bool {
    let text = if wanted { "true" } else { "false" };
    *flag == Value::Bool(wanted) || flag.as_str() == Some(text)
}

/// Returns the id of the account that is paid, `None` if unknown. Without readable accounts it is
/// the document's name. Money of another currency is never sent.
pub(super) fn id(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
    money: Money,
) -> Result<Option<String>, Reason> {
    let Some(account) = select(cx, manifest, owner)? else {
        let wanted = manifest.spec.get("account").and_then(Value::as_str);
        return Ok(wanted.map(str::to_owned));
    };
    let (currency, name) = (text(account, "currency"), text(account, "name"));
    if !currency.is_empty() && currency != money.currency().code() {
        return Err(Reason::CurrencyMismatch(format!(
            "the amount is in {}, and the account {name:?} takes {currency}: write {currency}, or name \
             another account",
            money.currency()
        )));
    }
    Ok(Some(text(account, "id").to_owned()))
}

/// Returns whether payments go into a trust account, as far as known.
pub(super) fn is_trust(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> bool {
    let owner =
        reference(manifest, MERCHANT).and_then(|merchant| cx.view.observed_state(&merchant));
    let Some(owner) = owner else { return false };
    let own = have.filter(|have| have.exists).and_then(|have| have.text("account_id"));
    let by_id = own.and_then(|id| find_account(owner.fact("accounts"), id, "account").ok());
    let account = by_id.or_else(|| select(cx, manifest, &owner).ok().flatten());
    account.is_some_and(|account| flag_is(&account["trust_account"], true))
}

/// Returns the bank account whose surcharge applies: that of the account; for trust, the trust one.
pub(super) fn deposit(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
) -> Result<String, Reason> {
    let unread = |why: &str| unfit(format!("{why}, so the surcharge cannot be read"));
    let Some(account) = select(cx, manifest, owner)? else {
        return unread("the merchant's accounts are not known");
    };
    let banks = owner.fact("bank_accounts").as_array().map_or(&[][..], Vec::as_slice);
    let trust = flag_is(&account["trust_account"], true);
    let alike = banks.iter().filter(|bank| flag_is(&bank["trust"], true) == trust);
    let alike: Vec<&Value> = alike.collect();
    let feeds = |bank: &&Value| {
        let accounts = bank["processing_accounts"].as_array();
        accounts.is_some_and(|accounts| accounts.contains(&account["id"]))
    };
    let fed = alike.iter().copied().filter(feeds);
    let fed: Vec<&Value> = fed.collect();
    match (fed.as_slice(), alike.as_slice()) {
        ([bank], _) | ([], [bank]) => Ok(text(bank, "id").to_owned()),
        ([], []) => unread("no bank account of the merchant is known"),
        _ => unread("the account pays into more than one bank account"),
    }
}

const VALID_FOR: TimeDelta = TimeDelta::hours(1);

#[derive(Debug)]
pub(super) enum SurchargeQuote {
    Unwanted,
    /// The surcharge and the total, in minor units.
    Known {
        surcharge: i64,
        total: i64,
    },
    /// The service must be asked; holds the subject of the reading.
    Ask(Value),
    /// The service cannot be asked yet, or not at all.
    Missing(Reason),
}

/// Returns the amount of a charge made now, before any surcharge.
pub(super) fn amount_before_surcharge(spec: &Value) -> Option<Money> {
    amount(spec.get("first_amount").or_else(|| spec.get("amount"))?)
}

pub(super) fn quote(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> SurchargeQuote {
    if manifest.spec.get("surcharge").and_then(Value::as_str) != Some("apply") {
        return SurchargeQuote::Unwanted;
    }
    let about = match reading_subject(cx, manifest) {
        Ok(about) => about,
        Err(reason) => return SurchargeQuote::Missing(reason),
    };
    let fresh = |have: &&Observed| cx.now.signed_duration_since(have.at) < VALID_FOR;
    let fact = have.filter(fresh).map(|have| have.fact("surcharge"));
    let fact = fact.filter(|fact| fact.get("about") == Some(&about));
    let number = |name: &str| fact.and_then(|fact| fact.get(name)?.as_i64());
    match number("surcharge_amount").zip(number("total_amount")) {
        Some((surcharge, total)) => SurchargeQuote::Known { surcharge, total },
        None => SurchargeQuote::Ask(about),
    }
}

fn reading_subject(cx: &StepCx<'_>, manifest: &Manifest) -> Result<Value, Reason> {
    let merchant = reference(manifest, MERCHANT);
    let merchant = merchant.ok_or_else(|| unsuitable("the charge names no merchant"))?;
    let owner = ready_state(cx, &merchant)?;
    let kind = method_type(cx, manifest);
    let kind = kind.ok_or_else(|| unsuitable("the type of the method is unknown"))?;
    let first = amount_before_surcharge(&manifest.spec);
    let first = first.ok_or_else(|| unsuitable("the charge has no amount"))?;
    let bank_account = deposit(cx, manifest, &owner)?;
    Ok(json!({"bank_account": bank_account, "type": kind, "amount": first.minor()}))
}
