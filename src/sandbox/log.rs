//! Every request to the emulated service that was served: a bounded log and an exact count.
//!
//! An entry is written with the effects of its request. That of a request without effects reaches the
//! operating system a little later: a killed sandbox may forget the last half second of reads.

use serde::{Deserialize, Serialize};

use crate::api::wire::Timestamp;
use crate::sandbox::fault::Trouble;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, ordered};

/// Requests that are kept; older ones are only counted.
const KEPT_MAX: u64 = 100_000;
const TOTAL: &str = "meta/requests";

/// One served request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) time: Timestamp,
    pub(crate) method: String,
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) query: Option<String>,
    /// The host that was asked: each product brand has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// The account whose own key let it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) account: Option<String>,
    /// What was answered, or would have been.
    pub(crate) status: u16,
    /// The fault that struck it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<Trouble>,
}

/// Writes a request down.
pub(crate) fn record(cx: &mut Cx<'_>, entry: &Entry) -> Result<(), Refusal> {
    let total = total(cx)?.saturating_add(1);
    cx.put(&format!("request/{}", ordered(total)), entry)?;
    if let Some(old) = total.checked_sub(KEPT_MAX) {
        cx.remove(&format!("request/{}", ordered(old)));
    }
    cx.put(TOTAL, &total)
}

/// How many were served.
pub(crate) fn total(cx: &Cx<'_>) -> Result<u64, Refusal> {
    Ok(cx.get(TOTAL)?.unwrap_or(0))
}
