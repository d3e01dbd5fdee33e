//! Gives a merchant's authorisation back (partner-api, `DELETE …/deauthorize_application`).
//!
//! The effect is sent again until an answer arrives: an authorisation cannot be given back twice.
//! 200 confirms the call; 401 and 404 mean that no authorisation exists any more. The merchant's
//! sealed values are erased afterwards.

use serde_json::{Value, json};

use super::accounts::{ACCOUNT_KEYS, PRIMARY};
use super::code_exchange::APPLICATION;
use crate::api::deauthorise::Deauthorise;
use crate::base::id::PublicKey;
use crate::effects::core::context::{EffectContext, put};
use crate::effects::core::row::{EffectRow, Isolation, Learned, LostReply};
use crate::model::action::is_action;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Statuses which mean that no authorisation is left to give back.
pub(crate) const GONE_STATUSES: &[u16] = &[401, 404];
/// Maximum sends.
const SENDS_MAX: u32 = 8;
/// Facts of a merchant's credentials, and facts that were read with them.
const CREDENTIAL_FACTS: [&str; 9] = [
    "token",
    APPLICATION,
    "secret_key",
    ACCOUNT_KEYS,
    "accounts",
    "bank_accounts",
    PRIMARY,
    "connected",
    "surveyed",
];

/// Gives a merchant's authorisation back.
pub fn deauthorise_merchant(obligation: EffectContext, public_key: &PublicKey) -> Effect {
    obligation.effect::<Deauthorise>(ROW.name, &[public_key.as_str()], Value::Null)
}

/// A merchant without a document ceases to exist. After a person's command the document stays, but
/// the service refuses its credentials from then on.
#[expect(clippy::unnecessary_wraps, reason = "other effects' answers may be of no use")]
fn learn(intent: &Intent, _: &Value) -> Result<Learned, String> {
    if is_action(&intent.key) {
        return Ok(Learned { exists: true, facts: json!({}), ..Learned::default() });
    }
    Ok(Learned { exists: false, facts: cleared_credentials(), ..Learned::default() })
}

/// Returns the facts that clear a merchant's credentials.
pub(crate) fn cleared_credentials() -> Value {
    let mut facts = json!({});
    for name in CREDENTIAL_FACTS {
        put(&mut facts, name, Value::Null);
    }
    facts
}

pub(crate) const ROW: EffectRow = EffectRow::new(
    "merchant.deauthorise",
    LostReply::RetryUntilGone { max_sends: SENDS_MAX, gone_statuses: GONE_STATUSES },
    Isolation::Exclusive,
    learn,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::intent;

    #[test]
    fn what_is_not_there_any_more_was_given_back_and_other_refusals_say_nothing() {
        for (status, gone) in [(401, true), (404, true), (400, false), (403, false), (422, false)] {
            assert_eq!(ROW.is_ended_by(status), gone, "{status}");
        }
        assert!(
            !crate::effects::methods::delete::CARD.is_ended_by(404),
            "that one looks at what is named"
        );
    }

    #[test]
    fn a_command_is_done_and_leaves_the_merchant_to_its_document() {
        let action = "Action/deauthorise-1".parse().unwrap();
        let asked = Intent { key: action, ..intent(ROW.name, &json!({}), Value::Null) };
        let learned = learn(&asked, &Value::Null).unwrap();
        assert!(learned.exists && learned.facts == json!({}));
    }

    #[test]
    fn everything_that_its_credentials_opened_is_forgotten() {
        let learned = learn(&intent(ROW.name, &json!({}), Value::Null), &Value::Null).unwrap();
        assert!(!learned.exists);
        for name in CREDENTIAL_FACTS {
            assert_eq!(learned.facts.get(name), Some(&Value::Null), "{name}");
        }
        assert_eq!(learned.facts.get("public_key"), None, "the name that it is known by stays");
    }
}
