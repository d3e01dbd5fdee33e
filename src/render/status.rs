//! Renders the whole status on one screen: the service first, then resources, documents, effects and
//! events, and the commands that lead on.

use chrono::{DateTime, Utc};
use owo_colors::Style;

use crate::base::wording::count_noun;
use crate::engine::protocol::alerts::UndeliveredAlertsView;
use crate::engine::protocol::diagnostics::StatusView;
use crate::engine::protocol::events::ReceiverView;
use crate::engine::protocol::hooks::HooksView;
use crate::engine::protocol::next_steps::NextStep;
use crate::engine::protocol::time_rules::TimeRuleView;
use crate::engine::protocol::views::{DownHostView, ResourceView, SyncView, TrafficView};
use crate::model::holds::Freeze;
use crate::model::manifest::TreeState;
use crate::render::resource::problem_groups::{by_problem, shown_of};
use crate::render::resource::standing;
use crate::render::words::{
    Screen, age, clean, clock_difference, commands, duration, file_place, low_disk, problem_line,
    push_line, resource_key, short_hash, to_clock, wrap_indented,
};

const LABEL_WIDTH: usize = 11;
/// Groups of resources, problems and commands on one screen, at most.
const GROUPS_SHOWN: usize = 8;
const PROBLEMS_SHOWN: usize = 5;
const NEXT_SHOWN: usize = 6;
/// Columns of a resource's line beside its name, reason and place.
const SYMBOL_AND_GAPS: usize = 6;
/// Reason of a resource that only waits for another one.
const WAITS_FOR: &str = "WaitsFor";

/// Renders a status; `is_live` is false for a state that no daemon holds.
pub fn text(status: &StatusView, is_live: bool, screen: Screen) -> String {
    let now = status.at.parse().unwrap_or_default();
    let mut out = String::new();
    push_line!(out, "{}", headline(status, is_live, screen));
    let mut row = |label: &str, lines: Vec<String>| {
        for (number, line) in lines.into_iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            push_line!(out, "{}{line}", screen.dim(&format!("{label:LABEL_WIDTH$}")));
        }
    };
    row("Frozen", frozen(status.overview.freeze.as_deref(), now, screen));
    row("Times", times(&status.overview.rules, screen));
    row("Sync", sync(status.overview.sync.as_deref(), now, screen));
    row("Service", service(&status.overview.traffic, is_live, now, screen));
    row("Clock", clock(&status.overview.traffic, screen));
    row("Disk", disk(status.overview.disk_low_bytes, screen));
    row("Resources", resource_counts(status));
    row("Documents", documents(status, screen));
    row("Effects", effects(status, screen));
    row("Events", events(&status.events.receivers));
    row("Hooks", hooks(&status.hooks, screen));
    row("Alerts", alerts(&status.overview.alerts, now, screen));
    not_ready(&mut out, status, screen);
    next(&mut out, &status.not_ready, screen);
    out
}

fn headline(status: &StatusView, is_live: bool, screen: Screen) -> String {
    let daemon = if is_live { "the daemon runs" } else { "no daemon runs" };
    let commit =
        status.commit.as_deref().map(|commit| format!(", documents at {}", short_hash(commit)));
    let overview = &status.overview;
    let rest = format!(
        ": {daemon}{}, record {} with head {}",
        commit.unwrap_or_default(),
        overview.position,
        short_hash(&overview.head)
    );
    format!(
        "{}{}",
        screen.bold(&format!("reckon {}", env!("CARGO_PKG_VERSION"))),
        screen.dim(&rest)
    )
}

/// Renders a freeze with its age and the way out; no line without a freeze.
fn frozen(freeze: Option<&Freeze>, now: DateTime<Utc>, screen: Screen) -> Vec<String> {
    let Some(freeze) = freeze else { return Vec::new() };
    let line = format!("{} ({} ago)", freeze.sentence(), age(now, freeze.at));
    vec![screen.paint(Style::new().red(), &clean(&line))]
}

/// Renders the windows and freezes of the configuration, those that hold changes back in yellow.
fn times(rules: &[TimeRuleView], screen: Screen) -> Vec<String> {
    let line = |rule: &TimeRuleView| {
        let style = if rule.holds { Style::new().yellow() } else { Style::new() };
        screen.paint(style, &clean(&rule.sentence()))
    };
    rules.iter().map(line).collect()
}

/// Renders the sync of a manual daemon; no line for an automatic one.
fn sync(sync: Option<&SyncView>, now: DateTime<Utc>, screen: Screen) -> Vec<String> {
    let Some(SyncView { awaits, last }) = sync else { return Vec::new() };
    let last = last.as_ref().map_or_else(
        || "never synced".to_owned(),
        |last| format!("last synced by {} {} ago", clean(&last.actor), age(now, last.at)),
    );
    let waits = match awaits {
        true => screen.paint(Style::new().yellow(), "the documents wait for `reckon sync`"),
        false => "the documents are those of the last sync".to_owned(),
    };
    vec![format!("manual: {waits}; {last}")]
}

fn service(
    traffic: &TrafficView,
    is_live: bool,
    now: DateTime<Utc>,
    screen: Screen,
) -> Vec<String> {
    let TrafficView { slowed, throttled, silent, clock_ahead_seconds: _ } = traffic;
    let mut lines: Vec<String> = silent.iter().map(|host| silent_host(host, now, screen)).collect();
    if *slowed > 0 {
        let (who, answers) = (count_noun(*slowed, "merchant"), count_noun(*throttled, "time"));
        let line = format!("throttles {who} ({answers} so far): calls wait");
        lines.push(screen.paint(Style::new().yellow(), &line));
    }
    match (lines.is_empty(), is_live) {
        (false, _) => lines,
        (true, true) => vec!["no call fails".to_owned()],
        (true, false) => vec!["not asked: no daemon runs".to_owned()],
    }
}

fn clock(traffic: &TrafficView, screen: Screen) -> Vec<String> {
    let difference = clock_difference(traffic.clock_ahead_seconds);
    difference.iter().map(|line| screen.paint(Style::new().yellow(), line)).collect()
}

/// Renders the little space that is left for the state; no line where there is enough.
fn disk(free: Option<u64>, screen: Screen) -> Vec<String> {
    free.iter().map(|free| screen.paint(Style::new().red(), &low_disk(*free))).collect()
}

/// Renders `pay.example: silent since 10:02Z (3m), next try in 40s`.
fn silent_host(host: &DownHostView, now: DateTime<Utc>, screen: Screen) -> String {
    let DownHostView { host, since, next } = host;
    let lasts = since.parse().map(|since| format!(" ({})", age(now, since))).unwrap_or_default();
    let next = next.parse().map_or_else(
        |_| clean(next),
        |next: DateTime<Utc>| format!("in {}", duration(next.signed_duration_since(now))),
    );
    let line = format!("{}: silent since {}{lasts}, next try {next}", clean(host), to_clock(since));
    screen.paint(Style::new().red(), &line)
}

fn resource_counts(status: &StatusView) -> Vec<String> {
    let counts = standing::counts(&status.overview.standings);
    match status.overview.resources {
        0 => vec!["none: there is no document yet".to_owned()],
        resources => vec![format!("{resources}: {counts}")],
    }
}

fn documents(status: &StatusView, screen: Screen) -> Vec<String> {
    let (red, shown) = (Style::new().red(), &status.problems);
    let mut lines = Vec::new();
    if status.overview.coverage == TreeState::Incomplete {
        let text = "some are invalid: nothing is removed until `reckon validate` passes";
        lines.push(screen.paint(red, text));
    }
    lines.extend(shown.iter().take(PROBLEMS_SHOWN).map(|problem| clean(&problem_line(problem))));
    let more = shown.len().saturating_sub(PROBLEMS_SHOWN);
    let omitted = status.omitted.errors.saturating_add(status.omitted.warnings);
    if more.saturating_add(omitted) > 0 {
        lines.push(format!("and {} more: reckon validate", more.saturating_add(omitted)));
    }
    lines
}

fn effects(status: &StatusView, screen: Screen) -> Vec<String> {
    let words = [("open", "in flight"), ("in_doubt", "in doubt"), ("held", "on hold")];
    let some = words.iter().filter_map(|(state, words)| {
        let (count, oldest) = status.intents.get(*state).filter(|(count, _)| *count > 0)?;
        let oldest = duration(chrono::TimeDelta::seconds(*oldest));
        Some((*state, format!("{count} {words} (oldest {oldest})")))
    });
    let some: Vec<(&str, String)> = some.collect();
    if some.is_empty() {
        return vec!["all are settled".to_owned()];
    }
    let needs_person = some.iter().any(|(state, _)| *state != "open");
    let line = some.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join(", ");
    if needs_person {
        vec![screen.paint(Style::new().red(), &format!("{line}: reckon intents"))]
    } else {
        vec![line]
    }
}

fn events(receivers: &[ReceiverView]) -> Vec<String> {
    let seconds = |seconds: i64| duration(chrono::TimeDelta::seconds(seconds));
    let newest = receivers.iter().filter_map(|one| one.age_seconds).min();
    let read = receivers.iter().filter_map(|one| one.lag_seconds).max();
    let newest = newest.map(|newest| format!("newest {} ago", seconds(newest)));
    let read = read.map(|read| format!("every list was read within {}", seconds(read)));
    let parts: Vec<String> = [newest, read].into_iter().flatten().collect();
    if parts.is_empty() { Vec::new() } else { vec![parts.join(", ")] }
}

fn hooks(hooks: &HooksView, screen: Screen) -> Vec<String> {
    let mut lines = Vec::new();
    let red = |text: &str| screen.paint(Style::new().red(), text);
    if hooks.problems > 0 {
        lines.push(red(
            "the scripts have errors, the last valid ones are in use: reckon hooks check",
        ));
    }
    let undone = u64::try_from(hooks.undone.len()).unwrap_or(u64::MAX);
    let failed = hooks.totals.dead.saturating_add(undone);
    if failed > 0 {
        let what = count_noun(failed, "run or action");
        lines.push(red(&format!("{what} failed for good: reckon events failed")));
    }
    if hooks.totals.failed > 0 {
        let what = count_noun(hooks.totals.failed, "failed run");
        let line = format!("{what} will be tried again: reckon events failed");
        lines.push(screen.paint(Style::new().yellow(), &line));
    }
    if hooks.totals.requested > 0 {
        let what = count_noun(hooks.totals.requested, "requested run");
        lines.push(format!("{what} not made yet: reckon events failed"));
    }
    if lines.is_empty() && !hooks.scripts.is_empty() {
        lines.push(format!("{}, no run failed", count_noun(hooks.scripts.len(), "script")));
    }
    lines
}

/// Renders the targets whose alerts do not arrive; no line without one.
fn alerts(
    undelivered: &[UndeliveredAlertsView],
    now: DateTime<Utc>,
    screen: Screen,
) -> Vec<String> {
    let line = |one: &UndeliveredAlertsView| {
        let UndeliveredAlertsView { target, since, reason, waiting } = one;
        let lasts = since.parse().map(|since| format!(" ({})", age(now, since)));
        let (since, lasts) = (to_clock(since), lasts.unwrap_or_default());
        let waiting = count_noun(u64::try_from(*waiting).unwrap_or(u64::MAX), "change");
        let line = format!(
            "not delivered to `{target}` since {since}{lasts}: {reason}; {waiting} to report"
        );
        screen.paint(Style::new().red(), &clean(&line))
    };
    undelivered.iter().map(line).collect()
}

/// Renders the resources that are not ready; those with the same problem share its sentence.
fn not_ready(out: &mut String, status: &StatusView, screen: Screen) {
    let groups = by_problem(&status.not_ready);
    let mut shown = 0_usize;
    for group in groups.iter().take(GROUPS_SHOWN) {
        if shown == 0 {
            out.push('\n');
        }
        shown = shown.saturating_add(group.len());
        push_group(out, group, screen);
    }
    let overview = &status.overview;
    let more = overview.resources.saturating_sub(overview.ready).saturating_sub(shown);
    if more > 0 {
        push_line!(out, "  and {more} more: reckon get --not-ready");
    }
}

/// Appends the first resources of a group, their problem, and the number of the others.
fn push_group(out: &mut String, group: &[&ResourceView], screen: Screen) {
    let shown = shown_of(group);
    for item in shown {
        push_head(out, item, screen);
    }
    let message = shown.first().map(|item| item.message.as_str()).unwrap_or_default();
    out.push_str(&wrap_indented(message, 4, screen));
    let others = group.len().saturating_sub(shown.len());
    if others > 0 {
        push_line!(out, "    and {others} more with this problem");
    }
}

fn push_head(out: &mut String, item: &ResourceView, screen: Screen) {
    let name = resource_key(&item.kind, &item.namespace, &item.name);
    let head =
        screen.paint(standing::style(item.standing), &format!("{name}  {}", clean(&item.reason)));
    let place = file_place(item.file.as_deref(), item.line).unwrap_or_default();
    let symbol = standing::symbol(item.standing, screen);
    let length = [&name, &item.reason, &place].map(|part| part.chars().count()).iter().sum();
    let fits = screen.width.is_none_or(|width| SYMBOL_AND_GAPS.saturating_add(length) <= width);
    let gap = if fits { "  " } else { "\n    " };
    push_line!(out, "{}", format!("{symbol} {head}{gap}{}", screen.dim(&place)).trim_end());
}

/// Renders the commands that lead on, each once. A resource that waits for another one leads to that
/// one, which is on the screen itself if it fits.
fn next(out: &mut String, items: &[ResourceView], screen: Screen) {
    let mut steps: Vec<&NextStep> = Vec::new();
    let groups = by_problem(items);
    let shown = groups.iter().take(GROUPS_SHOWN).filter_map(|group| group.first().copied());
    let roots = shown.clone().filter(|item| item.reason != WAITS_FOR);
    let all = roots.chain(shown.filter(|item| item.reason == WAITS_FOR && items.len() == 1));
    for step in all.flat_map(|item| item.next.iter().take(1)) {
        if steps.len() < NEXT_SHOWN && !steps.iter().any(|known| known.command == step.command) {
            steps.push(step);
        }
    }
    out.push_str(&commands(&steps, screen));
}

#[cfg(test)]
mod tests;
