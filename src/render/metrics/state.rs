//! Families of resources, intents, the service and the journal.

use std::fmt;

use prometheus_client::registry::Unit;

use crate::control::protocol::VERSION;
use crate::engine::protocol::diagnostics::Metrics;
use crate::render::metrics::families::Families;

pub(super) fn write(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    process_families(out, all)?;
    resource_families(out, all)?;
    intent_families(out, all)?;
    service_families(out, all)?;
    journal_families(out, all)
}

fn process_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let help = "Version of the program; the value is always 1.";
    out.write_by(("build_info", "version"), help, None, [(VERSION, 1_u64)])?;
    let help = "A newer configuration has a problem and is not used: 1, else 0.";
    out.write_one("configuration_refused", help, u64::from(all.configuration_refused))?;
    let help = "A person stopped every change at the service, with `reckon freeze`: 1, else 0.";
    out.write_one("frozen", help, u64::from(all.overview.freeze.is_some()))?;
    let waits = all.overview.sync.as_ref().is_some_and(|sync| sync.awaits);
    let help = "Documents of a manual daemon wait for `reckon sync`: 1, else 0.";
    out.write_one("awaits_sync", help, u64::from(waits))?;
    time_rule_families(out, all)?;
    alert_families(out, all)?;
    let help =
        "Last time at which nothing was left that could be done, since the epoch; 0: not yet.";
    let at = all.reconciled_at.map_or(0, |at| at.timestamp());
    out.write_seconds("last_reconcile_timestamp", help, at)
}

fn time_rule_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let rules = &all.overview.rules;
    let holds = rules.iter().map(|rule| (rule.name.as_str(), u64::from(rule.holds)));
    let help = "A window or freeze of the configuration holds changes back: 1, else 0.";
    out.write_by(("time_rule_holds", "rule"), help, None, holds)?;
    let waiting = rules.iter().map(|rule| (rule.name.as_str(), rule.waiting));
    let help = "Resources whose change waits for a window or freeze of the configuration.";
    out.write_by(("held", "rule"), help, None, waiting)
}

fn alert_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let counts = all.alerts.iter().flat_map(|(target, results)| {
        results.iter().map(move |(result, count)| ([target.as_str(), result.as_str()], *count))
    });
    let help =
        "Messages about problems of resources since the process began, by target and result.";
    out.write_by_two(("alerts_total", ["target", "result"]), help, counts)?;
    let help = "Targets of alerts whose last message did not arrive.";
    out.write_one("alerts_undelivered", help, all.overview.alerts.len())
}

fn resource_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
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
    out.write_by(("resources", "state"), help, None, states)?;
    let reasons = all.reasons.iter().map(|(reason, number)| (reason.as_str(), *number));
    let help = "Resources that differ from their document or are not ready, by reason.";
    out.write_by(("unready", "reason"), help, None, reasons)?;
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

fn intent_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let counts = all.intents.iter().map(|(state, (number, _))| (state.as_str(), *number));
    let help = "Effects that are not settled, by state; those on hold need attention.";
    out.write_by(("intents", "state"), help, None, counts)?;
    let ages = all.intents.iter().map(|(state, (_, age))| (state.as_str(), *age));
    let help = "Age of the oldest effect in each state.";
    out.write_by(("intents_oldest", "state"), help, Some(&Unit::Seconds), ages)
}

fn service_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let traffic = &all.overview.traffic;
    let calls = all.calls.by_outcome.iter().map(|(word, number)| (word.as_str(), *number));
    let help = "Calls that went out since the process began, by outcome.";
    out.write_by(("service_calls_total", "outcome"), help, None, calls)?;
    out.histogram("service_call", "How long calls to the service take.", &all.calls.times)?;
    let help = "Answers 429 of the service since the process began.";
    out.write_one("service_throttled_total", help, traffic.throttled)?;
    let help = "Merchants whose calls are slowed down.";
    out.write_one("service_slowed_merchants", help, traffic.slowed)?;
    let help = "Hosts of the service that do not answer.";
    out.write_one("service_silent_hosts", help, traffic.silent.len())?;
    let help = "Seconds by which this machine's clock is ahead of the service's.";
    out.write_seconds("clock_ahead", help, traffic.clock_ahead_seconds)
}

fn journal_families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let help = "Sequence of the journal's last record.";
    out.write_one("journal_position", help, all.overview.position)?;
    if let Some(free) = all.disk_free_bytes {
        let free = i64::try_from(free).unwrap_or(i64::MAX);
        out.write_bytes("disk_free", "Free bytes of the state's file system.", free)?;
    }
    out.histogram("journal_sync", "How long syncs of the journal take.", &all.syncs)
}
