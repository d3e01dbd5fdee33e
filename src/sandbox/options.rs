//! How a sandbox is set up.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::clock::{Clock, SystemClock};

/// How much of the service is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Surface {
    /// The two interface documents, and what public material adds (service-facts).
    #[default]
    Public,
    /// The two interface documents alone: other paths do not exist, other events are not emitted, fields
    /// that they do not name are ignored.
    Documented,
}

impl Surface {
    /// Whether what belongs to this surface is there when `whole` is served.
    pub(crate) fn is_part_of(self, whole: Self) -> bool {
        whole == Self::Public || self == Self::Documented
    }
}

/// Who decides on applications.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decide {
    /// The sandbox, a few seconds after submission.
    #[default]
    Auto,
    /// A control path.
    Manual,
}

/// The settings of [`Sandbox::open`](crate::sandbox::Sandbox::open).
#[derive(Debug, Clone)]
pub struct Options {
    /// Partner, demo merchant, ids and keys derive from it.
    pub seed: u64,
    /// How much of the service is there.
    pub surface: Surface,
    /// The clock underneath; the sandbox's own time is ahead of it by what was advanced.
    pub clock: Arc<dyn Clock>,
    /// The time it is at the first opening; without it the base clock's.
    pub start: Option<DateTime<Utc>>,
    /// Who decides on applications.
    pub decide: Decide,
    /// Where the links in invoice e-mails point: `{portal_url}`.
    pub portal_url: String,
    /// The product brand in the default subjects of invoice e-mails (partner-api, POST /invoices).
    pub brand: String,
    /// `{web_url}`: its scheme, and its host where a request names none, lead to the sign-up pages.
    pub web_url: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            surface: Surface::default(),
            clock: Arc::new(SystemClock),
            start: None,
            decide: Decide::default(),
            portal_url: "https://127.0.0.1:8700".to_owned(),
            brand: "Sandbox Payments".to_owned(),
            web_url: "https://127.0.0.1:8700".to_owned(),
        }
    }
}
