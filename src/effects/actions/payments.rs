//! Actions that move money, or decide on a payment: charges, credits, refunds, captures and the
//! payments of recurring charges.

use serde::Deserialize;
use serde_json::Value;

use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::actions::fields::{ActionEffect, decode, money_move, positive};
use crate::effects::core::context::EffectContext;
use crate::effects::payments::charge::TransactionRequest;
use crate::effects::payments::transactions::CaptureTime;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MovementFields {
    amount: Money,
    method: String,
    account: Option<String>,
    reference: Option<String>,
    #[serde(default)]
    hold: bool,
    surcharge: Option<Money>,
}

impl MovementFields {
    fn movement(&self) -> Result<TransactionRequest<'_>, String> {
        let amount = positive(self.amount)?;
        let (account, words) = (self.account.as_deref(), self.reference.as_deref());
        let surcharge = self.surcharge.map(|part| surcharge_within(part, amount)).transpose()?;
        Ok(TransactionRequest {
            amount,
            method: &self.method,
            account,
            reference_text: words,
            surcharge,
        })
    }
}

/// Returns the surcharge if it is part of the amount: the amount charged is the total (gateway-api,
/// POST /v1/charges).
fn surcharge_within(surcharge: Money, amount: Money) -> Result<Money, String> {
    let fits = surcharge.currency() == amount.currency();
    let fits = fits && (1..amount.minor()).contains(&surcharge.minor());
    let why = || {
        format!("the surcharge {surcharge} is no part of the amount {amount}, which is the total")
    };
    fits.then_some(surcharge).ok_or_else(why)
}

/// Signs an effect on an account with that account's own key.
fn with_account_key(new: EffectContext, fields: &MovementFields) -> EffectContext {
    EffectContext { account: fields.account.clone(), ..new }
}

pub(crate) fn charge(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let fields: MovementFields = decode(fields)?;
    let meaning = if fields.hold { "held" } else { "charged_now" };
    let money = money_move(fields.amount, new.mode, meaning);
    let effect = crate::effects::payments::charge::charge(
        with_account_key(new, &fields),
        &fields.movement()?,
        fields.hold,
    );
    Ok(ActionEffect { effect, money })
}

pub(crate) fn credit(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let fields: MovementFields = decode(fields)?;
    if fields.hold {
        return Err("a credit cannot be a hold".to_owned());
    }
    if fields.surcharge.is_some() {
        return Err("a credit has no surcharge".to_owned());
    }
    let money = money_move(fields.amount, new.mode, "credited");
    Ok(ActionEffect {
        effect: crate::effects::payments::charge::credit(
            with_account_key(new, &fields),
            &fields.movement()?,
        ),
        money,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefundFields {
    charge: RemoteId,
    amount: Money,
    method: Option<String>,
}

pub(crate) fn refund(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let RefundFields { charge, amount, method } = decode(fields)?;
    let money = money_move(positive(amount)?, new.mode, "refunded");
    Ok(ActionEffect {
        effect: crate::effects::payments::refund::refund(new, &charge, amount, method.as_deref()),
        money,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VoidFields {
    transaction: RemoteId,
    reference: Option<String>,
}

pub(crate) fn void(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let VoidFields { transaction, reference } = decode(fields)?;
    let effect =
        crate::effects::payments::transactions::void(new, &transaction, reference.as_deref());
    Ok(ActionEffect { effect, money: Vec::new() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaptureFields {
    charge: RemoteId,
    amount: Money,
    reference: Option<String>,
    #[serde(default)]
    next_run: bool,
}

pub(crate) fn capture(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let CaptureFields { charge, amount, reference, next_run } = decode(fields)?;
    let money = money_move(positive(amount)?, new.mode, "captured");
    let time = if next_run { CaptureTime::NextRun } else { CaptureTime::Immediate };
    let effect = crate::effects::payments::transactions::capture(
        new,
        &charge,
        amount,
        time,
        reference.as_deref(),
    );
    Ok(ActionEffect { effect, money })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignFields {
    transaction: RemoteId,
    mime_type: String,
    data: Value,
}

pub(crate) fn sign(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let SignFields { transaction, mime_type, data } = decode(fields)?;
    Ok(ActionEffect {
        effect: crate::effects::payments::transactions::sign(new, &transaction, &mime_type, &data),
        money: Vec::new(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PayFields {
    recurring: RemoteId,
    occurrence: RemoteId,
    amount: Money,
}

pub(crate) fn pay(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let PayFields { recurring, occurrence, amount } = decode(fields)?;
    let money = money_move(positive(amount)?, new.mode, "charged_now");
    Ok(ActionEffect {
        effect: crate::effects::recurring::occurrences::pay(new, &recurring, &occurrence, amount),
        money,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IgnoreFields {
    recurring: RemoteId,
    occurrence: RemoteId,
}

pub(crate) fn ignore(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let IgnoreFields { recurring, occurrence } = decode(fields)?;
    let effect =
        crate::effects::recurring::occurrences::ignore_occurrence(new, &recurring, &occurrence);
    Ok(ActionEffect { effect, money: Vec::new() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelFields {
    recurring: RemoteId,
}

pub(crate) fn cancel(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let CancelFields { recurring } = decode(fields)?;
    Ok(ActionEffect {
        effect: crate::effects::recurring::end::cancel_recurring(new, &recurring),
        money: Vec::new(),
    })
}
