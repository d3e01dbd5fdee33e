//! What has to be done so that a merchant is connected: its code exchanged, its credentials read
//! and sealed, its readable objects looked at.

use chrono::{DateTime, NaiveDate, TimeDelta, TimeZone, Utc};
use serde_json::Value;

use super::Merchant;
use super::zone;
use crate::base::id::{Key, Mode};
use crate::effects::{CREDENTIALS, KEYS, Obligation, SURVEY, exchange_code};
use crate::kinds::diff::changes;
use crate::kinds::redact::redact;
use crate::kinds::step::{Draft, StepCx, obligation, orphaned};
use crate::kinds::{Kind, Shape};
use crate::model::effect::{Reading, Work};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Verdict};

/// The step of a merchant.
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
    let draft = match missing(manifest, have) {
        Missing::Token(code) => {
            let effect = exchange_code(new, code);
            Draft {
                work: Some(Work::Effect(effect)),
                ..Draft::idle(Verdict::Create, Reason::NotConnected)
            }
        }
        Missing::Reading(name, reason) => {
            Draft { work: Some(read(name, new)), ..Draft::idle(Verdict::Read, reason) }
        }
        Missing::Nothing => {
            let noted = applied.is_some_and(|applied| *applied == new.applied);
            let work = (!noted).then(|| Work::Note(new.applied));
            Draft { work, ready: true, ..Draft::idle(Verdict::Settled, Reason::InSync) }
        }
    };
    Draft { changes, ..draft }
}

/// The step of a merchant whose document is gone.
fn gone(_: &StepCx<'_>, _: &Key, _: &Observed) -> Draft {
    orphaned()
}

/// What still has to be learnt.
enum Missing<'a> {
    Token(&'a Value),
    Reading(&'static str, Reason),
    Nothing,
}

/// The first thing that is missing.
fn missing<'a>(manifest: &'a Manifest, have: Option<&Observed>) -> Missing<'a> {
    let known = |fact: &str| have.is_some_and(|have| !have.fact(fact).is_null());
    let credentials = manifest.spec.get("credentials");
    let code = credentials.and_then(|credentials| credentials.get("authorization_code"));
    let keys = credentials.is_some_and(|credentials| credentials.get("keys").is_some());
    match code {
        Some(code) if !known("token") => Missing::Token(code),
        _ if keys && !known("connected") => Missing::Reading(KEYS, Reason::NotConnected),
        _ if !keys && !known("accounts") => Missing::Reading(CREDENTIALS, Reason::NotConnected),
        _ if !known("surveyed") => Missing::Reading(SURVEY, Reason::NotSurveyed),
        _ => Missing::Nothing,
    }
}

/// A reading for this merchant.
fn read(name: &'static str, new: Obligation) -> Work {
    let (key, merchant, mode) = (new.key, new.merchant, new.mode);
    Work::Read(Reading { name, key, merchant, mode, applied: new.applied })
}

/// Noon of a date in a merchant's zone, as UTC: what a bare date means (design.md part 4). `None`
/// for a zone that is not known. A noon that does not exist is the first moment after it.
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
        gone(cx, key, have)
    }
}
