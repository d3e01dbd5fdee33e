//! Intents that are not settled, each with its evidence, and objects that block a resource.

use maud::{Markup, html};

use crate::base::wording::count_noun;
use crate::engine::protocol::intents::{
    IntentEvidence, IntentView, IntentsView, RemadeView, UnknownObjectView,
};
use crate::render::page::forms::{SETTLE, order};
use crate::render::page::parts::{command, facts, key_link, sentence, state, time, why_link};
use crate::render::words::{clean, value_text};

pub fn page(view: &IntentsView, is_in_session: bool) -> Markup {
    let nothing =
        view.items.is_empty() && view.remade.is_empty() && view.unknown_objects.is_empty();
    html! {
        div #intents data-live {
            @if nothing { p { "Every intent is settled." } }
            @for item in &view.items { (intent(item, is_in_session)) }
            @if !view.unknown_objects.is_empty() {
                h2 { "Unknown objects that block a resource" }
                @for object in &view.unknown_objects { (unknown_object(object)) }
            }
            @if !view.remade.is_empty() {
                h2 { "Created again without proof" }
                ul.plain { @for one in &view.remade { li { (remade(one)) } } }
            }
        }
    }
}

/// Returns one intent with its evidence, and the ways to settle one that needs attention.
pub(super) fn intent(item: &IntentView, is_in_session: bool) -> Markup {
    let evidence = evidence(item);
    let is_held = item.state == "held";
    html! {
        section.step {
            (headline(item))
            p { (advice(&item.state)) }
            @if is_held && is_in_session {
                (order(true, (&format!("{}/{}", SETTLE.0, item.id), "Settle it…"), ""))
            } @else if is_held {
                @for answer in ["done:REMOTE_ID", "not-done", "retry"] {
                    (command(&format!("reckon intents resolve {} --as {answer}", item.id)))
                }
            }
            details open[item.state != "open"] { summary { "Evidence" } (evidence) }
        }
    }
}

fn headline(item: &IntentView) -> Markup {
    let word = item.state.replace('_', " ");
    html! {
        h2 { (why_link(&item.id)) " " (key_link(&item.key)) }
        p { (state(item.state == "open", &word)) " " (clean(&item.effect)) ", sent " (count_noun(item.attempts, "time")) " " (time(&item.at)) }
        @if let Some(reason) = &item.reason { p { (sentence(reason)) } }
    }
}

/// Returns an intent with its evidence, without the ways to settle it.
pub(super) fn facts_of(item: &IntentView) -> Markup {
    html! { section.step { (headline(item)) (evidence(item)) } }
}

fn advice(state: &str) -> &'static str {
    match state {
        "open" => "In flight.",
        "in_doubt" => {
            "An answer was lost. The daemon settles the intent in the way that is named below."
        }
        _ => {
            "Needs attention: nothing is sent until you resolve it. Look for its effect at the service first."
        }
    }
}

fn evidence(item: &IntentView) -> Markup {
    let IntentEvidence { target, asked, before, shows_at, settled_by, caused_by } = &item.evidence;
    let asked = asked.iter().map(|(name, value)| format!("{} {}", clean(name), value_text(value)));
    let asked: Vec<String> = asked.collect();
    let code = |text: &String| html! { code { (clean(text)) } };
    facts(&[
        ("Mark", Some(code(&item.mark))),
        ("Source id", Some(code(&item.source_id))),
        ("Target", target.as_ref().map(code)),
        ("Asked", (!asked.is_empty()).then(|| html! { (asked.join(", ")) })),
        ("Before", (!before.is_null()).then(|| code(&before.to_string()))),
        ("Settled", (!settled_by.is_empty()).then(|| html! { (sentence(settled_by)) })),
        ("Shows at", (!shows_at.is_empty()).then(|| code(&shows_at.join(", ")))),
        ("Cause", caused_by.as_ref().map(|cause| html! { (clean(cause)) })),
    ])
}

fn unknown_object(object: &UnknownObjectView) -> Markup {
    html! {
        section.step {
            h3 { code { (clean(&object.id)) } " in " (clean(&object.list)) }
            p { "It blocks " (key_link(&object.key)) ". Its mark is " code { (clean(&object.mark)) } "." }
            p { "Do one of these:" }
            @for way in &object.way_out {
                @if way.starts_with("reckon ") { (command(way)) } @else { p { (sentence(way)) } }
            }
        }
    }
}

fn remade(one: &RemadeView) -> Markup {
    let dismiss = format!("reckon intents dismiss {} --reason REASON", one.intent);
    html! { (key_link(&one.key)) ", first try " (why_link(&one.intent)) (command(&dismiss)) }
}
