//! Authorisation of a merchant: its code is exchanged for a `payments` token, its credentials bind
//! it to their public keys, and the authorisation is given back (partner-api, POST /oauth/token,
//! `DELETE …/deauthorize_application`; design.md part 2).
//!
//! A code works once. A lost answer is settled by sending the code once more: an answer is the
//! token; a refusal means that the token is lost and a new authorisation is needed.
//!
//! The first credentials bind the public keys. Later ones must open the same accounts, unless the
//! generation of the document was raised: then they bind it anew. The fold decides whether the keys
//! belong to another merchant, since only the fold knows which came first.
//!
//! An authorisation cannot be given back twice, so that is sent again until an answer arrives. 200
//! confirms the call; 401 and 404 mean that no authorisation exists any more. The merchant's sealed
//! values are erased afterwards.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api::credentials::ExchangeToken;
use crate::api::merchant::Deauthorise;
use crate::base::id::PublicKey;
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectContext, copy_fields};
use crate::effects::core::expect::text;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LostReply, ReadingCx, ReadingError,
};
use crate::effects::merchants::{ACCOUNT_KEYS, PRIMARY};
use crate::model::effect::{Effect, is_action};
use crate::model::intent::Intent;
use crate::model::state::credentials::MerchantBinding;

/// Fact that names the application whose code was exchanged, as the document named it then.
pub const APPLICATION: &str = "application";

/// Exchanges a code: `{"$secret": SOURCE}` or `{"$sealed": REFERENCE}`. The engine fills in the
/// partner's own values.
pub fn exchange_code(cx: EffectContext, code: &Value) -> Effect {
    let body = json!({
        "client_id": {"$partner": "client_id"},
        "client_secret": {"$partner": "client_secret"},
        "grant_type": "authorization_code",
        "scope": "payments",
        "redirect_uri": {"$partner": "redirect_uri"},
        "code": code,
    });
    cx.effect::<ExchangeToken>(CODE_EXCHANGE.name, &[], body)
        .with_sealed_body()
        .expecting("scope", "payments")
}

/// Stores the token, and the application that supplied the code, if any. Facts that an older token
/// gave are read anew.
fn learn_token(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let token = text(reply, "access_token");
    if token.is_empty() {
        return Err("the answer holds no access token".to_owned());
    }
    let secrets = vec![("token", Secret::from(token.to_owned()))];
    let facts = json!({
        APPLICATION: intent.applied.spec.pointer("/credentials/application"),
        "accounts": null,
        "connected": null,
        "merchant_name": null,
        "surveyed": null,
    });
    Ok(Learned { secrets, ..Learned::existing(facts) })
}

pub(crate) const CODE_EXCHANGE: EffectRow = EffectRow::new::<ExchangeToken>(
    "code.exchange",
    LostReply::Retry { max_sends: 2, refusal_settles: false },
    Isolation::None,
    learn_token,
);

/// Returns the fact [`crate::model::state::credentials::BINDING`] of these public keys, unless none
/// of them is valid, or the merchant is bound to other keys.
pub(crate) fn bind_keys<'a>(
    cx: &ReadingCx<'_>,
    public_keys: impl IntoIterator<Item = &'a str>,
    name: Option<&str>,
) -> Result<Value, ReadingError> {
    let public_keys: BTreeSet<PublicKey> =
        public_keys.into_iter().filter_map(|key| PublicKey::new(key).ok()).collect();
    if public_keys.is_empty() {
        return Err(ReadingError::RetryLater("the credentials hold no public key".to_owned()));
    }
    let before = cx.observed.and_then(crate::model::state::observed::Observed::merchant_binding);
    let before = before.filter(|before| before.generation >= cx.generation);
    if before.is_some_and(|before| !before.public_keys.is_subset(&public_keys)) {
        let why = "the credentials belong to another merchant than those read first: mend them, or raise \
            reckon.dev/generation to bind it to this one";
        return Err(ReadingError::Mismatch(why.to_owned()));
    }
    let name = name.map(str::to_owned);
    let bound = MerchantBinding { generation: cx.generation, mode: cx.mode, name, public_keys };
    Ok(json!(bound))
}

/// Statuses which mean that no authorisation is left to give back.
pub(crate) const GONE_STATUSES: &[u16] = &[401, 404];
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

pub fn deauthorise_merchant(cx: EffectContext, public_key: &PublicKey) -> Effect {
    cx.effect::<Deauthorise>(MERCHANT_DEAUTHORISE.name, &[public_key.as_str()], Value::Null)
}

/// A merchant without a document ceases to exist. After a person's command the document stays, but
/// the service refuses its credentials from then on.
#[expect(clippy::unnecessary_wraps, reason = "other effects' answers may be of no use")]
fn learn_deauthorised(intent: &Intent, _: &Value) -> Result<Learned, String> {
    if is_action(&intent.key) {
        return Ok(Learned::existing(json!({})));
    }
    let mut facts = json!({});
    copy_fields(&mut facts, &Value::Null, &CREDENTIAL_FACTS);
    Ok(Learned { facts, ..Learned::default() })
}

pub(crate) const MERCHANT_DEAUTHORISE: EffectRow = EffectRow::new::<Deauthorise>(
    "merchant.deauthorise",
    LostReply::RetryUntilGone { max_sends: SENDS_MAX, gone_statuses: GONE_STATUSES },
    Isolation::Exclusive,
    learn_deauthorised,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Key, Mode};
    use crate::effects::testing::intent;
    use crate::model::state::credentials::BINDING;
    use crate::model::state::observed::Observed;

    /// Binds credentials with `keys` under a generation, given the `known` binding.
    fn check(known: Option<&Value>, generation: u32, keys: &[&str]) -> Result<Value, ReadingError> {
        let key: Key = "Merchant/default/acme".parse().unwrap();
        let at = "2026-11-21T12:00:00Z".parse().unwrap();
        let observed = known.map(|bound| Observed {
            facts: json!({ BINDING: bound }),
            ..Observed::unknown(key.clone(), at)
        });
        let cx = ReadingCx {
            key: &key,
            mode: Mode::Test,
            generation,
            observed: observed.as_ref(),
            about: &Value::Null,
            knows_mark: &|_| true,
        };
        bind_keys(&cx, keys.iter().copied(), Some("Acme"))
    }

    #[test]
    fn later_credentials_open_what_the_first_ones_did() {
        let first = check(None, 0, &["m_2", "", "m_1", "m_1"]).unwrap();
        assert_eq!(first["public_keys"], json!(["m_1", "m_2"]));
        assert_eq!(check(Some(&first), 0, &["m_1", "m_2"]), Ok(first.clone()));
        assert!(check(Some(&first), 0, &["m_1", "m_2", "m_3"]).is_ok(), "an account was added");
        for other in [&["m_1"][..], &["m_3"], &["m_1", "m_3"]] {
            assert!(
                matches!(check(Some(&first), 0, other), Err(ReadingError::Mismatch(_))),
                "{other:?}"
            );
        }
    }

    #[test]
    fn a_raised_generation_binds_anew() {
        let first = check(None, 1, &["m_1"]).unwrap();
        assert!(matches!(check(Some(&first), 0, &["m_2"]), Err(ReadingError::Mismatch(_))));
        assert_eq!(check(Some(&first), 2, &["m_2"]).unwrap()["generation"], json!(2));
    }

    #[test]
    fn credentials_without_a_public_key_bind_nothing() {
        assert!(matches!(check(None, 0, &["", ""]), Err(ReadingError::RetryLater(_))));
    }

    #[test]
    fn what_is_not_there_any_more_was_given_back_and_other_refusals_say_nothing() {
        for (status, gone) in [(401, true), (404, true), (400, false), (403, false), (422, false)] {
            assert_eq!(MERCHANT_DEAUTHORISE.is_ended_by(status), gone, "{status}");
        }
        assert!(
            !crate::effects::methods::change::CARD_DELETE.is_ended_by(404),
            "that one looks at what is named"
        );
    }

    #[test]
    fn a_command_is_done_and_leaves_the_merchant_to_its_document() {
        let action = "Action/deauthorise-1".parse().unwrap();
        let asked =
            Intent { key: action, ..intent(MERCHANT_DEAUTHORISE.name, &json!({}), Value::Null) };
        let learned = learn_deauthorised(&asked, &Value::Null).unwrap();
        assert!(learned.exists && learned.facts == json!({}));
    }

    #[test]
    fn everything_that_its_credentials_opened_is_forgotten() {
        let learned = learn_deauthorised(
            &intent(MERCHANT_DEAUTHORISE.name, &json!({}), Value::Null),
            &Value::Null,
        )
        .unwrap();
        assert!(!learned.exists);
        for name in CREDENTIAL_FACTS {
            assert_eq!(learned.facts.get(name), Some(&Value::Null), "{name}");
        }
        assert_eq!(learned.facts.get("public_key"), None, "the name that it is known by stays");
    }
}
