//! Metrics of hooks: their runs, and the outcomes of their actions.

use std::fmt;

use super::families::Families;
use crate::engine::protocol::queries::metrics::Metrics;
use crate::model::events::scripts::{ALL_BYTES_MAX, ALL_KEYS_MAX};

pub(super) fn families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let (events, ledger) = (&all.events, &all.events.ledger);
    let runs = [("well", ledger.runs), ("failed", ledger.failures)];
    out.write_by(("hook_runs_total", "end"), "Hook runs, by outcome.", runs)?;
    let fates = ledger.actions;
    let fates = [
        ("done", fates.done),
        ("refused", fates.refused),
        ("invalid", fates.invalid),
        ("unknown", fates.unknown),
        ("skipped", fates.skipped),
    ];
    out.write_by(("hook_actions_total", "fate"), "Actions of hooks, by outcome.", fates)?;
    let help = "Actions of hooks that are not settled.";
    out.write_one("hook_actions_waiting", help, events.actions_waiting)?;
    let failed = [("again", events.hooks_again), ("dead", events.hooks_dead)];
    let help = "Failed hook runs; those in state `dead` need attention.";
    out.write_by(("hooks_failed", "stands"), help, failed)?;
    out.write_one("hooks_kept_keys", "Keys that scripts store.", events.kept.keys)?;
    out.write_one("hooks_kept_keys_max", "Keys that scripts may store.", ALL_KEYS_MAX)?;
    out.write_one("hooks_kept_bytes", "Bytes that scripts store.", events.kept.bytes)?;
    out.write_one("hooks_kept_bytes_max", "Bytes that scripts may store.", ALL_BYTES_MAX)?;
    let help = "Partner webhooks that match no submission of this state.";
    out.write_one("notices_ignored_total", help, events.notices_ignored)?;
    let help = "Scripts whose file is missing; their events wait.";
    out.write_one("hooks_absent", help, events.hooks_absent)?;
    let help = "Pairs of script and merchant whose events wait, since too many runs failed.";
    out.write_one("hooks_stopped", help, events.hooks_stopped)
}
