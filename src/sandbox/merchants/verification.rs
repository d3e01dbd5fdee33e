//! Verification: an account's policy for the CVV and address results (gateway-api, States and
//! transitions; service-facts, 30 and 69). A charge whose results the account rejects is voided at
//! once.

use serde::{Deserialize, Serialize};

use crate::api::methods::method::MethodKind;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::methods::test_numbers::OutcomeClass;
use crate::sandbox::payments::charges::PaymentOrder;
use crate::sandbox::state::store::ChangeUnit;

/// An account's policy for a CVV.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum CvvPolicy {
    Disabled,
    #[default]
    Optional,
    /// Rejects a CVV that is known not to match.
    RequireMatchLenient,
    /// Rejects a CVV that is not known to match.
    RequireMatchStrict,
}

/// An account's policy for an address. The lenient ones accept a result that the issuer leaves
/// open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum AvsPolicy {
    Disabled,
    #[default]
    SubmitIgnoreResult,
    AddrOrPostalCodeLenient,
    AddrOrPostalCodeStrict,
    AddrStrict,
    PostalCodeStrict,
    ExactAddrAndPostalCodeLenient,
    ExactAddrAndPostalCodeStrict,
}

impl CvvPolicy {
    pub(crate) fn accepts(self, result: Option<&str>) -> bool {
        match self {
            Self::Disabled | Self::Optional => true,
            Self::RequireMatchLenient => result != Some("NOT_MATCHED"),
            Self::RequireMatchStrict => result == Some("MATCHED"),
        }
    }
}

impl AvsPolicy {
    pub(crate) fn accepts(self, result: Option<&str>) -> bool {
        // The matches of address and postal code.
        let known = match result {
            Some("ADDRESS_AND_POSTAL_CODE" | "ADDRESS_AND_ZIP5" | "ADDRESS_AND_ZIP9") => {
                Some((true, true))
            }
            Some("ADDRESS") => Some((true, false)),
            Some("POSTAL_CODE" | "ZIP5" | "ZIP9") => Some((false, true)),
            Some("NO_MATCH") => Some((false, false)),
            Some(_) | None => None,
        };
        let (address, postal) = known.unwrap_or_default();
        match self {
            Self::Disabled | Self::SubmitIgnoreResult => true,
            Self::AddrOrPostalCodeLenient => known.is_none() || address || postal,
            Self::AddrOrPostalCodeStrict => address || postal,
            Self::AddrStrict => address,
            Self::PostalCodeStrict => postal,
            Self::ExactAddrAndPostalCodeLenient => known.is_none() || (address && postal),
            Self::ExactAddrAndPostalCodeStrict => address && postal,
        }
    }
}

/// Returns the code with which the account rejects an authorised card payment; `None` if it
/// accepts.
pub(crate) fn rejection(
    cx: &ChangeUnit<'_>,
    order: &PaymentOrder,
) -> Result<Option<&'static str>, SandboxRefusal> {
    if order.method.shown.kind != MethodKind::Card {
        return Ok(None);
    }
    let policy = cx.policy(&order.owner.merchant)?;
    let OutcomeClass { failure: _, cvv_result, avs_result } = &order.method.class;
    let cvv = policy.cvv_of(&order.account).accepts(cvv_result.as_deref());
    let waived = policy.avs_waived.contains(&order.account);
    let made_good = waived && cvv_result.as_deref() == Some("MATCHED");
    let avs = made_good || policy.avs_of(&order.account).accepts(avs_result.as_deref());
    Ok(match (cvv, avs) {
        (false, _) => Some("card_cvv_incorrect"),
        (true, false) => Some("card_avs_rejected"),
        (true, true) => None,
    })
}
