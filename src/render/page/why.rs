//! The reasons behind an effect: from the answer back to the line that requested it, as `why` says.

use maud::{Markup, html};

use crate::base::clock::timestamp;
use crate::base::wording::count_noun;
use crate::engine::protocol::intents::is_displayable;
use crate::render::page::audit::progress_rows;
use crate::render::page::parts::{facts, key_link, sentence, time};
use crate::render::why::{EffectHistoryView, ResourceHistoryView, WhyView};
use crate::render::words::{clean, file_place, money_text, short_hash, value_text};

/// Returns the reasons; `what` is the word that was asked for.
pub fn page(what: &str, why: Option<&WhyView>) -> Markup {
    let Some(why) = why else {
        return html! { p { "The journal does not contain " code { (clean(what)) } "." } };
    };
    html! {
        @for about in &why.about { p { (sentence(about)) } }
        @for resource in &why.resources { (resource_history(resource)) }
        p.quiet { "Journal: head " code { (short_hash(&why.head)) } " at record " (why.position) "." }
    }
}

fn resource_history(resource: &ResourceHistoryView) -> Markup {
    html! {
        h2 { (key_link(&resource.key)) }
        @for effect in resource.effects.iter().rev() { (effect_history(effect)) }
        @if !resource.others.is_empty() {
            details.part open {
                summary { "Other records (" (resource.others.len()) ")" }
                (progress_rows(&resource.others))
            }
        }
        @if !resource.dropped.is_empty() {
            p { (count_noun(resource.dropped.len(), "older record")) " dropped by a compaction." }
        }
    }
}

fn effect_history(effect: &EffectHistoryView) -> Markup {
    let cause = file_place(effect.file.as_deref(), effect.line);
    let commit = effect.commit.as_deref().map(short_hash);
    // A browser on this machine needs no token: as in the intents, only money and state are shown.
    let expected = effect
        .expected
        .iter()
        .filter(|(path, _)| is_displayable(path))
        .map(|(path, value)| format!("{} = {}", clean(path), value_text(value)));
    let expected: Vec<String> = expected.collect();
    let money: Vec<String> = effect.money.iter().map(money_text).collect();
    html! {
        details.part open {
            summary { code { (clean(&effect.intent)) } " " (clean(&effect.effect)) ": " (clean(&effect.outcome)) }
            (facts(&[
                ("Money", (!money.is_empty()).then(|| html! { (money.join(", ")) })),
                ("Requested", (!expected.is_empty()).then(|| html! { (expected.join(", ")) })),
                ("Request", Some(html! { code { (clean(&effect.request)) } })),
                ("Name", Some(html! { code { (clean(&effect.source_id)) } })),
                ("Approved", effect.approval.as_ref().map(|one| html! { "by " (clean(&one.actor)) " " (time(&timestamp(&one.at))) })),
                ("Plan approvals", (!effect.plan_approvals.is_empty()).then(|| html! { (clean(&effect.plan_approvals.join(", "))) })),
                ("Actor", effect.asked_by.as_ref().map(|who| html! { (clean(who)) })),
                ("Document", cause.map(|place| html! { code { (place) } })),
                ("Commit", commit.map(|commit| html! { code { (commit) } @if effect.uncommitted { " with an uncommitted change" } })),
                ("Author", effect.author.as_ref().map(|one| html! { (clean(&one.name)) ": " (clean(&one.subject)) })),
            ]))
            (progress_rows(&effect.progress))
        }
    }
}
