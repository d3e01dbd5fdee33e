//! Steps of a recurring charge. It is created from a saved method, with or without an immediate
//! charge, or from an earlier charge; its amount, schedule, limits and description change in place.

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::surcharge::{Quote, first, quote};
use super::{RecurringCharge, account, dues, ending, given, method, request, today};
use crate::base::id::{Key, RemoteId};
use crate::base::money::Money;
use crate::effects::{Obligation, SURCHARGE};
use crate::effects::{change_recurring, charge_now, create_recurring, schedule_charge};
use crate::kinds::adopting::Expect;
use crate::kinds::diff::amount;
use crate::kinds::readback::ReadBack;
use crate::kinds::step::{
    Draft, MERCHANT, Object, StepCx, by_token, mode_of, needed, object, reference, text,
};
use crate::kinds::{Kind, Shape, as_said, health, leaving, overdue};
use crate::model::effect::{Effect, Reading, Work};
use crate::model::health::Health;
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{MoneyMove, Reason, Verdict};

/// Meanings of the amount of each scheduled payment, and of the same into a trust account.
const PER_OCCURRENCE: [&str; 2] =
    ["collected_per_occurrence", "collected_per_occurrence_into_trust"];
/// Meanings of the amount charged now.
const NOW: [&str; 2] = ["charged_now", "charged_now_into_trust"];
/// Meanings of the amount charged now while the surcharge is unknown.
const NOW_AND_MORE: [&str; 2] =
    ["charged_now_before_surcharge", "charged_now_into_trust_before_surcharge"];

fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
    if let Some(reason) = ending::ended(have, manifest) {
        return Draft::idle(Verdict::Blocked, reason);
    }
    let manifest = &method::compared(cx, manifest, have);
    let quote = quote(cx, manifest, have);
    let money = money(cx, manifest, have, &quote);
    let kind = Object {
        create: &|new| Ok(Effect { moves: money.clone(), ..create(cx, manifest, &quote, new)? }),
        change: &|new, target, changes| {
            let changed = request::changed(cx, manifest, have, changes)?;
            let account = have.and_then(|have| have.text("account_id")).map(str::to_owned);
            let new = Obligation { account, ..new };
            let effect = if by_token(RecurringCharge::FIELDS, changes) {
                method::renewal(cx, manifest, have, new, (target, changed))?
            } else {
                change_recurring(new, target, changed.body, changed.text)
            };
            let collects = effect.request.body.get("amount").is_some();
            let moves = if collects { per_occurrence(&money) } else { Vec::new() };
            Ok(Effect { moves, ..effect })
        },
        money: money.clone(),
        unready: &unready,
    };
    let mut draft = object(cx, RecurringCharge::FIELDS, manifest, have, &kind);
    let collects = draft.changes.iter().any(|change| change.path == "amount");
    if draft.verdict == Verdict::Update && collects {
        draft.money = per_occurrence(&money);
    }
    if draft.verdict == Verdict::Blocked {
        draft.money.clear();
    }
    let draft = given::lagging(cx, manifest, have, draft);
    if draft.reason == Reason::Renewed && method::payers(cx, manifest).is_some() {
        return Draft { reason: Reason::Given, ..draft };
    }
    asking_first(draft, quote, have)
}

/// Returns the reason why the charge is not ready. Ready means active, or completed by its own
/// limits.
fn unready(have: &Observed) -> Option<Reason> {
    match have.text("status") {
        Some("ACTIVE" | "COMPLETED") | None => None,
        Some(other) => Some(Reason::Unfit(format!("it is {other} on the service"))),
    }
}

/// Returns the effect that creates it.
///
/// # Errors
///
/// The obstacle.
fn create(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    quote: &Quote,
    new: Obligation,
) -> Result<Effect, Reason> {
    let spec = &manifest.spec;
    today::refuse(cx, manifest)?;
    let merchant = reference(manifest, MERCHANT);
    let merchant = merchant.ok_or_else(|| Reason::Unfit("it names no merchant".to_owned()))?;
    let owner = needed(cx, &merchant)?;
    account::allow(cx, manifest, &owner)?;
    let new = method::copied(cx, manifest, new);
    let description = text(spec, "description");
    if let Some(charge) = spec.get("from_charge").and_then(Value::as_str) {
        let charge = RemoteId::new(charge).map_err(|error| Reason::Unfit(error.to_string()))?;
        let body = request::from_charge(spec)?;
        let currency = request::collected(spec)?.currency();
        return Ok(schedule_charge(new, &charge, body, currency.code()));
    }
    if !is_now(spec) {
        let body = request::scheduled(cx, manifest, &owner)?;
        return Ok(create_recurring(signed(new, &body), body, description));
    }
    if let Quote::Missing(reason) = quote {
        return Err(reason.clone());
    }
    let body = request::now(cx, manifest, &owner, quote)?;
    Ok(charge_now(signed(new, &body), body, description))
}

/// Signs an effect on an account with that account's own key.
fn signed(new: Obligation, body: &Value) -> Obligation {
    let account = body.get("account_id").and_then(Value::as_str).map(str::to_owned);
    Obligation { account, ..new }
}

/// Returns whether the first charge is made now.
fn is_now(spec: &Value) -> bool {
    spec.get("first_charge").and_then(Value::as_str) == Some("now")
}

/// Replaces the creation by a reading while the surcharge is unknown.
fn asking_first(draft: Draft, quote: Quote, have: Option<&Observed>) -> Draft {
    let (Quote::Ask(about), Verdict::Create, Some(Work::Effect(effect))) =
        (quote, draft.verdict, &draft.work)
    else {
        return draft;
    };
    let known = have.filter(|have| have.exists).and_then(|have| have.applied.clone());
    let reading = Reading {
        name: SURCHARGE,
        key: effect.key.clone(),
        merchant: effect.merchant.clone(),
        mode: effect.mode,
        applied: known.unwrap_or_else(|| effect.applied.clone()),
        about,
    };
    Draft { verdict: Verdict::Read, work: Some(Work::Read(reading)), ..draft }
}

/// Returns the part of this money that each occurrence collects.
fn per_occurrence(money: &[MoneyMove]) -> Vec<MoneyMove> {
    let each = money.iter().filter(|money| PER_OCCURRENCE.contains(&money.meaning));
    each.cloned().collect()
}

/// Returns the amount charged now, and the amount of each occurrence.
fn money(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    quote: &Quote,
) -> Vec<MoneyMove> {
    let spec = &manifest.spec;
    let mode = reference(manifest, MERCHANT).and_then(|merchant| mode_of(cx.view, &merchant));
    let Some((collected, mode)) = spec.get("amount").and_then(amount).zip(mode) else {
        return Vec::new();
    };
    let now = first(spec).filter(|_| is_now(spec)).map(|first| match quote {
        Quote::Unwanted => (first, NOW),
        Quote::Known { surcharge: _, total } => (Money::new(*total, first.currency()), NOW),
        Quote::Ask(_) | Quote::Missing(_) => (first, NOW_AND_MORE),
    });
    let trust = account::is_trust(cx, manifest, have);
    let moves = now.into_iter().chain([(collected, PER_OCCURRENCE)]);
    moves
        .map(|(amount, [plain, into_trust])| MoneyMove {
            amount,
            mode,
            meaning: if trust { into_trust } else { plain },
        })
        .collect()
}

impl Kind for RecurringCharge {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
        step(cx, manifest, have)
    }

    fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
        ending::gone(cx, key, have)
    }

    fn holds(key: &Key, applied: &Applied) -> Vec<Key> {
        leaving::named(key, applied, "method", "SavedMethod").into_iter().collect()
    }

    fn read_back(spec: &Value) -> Option<&'static ReadBack> {
        super::readback::read_back(spec)
    }

    fn overdue(spec: &Value, today: NaiveDate) -> Vec<Issue> {
        overdue::schedule(spec, today)
    }

    fn dues(spec: &Value, from: NaiveDate) -> Vec<(NaiveDate, Money)> {
        dues::dues(spec, from)
    }

    fn health(cx: &StepCx<'_>, manifest: Option<&Manifest>, known: &Observed) -> Health {
        let method = manifest.and_then(|manifest| reference(manifest, "SavedMethod"));
        let method = method.and_then(|method| cx.view.observed(&method));
        health::of_charge(known, method.as_deref(), cx.now)
    }

    fn adopts(cx: &StepCx<'_>, manifest: &Manifest) -> Result<Vec<Expect>, &'static str> {
        Ok(super::adopting::expects(cx, manifest))
    }

    fn as_said(cx: &StepCx<'_>, manifest: &Manifest) -> Observed {
        let copied = method::compared(cx, manifest, None);
        let facts = json!({"status": "ACTIVE"});
        Observed { facts, ..as_said::plain(Self::FIELDS, cx, &copied) }
    }
}
