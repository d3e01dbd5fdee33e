//! Classifies effects by whether an earlier execution could be found. This matters after a restore,
//! when the journal does not contain the effects since the backup.

use super::register::{Doubt, EffectRow};
use crate::api::Method;
use crate::model::effect::Effect;

/// Consequence of executing an effect again that was executed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// The same bytes cannot double it, or it changes an existing object.
    Harmless,
    /// A lookup at the service can find it.
    Findable,
    /// No read shows it, and executing it again would double it.
    Hidden,
}

/// Returns whether only a webhook reports the object that this effect creates: no list of the
/// service shows it (partner-api, `POST …/merchant_applications`).
pub fn only_a_notice_tells(row: &EffectRow) -> bool {
    matches!(row.doubt, Doubt::Notice)
}

/// Returns the consequence of executing this effect again, had it been executed before.
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
