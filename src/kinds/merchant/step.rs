//! Steps that connect a merchant: exchange its code, read and seal its credentials, survey its
//! readable objects. Its assumed state is connected, and has every account that documents name.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, TimeDelta, TimeZone, Utc};
use serde_json::{Value, json};

use crate::base::id::{Key, Mode};
use crate::effects::merchants::authorization::exchange_code;
use crate::effects::merchants::read::{CREDENTIALS, KEYS, SURVEY};
use crate::effects::merchants::{ACCOUNTS, has_several};
use crate::kinds::merchant::authorization::{
    self, Authorization, authorization_of, foreign_reason, missing_approval,
};
use crate::kinds::merchant::{APPLICATION_KIND, MerchantKind, zone};
use crate::kinds::planning::diff;
use crate::kinds::planning::step::{
    StepCx, StepDecision, effect_context, mode_of, ready_state, reference,
};
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::SpecSchema;
use crate::kinds::secrets::redact;
use crate::model::change::PlannedAction;
use crate::model::effect::{RemoteReading, StepWork};
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::credentials::BINDING;
use crate::model::state::observed::Observed;

enum Missing {
    /// A token; holds the placeholder of its code.
    Token(Value),
    Reading(&'static str, Reason),
    Nothing,
}

/// Returns the first missing item, or the reason why it is not available yet.
fn next_missing(
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
            return Ok(Missing::Token(approved_code(cx, &application)?));
        }
    }
    Ok(if keys && !known("connected") {
        Missing::Reading(KEYS, Reason::NotConnected)
    } else if !keys && !known("accounts") {
        Missing::Reading(CREDENTIALS, Reason::NotConnected)
    } else if let Some(reason) = have.and_then(|have| missing_approval(manifest, have)) {
        return Err(reason);
    } else if several && !known("primary_accounts") {
        Missing::Reading(ACCOUNTS, Reason::NotConnected)
    } else if known("surveyed") {
        Missing::Nothing
    } else {
        Missing::Reading(SURVEY, Reason::NotSurveyed)
    })
}

fn approved_code(cx: &StepCx<'_>, application: &Key) -> Result<Value, Reason> {
    let known = ready_state(cx, application)?;
    let code = known.fact("code").get("sealed").cloned();
    let why = || format!("the approval of {} contains no code", application.short());
    code.map(|code| json!({ "$sealed": code })).ok_or_else(|| Reason::Unsuitable(why()))
}

/// Returns noon of a date in a merchant's zone, as UTC: the meaning of a bare date (design.md part
/// 4). `None` for an unknown zone. A noon that does not exist becomes the first moment after it.
pub(crate) fn noon(date: NaiveDate, zone: &str) -> Option<DateTime<Utc>> {
    let zone = zone::find(zone)?;
    let noon = date.and_hms_opt(12, 0, 0)?;
    let later =
        || zone.from_local_datetime(&noon.checked_add_signed(TimeDelta::hours(1))?).earliest();
    let local = zone.from_local_datetime(&noon).earliest().or_else(later)?;
    Some(local.with_timezone(&Utc))
}

pub(crate) const ROW: KindRow = KindRow {
    is_deletable: true,
    plan_removal: authorization::plan_removal,
    assume_applied,
    import_checks: |_, _| {
        Err(
            "a merchant cannot be imported: its credentials open it, and `reckon apply` reads its objects",
        )
    },
    refresh_reads,
    ..KindRow::new::<MerchantKind>(step)
};

pub(super) fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    let spec = redact(MerchantKind::FIELDS, &manifest.spec, cx.digest_key);
    let new = match effect_context(cx, manifest, &manifest.key, &spec) {
        Ok(new) => new,
        Err(reason) => return StepDecision::blocked(reason),
    };
    if let Some(refused) = authorization::refuse_live(cx, new.mode) {
        return refused;
    }
    let applied = have.and_then(|have| have.applied.as_ref());
    let changes = diff::changes(applied.map(|applied| &applied.spec), &spec, MerchantKind::FIELDS);
    if let Some(fixed) = applied.and_then(|_| changes.first()) {
        let moved = Reason::CannotChange(vec![fixed.path.clone()]);
        return StepDecision::blocked(moved).with_changes(changes);
    }
    let renewed = applied.is_some_and(|old| old.generation < new.applied.generation);
    let have = have.filter(|_| !renewed);
    let have = match have.map(|have| authorization_of(manifest, &spec, have)) {
        Some(Authorization::Refused(reason)) => {
            return StepDecision::blocked(reason).with_changes(changes);
        }
        Some(Authorization::Renewed) => None,
        Some(Authorization::Valid) | None => have,
    };
    if let Some(reason) = have.and_then(|have| foreign_reason(cx, manifest, have)) {
        return StepDecision::blocked(reason).with_changes(changes);
    }
    let draft = match next_missing(cx, manifest, have) {
        Ok(Missing::Token(code)) => {
            let work = StepWork::Effect(exchange_code(new, &code));
            StepDecision::idle(PlannedAction::Create, Reason::NotConnected).with_work(work)
        }
        Ok(Missing::Reading(name, reason)) => {
            let public_key = manifest.spec.pointer("/credentials/keys/public_key");
            let reading = new.reading(name, json!({ "public_key": public_key }));
            StepDecision::idle(PlannedAction::Read, reason).with_work(StepWork::Read(reading))
        }
        Ok(Missing::Nothing) => {
            let noted = applied.is_some_and(|applied| *applied == new.applied);
            let work = (!noted).then(|| StepWork::Record(new.applied));
            let settled = StepDecision::idle(PlannedAction::Settled, Reason::Settled);
            StepDecision { work, ..settled.ready() }
        }
        // A merchant that waits for an approval would change nothing now.
        Err(reason @ (Reason::WaitsFor(_) | Reason::AwaitsApproval(_))) => {
            StepDecision::idle(PlannedAction::Wait, reason)
        }
        Err(reason) => StepDecision::blocked(reason),
    };
    draft.with_changes(changes)
}

fn assume_applied(cx: &StepCx<'_>, manifest: &Manifest) -> Observed {
    let accounts = named_accounts(cx, manifest, "account").into_iter();
    let accounts = accounts.map(|name| json!({"id": name, "name": name}));
    let own = [(ASSUMED_CARDS, "MerchantAccount"), (ASSUMED_CHECKS, "AchAccount")];
    let own = own.map(|(id, sort)| json!({"id": id, "name": id, "type": sort}));
    let banks = named_accounts(cx, manifest, "bank_account").into_iter();
    let banks = banks.map(|name| json!({"id": name, "name": name}));
    let fed = json!({"id": "assumed_bank", "name": "assumed_bank", "processing_accounts": [ASSUMED_CARDS, ASSUMED_CHECKS]});
    let facts = json!({
        "token": true,
        "connected": true,
        "accounts": own.into_iter().chain(accounts).collect::<Vec<_>>(),
        "primary_accounts": [ASSUMED_CARDS, ASSUMED_CHECKS],
        "bank_accounts": banks.chain([fed]).collect::<Vec<_>>(),
        "surveyed": true,
        BINDING: {
            "generation": manifest.annotations.generation,
            "mode": "test",
            "name": applied_name(cx, manifest),
            "public_keys": ["assumed"],
        },
    });
    Observed { facts, ..diff::applied_state(MerchantKind::FIELDS, cx, manifest) }
}

fn refresh_reads(cx: &StepCx<'_>, key: &Key, spec: &Value, have: &Observed) -> Vec<RemoteReading> {
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
    let reading = |name| authorization::reading(name, key, mode, applied);
    names.map(reading).collect()
}

/// Ids of the default accounts, for documents that name none.
const ASSUMED_CARDS: &str = "assumed_cards";
const ASSUMED_CHECKS: &str = "assumed_checks";

fn named_accounts(cx: &StepCx<'_>, manifest: &Manifest, field: &str) -> BTreeSet<String> {
    let users = cx.view.users(&manifest.key).into_iter().filter_map(|user| cx.view.manifest(&user));
    let named =
        users.filter_map(|user| user.spec.get(field).and_then(Value::as_str).map(str::to_owned));
    named.collect()
}

fn applied_name(cx: &StepCx<'_>, manifest: &Manifest) -> Option<Value> {
    let application = reference(manifest, APPLICATION_KIND)?;
    cx.view.manifest(&application)?.spec.get("business_name").cloned()
}
