//! Steps that connect a merchant: exchange its code, read and seal its credentials, survey its
//! readable objects.

use chrono::{DateTime, NaiveDate, TimeDelta, TimeZone, Utc};
use serde_json::{Value, json};

use super::authorization::{Authorization, authorization};
use super::binding::{foreign, unapproved};
use super::shape::APPLICATION_KIND;
use super::{Merchant, leaving, zone};
use crate::base::id::{Key, Mode};
use crate::effects::{ACCOUNTS, CREDENTIALS, KEYS, Obligation, SURVEY, exchange_code, has_several};
use crate::kinds::adopting::Expect;
use crate::kinds::diff::changes;
use crate::kinds::redact::redact;
use crate::kinds::step::{Draft, StepCx, mode_of, needed, obligation, reference};
use crate::kinds::{Kind, Shape};
use crate::model::effect::{Reading, Work};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Verdict};

fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
    let spec = redact(Merchant::FIELDS, &manifest.spec, cx.digest_key);
    let new = match obligation(cx, manifest, &manifest.key, &spec) {
        Ok(new) => new,
        Err(reason) => return Draft::idle(Verdict::Blocked, reason),
    };
    if let Some(why) = cx.live_refused.filter(|_| new.mode == Mode::Live) {
        return Draft::idle(Verdict::Blocked, Reason::Unfit(why.to_owned()));
    }
    let applied = have.and_then(|have| have.applied.as_ref());
    let changes = changes(applied.map(|applied| &applied.spec), &spec, Merchant::FIELDS);
    if let Some(fixed) = applied.and_then(|_| changes.first()) {
        let moved = Reason::CannotChange(vec![fixed.path.clone()]);
        return Draft { changes, ..Draft::idle(Verdict::Blocked, moved) };
    }
    let renewed = applied.is_some_and(|old| old.generation < new.applied.generation);
    let have = have.filter(|_| !renewed);
    let have = match have.map(|have| authorization(manifest, &spec, have)) {
        Some(Authorization::Awaited(reason)) => {
            return Draft { changes, ..Draft::idle(Verdict::Blocked, reason) };
        }
        Some(Authorization::Renewed) => None,
        Some(Authorization::Given) | None => have,
    };
    if let Some(reason) = have.and_then(|have| foreign(cx, manifest, have)) {
        return Draft { changes, ..Draft::idle(Verdict::Blocked, reason) };
    }
    let draft = match missing(cx, manifest, have) {
        Ok(Missing::Token(code)) => {
            let effect = exchange_code(new, &code);
            Draft {
                work: Some(Work::Effect(effect)),
                ..Draft::idle(Verdict::Create, Reason::NotConnected)
            }
        }
        Ok(Missing::Reading(name, reason)) => {
            Draft { work: Some(read(name, new, manifest)), ..Draft::idle(Verdict::Read, reason) }
        }
        Ok(Missing::Nothing) => {
            let noted = applied.is_some_and(|applied| *applied == new.applied);
            let work = (!noted).then(|| Work::Note(new.applied));
            Draft { work, ready: true, ..Draft::idle(Verdict::Settled, Reason::InSync) }
        }
        Err(reason) => Draft::idle(waiting(&reason), reason),
    };
    Draft { changes, ..draft }
}

/// The next missing item.
enum Missing {
    /// A token; holds the placeholder of its code.
    Token(Value),
    Reading(&'static str, Reason),
    Nothing,
}

/// Returns the first missing item.
///
/// # Errors
///
/// The reason why it is not available yet.
fn missing(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Result<Missing, Reason> {
    let known = |fact: &str| have.is_some_and(|have| !have.fact(fact).is_null());
    let credentials = manifest.spec.get("credentials");
    let given = |name: &str| credentials.and_then(|credentials| credentials.get(name));
    let keys = given("keys").is_some();
    let several = have.is_some_and(|have| has_several(have.fact("accounts")));
    if !known("token") {
        if let Some(code) = given("authorization_code") {
            return Ok(Missing::Token(json!({ "$secret": code })));
        }
        if let Some(application) = reference(manifest, APPLICATION_KIND) {
            return Ok(Missing::Token(approved(cx, &application)?));
        }
    }
    Ok(if keys && !known("connected") {
        Missing::Reading(KEYS, Reason::NotConnected)
    } else if !keys && !known("accounts") {
        Missing::Reading(CREDENTIALS, Reason::NotConnected)
    } else if let Some(reason) = have.and_then(|have| unapproved(manifest, have)) {
        return Err(reason);
    } else if several && !known("primary_accounts") {
        Missing::Reading(ACCOUNTS, Reason::NotConnected)
    } else if known("surveyed") {
        Missing::Nothing
    } else {
        Missing::Reading(SURVEY, Reason::NotSurveyed)
    })
}

/// Returns the verdict for a reason: a merchant that waits for an approval, by the service or a
/// person, would change nothing now.
fn waiting(reason: &Reason) -> Verdict {
    let waits = matches!(reason, Reason::WaitsFor(_) | Reason::AwaitsApproval(_));
    if waits { Verdict::Wait } else { Verdict::Blocked }
}

/// Returns the code from an application's approval.
fn approved(cx: &StepCx<'_>, application: &Key) -> Result<Value, Reason> {
    let known = needed(cx, application)?;
    let code = known.fact("code").get("sealed").cloned();
    let why = || format!("the approval of {} brought no code", application.short());
    code.map(|code| json!({ "$sealed": code })).ok_or_else(|| Reason::Unfit(why()))
}

/// Returns the readings of facts that may have changed: accounts, and their permissions.
fn again(cx: &StepCx<'_>, key: &Key, spec: &Value, have: &Observed) -> Vec<Reading> {
    let (Some(applied), Some(mode)) = (&have.applied, mode_of(cx.view, key)) else {
        return Vec::new();
    };
    if mode == Mode::Live && cx.live_refused.is_some() {
        return Vec::new();
    }
    let keys = spec.pointer("/credentials/keys").is_some();
    let asked = !have.fact("primary_accounts").is_null();
    let names = if keys { vec![KEYS] } else { vec![CREDENTIALS, ACCOUNTS] };
    let names = names.into_iter().filter(|name| *name != ACCOUNTS || asked);
    let reading = |name| Reading {
        name,
        key: key.clone(),
        merchant: key.clone(),
        mode,
        applied: applied.clone(),
        about: Value::Null,
    };
    names.map(reading).collect()
}

/// Builds a reading for this merchant.
fn read(name: &'static str, new: Obligation, manifest: &Manifest) -> Work {
    let (key, merchant, mode) = (new.key, new.merchant, new.mode);
    let public_key = manifest.spec.pointer("/credentials/keys/public_key");
    let about = json!({ "public_key": public_key });
    Work::Read(Reading { name, key, merchant, mode, applied: new.applied, about })
}

/// Returns noon of a date in a merchant's zone, as UTC: the meaning of a bare date (design.md part
/// 4). `None` for an unknown zone. A noon that does not exist becomes the first moment after it.
pub fn noon(date: NaiveDate, zone: &str) -> Option<DateTime<Utc>> {
    let zone = zone::find(zone)?;
    let noon = date.and_hms_opt(12, 0, 0)?;
    let later =
        || zone.from_local_datetime(&noon.checked_add_signed(TimeDelta::hours(1))?).earliest();
    let local = zone.from_local_datetime(&noon).earliest().or_else(later)?;
    Some(local.with_timezone(&Utc))
}

impl Kind for Merchant {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
        step(cx, manifest, have)
    }

    fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
        leaving::gone(cx, key, have)
    }

    fn as_said(cx: &StepCx<'_>, manifest: &Manifest) -> Observed {
        super::as_said::as_said(cx, manifest)
    }

    fn adopts(_: &StepCx<'_>, _: &Manifest) -> Result<Vec<Expect>, &'static str> {
        Err(
            "a merchant is no object to take over: its credentials open it, and `reckon apply` reads what it has",
        )
    }

    fn again(cx: &StepCx<'_>, key: &Key, spec: &Value, have: &Observed) -> Vec<Reading> {
        again(cx, key, spec, have)
    }
}
