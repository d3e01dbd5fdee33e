//! `events urls`: where the service has to send its notifications.

use serde_json::json;

use super::exit::{Exit, Failure};
use super::out::Out;
use super::setup::Setup;
use crate::base::hash::keyed;
use crate::base::secret::Secret;
use crate::config::ProcessEnv;
use crate::http::PARTNER_PATH;

/// Characters of a token.
const TOKEN_LENGTH: usize = 40;

/// Prints the Event URL of the partner application; the service appends the reference.
pub(super) fn urls(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let base = match &setup.config.public_url {
        Some(url) => url.get(&ProcessEnv)?.as_str().to_owned(),
        None => format!("http://{}", setup.config.listen.get(&ProcessEnv)?),
    };
    let url = event_url(&base, &setup.webhook_token()?);
    out.result(&json!({ "partner": { "event_url": url } }), || format!("partner  {url}"))?;
    Ok(Exit::Done)
}

/// The Event URL beneath an address.
pub(super) fn event_url(base: &str, token: &Secret) -> String {
    format!("{}{PARTNER_PATH}{}/", base.trim_end_matches('/'), token.expose())
}

/// The secret part of the Event URL: made of the state's key, so that it lasts as long.
pub(super) fn token(digest_key: &[u8; 32]) -> Secret {
    let digest = keyed(digest_key, "webhook-token", b"partner").to_string();
    Secret::from(
        digest.chars().filter(char::is_ascii_alphanumeric).take(TOKEN_LENGTH).collect::<String>(),
    )
}
