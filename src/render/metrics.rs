//! Counts for a monitor, in the text form that Prometheus reads.

use std::fmt::{Display, Write};

use crate::engine::Metrics;

/// Microseconds of a second.
const MICROS: u64 = 1_000_000;

/// Every metric with its meaning.
pub fn metrics(all: &Metrics) -> String {
    let mut out = Text(String::new());
    resources(&mut out, all);
    intents(&mut out, all);
    service(&mut out, all);
    journal(&mut out, all);
    events(&mut out, all);
    hooks(&mut out, all);
    out.0
}

struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP reckon_{name} {help}"));
        self.line(format_args!("# TYPE reckon_{name} {kind}"));
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _written = writeln!(self.0, "{line}");
    }

    /// One number without labels.
    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        self.line(format_args!("reckon_{name} {value}"));
    }

    /// One number for each word of a label.
    fn by<V: Display>(
        &mut self,
        (name, label): (&str, &str),
        help: &str,
        values: impl IntoIterator<Item = (impl Display, V)>,
    ) {
        self.head(name, if name.ends_with("_total") { "counter" } else { "gauge" }, help);
        for (word, value) in values {
            self.line(format_args!("reckon_{name}{{{label}=\"{word}\"}} {value}"));
        }
    }
}

fn resources(out: &mut Text, all: &Metrics) {
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
    out.by(
        ("resources", "state"),
        "Resources by how they stand; stuck ones wait for a person.",
        states,
    );
    out.by(
        ("unready", "reason"),
        "Resources that are not as their file says, by reason.",
        &all.reasons,
    );
    let help = "Resources that a limit of the configuration stands in the way of.";
    out.one("over_limit", "gauge", help, all.over_limit);
    out.one("backoff", "gauge", "Resources that wait for another try.", all.backoff);
    let help = "Objects made again without proof that the first try failed.";
    out.one("possible_orphans", "gauge", help, all.possible_orphans);
}

fn intents(out: &mut Text, all: &Metrics) {
    let counts = all.intents.iter().map(|(state, (count, _))| (state, *count));
    out.by(
        ("intents", "state"),
        "Effects that are not settled; held ones wait for a person.",
        counts,
    );
    let ages = all.intents.iter().map(|(state, (_, age))| (state, *age));
    let help = "Age of the oldest effect in each state, in seconds.";
    out.by(("intents_oldest_seconds", "state"), help, ages);
}

fn service(out: &mut Text, all: &Metrics) {
    let traffic = &all.overview.traffic;
    let help = "Answers 429 since the process began.";
    out.one("service_throttled_total", "counter", help, traffic.throttled);
    let help = "Merchants whose calls are slowed down.";
    out.one("service_slowed_merchants", "gauge", help, traffic.slowed);
    let help = "Hosts of the service that do not answer.";
    out.one("service_silent_hosts", "gauge", help, traffic.silent.len());
}

fn journal(out: &mut Text, all: &Metrics) {
    out.one("journal_position", "counter", "The journal's last record.", all.overview.position);
    out.head("journal_sync_seconds", "histogram", "How long syncs of the journal take.");
    for (end, count) in &all.sync_within_us {
        let end = seconds(*end);
        out.line(format_args!("reckon_journal_sync_seconds_bucket{{le=\"{end}\"}} {count}"));
    }
    let (count, total) = all.syncs;
    out.line(format_args!("reckon_journal_sync_seconds_bucket{{le=\"+Inf\"}} {count}"));
    out.line(format_args!("reckon_journal_sync_seconds_sum {}", seconds(total)));
    out.line(format_args!("reckon_journal_sync_seconds_count {count}"));
}

fn events(out: &mut Text, all: &Metrics) {
    let (events, ledger) = (&all.events, &all.events.ledger);
    let help = "Posts to addresses of ours since the process began, by the answer.";
    out.by(("posts_total", "answer"), help, &all.posts);
    let ways = [("posted", ledger.told.saturating_sub(ledger.missed)), ("listed", ledger.missed)];
    let help = "Events that the service showed, by how we first heard of them.";
    out.by(("events_total", "way"), help, ways);
    let help = "Events that were older than what was known of their object.";
    out.one("events_stale_total", "counter", help, ledger.stale);
    let odd = [
        ("repeated", ledger.repeated),
        ("garbled", ledger.garbled),
        ("other_mode", ledger.other_mode),
    ];
    out.by(("posts_odd_total", "what"), "Posts that were written down and led to nothing.", odd);
    let help = "Posts whose event the service does not have: somebody made them up.";
    out.one("events_forged", "gauge", help, ledger.forged);
    let help = "Events that were posted and wait to be read from the service.";
    out.one("events_waiting", "gauge", help, ledger.waiting);
    if let Some(age) = events.age_seconds {
        let help = "Age of the newest event, in seconds, by the service's clock and ours.";
        out.one("events_newest_age_seconds", "gauge", help, age);
    }
    if let Some(lag) = events.lag_seconds {
        let help = "How long ago the list of events was last read, in seconds; of the merchant that waits longest.";
        out.one("events_lag_seconds", "gauge", help, lag);
    }
}

fn hooks(out: &mut Text, all: &Metrics) {
    let (events, ledger) = (&all.events, &all.events.ledger);
    let runs = [("well", ledger.runs), ("failed", ledger.failures)];
    out.by(("hook_runs_total", "end"), "Runs of hooks, by how they ended.", runs);
    let fates = ledger.actions;
    let fates = [
        ("done", fates.done),
        ("refused", fates.refused),
        ("invalid", fates.invalid),
        ("unknown", fates.unknown),
    ];
    out.by(
        ("hook_actions_total", "fate"),
        "Actions that hooks asked for, by what became of them.",
        fates,
    );
    let help = "Actions that hooks asked for and that are not settled.";
    out.one("hook_actions_waiting", "gauge", help, events.actions_waiting);
    let failed = [("again", events.hooks_again), ("dead", events.hooks_dead)];
    let help = "Hooks that failed; dead ones wait for a person.";
    out.by(("hooks_failed", "stands"), help, failed);
}

/// Seconds with their microseconds, without a float.
fn seconds(micros: u64) -> String {
    let whole = micros.checked_div(MICROS).unwrap_or(0);
    let rest = micros.checked_rem(MICROS).unwrap_or(0);
    format!("{whole}.{rest:06}")
}
