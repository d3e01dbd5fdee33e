//! Registers of effects, readings and actions, one line each.
//!
//! An effect's row says how a lost answer is settled, a reading's row what it learns. An action is
//! what a command or a hook may request: its row reads the fields as strictly as a manifest is
//! read, and builds the effect. From there on the effect is treated as any other.

use crate::base::id::RemoteId;
use crate::effects::actions::{ActionRow, merchant_data, payments as payment_actions};
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

/// Gives a merchant's authorisation back. Its public key is not a field that a person sets.
pub const DEAUTHORISE: &str = merchant_data::DEAUTHORISE.verb;
/// Changes an account. Account facts are read again after it.
pub const ACCOUNT: &str = merchant_data::ACCOUNT.verb;
/// Clears test data. No unsettled effect may need that data.
pub const PURGE: &str = merchant_data::PURGE.verb;
/// Deletes an object, which must not be managed.
pub const DELETE: &str = merchant_data::DELETE.verb;

/// Changes an object, which must not be managed.
pub const CHANGE: &str = merchant_data::CHANGE.verb;

/// Actions in the order in which `gateway --help` lists them.
pub static ACTIONS: &[ActionRow] = &[
    payment_actions::CHARGE,
    payment_actions::CREDIT,
    payment_actions::REFUND,
    payment_actions::VOID,
    payment_actions::CAPTURE,
    payment_actions::SIGN,
    payment_actions::PAY,
    payment_actions::IGNORE,
    payment_actions::CANCEL,
    merchant_data::DELETE,
    merchant_data::DEAUTHORISE,
    merchant_data::CHANGE,
    payment_actions::SCHEDULE,
    merchant_data::SAVE,
    merchant_data::UPLOAD,
    merchant_data::VAULT,
    merchant_data::MERCHANT,
    merchant_data::ACCOUNT,
    merchant_data::PURGE,
];

pub fn action_row(verb: &str) -> Option<&'static ActionRow> {
    ACTIONS.iter().find(|row| row.verb == verb)
}
