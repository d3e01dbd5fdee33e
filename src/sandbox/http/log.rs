//! The request log: the served requests to the emulated service, a bounded log and an exact count.
//!
//! An entry is written with the effects of its request. The entry of a request without effects
//! reaches the operating system a little later: a killed sandbox may lose the last half second of
//! reads.

use serde::{Deserialize, Serialize};

use super::fault::FaultKind;
use super::refusal::SandboxRefusal;
use crate::api::wire::Timestamp;
use crate::sandbox::state::store::{ChangeUnit, sortable_key};

/// Maximum number of entries; older requests are only counted.
const KEPT_MAX: u64 = 100_000;
const TOTAL: &str = "meta/requests";

/// A served request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoggedRequest {
    pub(crate) time: Timestamp,
    pub(crate) method: String,
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) query: Option<String>,
    /// The requested host: each product brand has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// The account of an account's own key, if one was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) account: Option<String>,
    /// The answered status, even if a fault dropped the answer.
    pub(crate) status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<FaultKind>,
}

/// Appends a request to the log.
pub(crate) fn record(cx: &mut ChangeUnit<'_>, entry: &LoggedRequest) -> Result<(), SandboxRefusal> {
    let total = total(cx)?.saturating_add(1);
    cx.put(&format!("request/{}", sortable_key(total)), entry)?;
    if let Some(old) = total.checked_sub(KEPT_MAX) {
        cx.remove(&format!("request/{}", sortable_key(old)));
    }
    cx.put(TOTAL, &total)
}

/// Returns the number of served requests.
pub(crate) fn total(cx: &ChangeUnit<'_>) -> Result<u64, SandboxRefusal> {
    Ok(cx.get(TOTAL)?.unwrap_or(0))
}
