//! Exchanges details for a one-time token (gateway-api, POST /v1/tokens), which can then change a
//! saved object.
//!
//! Only reckon can use a token, and it expires by itself: a lost answer is settled by sending
//! again. The token is sealed; one intent at most uses it, and only while it is fresh.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::method::MethodSource;
use crate::api::methods::one_time_token::{CreateToken, TOKEN_LIFE_MINUTES};
use crate::base::clock::timestamp;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::expect;
use crate::effects::core::row::{EffectRow, Isolation, Learned};
use crate::effects::methods::method::{ABOUT, TOKEN, cleared_token};
use crate::model::intents::effect::{Effect, SingleUse};
use crate::model::intents::intent::Intent;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Minutes of a token's life kept in reserve, so that a slow call still finds it valid. An effect
/// that uses the token is sent only with at least this life left.
pub const TOKEN_RESERVE_MINUTES: i64 = 2;
/// Token that can be used.
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

    /// Returns the single-use rule of an effect that uses the token.
    pub(crate) fn single_use(&self) -> SingleUse {
        SingleUse { expires_at: self.until, clearing_facts: cleared_token(), is_reusable: false }
    }
}

/// Creates a token from a spec's details. It changes no saved object: `known` stays the state on
/// the service.
pub fn create_token(
    obligation: EffectContext,
    source: MethodSource<'_>,
    known: &AppliedSpec,
) -> Effect {
    let body = source.body(&obligation);
    token_of(obligation, body, known)
}

/// Creates a token from another document's details, for a resource that copied them: `owner` is the
/// resource whose secrets they are.
pub fn create_token_for(
    obligation: EffectContext,
    source: MethodSource<'_>,
    known: &AppliedSpec,
    owner: &Key,
) -> Effect {
    let body = source.body_for_borrower(&obligation, owner);
    token_of(obligation, body, known)
}

fn token_of(obligation: EffectContext, body: Value, known: &AppliedSpec) -> Effect {
    let applied = AppliedSpec { digest: obligation.applied.digest, ..known.clone() };
    let obligation = EffectContext { applied, ..obligation };
    let sort = body.get("type").cloned().unwrap_or_default();
    obligation.effect::<CreateToken>(ROW.name, &[], body).with_sealed_body().expecting("type", sort)
}

fn learn(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let id = expect::id(reply)?;
    let about = json!({
        "for": intent.applied.digest.to_string(),
        "at": timestamp(&intent.at),
        "fingerprint": reply.get("fingerprint"),
    });
    let secrets = vec![(TOKEN, Secret::from(id.as_str()))];
    Ok(Learned { remote_id: None, exists: true, facts: json!({ABOUT: about}), secrets })
}

pub(crate) const ROW: EffectRow = EffectRow::resent("token.create", Isolation::None, learn);
