//! Metrics of the service's answers.

use std::fmt;

use super::families::Families;
use crate::engine::protocol::queries::metrics::Metrics;

pub(super) fn families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let traffic = &all.overview.traffic;
    let help = "Answers 429 of the service since the process began.";
    out.write_one("service_throttled_total", help, traffic.throttled)?;
    let help = "Merchants whose calls are slowed down.";
    out.write_one("service_slowed_merchants", help, traffic.slowed)?;
    let help = "Hosts of the service that do not answer.";
    out.write_one("service_silent_hosts", help, traffic.silent.len())
}
