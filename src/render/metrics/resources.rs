//! Metrics of resources, by state.

use std::fmt;

use super::families::Families;
use crate::engine::protocol::queries::metrics::Metrics;

pub(super) fn families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let now = &all.overview;
    let states = [
        ("all", now.resources),
        ("ready", now.ready),
        ("changing", now.changes),
        ("stuck", now.stuck),
        ("orphaned", now.orphaned),
        ("suspended", now.suspended),
        ("under_way", now.under_way),
        ("broken", now.broken),
    ];
    let help = "Resources by state; those in state `stuck` need attention.";
    out.write_by(("resources", "state"), help, states)?;
    let reasons = all.reasons.iter().map(|(reason, number)| (reason.as_str(), *number));
    let help = "Resources that differ from their document or are not ready, by reason.";
    out.write_by(("unready", "reason"), help, reasons)?;
    let conditions = all.conditions.iter().flat_map(|(kind, statuses)| {
        statuses.iter().map(move |(status, count)| ([kind.as_str(), status.as_str()], *count))
    });
    let help = "Resources by condition and its status.";
    out.write_by_two(("conditions", ["type", "status"]), help, conditions)?;
    let help = "Resources that a limit of the configuration blocks.";
    out.write_one("over_limit", help, all.over_limit)?;
    out.write_one("backoff", "Resources that wait for another try.", all.backoff)?;
    let help =
        "Objects that may exist twice: created again without proof that the first call failed.";
    out.write_one("possible_orphans", help, all.possible_orphans)
}
