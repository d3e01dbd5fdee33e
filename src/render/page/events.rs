//! Effects, the gateway's events, and the hooks' runs and deliveries.

use maud::{Markup, html};

use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::event_filter::EventState;
use crate::engine::protocol::events::{EventView, EventsView};
use crate::engine::protocol::hooks::{ActionView, FailedActionView, FailedRunView, HooksView};
use crate::render::events::list::{amount, hooks_word};
use crate::render::page::parts::{
    address, command, event_link, key_link, sentence, short_link, state, time, why_link,
};
use crate::render::words::{clean, money_text};

/// The filter as it was written; an empty text is no filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenEventFilter {
    pub kind: String,
    pub status: String,
    pub resource: String,
    pub merchant: String,
    pub since: String,
    pub until: String,
}

impl WrittenEventFilter {
    /// Returns the fields of the form: name, label, value and an example.
    fn fields(&self) -> [(&'static str, &'static str, &str, &'static str); 6] {
        [
            ("type", "Type", &self.kind, "transaction.failed"),
            ("status", "Status", &self.status, "failed"),
            ("resource", "Resource", &self.resource, "Invoice/jane"),
            ("merchant", "Merchant", &self.merchant, "acme"),
            ("since", "Since", &self.since, "2d"),
            ("until", "Until", &self.until, "1h"),
        ]
    }

    fn link(&self, limit: usize) -> String {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let fields = self.fields().map(|(name, _, value, _)| (name, given(value)));
        let mut parameters = fields.to_vec();
        parameters.push(("limit", Some(limit.to_string())));
        address("/events", &parameters)
    }
}

/// Returns the filter with the reason why it is not answered.
pub fn refusal(filter: &WrittenEventFilter, why: &str) -> Markup {
    html! { (form(filter)) div.notice.bad role="alert" { (sentence(why)) } }
}

fn form(filter: &WrittenEventFilter) -> Markup {
    html! {
        form.filter action="/events" method="get" role="search" aria-label="Filter of the events" {
            div.fields {
                @for (name, label, value, example) in filter.fields() {
                    div.field {
                        label for=(name) { (label) }
                        input id=(name) name=(name) value=(clean(value)) placeholder=(example)
                            autocomplete="off" maxlength="200";
                    }
                }
            }
            div.actions { button type="submit" { "Filter" } a.button.plain href="/events" { "Show all" } }
        }
    }
}

/// Returns the page; `more` is the number of events of the same list, if there may be more.
pub fn page(
    filter: &WrittenEventFilter,
    effects: &[EffectReport],
    (events, more): (&EventsView, Option<usize>),
    hooks: &HooksView,
) -> Markup {
    html! {
        @if let Some(away) = &events.away { div.notice { "While this daemon did not run, " (sentence(away)) "." } }
        (form(filter))
        section #effects data-live {
            h2 { "Effects since the daemon began" }
            @if effects.is_empty() { p { "None yet." } } @else { (effect_table(effects)) }
        }
        section #events data-live {
            h2 { "Events of the gateway" }
            @if events.items.is_empty() && *filter == WrittenEventFilter::default() { p { "No event of the gateway is known yet." } }
            @else if events.items.is_empty() { p { "No verified event fits." } }
            @else { (event_table("Verified", &events.items)) }
            @if let Some(searched) = events.searched { p { "The search ended after the newest " (searched) " events." } }
            @if let Some(more) = more { p { a.button.plain href=(filter.link(more)) { "Show more events" } } }
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
                th scope="col" { "About" } th scope="col" { "Amount" } th scope="col" { "Code" }
                th scope="col" { "Hooks" } th scope="col" { "Merchant" }
            } }
            tbody { @for event in events { (event_row(event)) } }
        } }
    }
}

fn event_row(event: &EventView) -> Markup {
    let at = event.created.as_deref().unwrap_or(&event.first);
    let code = event.object.as_ref().and_then(|object| object.failure.as_deref());
    html! {
        tr {
            th scope="row" { (event_link(&event.id)) }
            td { @if let Some(kind) = &event.kind { (clean(kind)) } }
            td { (time(at)) }
            td { @for (place, name) in event.about.iter().enumerate() { @if place > 0 { ", " } (short_link(name)) } }
            td { @if let Some(amount) = amount(event) { (amount) } }
            td { @if let Some(code) = code { (clean(code)) } }
            td { @if let Some(hooks) = &event.hooks { (state(is_good(hooks.state), &hooks_word(hooks))) } }
            td { (short_link(&event.merchant)) }
        }
    }
}

fn is_good(state: EventState) -> bool {
    !matches!(state, EventState::Failed | EventState::Retrying | EventState::NotDone)
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
            p { strong { (clean(&run.script)) } " for " (event_link(&run.event)) ", tried " (run.tries) "×"
                @if let Some(again) = &run.again { ", next " (time(again)) } }
            p { (sentence(&run.message)) }
            @if run.again.is_none() { (command(&format!("reckon events replay {}", run.event))) }
        }
    }
}

fn failed_action(one: &FailedActionView) -> Markup {
    html! {
        section.step {
            p { strong { (clean(&one.verb)) } " by " (clean(&one.script)) " for " (event_link(&one.event)) " " (time(&one.at)) }
            p { (sentence(&one.message)) }
            p { (sentence(&one.help)) }
            (command(&format!("reckon events failed --ack {}", one.event)))
        }
    }
}

fn waiting_action(one: &ActionView) -> Markup {
    html! {
        section.step {
            p { strong { (clean(&one.verb)) } " by " (clean(&one.script)) " for " (event_link(&one.event))
                ", since " (time(&one.since)) @if let Some(at) = &one.at { ", due " (time(at)) } }
            @if let Some(why) = &one.on_hold { p { (sentence(why)) } }
            @if let Some(why) = &one.waits { p { (sentence(why)) } }
        }
    }
}
