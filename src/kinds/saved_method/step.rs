//! Steps of a saved payment method, its read-back, and the document for one that is saved already
//! (gateway-api, Saved card, Saved bank).
//!
//! It is saved with its mark; its description changes in place, everything else by a fresh token or
//! one from its payer. It is removed only if its document requested that. The details of an
//! imported method stay at the service, which never shows them.

use std::time::Duration;

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, Utc};
use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::saved_method::{GetBank, GetCard, ListBanks, ListCards};
use crate::base::id::{Key, RemoteId};
use crate::effects::core::context::{EffectContext, set_optional};
use crate::effects::methods::change::{change_method, delete_method, renew_by_token, renew_method};
use crate::effects::methods::save::{FreshToken, create_token, save_by_token, save_method};
use crate::effects::methods::{MethodSource, method_facts};
use crate::kinds::planning::object_step::{ObjectEffects, needs_token, plan_object};
use crate::kinds::planning::step::{
    StepCx, StepDecision, deletion_of, orphan, ready_state, removal_context, text, unsuitable,
    wait, wait_for_users,
};
use crate::kinds::remote::readback::{
    ImportTemplate, ImportTemplateCx, ReadBack, ReadBackField, WireForm,
};
use crate::kinds::row::KindRow;
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::saved_method::source::{
    is_intake, method_type, source, usable_token, with_given_details,
};
use crate::kinds::schema::kind::SpecSchema;
use crate::model::change::PlannedAction;
use crate::model::effect::{Effect, StepWork};
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::health::{ConditionStatus, Health};
use crate::model::state::observed::Observed;

fn require_details(source: MethodSource<'_>) -> Result<(), Reason> {
    if source.details.is_object() {
        return Ok(());
    }
    let why = "the document lacks the details: write them there, or run `reckon import` once more to keep the saved \
               ones";
    Err(unsuitable(why))
}

/// Returns the first or second of two effects: a token of the document, then the change by it.
fn renew(
    new: EffectContext,
    source: MethodSource<'_>,
    target: &RemoteId,
    have: Option<&Observed>,
) -> Result<Effect, Reason> {
    let unknown = || unsuitable("the saved details are unknown");
    let known = have.ok_or_else(unknown)?;
    let applied = known.applied.as_ref().ok_or_else(unknown)?;
    Ok(match FreshToken::of(known, new.applied.digest) {
        Some(token) => renew_method(new, source, target, &token),
        None => create_token(new, source, applied),
    })
}

pub(crate) const ROW: KindRow = KindRow {
    is_deletable: true,
    is_adoptable: true,
    read_backs: &[&CARDS, &BANKS],
    plan_removal,
    read_back,
    health: |cx, _, known| method_health(known, cx.now),
    overdue,
    ..KindRow::new::<SavedMethodKind>(step)
};

pub(super) fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    let manifest = &*with_given_details(cx, manifest, have);
    let source = source(&manifest.spec);
    let kind = ObjectEffects {
        create: &|new| {
            ready_state(cx, &new.merchant)?;
            if is_intake(&manifest.spec) {
                return Ok(save_by_token(new, source, &usable_token(cx, manifest, have)?));
            }
            require_details(source)?;
            Ok(save_method(new, source))
        },
        change: &|new, target, changes| {
            if needs_token(SavedMethodKind::FIELDS, changes) {
                if is_intake(&manifest.spec) {
                    let brought = usable_token(cx, manifest, have)?;
                    return Ok(renew_by_token(new, source, target, &brought));
                }
                require_details(source)?;
                return renew(new, source, target, have);
            }
            Ok(change_method(new, source, target))
        },
        money: Vec::new(),
        unready: &|_| None,
    };
    let draft = plan_object(cx, SavedMethodKind::FIELDS, manifest, have, &kind);
    if draft.reason == Reason::Renewed && is_intake(&manifest.spec) {
        return StepDecision { reason: Reason::DetailsGiven, ..draft };
    }
    draft
}

fn plan_removal(cx: &StepCx<'_>, key: &Key, have: &Observed) -> StepDecision {
    let (Some(applied), Some(target)) = (deletion_of(have), &have.remote_id) else {
        return orphan();
    };
    if let Some(draft) = wait_for_users(cx, key) {
        return draft;
    }
    match removal_context(cx, key, have, applied) {
        Ok(new) => {
            let effect = delete_method(new, method_type(&applied.spec), target);
            let draft = StepDecision::idle(PlannedAction::Delete, Reason::Removed);
            draft.with_work(StepWork::Effect(effect))
        }
        Err(reason) => wait(reason),
    }
}

fn read_back(spec: &Value) -> Option<&'static ReadBack> {
    match text(spec, "type") {
        "card" => Some(&CARDS),
        "bank" => Some(&BANKS),
        _ => None,
    }
}

fn overdue(spec: &Value, today: NaiveDate) -> Vec<Issue> {
    let number = |field: &str| spec.pointer(&format!("/source/card/{field}"))?.as_i64();
    let Some((month, year)) = number("exp_month").zip(number("exp_year")) else {
        return Vec::new();
    };
    if (year, month) >= (i64::from(today.year()), i64::from(today.month())) {
        return Vec::new();
    }
    let message = format!("the card expired in {month:02}/{year}");
    let help = "write the date of the new card, or ask its holder for another one";
    let path = "spec.source.card.exp_year";
    vec![Issue::error("reckon::saved_method::expired", path, message, help).as_warning()]
}

const CENTURY: i32 = 2000;

/// Returns the health of a saved card by its expiry; well for every method that never expires.
pub(crate) fn method_health(known: &Observed, now: DateTime<Utc>) -> Health {
    let Some((month, over)) = expiry(known) else { return Health::healthy() };
    let named = month.format("%Y-%m");
    let (reason, status, message, since, turns) = if now >= over {
        let message = format!("the card expired at the end of {named} and can no longer pay");
        ("CardExpired", ConditionStatus::False, message, over, None)
    } else if now >= month {
        let message = format!("the card expires at the end of {named}");
        ("CardExpires", ConditionStatus::True, message, month, Some(over))
    } else {
        return Health { next_change: Some(month), ..Health::healthy() };
    };
    Health { status, reason, message, since: Some(since), next_change: turns }
}

/// Returns the first moment of the month at whose end a card expires, and the first one after that
/// month. The service writes both numbers as numbers or as texts of digits.
fn expiry(known: &Observed) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let number = |fact: &str| {
        let value = known.fact(fact);
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    };
    let month = u32::try_from(number("exp_month")?).ok()?;
    let year = i32::try_from(number("exp_year")?).ok()?;
    let year = if year < 100 { year.checked_add(CENTURY)? } else { year };
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    let after = first.checked_add_months(Months::new(1))?;
    let begin = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    Some((begin(first), begin(after)))
}

/// Only their merchant changes saved methods: they are read a few times a day.
const EVERY: Duration = Duration::from_hours(6);

const fn plain_field(path: &'static str, at: &'static str) -> ReadBackField {
    ReadBackField { path, at, form: WireForm::Same }
}

const fn fingerprint_field(path: &'static str) -> ReadBackField {
    ReadBackField { path, at: "fingerprint", form: WireForm::Fingerprint }
}

static CARDS: ReadBack = ReadBack {
    list_name: "cards",
    list: || Call::to::<ListCards>(&[]),
    one: |id| Call::to::<GetCard>(&[id.as_str()]),
    interval: EVERY,
    fields: &[
        fingerprint_field("source.card.number"),
        plain_field("source.card.exp_month", "exp_month"),
        ReadBackField { path: "source.card.exp_year", at: "exp_year", form: WireForm::Year },
        plain_field("source.card.name", "name"),
        plain_field("source.card.address1", "address1"),
        plain_field("source.card.city", "city"),
        plain_field("source.card.state", "state"),
        plain_field("source.card.postal_code", "postal_code"),
        plain_field("description", "description"),
    ],
    facts: &[],
    import_facts: method_facts,
    import_template: |cx, item| Ok(import_template(cx, item, "card", "card_type")),
    ended_reason: |_| None,
};

static BANKS: ReadBack = ReadBack {
    list_name: "banks",
    list: || Call::to::<ListBanks>(&[]),
    one: |id| Call::to::<GetBank>(&[id.as_str()]),
    interval: EVERY,
    fields: &[
        fingerprint_field("source.bank.account_number"),
        plain_field("source.bank.account_type", "account_type"),
        plain_field("source.bank.account_holder_type", "account_holder_type"),
        plain_field("source.bank.name", "name"),
        plain_field("description", "description"),
    ],
    facts: &[],
    import_facts: method_facts,
    import_template: |cx, item| Ok(import_template(cx, item, "bank", "account_type")),
    ended_reason: |_| None,
};

/// Creates the document; its name is the brand, or account type, and the last digits.
fn import_template(
    cx: &ImportTemplateCx<'_>,
    item: &Value,
    word: &str,
    named_by: &str,
) -> ImportTemplate {
    let mut spec = json!({"merchant": cx.merchant, "type": word, "source": {}});
    let description = Some(text(item, "description")).filter(|one| !one.is_empty());
    set_optional(&mut spec, "description", description);
    let sort = item.get(named_by).and_then(Value::as_str).unwrap_or(word);
    let name = format!("{sort} {}", text(&method_facts(item), "last4"));
    ImportTemplate { kind: SavedMethodKind::NAME, name, spec }
}
