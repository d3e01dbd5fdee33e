//! Parts that several views share: names with links, times, commands, pages of a list.

use form_urlencoded::Serializer;
use maud::{Markup, html};

use crate::base::id::Key;
use crate::engine::protocol::resources::ListPart;
use crate::render::words::{clean, resource_key, to_minute};

/// Kind of the resources that people or scripts ask for once; they have no page.
const ACTION: &str = "Action";

/// Returns the address of a resource's page.
pub(super) fn resource_path(kind: &str, namespace: &str, name: &str) -> String {
    let part = |text: &str| {
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    };
    // The characters of names need no encoding; anything else is encoded.
    let part = |text: &str| part(text).replace("%2D", "-").replace("%2E", ".").replace("%5F", "_");
    format!("/resources/{}/{}/{}", part(kind), part(namespace), part(name))
}

/// Returns a resource's name as a link to its page.
pub(super) fn resource_link(kind: &str, namespace: &str, name: &str) -> Markup {
    html! {
        a href=(resource_path(kind, namespace, name)) { (resource_key(kind, namespace, name)) }
    }
}

/// Returns the address of a resource's page.
pub(super) fn key_path(key: &Key) -> String {
    resource_path(key.kind.as_str(), key.namespace.as_str(), key.name.as_str())
}

pub(super) fn key_link(key: &Key) -> Markup {
    let (kind, namespace, name) = (key.kind.as_str(), key.namespace.as_str(), key.name.as_str());
    if kind == ACTION {
        return html! { (resource_key(kind, namespace, name)) };
    }
    resource_link(kind, namespace, name)
}

/// Returns the link of a resource that is named as in a command, such as `Invoice/jane`.
pub(super) fn short_link(name: &str) -> Markup {
    name.parse::<Key>().map_or_else(|_| html! { (clean(name)) }, |key| key_link(&key))
}

/// Returns the id of an event as a link to its page.
pub(super) fn event_link(id: &str) -> Markup {
    let part = percent_encoding::utf8_percent_encode(id, percent_encoding::NON_ALPHANUMERIC);
    html! { a href=(format!("/events/{part}")) { code { (clean(id)) } } }
}

/// Returns the name of an intent as a link to the reasons behind it.
pub(super) fn why_link(intent: &str) -> Markup {
    html! { a href=(address("/why", &[("what", Some(intent.to_owned()))])) { code { (clean(intent)) } } }
}

/// Returns a time to the minute, with the exact one for programs.
pub(super) fn time(at: &str) -> Markup {
    html! { time datetime=(clean(at)) title=(clean(at)) { (to_minute(at)) } }
}

/// Returns a command to copy; the script adds the button.
pub(super) fn command(text: &str) -> Markup {
    html! { code.command { (clean(text)) } }
}

/// Returns a sentence in which text between backticks is code.
pub(super) fn sentence(text: &str) -> Markup {
    let text = clean(text);
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Returns a word with the look of a good or a bad state.
pub(super) fn state(is_good: bool, word: &str) -> Markup {
    html! { span.state.good[is_good].bad[!is_good] { (clean(word)) } }
}

/// Returns a list of terms and their descriptions, without those that have none.
pub(super) fn facts(rows: &[(&str, Option<Markup>)]) -> Markup {
    html! {
        dl {
            @for (name, value) in rows {
                @if let Some(value) = value { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Returns an address with these parameters, without those that have no value.
pub(super) fn address(path: &str, parameters: &[(&str, Option<String>)]) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in parameters {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Returns the links to the parts before and behind one, and its place in the list.
pub(super) fn paging(
    part: ListPart,
    (shown, total): (usize, usize),
    link: &dyn Fn(usize) -> String,
) -> Markup {
    let size = part.limit.unwrap_or(total);
    let end = part.offset.saturating_add(shown);
    let before = (part.offset > 0).then(|| part.offset.saturating_sub(size));
    let behind = (end < total && shown > 0).then_some(end);
    html! {
        nav.paging aria-label="Pages" {
            @if shown == 0 { p { "Nothing here; " (total) " in all." } }
            @else { p { (part.offset.saturating_add(1)) "–" (end) " of " (total) } }
            @if let Some(offset) = before { a.button.plain href=(link(offset)) rel="prev" { "Previous" } }
            @if let Some(offset) = behind { a.button.plain href=(link(offset)) rel="next" { "Next" } }
        }
    }
}
