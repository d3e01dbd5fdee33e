//! Surcharge on a charge made now. The service computes it, and its answer is valid for an hour.
//!
//! Only the charge that is made now carries a surcharge: the documents have no such field for a
//! scheduled payment, so every later payment collects exactly `amount`.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::account;
use crate::base::money::Money;
use crate::kinds::planning::diff::amount;
use crate::kinds::planning::step::{MERCHANT, StepCx, ready_state, reference};
use crate::model::manifest::Manifest;
use crate::model::plans::plan::Reason;
use crate::model::state::observed::Observed;

/// Age beyond which an answer is requested again.
const VALID_FOR: TimeDelta = TimeDelta::hours(1);

/// Knowledge of the surcharge.
#[derive(Debug)]
pub(super) enum SurchargeQuote {
    /// The document requests none.
    Unwanted,
    /// The surcharge and the total, in minor units.
    Known {
        surcharge: i64,
        /// The amount with the surcharge.
        total: i64,
    },
    /// The service must be asked; holds the subject of the reading.
    Ask(Value),
    /// The service cannot be asked yet, or not at all.
    Missing(Reason),
}

/// Returns the amount of a charge made now, before any surcharge.
pub(super) fn amount_before_surcharge(spec: &Value) -> Option<Money> {
    amount(spec.get("first_amount").or_else(|| spec.get("amount"))?)
}

/// Returns the known surcharge that a document requests.
pub(super) fn quote(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> SurchargeQuote {
    if manifest.spec.get("surcharge").and_then(Value::as_str) != Some("apply") {
        return SurchargeQuote::Unwanted;
    }
    let about = match reading_subject(cx, manifest) {
        Ok(about) => about,
        Err(reason) => return SurchargeQuote::Missing(reason),
    };
    let fresh = |have: &&Observed| cx.now.signed_duration_since(have.at) < VALID_FOR;
    let fact = have.filter(fresh).map(|have| have.fact("surcharge"));
    let fact = fact.filter(|fact| fact.get("about") == Some(&about));
    let number = |name: &str| fact.and_then(|fact| fact.get(name)?.as_i64());
    match number("surcharge_amount").zip(number("total_amount")) {
        Some((surcharge, total)) => SurchargeQuote::Known { surcharge, total },
        None => SurchargeQuote::Ask(about),
    }
}

/// Returns the subject of the reading.
fn reading_subject(cx: &StepCx<'_>, manifest: &Manifest) -> Result<Value, Reason> {
    let unfit = |why: &str| Reason::Unsuitable(why.to_owned());
    let merchant =
        reference(manifest, MERCHANT).ok_or_else(|| unfit("the charge names no merchant"))?;
    let owner = ready_state(cx, &merchant)?;
    let kind = account::method_type(cx, manifest);
    let kind = kind.ok_or_else(|| unfit("the type of the method is unknown"))?;
    let first =
        amount_before_surcharge(&manifest.spec).ok_or_else(|| unfit("the charge has no amount"))?;
    let bank_account = account::deposit(cx, manifest, &owner)?;
    Ok(json!({"bank_account": bank_account, "type": kind, "amount": first.minor()}))
}
