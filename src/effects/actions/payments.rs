//! Actions that move money, or decide on a payment: charges, credits, refunds, captures and the
//! payments of recurring charges.

use serde::Deserialize;
use serde_json::Value;

use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::actions::fields::{
    ActionEffect, action, decode, money_move, positive, without_money,
};
use crate::effects::core::context::EffectContext;
use crate::effects::payments::charge::{
    TransactionRequest, charge as charge_method, credit as credit_method,
};
use crate::effects::payments::refund::refund as refund_charge;
use crate::effects::payments::transactions;
use crate::effects::payments::transactions::CaptureTime;
use crate::effects::recurring::end::cancel_recurring;
use crate::effects::recurring::occurrences;

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
    let new = with_account_key(new, &fields);
    Ok(ActionEffect { effect: charge_method(new, &fields.movement()?, fields.hold), money })
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
    let new = with_account_key(new, &fields);
    Ok(ActionEffect { effect: credit_method(new, &fields.movement()?), money })
}

action! {
    fn refund(new, RefundFields { charge: RemoteId, amount: Money, method: Option<String> }) {
        let money = money_move(positive(amount)?, new.mode, "refunded");
        let effect = refund_charge(new, &charge, amount, method.as_deref());
        Ok(ActionEffect { effect, money })
    }
}

action! {
    fn void(new, VoidFields { transaction: RemoteId, reference: Option<String> }) {
        Ok(without_money(transactions::void(new, &transaction, reference.as_deref())))
    }
}

action! {
    fn capture(new, CaptureFields {
        charge: RemoteId,
        amount: Money,
        reference: Option<String>,
        #[serde(default)]
        next_run: bool,
    }) {
        let money = money_move(positive(amount)?, new.mode, "captured");
        let time = if next_run { CaptureTime::NextRun } else { CaptureTime::Immediate };
        let effect = transactions::capture(new, &charge, amount, time, reference.as_deref());
        Ok(ActionEffect { effect, money })
    }
}

action! {
    fn sign(new, SignFields { transaction: RemoteId, mime_type: String, data: Value }) {
        Ok(without_money(transactions::sign(new, &transaction, &mime_type, &data)))
    }
}

action! {
    fn pay(new, PayFields { recurring: RemoteId, occurrence: RemoteId, amount: Money }) {
        let money = money_move(positive(amount)?, new.mode, "charged_now");
        Ok(ActionEffect { effect: occurrences::pay(new, &recurring, &occurrence, amount), money })
    }
}

action! {
    fn ignore(new, IgnoreFields { recurring: RemoteId, occurrence: RemoteId }) {
        Ok(without_money(occurrences::ignore_occurrence(new, &recurring, &occurrence)))
    }
}

action! {
    fn cancel(new, CancelFields { recurring: RemoteId }) {
        Ok(without_money(cancel_recurring(new, &recurring)))
    }
}
