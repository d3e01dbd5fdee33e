//! Effects, the gateway's events, and the hooks' runs and deliveries.

use maud::{Markup, html};

use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::events::{EventView, EventsView};
use crate::engine::protocol::hooks::{ActionView, FailedActionView, FailedRunView, HooksView};
use crate::render::page::parts::{command, key_link, sentence, short_link, state, time, why_link};
use crate::render::words::{clean, money_text};

/// Returns the page; `more` is the address of the same with more events, if there may be any.
pub fn page(
    effects: &[EffectReport],
    events: &EventsView,
    hooks: &HooksView,
    more: Option<&str>,
) -> Markup {
    html! {
        @if let Some(away) = &events.away { div.notice { "While this daemon did not run, " (sentence(away)) "." } }
        section #effects data-live {
            h2 { "Effects since the daemon began" }
            @if effects.is_empty() { p { "None yet." } } @else { (effect_table(effects)) }
        }
        section #events data-live {
            h2 { "Events of the gateway" }
            @if events.items.is_empty() { p { "No event of the gateway is known yet." } }
            @else { (event_table("Verified", &events.items)) }
            @if let Some(more) = more { p { a.button.plain href=(more) { "Show more events" } } }
            @if !events.waiting.is_empty() { (event_table("Posted, not yet verified", &events.waiting)) }
            @if !events.forged.is_empty() { (event_table("Forged: the service has no such event", &events.forged)) }
            @if !events.ignored.is_empty() {
                h3 { "Ignored partner webhooks" }
                ul.plain { @for one in &events.ignored { li { (clean(&one.reference)) " " (time(&one.at)) ": " (clean(&one.reason)) } } }
            }
        }
        section #hooks data-live { (hook_runs(hooks)) }
    }
}

fn effect_table(effects: &[EffectReport]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Resource" } th scope="col" { "Done" } th scope="col" { "At" }
                th scope="col" { "Money" } th scope="col" { "Effect" }
            } }
            tbody { @for one in effects { (effect_row(one)) } }
        } }
    }
}

fn effect_row(one: &EffectReport) -> Markup {
    let money: Vec<String> = one.money.iter().map(money_text).collect();
    html! {
        tr {
            th scope="row" { (key_link(&one.key)) }
            td { (state(one.verb.is_done(), one.verb.word())) }
            td { (time(&one.at)) }
            td { (money.join(", ")) }
            td { (clean(&one.effect)) " " (why_link(&one.intent))
                @if let Some(why) = &one.refusal { " (" (clean(why)) ")" } }
        }
    }
}

fn event_table(caption: &str, events: &[EventView]) -> Markup {
    html! {
        div.scroll { table {
            caption { (caption) }
            thead { tr {
                th scope="col" { "Event" } th scope="col" { "Type" } th scope="col" { "Created" }
                th scope="col" { "Merchant" } th scope="col" { "About" }
            } }
            tbody { @for event in events { (event_row(event)) } }
        } }
    }
}

fn event_row(event: &EventView) -> Markup {
    let at = event.created.as_deref().unwrap_or(&event.first);
    html! {
        tr {
            th scope="row" { code { (clean(&event.id)) } }
            td { @if let Some(kind) = &event.kind { (clean(kind)) } }
            td { (time(at)) }
            td { (short_link(&event.merchant)) }
            td { @for (place, name) in event.about.iter().enumerate() { @if place > 0 { ", " } (short_link(name)) } }
        }
    }
}

fn hook_runs(hooks: &HooksView) -> Markup {
    let quiet = hooks.dead.is_empty()
        && hooks.failed.is_empty()
        && hooks.undone.is_empty()
        && hooks.waiting.is_empty();
    let (waiting, failed, dead) = (hooks.totals.waiting, hooks.totals.failed, hooks.totals.dead);
    html! {
        h2 { "Hooks and deliveries" }
        @if hooks.problems > 0 {
            div.notice.bad { "The scripts in the folder have errors; the last valid ones are in use. " code { "reckon hooks check" } " shows them." }
        }
        @if quiet { p { "No hook failed, and no action or delivery waits." } }
        @if !hooks.dead.is_empty() { h3 { "Failed for good (" (dead) ")" } @for run in &hooks.dead { (failed_run(run)) } }
        @if !hooks.failed.is_empty() { h3 { "Failed, run again (" (failed) ")" } @for run in &hooks.failed { (failed_run(run)) } }
        @if !hooks.undone.is_empty() { h3 { "Requested by a hook, not done" } @for one in &hooks.undone { (failed_action(one)) } }
        @if !hooks.waiting.is_empty() { h3 { "Waiting (" (waiting) ")" } @for one in &hooks.waiting { (waiting_action(one)) } }
    }
}

fn failed_run(run: &FailedRunView) -> Markup {
    html! {
        section.step {
            p { strong { (clean(&run.script)) } " for " code { (clean(&run.event)) } ", tried " (run.tries) "×"
                @if let Some(again) = &run.again { ", next " (time(again)) } }
            p { (sentence(&run.message)) }
            @if run.again.is_none() { (command(&format!("reckon events replay {}", run.event))) }
        }
    }
}

fn failed_action(one: &FailedActionView) -> Markup {
    html! {
        section.step {
            p { strong { (clean(&one.verb)) } " by " (clean(&one.script)) " for " code { (clean(&one.event)) } " " (time(&one.at)) }
            p { (sentence(&one.message)) }
            p { (sentence(&one.help)) }
            (command(&format!("reckon events failed --ack {}", one.event)))
        }
    }
}

fn waiting_action(one: &ActionView) -> Markup {
    html! {
        section.step {
            p { strong { (clean(&one.verb)) } " by " (clean(&one.script)) " for " code { (clean(&one.event)) }
                ", since " (time(&one.since)) @if let Some(at) = &one.at { ", due " (time(at)) } }
            @if let Some(why) = &one.on_hold { p { (sentence(why)) } }
            @if let Some(why) = &one.waits { p { (sentence(why)) } }
        }
    }
}
