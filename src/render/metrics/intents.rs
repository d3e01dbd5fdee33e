//! Metrics of intents that are not settled.

use std::fmt;

use super::families::Families;
use crate::engine::protocol::queries::metrics::Metrics;

pub(super) fn families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let counts = all.intents.iter().map(|(state, (number, _))| (state.as_str(), *number));
    let help = "Effects that are not settled, by state; those on hold need attention.";
    out.write_by(("intents", "state"), help, counts)?;
    let ages = all.intents.iter().map(|(state, (_, age))| (state.as_str(), *age));
    let help = "Age of the oldest effect in each state.";
    out.write_seconds_by(("intents_oldest", "state"), help, ages)
}
