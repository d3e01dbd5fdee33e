//! Saves a card or bank account: at the merchant with its mark in `reference`, in a contact's
//! vault, or as a one-time token that can then change a saved object (gateway-api, POST /v1/cards,
//! POST /v1/banks, POST /v1/tokens; service-facts, 85).
//!
//! The source is a spec's details, a one-time token that a person has, or a token from a payer's
//! page. The lists can be filtered by reference, so a lookup settles a lost answer. A token that is
//! sent again cannot double: the service takes it once. No read shows a vault: while the token can
//! be read, nothing was saved, and the effect is sent again (`engine/executor/evidence.rs`); once the
//! token is gone, the resource needs attention. Only reckon can use a token that it created, and it
//! expires by itself: a lost answer is settled by sending again. The token is sealed; one intent at
//! most uses it, and only while it is fresh.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::method_token::{CreateToken, CreateVaultMethod, TOKEN_LIFE_MINUTES};
use crate::base::clock::timestamp;
use crate::base::hash::Digest;
use crate::base::id::{Key, Mode, RemoteId};
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectContext, copy_fields, set_optional};
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::effects::methods::{
    ABOUT, BankEndpoints, CardEndpoints, MethodEndpoints, MethodSource, PaymentMethodType, TOKEN,
    cleared_token, learn, method_facts,
};
use crate::model::effect::{Effect, SingleUse};
use crate::model::intent::Intent;
use crate::model::state::observed::{AppliedSpec, Observed};
use crate::model::state::token_attachment::{ATTACHED, SuppliedToken};

pub fn save_method(cx: EffectContext, source: MethodSource<'_>) -> Effect {
    let mark = json!(cx.source_id.mark());
    let body = source.body(&cx);
    let effect = source.method_type.save(cx, body);
    source.expect_visible(effect.expecting("reference", mark))
}

/// Saves the method of a one-time token; the token is sealed with the body, and used up by this
/// effect.
pub fn save_token(
    cx: EffectContext,
    method_type: PaymentMethodType,
    token: &str,
    description: Option<&str>,
) -> Effect {
    let mark = json!(cx.source_id.mark());
    let mut body = json!({"type": method_type.word(), "token_id": token, "reference": mark});
    set_optional(&mut body, "description", description);
    let effect = method_type.save(cx, body).expecting("type", method_type.word());
    effect.expecting("reference", mark).expecting("description", description)
}

/// Saves the method of a token that was supplied for this resource.
pub fn save_by_token(
    cx: EffectContext,
    source: MethodSource<'_>,
    brought: &SuppliedToken,
) -> Effect {
    let mark = json!(cx.source_id.mark());
    let mut body = json!({"token_id": {"$sealed": brought.sealed}, "reference": mark});
    set_optional(&mut body, "description", source.description.cloned());
    let effect = source.method_type.save(cx, body).with_single_use(single_use(brought));
    effect.expecting("reference", mark).expecting("type", source.method_type.word())
}

/// Returns until when a supplied token may be sent. Its life counts from before its arrival.
pub fn good_until(brought: &SuppliedToken) -> DateTime<Utc> {
    let life = TimeDelta::minutes(TOKEN_LIFE_MINUTES);
    brought.at.checked_add_signed(life).unwrap_or(brought.at)
}

/// Returns the single-use rule of an effect that uses such a token.
pub(crate) fn single_use(brought: &SuppliedToken) -> SingleUse {
    SingleUse {
        expires_at: good_until(brought),
        clearing_facts: json!({ATTACHED: null}),
        is_reusable: true,
    }
}

fn judge_save<S: MethodEndpoints>(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let items = answers.first().map_or(&[][..], RemoteAnswer::items);
    let marked = items.iter().filter(|item| text(item, "reference") == intent.mark.as_str());
    match marked.collect::<Vec<_>>().as_slice() {
        [] => LookupResult::NotFound,
        [one] => LookupResult::Applied((*one).clone()),
        more => {
            let text = format!("{} {}s carry the mark {}", more.len(), S::WORD, intent.mark);
            LookupResult::Inconclusive(text)
        }
    }
}

const fn save_row<S: MethodEndpoints>() -> EffectRow {
    EffectRow::looked_up::<S::Create>(
        S::SAVE,
        Isolation::None,
        |intent| {
            let list = Call::to::<S::List>(&[]);
            vec![RemoteQuery::list(list.query("reference", &intent.mark))]
        },
        judge_save::<S>,
        learn,
    )
}

pub(crate) const CARD_SAVE: EffectRow = save_row::<CardEndpoints>();
pub(crate) const BANK_SAVE: EffectRow = save_row::<BankEndpoints>();

/// Saves the method of a token for a contact; the token is sealed with the body.
pub fn save_in_vault(
    cx: EffectContext,
    contact: &RemoteId,
    sort: PaymentMethodType,
    token: &str,
) -> Effect {
    let payment_type = match sort {
        PaymentMethodType::Card => "credit_card",
        PaymentMethodType::Bank => "bank_account",
    };
    let test_mode = cx.mode == Mode::Test;
    let body = json!({
        "payment_type": payment_type,
        "one_time_token": token,
        "authorized_uses": ["all"],
        "test_mode": test_mode,
    });
    cx.effect::<CreateVaultMethod>(VAULT_SAVE.name, &[contact.as_str()], body)
        .with_sealed_body()
        .expecting("contact_id", contact.as_str())
        .expecting("payment_type", payment_type)
        .expecting("test_mode", test_mode)
}

fn learn_vault(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let mut facts = method_facts(reply.get("method").unwrap_or(&Value::Null));
    copy_fields(&mut facts, reply, &["payment_type"]);
    Learned::object(reply, facts)
}

/// Only the token is evidence, and only while it is unused.
pub(crate) const VAULT_SAVE: EffectRow = EffectRow::looked_up::<CreateVaultMethod>(
    "vault.save",
    Isolation::None,
    |_| Vec::new(),
    |_, _| {
        LookupResult::inconclusive(
            "no service shows what a contact's vault holds, and the token cannot be read any more: it was used, or \
             its five minutes are over",
        )
    },
    learn_vault,
);

/// Minutes of a token's life kept in reserve, so that a slow call still finds it valid. An effect
/// that uses the token is sent only with at least this life left.
pub const TOKEN_RESERVE_MINUTES: i64 = 2;

#[derive(Debug, Clone, PartialEq)]
pub struct FreshToken {
    /// Reference to the sealed token.
    pub sealed: Value,
    /// Fingerprint of the number behind it, where the service shows one.
    pub fingerprint: Value,
    /// End of the time in which it may be used.
    pub until: DateTime<Utc>,
}

impl FreshToken {
    /// Returns the token that was created for exactly this document, if any. It may have aged
    /// since.
    pub fn of(known: &Observed, document: Digest) -> Option<Self> {
        let (sealed, about) = (known.fact(TOKEN).get("sealed")?, known.fact(ABOUT));
        let text = |field: &str| about.get(field).and_then(Value::as_str);
        let at: DateTime<Utc> = text("at")?.parse().ok()?;
        let life = TimeDelta::minutes(TOKEN_LIFE_MINUTES.saturating_sub(TOKEN_RESERVE_MINUTES));
        let until = at.checked_add_signed(life)?;
        let same = text("for")? == document.to_string();
        let fingerprint = about.get("fingerprint").cloned().unwrap_or_default();
        same.then(|| Self { sealed: sealed.clone(), fingerprint, until })
    }

    pub(crate) fn single_use(&self) -> SingleUse {
        SingleUse { expires_at: self.until, clearing_facts: cleared_token(), is_reusable: false }
    }
}

/// Creates a token from a spec's details. It changes no saved object: `known` stays the state on
/// the service.
pub fn create_token(cx: EffectContext, source: MethodSource<'_>, known: &AppliedSpec) -> Effect {
    let body = source.body(&cx);
    token_of(cx, body, known)
}

/// Creates a token from another document's details, for a resource that copied them: `owner` is the
/// resource whose secrets they are.
pub fn create_token_for(
    cx: EffectContext,
    source: MethodSource<'_>,
    known: &AppliedSpec,
    owner: &Key,
) -> Effect {
    let body = source.body_for_borrower(&cx, owner);
    token_of(cx, body, known)
}

fn token_of(cx: EffectContext, body: Value, known: &AppliedSpec) -> Effect {
    let applied = AppliedSpec { digest: cx.applied.digest, ..known.clone() };
    let cx = EffectContext { applied, ..cx };
    let sort = body.get("type").cloned().unwrap_or_default();
    cx.effect::<CreateToken>(TOKEN_CREATE.name, &[], body)
        .with_sealed_body()
        .expecting("type", sort)
}

fn learn_token(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let id = expect::id(reply)?;
    let about = json!({
        "for": intent.applied.digest.to_string(),
        "at": timestamp(&intent.at),
        "fingerprint": reply.get("fingerprint"),
    });
    let secrets = vec![(TOKEN, Secret::from(id.as_str()))];
    Ok(Learned { secrets, ..Learned::existing(json!({ABOUT: about})) })
}

pub(crate) const TOKEN_CREATE: EffectRow =
    EffectRow::resent::<CreateToken>("token.create", Isolation::None, learn_token);

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
        let asked = intent(VAULT_SAVE.name, &json!({}), Value::Null);
        let method = json!({"type": "card", "number": "************4242", "name": "Jane Doe"});
        let reply = json!({"id": "pm_1", "payment_type": "credit_card", "method": method});
        let learned = learn_vault(&asked, &reply).unwrap();
        assert_eq!(learned.remote_id, Some(RemoteId::new("pm_1").unwrap()));
        assert_eq!((&learned.facts["last4"], learned.exists), (&json!("4242"), true));
        assert!(!learned.facts.to_string().contains("Jane"));
        assert!(learn_vault(&asked, &json!({"payment_type": "credit_card"})).is_err());
        assert!(judged(&asked, &[]).starts_with("unknown: no service shows"));
    }
}
