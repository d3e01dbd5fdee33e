//! Steps of an invoice: it is issued once, and the service can never change it.

use chrono::NaiveDate;
use serde_json::{Value, json};

use crate::base::clock::timestamp;
use crate::base::id::{Key, Mode, RemoteId};
use crate::base::money::Money;
use crate::effects::core::context::{EffectContext, set_optional};
use crate::effects::invoices::{count_addresses, create_invoice, make_link, upload_file};
use crate::kinds::contact::ContactKind;
use crate::kinds::invoice::InvoiceKind;
use crate::kinds::invoice::prerequisites::{self, AttachmentState};
use crate::kinds::merchant::step::noon;
use crate::kinds::planning::diff::{self, amount};
use crate::kinds::planning::object_step::{
    ObjectEffects, exists_in_generation, plan_object, refuse_change,
};
use crate::kinds::planning::step::{
    MERCHANT, StepCx, StepDecision, effect_context, mode_of, ready_id, ready_state, reference,
    source_id, text, unsuitable,
};
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::change::{PlannedAction, Replaced};
use crate::model::effect::{Effect, MoneyMove};
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::observed::Observed;

/// Returns the effect that creates the invoice, or an upload that must precede it.
fn create(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    attached: &AttachmentState,
    new: EffectContext,
) -> Result<Effect, Reason> {
    let total = total(&manifest.spec);
    let total = total.ok_or_else(|| unsuitable("the lines of the invoice have no sum"))?;
    let body = body(cx, manifest, &new.merchant, total, new.mode)?;
    Ok(match attached {
        AttachmentState::Missing(file, contact, about) => {
            // The upload puts no part of the invoice on the service.
            let applied = prerequisites::applied_before(&new.applied, have);
            upload_file(EffectContext { applied, ..new }, contact, file, about.clone())
        }
        AttachmentState::Ready(files) => create_invoice(new, body, files, total.minor()),
        AttachmentState::Processing(_) => create_invoice(new, body, &[], total.minor()),
    })
}

/// Returns the replaced invoice: it stays payable, since the service cannot end an invoice.
fn replaced_invoice(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: &Observed,
) -> Option<Box<Replaced>> {
    let new = source_id(cx, &manifest.key, manifest.annotations.generation);
    have.exists.then(|| {
        Box::new(Replaced {
            source_id: new.to_string(),
            old_number: have.text("invoice_number").map(str::to_owned),
            old_id: have.remote_id.as_ref().map(ToString::to_string),
            old_stays_payable: true,
        })
    })
}

/// Returns the reason why an invoice is not ready: the service reports its messages as not sent.
fn unready(have: &Observed) -> Option<Reason> {
    let messages = have.applied.as_ref().and_then(|applied| applied.spec.get("invoice_messages"));
    let wants = messages.and_then(Value::as_array).is_some_and(|messages| !messages.is_empty());
    let unsent = have.text("presentment_status").is_some_and(|status| status != "sent");
    (wants && unsent).then(|| unsuitable("the messages of the invoice were not sent"))
}

fn total(spec: &Value) -> Option<Money> {
    let lines = spec.get("line_items")?.as_array()?;
    let mut sums = lines.iter().map(|line| amount(line.get("rate_per_quantity")?));
    let first = sums.next()??;
    sums.try_fold(first, |sum, line| sum.checked_add(line?).ok())
}

fn body(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    merchant: &Key,
    total: Money,
    mode: Mode,
) -> Result<Value, Reason> {
    let owner = ready_state(cx, merchant)?;
    let contact = reference(manifest, ContactKind::NAME);
    let contact = contact.ok_or_else(|| unsuitable("the invoice names no contact"))?;
    let spec = &manifest.spec;
    let mut body = json!({
        "contact_id": contact_id(cx, &contact, mode)?,
        "bank_account_id": prerequisites::deposit_account_id(spec, &owner, total, mode)?,
        "invoice_date": invoice_date(cx, spec, merchant, &owner)?,
        "currency": total.currency(),
        "line_items": spec.get("line_items").and_then(Value::as_array).map(|lines| lines.iter().map(line).collect::<Vec<_>>()),
        "test_mode": mode == Mode::Test,
    });
    for field in ["reference", "invoice_messages"] {
        set_optional(&mut body, field, spec.get(field).cloned());
    }
    Ok(body)
}

fn written_day(spec: &Value) -> Option<NaiveDate> {
    text(spec, "invoice_date").get(..10)?.parse().ok()
}

/// Returns one line as the service takes it: every value a string (partner-api, POST /invoices).
fn line(line: &Value) -> Value {
    let rate = line.get("rate_per_quantity").and_then(amount).map_or(0, Money::minor);
    json!({
        "description": line.get("description"),
        "rate_per_quantity": rate.to_string(),
        "quantity": "1",
        "rate_type": "units",
    })
}

/// Returns the contact's id; it must be of the invoice's mode (partner-api, test invoice rules).
fn contact_id(cx: &StepCx<'_>, contact: &Key, mode: Mode) -> Result<RemoteId, Reason> {
    let id = ready_id(cx, contact)?;
    let known = cx.view.observed_state(contact);
    let test = known.and_then(|known| known.fact("test_mode").as_bool());
    match test.map(prerequisites::mode_word).filter(|other| *other != mode) {
        Some(other) => {
            let what = format!("{} was made", contact.short());
            Err(prerequisites::other_mode(&what, other, mode))
        }
        None => Ok(id),
    }
}

/// Returns the moment of the invoice: as written, or noon of a bare date in the merchant's zone.
fn invoice_date(
    cx: &StepCx<'_>,
    spec: &Value,
    merchant: &Key,
    owner: &Observed,
) -> Result<String, Reason> {
    let written = text(spec, "invoice_date");
    let Ok(date) = written.parse::<NaiveDate>() else { return Ok(written.to_owned()) };
    let manifest = cx.view.manifest(merchant);
    let said = manifest.and_then(|manifest| {
        manifest.spec.get("timezone").and_then(Value::as_str).map(str::to_owned)
    });
    let zone = said.or_else(|| owner.text("timezone").map(str::to_owned));
    let zone = zone.unwrap_or_else(|| "UTC".to_owned());
    let noon = noon(date, &zone).ok_or_else(|| {
        Reason::Unsuitable(format!("unknown time zone {zone:?} of the merchant: set spec.timezone"))
    })?;
    Ok(timestamp(&noon))
}

pub(crate) const ROW: KindRow = KindRow {
    is_adoptable: true,
    overdue,
    due_payments: |spec, _| written_day(spec).zip(total(spec)).into_iter().collect(),
    amount: Some(total),
    on_demand,
    assume_applied,
    ..KindRow::new::<InvoiceKind>(step)
};

pub(super) fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    let merchant = reference(manifest, MERCHANT).unwrap_or_else(|| manifest.key.clone());
    let total = total(&manifest.spec);
    let mode = mode_of(cx.view, &merchant);
    let trust = prerequisites::deposits_in_trust(cx, &manifest.spec, &merchant);
    let meaning = if trust { "invoiced_into_trust" } else { "invoiced" };
    let money = total.zip(mode).map(|(amount, mode)| MoneyMove { amount, mode, meaning });
    let is_there = have.is_some_and(|have| exists_in_generation(manifest, have));
    let attached = if is_there {
        Ok(AttachmentState::Ready(Vec::new()))
    } else {
        prerequisites::attachment_state(cx, manifest, have)
    };
    let money: Vec<MoneyMove> = money.into_iter().collect();
    let kind = ObjectEffects {
        create: &|new| {
            let attached = attached.as_ref().map_err(Clone::clone)?;
            let effect = create(cx, manifest, have, attached, new)?;
            let makes = !matches!(attached, AttachmentState::Missing(..));
            Ok(Effect { moves: if makes { money.clone() } else { Vec::new() }, ..effect })
        },
        change: &refuse_change,
        money: money.clone(),
        unready: &unready,
    };
    let mut draft = plan_object(cx, InvoiceKind::FIELDS, manifest, have, &kind);
    if draft.verdict == PlannedAction::Blocked {
        draft.money.clear();
    } else if draft.verdict == PlannedAction::Create {
        draft.counts.emails = count_addresses(manifest.spec.get("invoice_messages"));
    }
    draft.replaces =
        have.filter(|_| !is_there).and_then(|have| replaced_invoice(cx, manifest, have));
    prerequisites::with_planned_uploads(
        prerequisites::read_state_first(draft, &attached, have),
        manifest,
    )
}

fn overdue(spec: &Value, today: NaiveDate) -> Vec<Issue> {
    let day = written_day(spec).filter(|date| *date < today);
    let issue = |date: NaiveDate| {
        let message = format!("the invoice date {date} is in the past");
        let help = "write a later date, unless you want this one on the invoice";
        Issue::error("reckon::invoice::past", "spec.invoice_date", message, help).as_warning()
    };
    day.map(issue).into_iter().collect()
}

fn on_demand(cx: &StepCx<'_>, manifest: &Manifest, have: &Observed) -> Option<Effect> {
    let contact = have.text("contact_id").and_then(|id| RemoteId::new(id).ok());
    let contact = contact.or_else(|| {
        let contact = reference(manifest, ContactKind::NAME)?;
        cx.view.observed_state(&contact)?.remote_id.clone()
    })?;
    let merchant = reference(manifest, MERCHANT)?;
    let applied = have.applied.clone().filter(|_| have.exists)?;
    let new = effect_context(cx, manifest, &merchant, &Value::Null).ok()?;
    Some(make_link(EffectContext { applied, ..new }, &contact))
}

fn assume_applied(cx: &StepCx<'_>, manifest: &Manifest) -> Observed {
    let facts = json!({"presentment_status": "sent"});
    Observed { facts, ..diff::applied_state(InvoiceKind::FIELDS, cx, manifest) }
}
