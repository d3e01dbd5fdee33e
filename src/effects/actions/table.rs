//! Register of actions: one line for each action that a command or a hook may request.
//!
//! A row reads its fields as strictly as a manifest is read, and builds the effect. From there on
//! the effect is treated as any other.

use serde_json::Value;

use super::{changes, merchant_data, storage};
use crate::effects::actions::fields::ActionEffect;
use crate::effects::actions::merchant_data::deauthorise;
use crate::effects::actions::payments::{
    cancel, capture, charge, credit, ignore, pay, refund, sign, void,
};
use crate::effects::core::context::EffectContext;

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
