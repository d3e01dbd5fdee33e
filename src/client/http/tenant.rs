//! The partner's own token: obtained by the client credentials grant, kept, and renewed when the
//! service no longer accepts it (partner-api, POST /oauth/token). The answer names no end of life,
//! so a 401 is the only sign.

use tokio::sync::Mutex;

use super::access::{AccessDenied, bearer};
use super::classify::CallVerdict;
use crate::api::Call;
use crate::api::methods::token::{AccessToken, ExchangeToken, TokenRequest};
use crate::base::outside_text::{KnownValues, ServiceText};
use crate::base::secret::Secret;
use crate::client::service_client::{Client, ClientCredentials};
use crate::model::intents::outcome::Outcome;

/// The one token, and the credentials for it.
pub(crate) struct TenantTokens {
    partner: ClientCredentials,
    /// Locked while a token is fetched, so that many callers cause one fetch.
    current: Mutex<Option<NumberedToken>>,
}

/// A token, and the count of its predecessors.
#[derive(Clone)]
struct NumberedToken {
    number: u64,
    token: Secret,
}

/// The reason why there is no token.
enum TenantTokenError {
    /// Final, until the configuration changes.
    Denied(AccessDenied),
    /// Temporary: the token endpoint gave no good answer.
    Unavailable(CallVerdict),
}

impl TenantTokens {
    pub(crate) fn new(partner: ClientCredentials) -> Self {
        Self { partner, current: Mutex::new(None) }
    }

    /// Returns the kept token, unless it is the one numbered `stale`; else a new one.
    async fn token(
        &self,
        client: &Client,
        stale: Option<u64>,
    ) -> Result<NumberedToken, TenantTokenError> {
        let mut held = self.current.lock().await;
        if let Some(kept) = held.as_ref().filter(|kept| Some(kept.number) != stale) {
            return Ok(kept.clone());
        }
        let token = self.fetch(client).await?;
        let number = held.as_ref().map_or(0, |old| old.number.saturating_add(1));
        Ok(held.insert(NumberedToken { number, token }).clone())
    }

    async fn fetch(&self, client: &Client) -> Result<Secret, TenantTokenError> {
        let verdict = client.attempt(&self.token_request()?, None).await;
        match verdict.outcome {
            Outcome::Done { reply } => serde_json::from_value::<AccessToken>(reply)
                .ok()
                .and_then(|reply| reply.access_token)
                .ok_or_else(|| unavailable("the service answered without one", None)),
            Outcome::Refused { status, problem: _ } => Err(TenantTokenError::Denied(AccessDenied(
                format!("the service refuses the client credentials with {status}"),
            ))),
            Outcome::NotSent { reason, retry_after_s } => {
                Err(unavailable(reason.as_str(), retry_after_s))
            }
            Outcome::InDoubt { reason } => Err(unavailable(reason.as_str(), verdict.retry_after_s)),
        }
    }

    /// Builds the client credentials grant of scope `tenant`.
    fn token_request(&self) -> Result<Call, TenantTokenError> {
        let ClientCredentials { client_id, client_secret } = &self.partner;
        serde_json::to_vec(&TokenRequest::tenant(client_id, client_secret.clone()))
            .map(|body| Call::to::<ExchangeToken>(&[]).body(body))
            .map_err(|_unwritable| unavailable("its request cannot be written", None))
    }
}

fn unavailable(reason: &str, retry_after_s: Option<u64>) -> TenantTokenError {
    let reason = format!("no tenant token: {reason}");
    let reason = ServiceText::clean(&reason, &KnownValues::default());
    TenantTokenError::Unavailable(CallVerdict::from(Outcome::NotSent { reason, retry_after_s }))
}

impl Client {
    /// Sends a call with the tenant token; after a 401, once more with a new one. Without a token
    /// the call is not sent, whatever the token endpoint answered: its 401 is no answer to the
    /// call.
    pub(crate) async fn exchange_as_tenant(
        &self,
        call: &Call,
    ) -> Result<CallVerdict, AccessDenied> {
        let Some(tenant) = self.tenant.as_deref() else {
            return Err(AccessDenied("no client credentials are configured".to_owned()));
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

impl TenantTokenError {
    fn into_verdict(self) -> Result<CallVerdict, AccessDenied> {
        match self {
            Self::Denied(denied) => Err(denied),
            Self::Unavailable(verdict) => Ok(verdict),
        }
    }
}
