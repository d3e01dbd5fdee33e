//! Passes calls through the rate limiter, in the lane of their merchant or the partner's own.

use crate::api::call::{Auth, Host};
use crate::base::id::Key;
use crate::client::gate::Unavailable;
use crate::client::service_client::Client;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::EngineShared;

/// Returns the client for calls of this kind: in the merchant's lane, or the partner's own.
pub(crate) fn client_for(shared: &EngineShared, wallet: &CredentialSource, auth: Auth) -> Client {
    shared.client.limited_by(shared.limiter(), &lane_name(&wallet.merchant, auth), wallet.urgency)
}

/// Waits until a request may go to this host, before its intent is written.
pub(crate) async fn wait_until_ready(
    shared: &EngineShared,
    wallet: &CredentialSource,
    (host, auth, web_url): (Host, Auth, Option<&str>),
) -> Result<(), Unavailable> {
    let client = client_for(shared, wallet, auth);
    let brand = web_url.map(|web_url| client.with_web_url(web_url));
    // An unusable address is reported when the request is sent.
    let client = brand.and_then(Result::ok).unwrap_or(client);
    client.reserve(host).await
}

/// The lane of the partner's own calls.
pub(crate) const PARTNER: &str = "partner";

/// Returns the lane of these calls.
pub(crate) fn lane_name(merchant: &Key, auth: Auth) -> String {
    match auth {
        Auth::None | Auth::Tenant => PARTNER.to_owned(),
        Auth::Payments | Auth::PublicKey | Auth::SecretKey => merchant.to_string(),
    }
}
