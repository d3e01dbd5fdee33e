//! Classifies effects by whether an earlier execution could be found. This matters after a restore,
//! when the journal does not contain the effects since the backup.

use super::row::{EffectRow, LostReply};
use crate::api::call::Method;
use crate::model::intents::effect::Effect;

/// Consequence of executing an effect again that was executed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatRisk {
    /// The same bytes cannot double it, or it changes an existing object.
    Harmless,
    /// A lookup at the service can find it.
    Findable,
    /// No read shows it, and executing it again would double it.
    Undetectable,
}

/// Returns whether only a webhook reports the object that this effect creates: no list of the
/// service shows it (partner-api, `POST …/merchant_applications`).
pub fn is_reported_by_webhook_only(row: &EffectRow) -> bool {
    matches!(row.lost_reply, LostReply::AwaitWebhook)
}

/// Returns the consequence of executing this effect again, had it been executed before.
pub fn repeat_risk(row: &EffectRow, effect: &Effect) -> RepeatRisk {
    if effect.request.method != Method::Post {
        return RepeatRisk::Harmless;
    }
    match row.lost_reply {
        LostReply::Retry { .. } | LostReply::RetryUntilGone { .. } => RepeatRisk::Harmless,
        LostReply::Lookup(_) => RepeatRisk::Findable,
        LostReply::AwaitWebhook | LostReply::Undecidable => RepeatRisk::Undetectable,
    }
}
