//! Health of the gateway (service-facts, 16; not in the two documents).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::endpoints;

/// The state of the gateway.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Status")]
pub struct GatewayStatus {
    /// `NORMAL`.
    pub status: String,
}

endpoints! {
    /// Reports whether the gateway works.
    GetStatus "status.get": Get Base "/status" by None, () => GatewayStatus;
}
