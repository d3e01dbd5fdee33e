//! Steps of a recurring charge. It is created from a saved method, with or without an immediate
//! charge, or from an earlier charge; its amount, schedule, limits and description change in place.

use chrono::{DateTime, Months, NaiveDate, Utc};
use serde_json::{Value, json};

use crate::base::clock::timestamp;
use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::core::context::{EffectContext, read_before};
use crate::effects::payments::charge::SURCHARGE;
use crate::effects::recurring::change::change_recurring;
use crate::effects::recurring::first_charge::charge_now;
use crate::effects::recurring::{create_recurring, schedule_charge};
use crate::kinds::planning::diff::{self, amount};
use crate::kinds::planning::object_step::{ObjectEffects, needs_token, plan_object};
use crate::kinds::planning::step::{
    MERCHANT, StepCx, StepDecision, mode_of, ready_state, reference, referenced_key, text,
    unsuitable,
};
use crate::kinds::recurring_charge::account::{
    self, SurchargeQuote, amount_before_surcharge, quote,
};
use crate::kinds::recurring_charge::import::{CHARGES, import_checks};
use crate::kinds::recurring_charge::{RecurringChargeKind, ending, method, request};
use crate::kinds::row::KindRow;
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::saved_method::step::method_health;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::change::PlannedAction;
use crate::model::effect::{Effect, MoneyMove, StepWork};
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::health::{ConditionStatus, Health, Payment, PaymentResult, Payments};
use crate::model::state::observed::Observed;

/// Meanings of the amount of each scheduled payment, and of the same into a trust account.
const PER_OCCURRENCE: [&str; 2] =
    ["collected_per_occurrence", "collected_per_occurrence_into_trust"];
const NOW: [&str; 2] = ["charged_now", "charged_now_into_trust"];
/// Meanings of the amount charged now while the surcharge is unknown.
const NOW_AND_MORE: [&str; 2] =
    ["charged_now_before_surcharge", "charged_now_into_trust_before_surcharge"];

/// Returns the reason why the charge is neither active nor completed by its own limits.
fn unready(have: &Observed) -> Option<Reason> {
    match have.text("status") {
        Some("ACTIVE" | "COMPLETED") | None => None,
        Some(other) => Some(Reason::Unsuitable(format!("the charge is {other} at the service"))),
    }
}

fn create(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    quote: &SurchargeQuote,
    new: EffectContext,
) -> Result<Effect, Reason> {
    let spec = &manifest.spec;
    request::refuse_start_today(cx, manifest)?;
    let owner = ready_state(cx, &new.merchant)?;
    account::allow(cx, manifest, &owner)?;
    let new = method::with_saved_details(cx, manifest, new);
    let description = text(spec, "description");
    if let Some(charge) = spec.get("from_charge").and_then(Value::as_str) {
        let charge = RemoteId::new(charge).map_err(|error| unsuitable(&error.to_string()))?;
        let amount = request::amount_per_occurrence(spec)?;
        let schedule = spec.get("schedule").cloned().unwrap_or_default();
        let body = json!({"amount": amount.minor(), "schedule": schedule});
        return Ok(schedule_charge(new, &charge, body, amount.currency().code()));
    }
    if !is_now(spec) {
        let body = request::scheduled_body(cx, manifest, &owner)?;
        return Ok(create_recurring(with_account_key(new, &body), body, description));
    }
    if let SurchargeQuote::Missing(reason) = quote {
        return Err(reason.clone());
    }
    let body = request::charge_now_body(cx, manifest, &owner, quote)?;
    Ok(charge_now(with_account_key(new, &body), body, description))
}

/// Signs an effect on an account with that account's own key.
fn with_account_key(new: EffectContext, body: &Value) -> EffectContext {
    let account = body.get("account_id").and_then(Value::as_str).map(str::to_owned);
    EffectContext { account, ..new }
}

fn is_now(spec: &Value) -> bool {
    spec.get("first_charge").and_then(Value::as_str) == Some("now")
}

/// Replaces the creation by a reading while the surcharge is unknown.
fn read_surcharge_first(
    draft: StepDecision,
    quote: SurchargeQuote,
    have: Option<&Observed>,
) -> StepDecision {
    let (SurchargeQuote::Ask(about), PlannedAction::Create, Some(StepWork::Effect(effect))) =
        (quote, draft.verdict, &draft.work)
    else {
        return draft;
    };
    let known = have.filter(|have| have.exists).and_then(|have| have.applied.clone());
    let applied = known.unwrap_or_else(|| effect.applied.clone());
    let reading = read_before(effect, SURCHARGE, applied, about);
    StepDecision { verdict: PlannedAction::Read, work: Some(StepWork::Read(reading)), ..draft }
}

fn per_occurrence(money: &[MoneyMove]) -> Vec<MoneyMove> {
    money.iter().filter(|money| PER_OCCURRENCE.contains(&money.meaning)).cloned().collect()
}

fn money(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
    quote: &SurchargeQuote,
) -> Vec<MoneyMove> {
    let spec = &manifest.spec;
    let mode = reference(manifest, MERCHANT).and_then(|merchant| mode_of(cx.view, &merchant));
    let Some((collected, mode)) = spec.get("amount").and_then(amount).zip(mode) else {
        return Vec::new();
    };
    let now = amount_before_surcharge(spec).filter(|_| is_now(spec)).map(|first| match quote {
        SurchargeQuote::Unwanted => (first, NOW),
        SurchargeQuote::Known { surcharge: _, total } => {
            (Money::new(*total, first.currency()), NOW)
        }
        SurchargeQuote::Ask(_) | SurchargeQuote::Missing(_) => (first, NOW_AND_MORE),
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

/// Months by which the schedule of a charge imported from elsewhere may have begun in the past.
const SCHEDULE_MONTHS: Months = Months::new(12);

/// Returns the health of a charge: its payments first, then the method that pays it.
fn charge_health(known: &Observed, method: Option<&Observed>, now: DateTime<Utc>) -> Health {
    let health = method.map_or_else(Health::healthy, |method| method_health(method, now));
    let Some(payments) = &known.payments else { return health };
    let since = Some(payments.since);
    if payments.failures == 0 {
        let since = if health.reason == Health::healthy().reason { since } else { health.since };
        return Health { since, ..health };
    }
    let reason = match payments.last.result {
        PaymentResult::Returned => "PaymentReturned",
        PaymentResult::Paid | PaymentResult::Declined | PaymentResult::Voided => "PaymentFailed",
    };
    let message = failure_message(payments, known.text("currency"));
    let status = ConditionStatus::False;
    Health { status, reason, message, since, next_change: health.next_change }
}

/// Describes the newest attempt, and the number of failures before it.
fn failure_message(payments: &Payments, currency_of_charge: Option<&str>) -> String {
    let Payment { result, amount, currency, reason, at, id } = &payments.last;
    let currency = currency.as_deref().or(currency_of_charge);
    let money = amount.zip(currency.and_then(|currency| currency.parse().ok()));
    let money = money.map(|(amount, currency)| format!(" of {}", Money::new(amount, currency)));
    let money = money.unwrap_or_default();
    let why = reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let row = match payments.failures {
        0 | 1 => String::new(),
        more => format!("; {more} payments in a row failed"),
    };
    format!("the payment{money} was {} at {}{why}, {id}{row}", result.word(), timestamp(at))
}

pub(crate) const ROW: KindRow = KindRow {
    is_deletable: true,
    is_adoptable: true,
    read_backs: &[&CHARGES],
    plan_removal: ending::plan_removal,
    dependencies: |key, applied| {
        referenced_key(key, applied, "method", SavedMethodKind::NAME).into_iter().collect()
    },
    read_back: |_| Some(&CHARGES),
    overdue,
    due_payments: request::due_payments,
    amount: Some(|spec| spec.get("amount").and_then(amount)),
    health,
    import_checks: |cx, manifest| Ok(import_checks(cx, manifest)),
    assume_applied,
    ..KindRow::new::<RecurringChargeKind>(step)
};

pub(super) fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    if let Some(reason) = ending::ended_reason(have, manifest) {
        return StepDecision::blocked(reason);
    }
    let manifest = &method::with_details_digest(cx, manifest, have);
    let quote = quote(cx, manifest, have);
    let money = money(cx, manifest, have, &quote);
    let kind = ObjectEffects {
        create: &|new| Ok(Effect { moves: money.clone(), ..create(cx, manifest, &quote, new)? }),
        change: &|new, target, changes| {
            let changed = request::change_body(cx, manifest, have, changes)?;
            let account = have.and_then(|have| have.text("account_id")).map(str::to_owned);
            let new = EffectContext { account, ..new };
            let effect = if needs_token(RecurringChargeKind::FIELDS, changes) {
                method::renew(cx, manifest, have, new, (target, changed))?
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
    let mut draft = plan_object(cx, RecurringChargeKind::FIELDS, manifest, have, &kind);
    let collects = draft.changes.iter().any(|change| change.path == "amount");
    if draft.verdict == PlannedAction::Update && collects {
        draft.money = per_occurrence(&money);
    }
    if draft.verdict == PlannedAction::Blocked {
        draft.money.clear();
    }
    let draft = method::wait_for_details(cx, manifest, have, draft);
    if draft.reason == Reason::Renewed && method::payer_method(cx, manifest).is_some() {
        return StepDecision { reason: Reason::DetailsGiven, ..draft };
    }
    read_surcharge_first(draft, quote, have)
}

fn overdue(spec: &Value, today: NaiveDate) -> Vec<Issue> {
    let start = spec.pointer("/schedule/start").and_then(Value::as_str);
    let start = start.and_then(|start| start.get(..10)?.parse::<NaiveDate>().ok());
    let least = today.checked_sub_months(SCHEDULE_MONTHS);
    let issue = |start: NaiveDate| {
        let message = format!("the schedule began on {start}, more than a year ago");
        let help = "check the year; payments before today are not collected";
        let code = "reckon::recurring_charge::old_start";
        Issue::error(code, "spec.schedule.start", message, help).as_warning()
    };
    start.filter(|start| Some(*start) < least).map(issue).into_iter().collect()
}

fn health(cx: &StepCx<'_>, manifest: Option<&Manifest>, known: &Observed) -> Health {
    let method = manifest.and_then(|manifest| reference(manifest, SavedMethodKind::NAME));
    let method = method.and_then(|method| cx.view.observed_state(&method));
    charge_health(known, method.as_deref(), cx.now)
}

fn assume_applied(cx: &StepCx<'_>, manifest: &Manifest) -> Observed {
    let copied = method::with_details_digest(cx, manifest, None);
    let facts = json!({"status": "ACTIVE"});
    Observed { facts, ..diff::applied_state(RecurringChargeKind::FIELDS, cx, &copied) }
}
