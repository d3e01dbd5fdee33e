//! Options of a sandbox.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::clock::{Clock, SystemClock};

/// Extent of the emulated service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ServiceSurface {
    /// The two interface documents, and the additions of public material (service-facts).
    #[default]
    Public,
    /// The two interface documents alone: other paths do not exist, other events are not emitted,
    /// other fields are ignored.
    Documented,
}

impl ServiceSurface {
    /// Returns true if parts of this surface are served on the surface `whole`.
    pub(crate) fn is_part_of(self, whole: Self) -> bool {
        whole == Self::Public || self == Self::Documented
    }
}

/// Decider on applications.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DecisionMode {
    /// The sandbox, a few seconds after submission.
    #[default]
    Auto,
    /// People, through a control path.
    Manual,
}

/// The settings of [`Sandbox::open`](super::server::Sandbox::open).
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// Source of the partner, the demo merchant, ids and keys.
    pub seed: u64,
    pub surface: ServiceSurface,
    /// The clock underneath; the sandbox's own clock is ahead of it by the advanced time.
    pub clock: Arc<dyn Clock>,
    /// Start of the sandbox's time at the first opening; by default the clock's time.
    pub start: Option<DateTime<Utc>>,
    pub decide: DecisionMode,
    /// Base address of the links in invoice e-mails: `{portal_url}`.
    pub portal_url: String,
    /// The product brand in the default subjects of invoice e-mails (partner-api, POST /invoices).
    pub brand: String,
    /// `{web_url}`: base address of the sign-up pages; its host counts if a request names none.
    pub web_url: String,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            surface: ServiceSurface::default(),
            clock: Arc::new(SystemClock),
            start: None,
            decide: DecisionMode::default(),
            portal_url: "https://127.0.0.1:8700".to_owned(),
            brand: "Sandbox Payments".to_owned(),
            web_url: "https://127.0.0.1:8700".to_owned(),
        }
    }
}
