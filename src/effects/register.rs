//! Register of effects and readings, one line each.

use super::core::row::{EffectRow, ReadingRow};

/// All effects.
pub static EFFECTS: &[EffectRow] = &[
    crate::effects::onboarding::submit::ROW,
    crate::effects::onboarding::sign_up::ROW,
    crate::effects::merchants::code_exchange::ROW,
    crate::effects::invoicing::contact_create::ROW,
    crate::effects::invoicing::contact_hash::ROW,
    crate::effects::invoicing::file_upload::ROW,
    crate::effects::invoicing::invoice_create::ROW,
    crate::effects::methods::save::CARD,
    crate::effects::methods::change::CARD,
    crate::effects::methods::delete::CARD,
    crate::effects::methods::save::BANK,
    crate::effects::methods::change::BANK,
    crate::effects::methods::delete::BANK,
    crate::effects::methods::token_create::ROW,
    crate::effects::recurring::create::ROW,
    crate::effects::recurring::change::ROW,
    crate::effects::payments::charge_recur::ROW,
    crate::effects::payments::charge_schedule::ROW,
    crate::effects::payments::charge::CHARGE,
    crate::effects::payments::charge::CREDIT,
    crate::effects::payments::capture::ROW,
    crate::effects::payments::refund::ROW,
    crate::effects::payments::void::ROW,
    crate::effects::payments::sign::ROW,
    crate::effects::recurring::occurrence_pay::ROW,
    crate::effects::recurring::cancel::ROW,
    crate::effects::recurring::end::ROW,
    crate::effects::recurring::occurrence_skip::ROW,
    crate::effects::merchants::deauthorise::ROW,
    crate::effects::merchants::change::ROW,
    crate::effects::merchants::account_change::CARD,
    crate::effects::merchants::account_change::BANK,
    crate::effects::merchants::purge::ROW,
    crate::effects::recurring::delete::ROW,
    crate::effects::methods::vault_save::ROW,
];

/// All readings.
pub static READINGS: &[ReadingRow] = &[
    crate::effects::merchants::read::CREDENTIALS_ROW,
    crate::effects::merchants::read::KEYS_ROW,
    crate::effects::merchants::accounts::ROW,
    crate::effects::merchants::survey::ROW,
    crate::effects::payments::surcharge_read::ROW,
    crate::effects::invoicing::file_upload::STATE_ROW,
    crate::effects::recurring::read::ROW,
];

/// Returns the row of the effect `name`.
pub fn effect_row(name: &str) -> Option<&'static EffectRow> {
    EFFECTS.iter().find(|row| row.name == name)
}

/// Returns the row of the reading `name`.
pub fn reading_row(name: &str) -> Option<&'static ReadingRow> {
    READINGS.iter().find(|row| row.name == name)
}
