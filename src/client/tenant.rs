//! The partner's own token: obtained by the client credentials grant, kept, and renewed when the
//! service no longer accepts it (partner-api, POST /oauth/token). The answer names no end of life,
//! so a 401 is the only sign.

use tokio::sync::Mutex;

use super::classify::Verdict;
use super::{Client, Denied, Partner, bearer};
use crate::api::Call;
use crate::api::token::{AccessToken, ExchangeToken, TokenRequest};
use crate::base::outside::{Known, ServiceText};
use crate::base::secret::Secret;
use crate::model::outcome::Outcome;

/// The one token, and the credentials for it.
pub(super) struct Tenant {
    partner: Partner,
    /// Locked while a token is fetched, so that many callers cause one fetch.
    held: Mutex<Option<Held>>,
}

/// A token, and the count of its predecessors.
#[derive(Clone)]
struct Held {
    number: u64,
    token: Secret,
}

/// The reason why there is no token.
enum NoToken {
    /// Final, until the configuration changes.
    Denied(Denied),
    /// Temporary: the token endpoint gave no good answer.
    Unavailable(Verdict),
}

impl Tenant {
    pub(super) fn new(partner: Partner) -> Self {
        Self { partner, held: Mutex::new(None) }
    }

    /// Returns the kept token, unless it is the one numbered `stale`; else a new one.
    async fn token(&self, client: &Client, stale: Option<u64>) -> Result<Held, NoToken> {
        let mut held = self.held.lock().await;
        if let Some(kept) = held.as_ref().filter(|kept| Some(kept.number) != stale) {
            return Ok(kept.clone());
        }
        let token = self.fetch(client).await?;
        let number = held.as_ref().map_or(0, |old| old.number.saturating_add(1));
        Ok(held.insert(Held { number, token }).clone())
    }

    async fn fetch(&self, client: &Client) -> Result<Secret, NoToken> {
        let verdict = client.attempt(&self.call()?, None).await;
        match verdict.outcome {
            Outcome::Done { reply } => serde_json::from_value::<AccessToken>(reply)
                .ok()
                .and_then(|reply| reply.access_token)
                .ok_or_else(|| unavailable("the service answered without one", None)),
            Outcome::Refused { status, problem: _ } => Err(NoToken::Denied(Denied(format!(
                "the service refuses the client credentials with {status}"
            )))),
            Outcome::NotSent { reason, retry_after_s } => {
                Err(unavailable(reason.as_str(), retry_after_s))
            }
            Outcome::InDoubt { reason } => Err(unavailable(reason.as_str(), verdict.retry_after_s)),
        }
    }

    /// Builds the client credentials grant of scope `tenant`.
    fn call(&self) -> Result<Call, NoToken> {
        let Partner { client_id, client_secret } = &self.partner;
        serde_json::to_vec(&TokenRequest::tenant(client_id, client_secret.clone()))
            .map(|body| Call::to::<ExchangeToken>(&[]).body(body))
            .map_err(|_unwritable| unavailable("its request cannot be written", None))
    }
}

fn unavailable(reason: &str, retry_after_s: Option<u64>) -> NoToken {
    let reason = format!("no tenant token: {reason}");
    let reason = ServiceText::cleaned(&reason, &Known::default());
    NoToken::Unavailable(Verdict::from(Outcome::NotSent { reason, retry_after_s }))
}

impl Client {
    /// Sends a call with the tenant token; after a 401, once more with a new one. Without a token
    /// the call is not sent, whatever the token endpoint answered: its 401 is no answer to the
    /// call.
    pub(super) async fn exchange_as_tenant(&self, call: &Call) -> Result<Verdict, Denied> {
        let Some(tenant) = self.tenant.as_deref() else {
            return Err(Denied("no client credentials are configured".to_owned()));
        };
        let first = match tenant.token(self, None).await {
            Ok(held) => held,
            Err(none) => return none.into_verdict(),
        };
        let verdict = self.attempt(call, Some(bearer(&first.token)?)).await;
        if !matches!(verdict.outcome, Outcome::Refused { status: 401, .. }) {
            return Ok(verdict);
        }
        match tenant.token(self, Some(first.number)).await {
            Ok(renewed) => Ok(self.attempt(call, Some(bearer(&renewed.token)?)).await),
            Err(none) => none.into_verdict(),
        }
    }
}

impl NoToken {
    fn into_verdict(self) -> Result<Verdict, Denied> {
        match self {
            Self::Denied(denied) => Err(denied),
            Self::Unavailable(verdict) => Ok(verdict),
        }
    }
}
