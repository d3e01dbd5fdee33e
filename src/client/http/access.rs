//! Credentials of calls, and their headers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

use crate::api::Auth;
use crate::base::secret::Secret;

/// The credential of one call (partner-api and gateway-api, Authentication).
#[derive(Clone, Debug)]
pub enum Access {
    None,
    /// A merchant's `payments` token.
    Bearer(Secret),
    /// A merchant's public or secret key: the user name, with an empty password.
    Basic(Secret),
    /// The partner's own token: the client obtains, keeps and renews it.
    Tenant,
}

/// The reason why a credential is missing or unusable. No part of the call itself was sent.
#[derive(Debug)]
pub(crate) struct AccessDenied(pub(crate) String);

/// Returns whether the credential has the type that an endpoint requires. A key must never reach a
/// host that expects a token.
pub(crate) fn fits(auth: Auth, access: &Access) -> bool {
    matches!(
        (auth, access),
        (Auth::None, Access::None)
            | (Auth::Tenant, Access::Tenant)
            | (Auth::Payments, Access::Bearer(_))
            | (Auth::PublicKey | Auth::SecretKey, Access::Basic(_))
    )
}

pub(crate) fn bearer(token: &Secret) -> Result<HeaderValue, AccessDenied> {
    sensitive(&format!("Bearer {}", token.expose()))
}

/// Encodes the key as user name with an empty password (gateway-api, Authentication).
pub(crate) fn basic(key: &Secret) -> Result<HeaderValue, AccessDenied> {
    let pair = format!("{}:", key.expose());
    let encoded = STANDARD.encode(pair);
    sensitive(&format!("Basic {encoded}"))
}

fn sensitive(text: &str) -> Result<HeaderValue, AccessDenied> {
    let mut value = HeaderValue::from_str(text).map_err(|_invalid| {
        AccessDenied("the credential holds characters that no header takes".to_owned())
    })?;
    value.set_sensitive(true);
    Ok(value)
}
