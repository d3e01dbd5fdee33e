//! Read-back of recurring charges where the service lists them (service-facts, 56, 57), and their
//! import: the document for one that is on the service already, and the requirements on it beyond
//! its own fields (the same currency and account, and the method of the document).

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::api::call::Call;
use crate::api::recurring::{GetRecurring, ListRecurring};
use crate::base::hash::Mark;
use crate::base::money::{Currency, Money};
use crate::effects::core::context::{copy_fields, set_optional};
use crate::effects::recurring::recurring_facts;
use crate::kinds::planning::step::{MERCHANT, StepCx, reference, text};
use crate::kinds::recurring_charge::request::amount_per_occurrence;
use crate::kinds::recurring_charge::{RecurringChargeKind, account};
use crate::kinds::remote::import_check::{ImportCheck, OnMismatch};
use crate::kinds::remote::readback::{
    ImportTemplate, ImportTemplateCx, ReadBack, ReadBackField, WireForm,
};
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::manifest::Manifest;

const fn same(path: &'static str) -> ReadBackField {
    ReadBackField { path, at: path, form: WireForm::Same }
}

/// Detects a charge that a person ended, or removed.
fn ended_reason(item: &Value) -> Option<String> {
    match (text(item, "status"), text(item, "status_reason")) {
        ("DELETED", _) => Some("it was deleted on the service".to_owned()),
        ("COMPLETED", "user_canceled") => Some("it was cancelled on the service".to_owned()),
        _ => None,
    }
}

fn import_facts(item: &Value) -> Value {
    let mut facts = recurring_facts(item);
    copy_fields(&mut facts, item, &["status_reason", "total_amount", "total_occurrences"]);
    facts
}

/// `schedule.start` is left out: it is meaningless once the first occurrence exists.
pub(crate) static CHARGES: ReadBack = ReadBack {
    list_name: "recurring charges",
    list: || Call::to::<ListRecurring>(&[]),
    one: |id| Call::to::<GetRecurring>(&[id.as_str()]),
    // Charges collect money: a change made elsewhere is noticed soon.
    interval: Duration::from_mins(15),
    fields: &[
        ReadBackField { path: "amount", at: "amount", form: WireForm::Minor },
        ReadBackField { path: "description", at: "description", form: WireForm::Tagged },
        ReadBackField { path: "max_amount", at: "max_amount", form: WireForm::Minor },
        same("max_occurrences"),
        same("schedule.interval_unit"),
        same("schedule.interval_delay"),
        same("schedule.end"),
        same("schedule.days"),
    ],
    facts: &["status", "status_reason", "next_payment", "total_amount", "total_occurrences"],
    import_facts,
    import_template,
    ended_reason,
};

/// Creates the document; its name is the description, else the amount.
pub(super) fn import_template(
    cx: &ImportTemplateCx<'_>,
    item: &Value,
) -> Result<ImportTemplate, String> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).filter(|one| !one.is_empty());
    let currency = text("currency").unwrap_or("USD");
    let currency: Currency =
        currency.parse().map_err(|_| format!("the charge has an unknown currency {currency}"))?;
    let money = |name: &str| {
        let minor = item.get(name).and_then(Value::as_i64)?;
        Some(json!(Money::new(minor, currency).to_string()))
    };
    let amount =
        money("amount").ok_or_else(|| "the service shows no amount of the charge".to_owned())?;
    let mut spec = json!({
        "merchant": cx.merchant,
        "method": charged_method(cx, item)?,
        "amount": amount,
        "schedule": schedule(item)?,
    });
    let description = text("description").map(Mark::strip_tag).filter(|one| !one.is_empty());
    set_optional(&mut spec, "description", description.clone());
    set_optional(&mut spec, "max_amount", money("max_amount"));
    set_optional(&mut spec, "account", text("account_id").filter(|_| cx.several_accounts));
    let most = item.get("max_occurrences").filter(|most| most.is_u64());
    set_optional(&mut spec, "max_occurrences", most.cloned());
    let name = description.or_else(|| amount.as_str().map(str::to_owned)).unwrap_or_default();
    Ok(ImportTemplate { kind: RecurringChargeKind::NAME, name, spec })
}

fn charged_method(cx: &ImportTemplateCx<'_>, item: &Value) -> Result<String, String> {
    let shown = item.get("method").unwrap_or(&Value::Null);
    let number = shown.get("number").or_else(|| shown.get("account_number"));
    let number = number.and_then(Value::as_str).unwrap_or_default();
    let same = |facts: &Value| {
        let print = facts.get("fingerprint").filter(|print| print.is_string());
        let last4 = facts.get("last4").and_then(Value::as_str).filter(|last4| !last4.is_empty());
        match (print, shown.get("fingerprint").filter(|print| print.is_string())) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => last4.is_some_and(|last4| number.ends_with(last4)) && fits(facts, shown),
        }
    };
    let all: Vec<&(String, Value)> = cx.methods.iter().filter(|(_, facts)| same(facts)).collect();
    let exact: Vec<&(String, Value)> =
        all.iter().copied().filter(|(_, facts)| fits(facts, shown)).collect();
    match (all.as_slice(), exact.as_slice()) {
        ([(name, _)], _) | (_, [(name, _)]) => Ok(name.clone()),
        ([], _) => Err(NO_METHOD.to_owned()),
        (several, _) => Err(ambiguous_method(several)),
    }
}

const NO_METHOD: &str = "no known saved method has the number of the charge: import the merchant's cards and banks \
                         first (`reckon import --all cards`, `--all banks`)";

/// Describes several saved methods with the same number, among which the choice is open.
fn ambiguous_method(several: &[&(String, Value)]) -> String {
    let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
    format!(
        "several saved methods have the number of the charge ({}): write a document for the charge with the right \
         one as `method`, and run `reckon import RecurringCharge/NAME ID`",
        names.join(", ")
    )
}

/// Compares the expiry and type, which may decide where no fingerprint does.
fn fits(facts: &Value, shown: &Value) -> bool {
    ["exp_month", "exp_year", "card_type", "account_type"].into_iter().all(|name| {
        let both = facts.get(name).zip(shown.get(name));
        both.is_none_or(|(ours, theirs)| ours.is_null() || theirs.is_null() || ours == theirs)
    })
}

/// Returns the schedule as a document writes it. A missing start is replaced by the next date.
fn schedule(item: &Value) -> Result<Value, String> {
    let shown = item.get("schedule").and_then(Value::as_object);
    let shown = shown.ok_or_else(|| "the service shows no schedule of the charge".to_owned())?;
    let mut schedule = Map::new();
    for name in ["start", "interval_unit", "interval_delay", "end", "days"] {
        if let Some(value) = shown.get(name).filter(|value| !value.is_null()) {
            schedule.insert(name.to_owned(), value.clone());
        }
    }
    if !schedule.contains_key("start") {
        let next = item.get("next_payment").filter(|next| next.is_string());
        let next = next.ok_or_else(|| {
            "the service shows neither a start nor a next payment of the charge".to_owned()
        })?;
        schedule.insert("start".to_owned(), next.clone());
    }
    Ok(Value::Object(schedule))
}

pub(super) fn import_checks(cx: &StepCx<'_>, manifest: &Manifest) -> Vec<ImportCheck> {
    let currency = amount_per_occurrence(&manifest.spec).ok().map(|money| {
        ImportCheck::new("amount", "/currency", json!(money.currency()), OnMismatch::Reject)
    });
    [currency, account_check(cx, manifest), method_check(cx, manifest), start_check(manifest)]
        .into_iter()
        .flatten()
        .collect()
}

/// Requires the account that the document names, once the merchant's accounts are known.
fn account_check(cx: &StepCx<'_>, manifest: &Manifest) -> Option<ImportCheck> {
    manifest.spec.get("account")?;
    let owner = cx.view.observed_state(&reference(manifest, MERCHANT)?)?;
    let id = account::select(cx, manifest, &owner).ok()??.get("id")?.clone();
    Some(ImportCheck::new("account", "/account_id", id, OnMismatch::Reject))
}

/// Requires the number of the method, by its fingerprint, else by its last digits.
fn method_check(cx: &StepCx<'_>, manifest: &Manifest) -> Option<ImportCheck> {
    let saved = cx.view.observed_state(&reference(manifest, SavedMethodKind::NAME)?)?;
    let expect = |at, want: &Value, how| ImportCheck::new("method", at, want.clone(), how);
    let fingerprint = saved.fact("fingerprint");
    if fingerprint.is_string() {
        return Some(expect("/method/fingerprint", fingerprint, OnMismatch::Change));
    }
    let is_card = saved.text("card_type").is_some();
    let number = if is_card { "/method/number" } else { "/method/account_number" };
    saved.text("last4")?;
    Some(expect(number, saved.fact("last4"), OnMismatch::ChangeByLastDigits))
}

/// Requires the first date, but only before a payment was attempted: later it is meaningless.
fn start_check(manifest: &Manifest) -> Option<ImportCheck> {
    let want = manifest.spec.pointer("/schedule/start")?.clone();
    let on_mismatch = OnMismatch::ChangeBeforeFirstPayment;
    Some(ImportCheck::new("schedule.start", "/schedule/start", want, on_mismatch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "a row of a table is written where it is used"
    )]
    fn found(methods: &[(&str, Value)], shown: Value) -> Result<String, String> {
        let methods: Vec<(String, Value)> =
            methods.iter().map(|(name, facts)| ((*name).to_owned(), facts.clone())).collect();
        let cx = ImportTemplateCx { merchant: "acme", several_accounts: false, methods: &methods };
        charged_method(&cx, &json!({"method": shown}))
    }

    fn card(year: u32) -> Value {
        json!({"fingerprint": "f1", "last4": "4242", "exp_month": 12, "exp_year": year})
    }

    /// Closes M13: of two cards with one number none is guessed.
    #[test]
    fn a_number_that_two_saved_cards_have_is_no_choice_but_where_the_expiry_tells() {
        let shown = |year| json!({"fingerprint": "f1", "exp_month": 12, "exp_year": year});
        assert_eq!(found(&[("jane", card(2031))], shown(2033)).unwrap(), "jane");
        let two = [("jane", card(2031)), ("june", card(2033))];
        assert_eq!(found(&two, shown(2033)).unwrap(), "june");
        let alike = [("jane", card(2031)), ("june", card(2031))];
        for (methods, year) in [(&two, 2030), (&alike, 2031)] {
            let told = found(methods, shown(year)).unwrap_err();
            assert!(told.contains("(jane, june)") && told.contains("reckon import"), "{told}");
        }
        assert!(found(&[], shown(2031)).unwrap_err().contains("import --all cards"));
    }
}
