//! Captures a hold (gateway-api, POST /v1/charges/{chargeId}/capture), at once or in the next daily
//! run.
//!
//! A hold is captured once. Reading the charge settles a lost answer, else events and the list of
//! holds do.

use serde_json::{Value, json};

use super::transactions::{
    StatusMeaning, TRANSACTION_BASELINE, judge as by_status, learn, queries, reference,
};
use crate::api::payments::actions::CaptureCharge;
use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::evidence::text;
use crate::effects::core::expect;
use crate::effects::core::row::{Baseline, EffectRow, Isolation, LookupResult, RemoteAnswer};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Time at which a hold is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureTime {
    Immediate,
    /// In the next daily run (service-facts, 46).
    NextRun,
}

/// Captures a hold; `amount` must be the authorised one.
pub fn capture(
    obligation: EffectContext,
    charge: &RemoteId,
    amount: Money,
    time: CaptureTime,
    words: Option<&str>,
) -> Effect {
    let reference = reference(&obligation.source_id.mark(), words);
    let time = match time {
        CaptureTime::Immediate => "IMMEDIATE",
        CaptureTime::NextRun => "NEXT_AUTO_CAPTURE",
    };
    let body = json!({"amount": amount.minor(), "reference": reference, "capture_time": time});
    obligation
        .effect::<CaptureCharge>(ROW.name, &[charge.as_str()], body)
        .targeting(charge)
        .expecting("id", charge.as_str())
        .expecting("amount", amount.minor())
        .expecting("currency", amount.currency().code())
}

/// Refuses to send a capture of another amount than the authorised one.
fn refuse(effect: &Effect, before: &Value) -> Option<String> {
    let now = before.get("target")?;
    let differs = |field: &str| {
        let (now, asked) = (now.get(field)?, effect.expect.get(field)?);
        (!now.is_null() && now != asked)
            .then(|| format!("the charge's {field} is {}, not {asked}", expect::render_value(now)))
    };
    differs("amount").or_else(|| differs("currency"))
}

fn meaning(now: &Value) -> StatusMeaning {
    let by_next_run = now.get("auto_capture") == Some(&Value::Bool(true));
    match text(now, "status") {
        "COMPLETED" => StatusMeaning::Applied,
        "VOIDED" | "FAILED" => StatusMeaning::Impossible,
        "AUTHORIZED" if by_next_run => StatusMeaning::Applied,
        _ => StatusMeaning::Possible,
    }
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    by_status(intent, answers, meaning)
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("charge.capture", Isolation::PerObject, queries, judge, learn)
        .with_baseline(Baseline { refuse, ..TRANSACTION_BASELINE });
