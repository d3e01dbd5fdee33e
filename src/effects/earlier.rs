//! Whether an earlier doing of an effect could be found: what matters after a restore, when the
//! journal does not know what was sent since the backup.

use super::register::{Doubt, EffectRow};
use crate::api::Method;
use crate::model::effect::Effect;

/// What doing an effect again would mean, had it been done before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// The same bytes cannot double it, or it changes what is there already.
    Harmless,
    /// The service can be asked for it.
    Findable,
    /// Nothing shows it, and doing it again would double it.
    Hidden,
}

/// Whether only a notification tells of what this effect makes: no list of the service shows it (partner-api,
/// `POST …/merchant_applications`).
pub fn only_a_notice_tells(row: &EffectRow) -> bool {
    matches!(row.doubt, Doubt::Notice)
}

/// What doing this effect again would mean, had it been done before.
pub fn earlier(row: &EffectRow, effect: &Effect) -> Earlier {
    if effect.request.method != Method::Post {
        return Earlier::Harmless;
    }
    match row.doubt {
        Doubt::Resend { .. } | Doubt::Ends { .. } => Earlier::Harmless,
        Doubt::Search(_) => Earlier::Findable,
        Doubt::Notice | Doubt::Unprovable => Earlier::Hidden,
    }
}
