//! Withdrawal of a merchant's authorisation (partner-api, deauthorize application).

use super::call::endpoints;

endpoints! {
    /// Revokes a merchant's authorisation of this partner: every key and token of it ends. Answers 200
    /// with an empty body.
    Deauthorise "merchant.deauthorise":
        Delete Web "/api/v1/merchants/{public_key}/deauthorize_application" by Tenant, () => ();
}
