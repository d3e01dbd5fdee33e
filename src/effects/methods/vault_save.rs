//! Saves the method of a one-time token in a contact's vault (service-facts, 85).
//!
//! No read shows a vault, and nothing in it carries a mark. But a token works once: while the token
//! can be read, nothing was saved, and the effect is sent again (`engine/executor/token.rs`). Once the token
//! is gone, the resource needs attention.

use serde_json::{Value, json};

use super::method::{PaymentMethodType, method_facts};
use crate::api::methods::vault::CreateVaultMethod;
use crate::base::id::{Mode, RemoteId};
use crate::effects::core::context::{EffectBuilder, EffectContext, put};
use crate::effects::core::expect;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Saves the method of a token for a contact; the token is sealed with the body.
pub fn save_in_vault(
    obligation: EffectContext,
    contact: &RemoteId,
    sort: PaymentMethodType,
    token: &str,
) -> Effect {
    let payment_type = match sort {
        PaymentMethodType::Card => "credit_card",
        PaymentMethodType::Bank => "bank_account",
    };
    let test_mode = obligation.mode == Mode::Test;
    let body = json!({
        "payment_type": payment_type,
        "one_time_token": token,
        "authorized_uses": ["all"],
        "test_mode": test_mode,
    });
    obligation
        .effect::<CreateVaultMethod>(ROW.name, &[contact.as_str()], body)
        .with_sealed_body()
        .expecting("contact_id", contact.as_str())
        .expecting("payment_type", payment_type)
        .expecting("test_mode", test_mode)
}

/// Stores the id, and the visible fields of the method.
fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let mut facts = method_facts(reply.get("method").unwrap_or(&Value::Null));
    put(&mut facts, "payment_type", reply.get("payment_type").cloned().unwrap_or_default());
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
}

fn queries(_: &Intent) -> Vec<RemoteQuery> {
    Vec::new()
}

/// Only the token is evidence, and only while it is unused.
fn judge(_: &Intent, _: &[RemoteAnswer]) -> LookupResult {
    let why = "no service shows what a contact's vault holds, and the token cannot be read any more: it was used, or \
               its five minutes are over";
    LookupResult::Inconclusive(why.to_owned())
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("vault.save", Isolation::None, queries, judge, learn);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::{intent, judged, obligation};

    #[test]
    fn a_token_is_kept_under_its_contact_in_the_mode_of_the_merchant() {
        let contact = RemoteId::new("p_1").unwrap();
        for (mode, sort, word) in [
            (Mode::Test, PaymentMethodType::Card, "credit_card"),
            (Mode::Live, PaymentMethodType::Bank, "bank_account"),
        ] {
            let effect =
                save_in_vault(EffectContext { mode, ..obligation() }, &contact, sort, "canary");
            assert_eq!(effect.request.path, "/contacts/p_1/payment-methods");
            let test = mode == Mode::Test;
            let body = json!({"payment_type": word, "one_time_token": "canary",
                "authorized_uses": ["all"], "test_mode": test});
            assert_eq!(effect.request.body, body);
            assert!(effect.sealed && !format!("{effect:?}").contains("canary"));
        }
    }

    #[test]
    fn what_is_learnt_is_its_id_and_nothing_private() {
        let asked = intent(ROW.name, &json!({}), Value::Null);
        let method = json!({"type": "card", "number": "************4242", "name": "Jane Doe"});
        let reply = json!({"id": "pm_1", "payment_type": "credit_card", "method": method});
        let learned = learn(&asked, &reply).unwrap();
        assert_eq!(learned.remote_id, Some(RemoteId::new("pm_1").unwrap()));
        assert_eq!((&learned.facts["last4"], learned.exists), (&json!("4242"), true));
        assert!(!learned.facts.to_string().contains("Jane"));
        assert!(learn(&asked, &json!({"payment_type": "credit_card"})).is_err());
        assert!(judged(&asked, &[]).starts_with("unknown: no service shows"));
    }
}
