//! A merchant's surcharge on a payment by its payment method (gateway-api, Surcharge entry).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::call::{Auth, Endpoint, Host, Method};
use crate::api::methods::method::MethodKind;
use crate::api::query::{AMOUNT, Parameter};

/// One surcharge: of cards or of banks.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// Surcharge on the amount, minor units; only with an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surcharge_amount: Option<i64>,
    /// Amount that a charge has to collect, minor units; only with an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_amount: Option<i64>,
}

/// Reads the surcharges of a bank account; none where the merchant has no surcharge.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetSurcharge;

impl Endpoint for GetSurcharge {
    const NAME: &'static str = "surcharge.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/bank-accounts/{id}/surcharge";
    const AUTH: Auth = Auth::PublicKey;
    const QUERY: &'static [Parameter] = &[AMOUNT];
    type Request = ();
    type Reply = Option<Vec<SurchargeEntry>>;
}
