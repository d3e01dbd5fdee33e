//! The one date on which a recurring charge cannot start: today, for the merchant (gateway-api,
//! POST /v1/recurring/charges; service-facts, 63).

use chrono::NaiveDate;
use serde_json::Value;

use crate::base::id::Key;
use crate::kinds::merchant::zone;
use crate::kinds::planning::step::{MERCHANT, StepCx, reference};
use crate::model::manifest::Manifest;
use crate::model::plans::plan::Reason;

/// Rejects a schedule that starts today, in the service's terms. Not checked while the merchant's
/// time zone is unknown.
pub(super) fn refuse_start_today(cx: &StepCx<'_>, manifest: &Manifest) -> Result<(), Reason> {
    let start = manifest.spec.pointer("/schedule/start").and_then(Value::as_str);
    let start = start.and_then(|start| start.parse::<NaiveDate>().ok());
    match (start, today(cx, manifest)) {
        (Some(start), Some(today)) if start == today => Err(Reason::DueToday(format!(
            "the charge would start today, {today} for the merchant, which the service refuses \
             (first_occurrence_due_immediately): write a later start, or wait until tomorrow"
        ))),
        (Some(_) | None, _) => Ok(()),
    }
}

fn today(cx: &StepCx<'_>, manifest: &Manifest) -> Option<NaiveDate> {
    today_of(cx, &reference(manifest, MERCHANT)?)
}

/// Returns the merchant's current date, in its document's zone, else in the zone read from the
/// service.
pub(super) fn today_of(cx: &StepCx<'_>, merchant: &Key) -> Option<NaiveDate> {
    let said = cx.view.manifest(merchant);
    let said = said.as_ref().and_then(|said| said.spec.get("timezone")?.as_str());
    let known = cx.view.observed_state(merchant);
    let read = known.as_ref().and_then(|known| known.text("timezone"));
    let zone = zone::find(said.or(read)?)?;
    Some(cx.now.with_timezone(&zone).date_naive())
}
