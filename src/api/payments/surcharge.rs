//! A merchant's surcharge on a payment by its payment method (gateway-api, Surcharge entry).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::call::endpoints;
use crate::api::methods::method::MethodKind;
use crate::api::query::AMOUNT;

/// One surcharge: of cards or of banks.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SurchargeEntry {
    /// `card` or `bank`.
    #[serde(rename = "type")]
    pub kind: MethodKind,
    /// The part that grows with the amount; its unit is the service's own.
    pub surcharge_rate: i64,
    /// The fixed part, minor units.
    pub surcharge_fee: i64,
    /// Amount of the request, minor units; only with an amount.
    pub amount: Option<i64>,
    /// Surcharge on the amount, minor units; only with an amount.
    pub surcharge_amount: Option<i64>,
    /// Amount that a charge has to collect, minor units; only with an amount.
    pub total_amount: Option<i64>,
}

endpoints! {
    /// Reads the surcharges of a bank account; none where the merchant has no surcharge.
    GetSurcharge "surcharge.get": Get Base "/bank-accounts/{id}/surcharge" by PublicKey,
        () => Option<Vec<SurchargeEntry>>, [AMOUNT];
}
