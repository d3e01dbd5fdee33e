//! The first page: the service, the counts, and everything that needs a person.

use std::cmp::Reverse;

use chrono::TimeDelta;
use maud::{Markup, html};

use crate::base::wording::count_noun;
use crate::engine::protocol::events::ReceiverView;
use crate::engine::protocol::intents::IntentsView;
use crate::engine::protocol::pages::MoneyOutlook;
use crate::engine::protocol::views::{Overview, ResourceView, StandingCounts, TrafficView};
use crate::model::manifest::TreeState;
use crate::model::plan::Standing;
use crate::render::page::forms::{FREEZE, THAW, order};
use crate::render::page::intents::intent;
use crate::render::page::money::outlook;
use crate::render::page::parts::{resource_link, sentence, short_link, state, time};
use crate::render::page::resource::advice;
use crate::render::resource::problem_groups::{by_problem, shown_of};
use crate::render::words::{clean, clock_difference, duration, low_disk, short_hash};

/// Groups of resources, and intents, on the first page, at most.
const GROUPS_SHOWN: usize = 10;
/// Receivers of events on the first page, at most.
const RECEIVERS_SHOWN: usize = 5;

/// Everything that the first page shows.
#[derive(Debug)]
pub struct OverviewParts<'a> {
    pub overview: &'a Overview,
    pub receivers: &'a [ReceiverView],
    /// The first resources that are not ready, the most urgent first.
    pub not_ready: &'a [ResourceView],
    pub intents: &'a IntentsView,
    pub money: &'a MoneyOutlook,
}

pub fn page(parts: &OverviewParts<'_>, is_in_session: bool) -> Markup {
    html! {
        section #service data-live { h2 { "Service" } (service(parts)) }
        (freeze(parts.overview.freeze.is_some(), is_in_session))
        section #attention data-live { h2 { "Needs attention" } (attention(parts)) }
        section #doubt data-live { h2 { "Intents in doubt" } (doubt(parts.intents, is_in_session)) }
        section #counts data-live { h2 { "Resources" } (counts(parts)) }
        section #money data-live { h2 { "Money" } (outlook(parts.money)) }
        section #receivers data-live { h2 { "Events" } (receivers(parts.receivers)) }
    }
}

fn service(parts: &OverviewParts<'_>) -> Markup {
    let TrafficView { slowed, throttled, silent, clock_ahead_seconds } = &parts.overview.traffic;
    html! {
        @for host in silent {
            div.notice.bad {
                strong { (clean(&host.host)) } " silent since " (time(&host.since)) ", next try at " (time(&host.next)) "."
            }
        }
        @if *slowed > 0 {
            div.notice { "The service throttles " (count_noun(*slowed, "merchant")) " (" (count_noun(*throttled, "time")) " so far): calls wait." }
        }
        @if let Some(difference) = clock_difference(*clock_ahead_seconds) { div.notice.bad { "This machine's clock is " (difference) "." } }
        @if let Some(free) = parts.overview.disk_low_bytes { div.notice.bad { "Disk: " (low_disk(free)) "." } }
        @for one in &parts.overview.alerts {
            div.notice.bad { "Alerts are not delivered to " code { (clean(&one.target)) } " since " (time(&one.since)) ": " (clean(&one.reason)) "." }
        }
        @if silent.is_empty() && *slowed == 0 { p { (state(true, "Answers")) " No host of the service is silent or throttles calls." } }
        p.quiet { "Journal: record " (parts.overview.position) ", head " code { (short_hash(&parts.overview.head)) } "." }
    }
}

/// Returns the way to stop every change, or to let changes go out again.
fn freeze(is_frozen: bool, is_in_session: bool) -> Markup {
    html! {
        div #freeze data-live {
            @if is_frozen { (order(is_in_session, (THAW.0, "Thaw…"), "reckon thaw")) }
            @else { (order(is_in_session, (FREEZE.0, "Freeze everything…"), "reckon freeze --reason REASON")) }
        }
    }
}

/// Renders the receivers that are furthest behind.
fn receivers(all: &[ReceiverView]) -> Markup {
    let behind = |one: &&ReceiverView| (one.ledger.waiting, one.lag_seconds);
    let mut shown: Vec<&ReceiverView> = all.iter().collect();
    shown.sort_by_key(|one| Reverse(behind(one)));
    let hidden = shown.len().saturating_sub(RECEIVERS_SHOWN);
    html! {
        @if all.is_empty() { p { "No merchant is connected." } }
        ul.plain { @for one in shown.iter().take(RECEIVERS_SHOWN) { li { (receiver_text(one)) } } }
        @if hidden > 0 { p { a href="/events" { "and " (count_noun(hidden, "merchant")) " less behind" } } }
    }
}

fn receiver_text(receiver: &ReceiverView) -> Markup {
    let ReceiverView { merchant, age_seconds, lag_seconds, ledger } = receiver;
    html! {
        "Events of " (short_link(merchant)) ": " (ledger.verified) " verified"
        @if let Some(age) = age_seconds { ", the newest " (span(*age)) " ago" }
        @if let Some(lag) = lag_seconds { ", list read " (span(*lag)) " ago" }
        @if ledger.waiting > 0 { ", " (ledger.waiting) " waiting" }
        "."
    }
}

fn span(seconds: i64) -> String {
    duration(TimeDelta::seconds(seconds))
}

/// Renders the classes of all resources, which add up, and the counts beside them.
fn counts(parts: &OverviewParts<'_>) -> Markup {
    let view = parts.overview;
    let StandingCounts { needs_attention, invalid, unhealthy, changing, .. } = view.standings;
    let StandingCounts { waiting, suspended, undocumented, ready, .. } = view.standings;
    let not_ready = "/resources?not_ready=true";
    let classes = [
        ("Ready", ready, "/resources"),
        ("To change", changing, "/plan"),
        ("Waiting", waiting, not_ready),
        ("Suspended", suspended, not_ready),
        ("Without a document", undocumented, not_ready),
        ("Unhealthy", unhealthy, not_ready),
        ("Invalid document", invalid, not_ready),
        ("Need attention", needs_attention, "/resources?attention=true"),
    ];
    let beside = [
        ("Under way or queued", view.under_way, "/plan"),
        ("Intents not settled", view.open_intents, "/intents"),
        ("Invalid documents", view.broken, "/plan"),
    ];
    html! {
        @if view.coverage == TreeState::Incomplete {
            div.notice.bad { "Some files are invalid: nothing is removed until " code { "reckon validate" } " passes." }
        }
        table.counts {
            tbody { @for row in classes { (count_row(row)) } }
            tfoot { tr.due { th scope="row" { a href="/resources" { "All resources" } } td.sum { (view.resources) } } }
        }
        table.counts {
            caption { "Beside them" }
            tbody { @for row in beside { (count_row(row)) } }
        }
        p { a href="/graph" { "What waits for what, as a graph" } }
    }
}

fn count_row((name, count, link): (&str, usize, &str)) -> Markup {
    html! {
        tr { th scope="row" { @if count > 0 { a href=(link) { (name) } } @else { (name) } } td.sum { (count) } }
    }
}

/// Renders the resources that a person has to look at; those with the same problem are one item.
fn attention(parts: &OverviewParts<'_>) -> Markup {
    let StandingCounts { needs_attention, invalid, unhealthy, .. } = parts.overview.standings;
    let total = needs_attention.saturating_add(invalid).saturating_add(unhealthy);
    let urgent = parts.not_ready.partition_point(|item| item.standing <= Standing::Unhealthy);
    let mut groups = by_problem(parts.not_ready.get(..urgent).unwrap_or_default());
    groups.truncate(GROUPS_SHOWN);
    let hidden = total.saturating_sub(groups.iter().map(Vec::len).sum());
    html! {
        @if total == 0 { p { "Nothing needs a person." } }
        @for group in &groups { (problem_group(group)) }
        @if hidden > 0 { p { a href="/resources?not_ready=true" { "and " (hidden) " more" } } }
    }
}

fn problem_group(group: &[&ResourceView]) -> Markup {
    let (shown, first) = (shown_of(group), group.first());
    let others = group.len().saturating_sub(shown.len());
    html! {
        section.step {
            @for item in shown { h3 { (resource_link(&item.kind, &item.namespace, &item.name)) } }
            @if others > 0 { p { "and " (others) " more with this problem" } }
            @if let Some(item) = first {
                p { (state(false, &item.reason)) " " (sentence(&item.message)) }
                (advice(item))
            }
        }
    }
}

/// Renders the intents that wait for a person, and the number of those that reckon settles itself.
fn doubt(view: &IntentsView, is_in_session: bool) -> Markup {
    let of = |state: &'static str| view.items.iter().filter(move |item| item.state == state);
    let (held, settling) = (of("held").count(), of("in_doubt").count());
    html! {
        @if held == 0 && settling == 0 { p { "No answer is lost, and no intent waits for a person." } }
        @for item in of("held").take(GROUPS_SHOWN) { (intent(item, is_in_session)) }
        @if settling > 0 {
            p { "The answers to " (count_noun(settling, "effect")) " were lost: the daemon settles each by its evidence." }
        }
        @if held > GROUPS_SHOWN || settling > 0 || !view.unknown_objects.is_empty() || !view.remade.is_empty() {
            p { a href="/intents" { "Show all intents and unknown objects" } }
        }
    }
}
