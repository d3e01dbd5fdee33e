//! Health of the gateway (service-facts, 16; not in the two documents).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Auth, Endpoint, Host, Method};

/// The state of the gateway.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Status")]
pub struct GatewayStatus {
    /// `NORMAL`.
    pub status: String,
}

/// Reports whether the gateway works.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetStatus;

impl Endpoint for GetStatus {
    const NAME: &'static str = "status.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/status";
    const AUTH: Auth = Auth::None;
    type Request = ();
    type Reply = GatewayStatus;
}
