//! Register of actions: one line for each action that a command or a hook may request.
//!
//! A row reads its fields as strictly as a manifest is read, and builds the effect. From there on
//! the effect is treated as any other.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{changes, merchant_data, storage};
use crate::base::id::{Mode, PublicKey, RemoteId};
use crate::base::money::Money;
use crate::effects::core::context::EffectContext;
use crate::effects::payments::capture::CaptureTime;
use crate::effects::payments::charge::TransactionRequest;
use crate::model::intents::effect::Effect;
use crate::model::plans::plan::MoneyMove;

#[derive(Debug)]
pub struct ActionRow {
    /// Name of the action in requests.
    pub verb: &'static str,
    /// Builds the effect.
    ///
    /// # Errors
    ///
    /// The problems of the fields, for the author of the request.
    pub make: fn(EffectContext, &Value) -> Result<ActionEffect, String>,
    /// Fields that are sealed and never stored in plain text.
    pub secret: &'static [&'static str],
}

/// Effect of an action, and the money that it moves.
#[derive(Debug)]
pub struct ActionEffect {
    pub effect: Effect,
    pub money: Vec<MoneyMove>,
}

/// Gives a merchant's authorisation back. Its public key is not a field that a person sets.
pub const DEAUTHORISE: &str = "deauthorise";
/// Changes a merchant's own details.
pub const MERCHANT: &str = "merchant";
/// Changes an account. Account facts are read again after it.
pub const ACCOUNT: &str = "account";
/// Clears test data. No unsettled effect may need that data.
pub const PURGE: &str = "purge";
/// Deletes an object, which must not be managed.
pub const DELETE: &str = "delete";

/// Uploads a file under a contact, which a document may have created.
pub const UPLOAD: &str = "upload";
/// Saves a method in a contact's vault.
pub const VAULT: &str = "vault";
/// Saves the method that a one-time token holds.
pub const SAVE: &str = "save";

/// Changes an object, which must not be managed.
pub const CHANGE: &str = "change";
/// Creates a recurring charge from an earlier charge.
pub const SCHEDULE: &str = "schedule";

/// All actions.
pub static ACTIONS: &[ActionRow] = &[
    ActionRow { verb: "charge", make: charge, secret: &[] },
    ActionRow { verb: "credit", make: credit, secret: &[] },
    ActionRow { verb: "refund", make: refund, secret: &[] },
    ActionRow { verb: "void", make: void, secret: &[] },
    ActionRow { verb: "capture", make: capture, secret: &[] },
    ActionRow { verb: "sign", make: sign, secret: &["data"] },
    ActionRow { verb: "pay", make: pay, secret: &[] },
    ActionRow { verb: "ignore", make: ignore, secret: &[] },
    ActionRow { verb: "cancel", make: cancel, secret: &[] },
    ActionRow { verb: DEAUTHORISE, make: deauthorise, secret: &[] },
    ActionRow { verb: MERCHANT, make: merchant_data::merchant, secret: &["set"] },
    ActionRow { verb: ACCOUNT, make: merchant_data::account, secret: &[] },
    ActionRow { verb: PURGE, make: merchant_data::purge, secret: &[] },
    ActionRow { verb: DELETE, make: merchant_data::delete, secret: &[] },
    ActionRow { verb: CHANGE, make: changes::change, secret: &[] },
    ActionRow { verb: SCHEDULE, make: changes::schedule, secret: &[] },
    ActionRow { verb: UPLOAD, make: storage::upload, secret: &["content"] },
    ActionRow { verb: VAULT, make: storage::vault, secret: &["token"] },
    ActionRow { verb: SAVE, make: storage::save, secret: &["token"] },
];

/// Returns the row of the action `verb`.
pub fn action_row(verb: &str) -> Option<&'static ActionRow> {
    ACTIONS.iter().find(|row| row.verb == verb)
}

/// Wraps an effect that moves no money.
pub(crate) fn without_money(effect: Effect) -> ActionEffect {
    ActionEffect { effect, money: Vec::new() }
}

/// Decodes the fields of an action into their own type.
pub(crate) fn decode<T: DeserializeOwned>(fields: &Value) -> Result<T, String> {
    T::deserialize(fields).map_err(|error| error.to_string())
}

/// Returns `amount` as the money of an effect.
pub(crate) fn money_move(amount: Money, mode: Mode, meaning: &'static str) -> Vec<MoneyMove> {
    vec![MoneyMove { amount, mode, meaning }]
}

/// Type of an object that is changed or deleted by its id.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Changeable {
    Card,
    Bank,
    Recurring,
}

pub(crate) fn positive(amount: Money) -> Result<Money, String> {
    let fits = amount.minor() > 0;
    fits.then_some(amount).ok_or_else(|| format!("the amount {amount} is not more than nothing"))
}

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

fn charge(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
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

fn credit(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
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

fn refund(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
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

fn void(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let VoidFields { transaction, reference } = decode(fields)?;
    let effect = crate::effects::payments::void::void(new, &transaction, reference.as_deref());
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

fn capture(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let CaptureFields { charge, amount, reference, next_run } = decode(fields)?;
    let money = money_move(positive(amount)?, new.mode, "captured");
    let time = if next_run { CaptureTime::NextRun } else { CaptureTime::Immediate };
    let effect = crate::effects::payments::capture::capture(
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

fn sign(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let SignFields { transaction, mime_type, data } = decode(fields)?;
    Ok(ActionEffect {
        effect: crate::effects::payments::sign::sign(new, &transaction, &mime_type, &data),
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

fn pay(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let PayFields { recurring, occurrence, amount } = decode(fields)?;
    let money = money_move(positive(amount)?, new.mode, "charged_now");
    Ok(ActionEffect {
        effect: crate::effects::recurring::occurrence_pay::pay(
            new,
            &recurring,
            &occurrence,
            amount,
        ),
        money,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IgnoreFields {
    recurring: RemoteId,
    occurrence: RemoteId,
}

fn ignore(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let IgnoreFields { recurring, occurrence } = decode(fields)?;
    let effect =
        crate::effects::recurring::occurrence_skip::ignore_occurrence(new, &recurring, &occurrence);
    Ok(ActionEffect { effect, money: Vec::new() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelFields {
    recurring: RemoteId,
}

fn cancel(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let CancelFields { recurring } = decode(fields)?;
    Ok(ActionEffect {
        effect: crate::effects::recurring::cancel::cancel_recurring(new, &recurring),
        money: Vec::new(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeauthoriseFields {
    public_key: PublicKey,
}

fn deauthorise(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let DeauthoriseFields { public_key } = decode(fields)?;
    Ok(ActionEffect {
        effect: crate::effects::merchants::deauthorise::deauthorise_merchant(new, &public_key),
        money: Vec::new(),
    })
}
