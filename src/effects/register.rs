//! Registers of effects, readings and actions, one line each.
//!
//! An effect's row says how a lost answer is settled, a reading's row what it learns. An action is
//! what a command or a hook may request: its row reads the fields as strictly as a manifest is
//! read, and builds the effect. From there on the effect is treated as any other.

use serde_json::Value;

use crate::base::id::RemoteId;
use crate::effects::actions::fields::ActionEffect;
use crate::effects::actions::{changes, merchant_data, payments};
use crate::effects::core::context::EffectContext;
use crate::effects::core::row::{EffectRow, ReadingRow, RemoteQuery};
use crate::effects::payments::transactions::transaction_query;
use crate::effects::payments::{charge, refund, transactions};

pub static EFFECTS: &[EffectRow] = &[
    crate::effects::onboarding::APPLICATION_SUBMIT,
    crate::effects::onboarding::APPLICATION_SIGN_UP,
    crate::effects::merchants::authorization::CODE_EXCHANGE,
    crate::effects::invoices::CONTACT_CREATE,
    crate::effects::invoices::CONTACT_HASH,
    crate::effects::invoices::FILE_UPLOAD,
    crate::effects::invoices::INVOICE_CREATE,
    crate::effects::methods::save::CARD_SAVE,
    crate::effects::methods::change::CARD_CHANGE,
    crate::effects::methods::change::CARD_DELETE,
    crate::effects::methods::save::BANK_SAVE,
    crate::effects::methods::change::BANK_CHANGE,
    crate::effects::methods::change::BANK_DELETE,
    crate::effects::methods::save::TOKEN_CREATE,
    crate::effects::recurring::create::RECURRING_CREATE,
    crate::effects::recurring::change::ROW,
    crate::effects::recurring::first_charge::ROW,
    crate::effects::recurring::create::CHARGE_SCHEDULE,
    charge::CHARGE,
    charge::CREDIT,
    transactions::CHARGE_CAPTURE,
    refund::ROW,
    transactions::TRANSACTION_VOID,
    transactions::TRANSACTION_SIGN,
    crate::effects::recurring::occurrences::OCCURRENCE_PAY,
    crate::effects::recurring::end::RECURRING_CANCEL,
    crate::effects::recurring::end::RECURRING_END,
    crate::effects::recurring::occurrences::OCCURRENCE_SKIP,
    crate::effects::merchants::authorization::MERCHANT_DEAUTHORISE,
    crate::effects::merchants::details::MERCHANT_CHANGE,
    crate::effects::merchants::details::ACCOUNT_CHANGE,
    crate::effects::merchants::details::ACH_ACCOUNT_CHANGE,
    crate::effects::merchants::details::MERCHANT_PURGE,
    crate::effects::recurring::end::RECURRING_DELETE,
    crate::effects::methods::save::VAULT_SAVE,
];

pub static READINGS: &[ReadingRow] = &[
    crate::effects::merchants::read::CREDENTIALS_ROW,
    crate::effects::merchants::read::KEYS_ROW,
    crate::effects::merchants::details::ACCOUNTS_ROW,
    crate::effects::merchants::read::SURVEY_ROW,
    charge::SURCHARGE_ROW,
    crate::effects::invoices::FILE_STATE_ROW,
    crate::effects::recurring::occurrences::STATE_ROW,
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
    transactions::CHARGE_CAPTURE.name,
    transactions::TRANSACTION_VOID.name,
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

pub static ACTIONS: &[ActionRow] = &[
    ActionRow { verb: "charge", make: payments::charge, secret: &[] },
    ActionRow { verb: "credit", make: payments::credit, secret: &[] },
    ActionRow { verb: "refund", make: payments::refund, secret: &[] },
    ActionRow { verb: "void", make: payments::void, secret: &[] },
    ActionRow { verb: "capture", make: payments::capture, secret: &[] },
    ActionRow { verb: "sign", make: payments::sign, secret: &["data"] },
    ActionRow { verb: "pay", make: payments::pay, secret: &[] },
    ActionRow { verb: "ignore", make: payments::ignore, secret: &[] },
    ActionRow { verb: "cancel", make: payments::cancel, secret: &[] },
    ActionRow { verb: DEAUTHORISE, make: merchant_data::deauthorise, secret: &[] },
    ActionRow { verb: MERCHANT, make: merchant_data::merchant, secret: &["set"] },
    ActionRow { verb: ACCOUNT, make: merchant_data::account, secret: &[] },
    ActionRow { verb: PURGE, make: merchant_data::purge, secret: &[] },
    ActionRow { verb: DELETE, make: merchant_data::delete, secret: &[] },
    ActionRow { verb: CHANGE, make: changes::change, secret: &[] },
    ActionRow { verb: SCHEDULE, make: changes::schedule, secret: &[] },
    ActionRow { verb: UPLOAD, make: merchant_data::upload, secret: &["content"] },
    ActionRow { verb: VAULT, make: merchant_data::vault, secret: &["token"] },
    ActionRow { verb: SAVE, make: merchant_data::save, secret: &["token"] },
];

pub fn action_row(verb: &str) -> Option<&'static ActionRow> {
    ACTIONS.iter().find(|row| row.verb == verb)
}
