//! What has to be done about an invoice: it is issued once, and the service can never change it.

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::Invoice;
use crate::base::clock::timestamp;
use crate::base::id::{Key, Mode};
use crate::base::money::Money;
use crate::effects::create_invoice;
use crate::effects::put;
use crate::kinds::diff::amount;
use crate::kinds::merchant::noon;
use crate::kinds::step::{
    Draft, MERCHANT, Object, StepCx, mode_of, named, needed, needed_id, object, orphaned,
    reference, text,
};
use crate::kinds::{Kind, Shape};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::{MoneyMove, Reason};

/// The step of an invoice.
fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
    let merchant = reference(manifest, MERCHANT).unwrap_or_else(|| manifest.key.clone());
    let total = total(&manifest.spec);
    let mode = mode_of(cx.view, &merchant);
    let money =
        total.zip(mode).map(|(amount, mode)| MoneyMove { amount, mode, meaning: "invoiced" });
    let kind = Object {
        create: &|new| {
            let total = total.ok_or_else(|| Reason::Unfit("its lines have no sum".to_owned()))?;
            let body = body(cx, manifest, &merchant, total, new.mode)?;
            Ok(create_invoice(new, body, total.minor()))
        },
        change: &|_, _, changes| {
            Err(Reason::CannotChange(changes.iter().map(|change| change.path.clone()).collect()))
        },
        money: money.into_iter().collect(),
        unready: &unready,
    };
    object(cx, Invoice::FIELDS, manifest, have, &kind)
}

/// The step of an invoice whose document is gone.
fn gone(_: &StepCx<'_>, _: &Key, _: &Observed) -> Draft {
    orphaned()
}

/// An invoice is ready when it is stored and its messages, if any, were sent.
fn unready(have: &Observed) -> Option<Reason> {
    let wants = have.applied.as_ref().is_some_and(|applied| {
        applied
            .spec
            .get("invoice_messages")
            .and_then(Value::as_array)
            .is_some_and(|m| !m.is_empty())
    });
    let known = have.remote_id.is_some();
    let sent = have.text("presentment_status") == Some("sent");
    (wants && known && !sent).then(|| Reason::Unfit("its messages were not sent".to_owned()))
}

/// The sum of all lines, `None` where they have none in one currency.
fn total(spec: &Value) -> Option<Money> {
    let lines = spec.get("line_items")?.as_array()?;
    let mut sums = lines.iter().map(|line| amount(line.get("rate_per_quantity")?));
    let first = sums.next()??;
    sums.try_fold(first, |sum, line| sum.checked_add(line?).ok())
}

/// The complete body, but for the `source_id`.
fn body(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    merchant: &Key,
    total: Money,
    mode: Mode,
) -> Result<Value, Reason> {
    let owner = needed(cx, merchant)?;
    let contact = reference(manifest, "Contact");
    let contact = contact.ok_or_else(|| Reason::Unfit("it names no contact".to_owned()))?;
    let spec = &manifest.spec;
    let mut body = json!({
        "contact_id": needed_id(cx, &contact)?,
        "bank_account_id": bank_account(spec, &owner)?,
        "invoice_date": invoice_date(cx, spec, merchant, &owner)?,
        "currency": total.currency(),
        "line_items": spec.get("line_items").and_then(Value::as_array).map(|lines| lines.iter().map(line).collect::<Vec<_>>()),
        "test_mode": mode == Mode::Test,
    });
    for field in ["reference", "invoice_messages", "attachments"] {
        if let Some(value) = spec.get(field) {
            put(&mut body, field, value.clone());
        }
    }
    Ok(body)
}

/// One line as the service takes it: everything a string (partner-api, POST /invoices).
fn line(line: &Value) -> Value {
    let rate = line.get("rate_per_quantity").and_then(amount).map_or(0, Money::minor);
    json!({
        "description": line.get("description"),
        "rate_per_quantity": rate.to_string(),
        "quantity": "1",
        "rate_type": "units",
    })
}

/// The id of the deposit account that the spec names by name or id.
fn bank_account(spec: &Value, merchant: &Observed) -> Result<String, Reason> {
    let account =
        named(merchant.fact("bank_accounts"), text(spec, "bank_account"), "bank account")?;
    Ok(text(account, "id").to_owned())
}

/// The moment of the invoice: as written, or noon of a bare date in the merchant's zone.
fn invoice_date(
    cx: &StepCx<'_>,
    spec: &Value,
    merchant: &Key,
    owner: &Observed,
) -> Result<String, Reason> {
    let written = spec.get("invoice_date").and_then(Value::as_str).unwrap_or_default();
    let Ok(date) = written.parse::<NaiveDate>() else {
        return Ok(written.to_owned());
    };
    let manifest = cx.view.manifest(merchant);
    let said = manifest.and_then(|manifest| {
        manifest.spec.get("timezone").and_then(Value::as_str).map(str::to_owned)
    });
    let zone = said.or_else(|| owner.text("timezone").map(str::to_owned));
    let zone = zone.unwrap_or_else(|| "UTC".to_owned());
    let noon = noon(date, &zone).ok_or_else(|| {
        Reason::Unfit(format!("the merchant's time zone {zone:?} is not known: set spec.timezone"))
    })?;
    Ok(timestamp(&noon))
}

impl Kind for Invoice {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
        step(cx, manifest, have)
    }

    fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
        gone(cx, key, have)
    }
}
