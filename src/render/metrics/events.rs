//! Families of events and hooks.

use std::fmt;

use crate::engine::protocol::diagnostics::Metrics;
use crate::model::events::scripts::{ALL_BYTES_MAX, ALL_KEYS_MAX};
use crate::render::metrics::families::Families;

pub(super) fn write(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    event_families(out, all)?;
    payment_family(out, all)?;
    hook_families(out, all)
}

fn event_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let (events, ledger) = (&all.events, &all.events.ledger);
    let posts = all.posts.iter().map(|(answer, number)| (answer.as_str(), *number));
    let help = "Posts to our webhook addresses since the process began, by answer.";
    out.write_by(("posts_total", "answer"), help, None, posts)?;
    let ways =
        [("posted", ledger.verified.saturating_sub(ledger.missed)), ("listed", ledger.missed)];
    let help = "Events that the service showed, by where their ids came from first.";
    out.write_by(("events_total", "way"), help, None, ways)?;
    let help = "Events that were older than the known version of their object.";
    out.write_one("events_stale_total", help, ledger.stale)?;
    let odd = [
        ("repeated", ledger.repeated),
        ("garbled", ledger.malformed),
        ("other_mode", ledger.other_mode),
    ];
    let help = "Posts that were stored without any effect.";
    out.write_by(("posts_odd_total", "what"), help, None, odd)?;
    let help = "Posts whose event the service does not have: forged ones.";
    out.write_one("events_forged", help, ledger.forged)?;
    let help = "Events that were posted and wait to be read from the service.";
    out.write_one("events_waiting", help, ledger.waiting)?;
    out.write_one("events_held", "Events that are kept.", ledger.stored_count())?;
    let help = "Settled events that retention dropped.";
    out.write_one("events_dropped_total", help, ledger.dropped)?;
    if let Some(age) = events.horizon_age_seconds {
        let help = "Time since the horizon of retention, of the merchant that is furthest behind.";
        out.write_seconds("events_horizon_age", help, age)?;
    }
    if let Some(age) = events.age_seconds {
        let help = "Age of the newest event: our time minus the service's.";
        out.write_seconds("events_newest_age", help, age)?;
    }
    if let Some(lag) = events.lag_seconds {
        let help = "Time since the list of events was last read to its end, of the merchant that waits longest.";
        out.write_seconds("events_lag", help, lag)?;
    }
    Ok(())
}

/// Writes payments by merchant, or in one sum where the state has too many merchants.
fn payment_family(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let (merchants, sum) = (&all.events.payments, &all.events.ledger.payments);
    let whole = merchants.is_empty().then_some(("", sum));
    let each = merchants.iter().map(|(merchant, counts)| (merchant.as_str(), counts));
    let rows = whole.into_iter().chain(each).flat_map(|(merchant, counts)| {
        counts.by_result().map(|(result, number)| ([merchant, result], number))
    });
    let help = "Payments that events showed, by merchant and result; without merchants if there are more than 100.";
    out.write_by_two(("payments_total", ["merchant", "result"]), help, rows)
}

fn hook_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let (events, ledger) = (&all.events, &all.events.ledger);
    let runs = [("well", ledger.runs), ("failed", ledger.failures)];
    out.write_by(("hook_runs_total", "end"), "Hook runs, by outcome.", None, runs)?;
    let fates = ledger.actions;
    let fates = [
        ("done", fates.done),
        ("refused", fates.refused),
        ("invalid", fates.invalid),
        ("unknown", fates.unknown),
        ("skipped", fates.skipped),
    ];
    out.write_by(("hook_actions_total", "fate"), "Actions of hooks, by outcome.", None, fates)?;
    let help = "Actions of hooks that are not settled.";
    out.write_one("hook_actions_waiting", help, events.actions_waiting)?;
    let failed = [("again", events.hooks_again), ("dead", events.hooks_dead)];
    let help = "Failed hook runs; those in state `dead` need attention.";
    out.write_by(("hooks_failed", "stands"), help, None, failed)?;
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
