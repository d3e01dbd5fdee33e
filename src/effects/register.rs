//! Registers of effects, readings and actions, one line each.
//!
//! An effect's row says how a lost answer is settled, a reading's row what it learns. An action is
//! what a command or a hook may request: its row reads the fields as strictly as a manifest is
//! read, and builds the effect. From there on the effect is treated as any other.

use serde_json::Value;

use crate::base::id::RemoteId;
use crate::effects::actions::{ActionEffect, merchant_data, payments as payment_actions};
use crate::effects::core::context::EffectContext;
use crate::effects::core::row::{EffectRow, ReadingRow, RemoteQuery};
use crate::effects::merchants::{self, authorization, read};
use crate::effects::methods::{change as method_change, save};
use crate::effects::payments::{self, charge, refund, transaction_query};
use crate::effects::recurring::{self, change, end, first_charge, occurrences};
use crate::effects::{invoices, onboarding};

/// Effects in the order in which the simulator draws them: a new one goes to the end.
pub static EFFECTS: &[EffectRow] = &[
    onboarding::APPLICATION_SUBMIT,
    onboarding::APPLICATION_SIGN_UP,
    authorization::CODE_EXCHANGE,
    invoices::CONTACT_CREATE,
    invoices::INVOICE_CREATE,
    save::CARD_SAVE,
    method_change::CARD_CHANGE,
    method_change::CARD_DELETE,
    save::BANK_SAVE,
    method_change::BANK_CHANGE,
    method_change::BANK_DELETE,
    save::TOKEN_CREATE,
    recurring::RECURRING_CREATE,
    change::ROW,
    first_charge::ROW,
    recurring::CHARGE_SCHEDULE,
    charge::CHARGE,
    payments::CHARGE_CAPTURE,
    refund::ROW,
    charge::CREDIT,
    payments::TRANSACTION_VOID,
    payments::TRANSACTION_SIGN,
    end::RECURRING_CANCEL,
    end::RECURRING_END,
    occurrences::OCCURRENCE_PAY,
    occurrences::OCCURRENCE_SKIP,
    authorization::MERCHANT_DEAUTHORISE,
    invoices::FILE_UPLOAD,
    invoices::CONTACT_HASH,
    merchants::MERCHANT_CHANGE,
    merchants::ACCOUNT_CHANGE,
    merchants::ACH_ACCOUNT_CHANGE,
    merchants::MERCHANT_PURGE,
    save::VAULT_SAVE,
    end::RECURRING_DELETE,
];

pub static READINGS: &[ReadingRow] = &[
    read::CREDENTIALS_ROW,
    read::KEYS_ROW,
    merchants::ACCOUNTS_ROW,
    read::SURVEY_ROW,
    charge::SURCHARGE_ROW,
    invoices::FILE_STATE_ROW,
    occurrences::STATE_ROW,
];

pub fn effect_row(name: &str) -> Option<&'static EffectRow> {
    EFFECTS.iter().find(|row| row.name == name)
}

pub fn reading_row(name: &str) -> Option<&'static ReadingRow> {
    READINGS.iter().find(|row| row.name == name)
}

/// Effects that a transaction proves or disproves: the one that they created, or their target.
const VERIFIABLE: [&str; 5] = [
    charge::CHARGE.name,
    charge::CREDIT.name,
    refund::ROW.name,
    payments::CHARGE_CAPTURE.name,
    payments::TRANSACTION_VOID.name,
];

/// Returns the read of the transaction that identifies an effect; none for other effects.
pub fn verifying_query(effect: &str, id: &RemoteId) -> Option<RemoteQuery> {
    VERIFIABLE.contains(&effect).then(|| transaction_query(Some(id)))
}

#[derive(Debug)]
pub struct ActionRow {
    /// Name of the action in requests.
    pub verb: &'static str,
    /// Builds the effect, or returns the problems of the fields for the author of the request.
    pub make: fn(EffectContext, &Value) -> Result<ActionEffect, String>,
    /// Fields that are sealed and never stored in plain text.
    pub secret: &'static [&'static str],
}

/// Gives a merchant's authorisation back. Its public key is not a field that a person sets.
pub const DEAUTHORISE: &str = "deauthorise";
/// Changes an account. Account facts are read again after it.
pub const ACCOUNT: &str = "account";
/// Clears test data. No unsettled effect may need that data.
pub const PURGE: &str = "purge";
/// Deletes an object, which must not be managed.
pub const DELETE: &str = "delete";

/// Changes an object, which must not be managed.
pub const CHANGE: &str = "change";

pub static ACTIONS: &[ActionRow] = &[
    ActionRow { verb: "charge", make: payment_actions::charge, secret: &[] },
    ActionRow { verb: "credit", make: payment_actions::credit, secret: &[] },
    ActionRow { verb: "refund", make: payment_actions::refund, secret: &[] },
    ActionRow { verb: "void", make: payment_actions::void, secret: &[] },
    ActionRow { verb: "capture", make: payment_actions::capture, secret: &[] },
    ActionRow { verb: "sign", make: payment_actions::sign, secret: &["data"] },
    ActionRow { verb: "pay", make: payment_actions::pay, secret: &[] },
    ActionRow { verb: "ignore", make: payment_actions::ignore, secret: &[] },
    ActionRow { verb: "cancel", make: payment_actions::cancel, secret: &[] },
    ActionRow { verb: DEAUTHORISE, make: merchant_data::deauthorise, secret: &[] },
    ActionRow { verb: "merchant", make: merchant_data::merchant, secret: &["set"] },
    ActionRow { verb: ACCOUNT, make: merchant_data::account, secret: &[] },
    ActionRow { verb: PURGE, make: merchant_data::purge, secret: &[] },
    ActionRow { verb: DELETE, make: merchant_data::delete, secret: &[] },
    ActionRow { verb: CHANGE, make: merchant_data::change, secret: &[] },
    ActionRow { verb: "schedule", make: payment_actions::schedule, secret: &[] },
    ActionRow { verb: "upload", make: merchant_data::upload, secret: &["content"] },
    ActionRow { verb: "vault", make: merchant_data::vault, secret: &["token"] },
    ActionRow { verb: "save", make: merchant_data::save, secret: &["token"] },
];

pub fn action_row(verb: &str) -> Option<&'static ActionRow> {
    ACTIONS.iter().find(|row| row.verb == verb)
}
