//! One event with its data, its verification, its posts, and its hook runs with their actions.

use maud::{Markup, html};

use crate::engine::protocol::event_detail::{
    EventAction, EventActionState, EventDetail, EventRun, EventRunOutcome,
};
use crate::render::events::detail::{action_state, run_outcome, verification};
use crate::render::events::list::{amount, freshness_word, hooks_word};
use crate::render::page::parts::{command, facts, sentence, short_link, state, time, why_link};
use crate::render::words::clean;
use crate::scripting::engine::function_name;

pub fn page(detail: &EventDetail) -> Markup {
    html! {
        section #event data-live aria-labelledby="event-title" {
            h2 #event-title { "Event " code { (clean(&detail.event.id)) } }
            (head(detail))
            @for gap in &detail.not_known { div.notice { "Not known: " (sentence(gap)) "." } }
            @for step in &detail.next { p { (sentence(&step.purpose)) } (command(&step.command)) }
        }
        section #data {
            h2 { "Data" }
            @if detail.data.is_null() { p { "None." } }
            @else {
                p { "Without secret and personal values." }
                pre { (data_text(detail)) }
            }
        }
        section #posts {
            h2 { "Posts" }
            @if detail.deliveries.is_empty() { p { "None is recorded." } }
            @else {
                ul.plain { @for post in &detail.deliveries {
                    li { (time(&post.at)) " record " (post.record) @if post.other_mode { ", at the address of the other mode" } }
                } }
                p { "Further posts of a known event are answered, and not recorded." }
            }
        }
        section #runs data-live {
            h2 { "Hook runs" }
            @if detail.runs.is_empty() { p { "None is recorded." } }
            @for run in &detail.runs { (hook_run(run)) }
            @for replay in &detail.replays { p { (time(&replay.at)) " replayed by " (clean(&replay.actor)) } }
        }
    }
}

/// Returns the data as indented JSON, each line made harmless.
fn data_text(detail: &EventDetail) -> String {
    let text = crate::render::json(&detail.data);
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

fn head(detail: &EventDetail) -> Markup {
    let event = &detail.event;
    let text = |text: &str| Some(html! { (clean(text)) });
    let object = event.object.as_ref();
    facts(&[
        ("Merchant", Some(short_link(&event.merchant))),
        ("Type", event.kind.as_deref().and_then(text)),
        ("Created", event.created.as_deref().map(time)),
        ("Received", Some(time(&event.first))),
        ("Verified", text(&verification(detail, None))),
        ("Version", text(freshness_word(event))),
        ("Object", object.and_then(|object| text(&object.id))),
        ("State of the object", object.and_then(|object| text(object.status.as_deref()?))),
        ("Amount", amount(event).as_deref().and_then(text)),
        ("Failure code", object.and_then(|object| text(object.failure.as_deref()?))),
        ("About", (!event.about.is_empty()).then(|| html! {
            @for (place, name) in event.about.iter().enumerate() { @if place > 0 { ", " } (short_link(name)) }
        })),
        ("Hooks", event.hooks.as_ref().and_then(|hooks| text(&hooks_word(hooks)))),
    ])
}

fn hook_run(run: &EventRun) -> Markup {
    let is_done = run.outcome == EventRunOutcome::Done;
    html! {
        section.step {
            p { strong { (clean(&run.script)) } " " (clean(&run.function)) " " (time(&run.at)) " "
                (state(is_done, &run_outcome(run))) @if run.tries > 1 { ", try " (run.tries) } }
            @if let Some(message) = &run.message { p { (sentence(message)) } }
            @if let Some(reads) = run.reads.as_ref().filter(|reads| !reads.is_empty()) {
                ul.plain { @for read in reads { li { "reads " code { (clean(&format!("{}({})", function_name(&read.read), read.arguments))) } } } }
            }
            @if !run.log.is_empty() {
                ul.plain { @for line in &run.log { li { "log: " (clean(line)) } }
                    @if run.log_omitted > 0 { li { "and " (run.log_omitted) " more" } } }
            }
            @if !run.stored.is_empty() { p { "Stores " (clean(&run.stored.join(", "))) } }
            @if !run.actions.is_empty() { (actions(&run.actions)) }
        }
    }
}

fn actions(actions: &[EventAction]) -> Markup {
    html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                th scope="col" { "Action" } th scope="col" { "Name" } th scope="col" { "State" }
                th scope="col" { "Effects" }
            } }
            tbody { @for action in actions { (action_row(action)) } }
        } }
    }
}

fn action_row(action: &EventAction) -> Markup {
    let is_good = matches!(
        action.state,
        EventActionState::Open | EventActionState::Done | EventActionState::Skipped
    );
    html! {
        tr {
            th scope="row" { (clean(&action.verb)) }
            td { code { (clean(&action.name)) } }
            td { (state(is_good, &action_state(action)))
                @for attempt in &action.attempts {
                    br; (time(&attempt.at)) @if attempt.started { " delivery started" } @else { " not delivered" }
                } }
            td { @for effect in &action.effects {
                (why_link(&effect.intent)) " " (clean(&effect.effect)) ": " (clean(&effect.state)) " " (time(&effect.at)) br;
            } }
        }
    }
}
