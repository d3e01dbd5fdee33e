//! The condition of `wait`, as a pure function of the known resources.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::id::Key;
use crate::cli::args::waiting::WaitGoal;
use crate::engine::protocol::views::ResourceView;
use crate::model::state::health::{ConditionStatus, ConditionType};

/// A resource that does not satisfy the condition, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Unmet {
    pub key: Key,
    /// A CamelCase word.
    pub reason: String,
    pub message: String,
}

/// Returns the reason for which a resource does not satisfy the condition; `None` if it does.
/// A resource that is not known satisfies none.
pub(crate) fn unmet(goal: WaitGoal, key: &Key, found: Option<&ResourceView>) -> Option<Unmet> {
    let made = |reason: &str, message: &str| Unmet {
        key: key.clone(),
        reason: reason.to_owned(),
        message: message.to_owned(),
    };
    let Some(view) = found else {
        return Some(made("Unknown", "neither a document nor an object is known"));
    };
    match goal {
        WaitGoal::Ready => (!view.ready).then(|| made(&view.reason, &view.message)),
        WaitGoal::Synced => {
            let mut conditions = view.conditions.iter();
            match conditions.find(|one| one.kind == ConditionType::Synced) {
                Some(synced) if synced.status == ConditionStatus::True => None,
                Some(synced) => Some(made(&synced.reason, &synced.message)),
                None => Some(made(&view.reason, &view.message)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a resource in sync whose payment failed, or one that is not in sync.
    fn view(synced: &str, ready: bool) -> ResourceView {
        serde_json::from_value(json!({
            "kind": "Invoice", "namespace": "default", "name": "jane", "ready": ready, "standing": "unhealthy",
            "reason": "PaymentFailed", "message": "the last payment failed", "verdict": "none",
            "conditions": [
                { "type": "Healthy", "status": "False", "reason": "PaymentFailed", "message": "", "since": null },
                { "type": "Synced", "status": synced, "reason": "WaitsFor", "message": "waits", "since": null },
            ],
        }))
        .unwrap()
    }

    fn reason(goal: WaitGoal, found: Option<&ResourceView>) -> Option<String> {
        unmet(goal, &"Invoice/jane".parse().unwrap(), found).map(|unmet| unmet.reason)
    }

    #[test]
    fn a_failed_payment_is_in_sync_and_not_ready() {
        let failed = view("True", false);
        assert_eq!(reason(WaitGoal::Synced, Some(&failed)), None);
        assert_eq!(reason(WaitGoal::Ready, Some(&failed)).as_deref(), Some("PaymentFailed"));
        assert_eq!(reason(WaitGoal::Ready, Some(&view("True", true))), None);
    }

    #[test]
    fn the_reason_is_that_of_the_condition() {
        for status in ["False", "Unknown"] {
            let waits = view(status, false);
            assert_eq!(reason(WaitGoal::Synced, Some(&waits)).as_deref(), Some("WaitsFor"));
        }
        for goal in [WaitGoal::Ready, WaitGoal::Synced] {
            assert_eq!(reason(goal, None).as_deref(), Some("Unknown"));
        }
    }
}
