//! Details are exchanged for a one-time token (gateway-api, POST /v1/tokens), with which what is
//! saved can be changed.
//!
//! Nothing can be done with a token but by us, and it ends by itself: a lost answer is settled by
//! sending again. The token is sealed; it is used by one intent at most, and only while it is fresh.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::method::MethodSource;
use super::register::{Doubt, EffectRow, Lane, Learned, nothing};
use super::{Obligation, Shaped, expect};
use crate::api::one_time_token::{CreateToken, TOKEN_LIFE_MINUTES};
use crate::base::clock::timestamp;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::model::effect::{Effect, Once};
use crate::model::intent::Intent;
use crate::model::observed::{Applied, Observed};

/// Sends in all before a person has to look: far more than a bad hour needs.
const SENDS_MAX: u32 = 50;
/// Minutes of a token's life that are left alone: a call that takes long must still find it. So long, at least, a
/// token lives on when an effect that uses it is sent.
pub const TOKEN_SPARED_MINUTES: i64 = 2;
/// The fact that names the sealed token.
const TOKEN: &str = "token";
/// The fact that says what the token was made for, and when.
const ABOUT: &str = "token_made";

/// A token that is there to be used.
#[derive(Debug, Clone, PartialEq)]
pub struct FreshToken {
    /// Where it is sealed.
    pub sealed: Value,
    /// The number behind it, where the service says it.
    pub fingerprint: Value,
    /// Until when it may be used.
    pub until: DateTime<Utc>,
}

impl FreshToken {
    /// The token that was made for just this document, if there is one. It may have aged since.
    pub fn of(known: &Observed, document: Digest) -> Option<Self> {
        let (sealed, about) = (known.fact(TOKEN).get("sealed")?, known.fact(ABOUT));
        let text = |field: &str| about.get(field).and_then(Value::as_str);
        let at: DateTime<Utc> = text("at")?.parse().ok()?;
        let life = TimeDelta::minutes(TOKEN_LIFE_MINUTES.saturating_sub(TOKEN_SPARED_MINUTES));
        let until = at.checked_add_signed(life)?;
        let same = text("for")? == document.to_string();
        let fingerprint = about.get("fingerprint").cloned().unwrap_or_default();
        same.then(|| Self { sealed: sealed.clone(), fingerprint, until })
    }

    /// What an effect that uses the token has to keep to.
    pub(super) fn once(&self) -> Once {
        Once { until: self.until, spent: spent(), again: false }
    }
}

/// The facts that forget a token.
pub(super) fn spent() -> Value {
    json!({TOKEN: null, ABOUT: null})
}

/// Makes a token of a spec's details. It changes nothing of what is saved: `known` stays what was
/// put on the service.
pub fn create_token(obligation: Obligation, source: MethodSource<'_>, known: &Applied) -> Effect {
    let body = source.body(&obligation);
    token_of(obligation, body, known)
}

/// The same of another document's details, for something that copied them: `owner` is the resource
/// whose secrets they are.
pub fn create_token_for(
    obligation: Obligation,
    source: MethodSource<'_>,
    known: &Applied,
    owner: &Key,
) -> Effect {
    let body = source.borrowed(&obligation, owner);
    token_of(obligation, body, known)
}

fn token_of(obligation: Obligation, body: Value, known: &Applied) -> Effect {
    let applied = Applied { digest: obligation.applied.digest, ..known.clone() };
    let obligation = Obligation { applied, ..obligation };
    let sort = body.get("type").cloned().unwrap_or_default();
    obligation.effect::<CreateToken>(ROW.name, &[], body).sealed().expecting("type", sort)
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

pub(super) const ROW: EffectRow = EffectRow {
    name: "token.create",
    doubt: Doubt::Resend { most: SENDS_MAX, refusal_settles: true },
    baseline: None,
    lane: Lane::Own,
    learn,
    proves: nothing,
};
