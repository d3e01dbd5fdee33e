//! Resources and their needs as a drawing, and the same as a table.

mod layout;

use maud::{Markup, html};

use crate::base::id::Key;
use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::graph::{GraphNode, GraphSubject, GraphView};
use crate::model::plan::Standing;
use crate::render::page::graph::layout::{GraphLayout, HEIGHT, NodePlace, WIDTH, half, layout};
use crate::render::page::parts::{address, key_link, resource_path, sentence};
use crate::render::words::clean;

/// Characters of a name in the drawing; its link has the whole name.
const NAME_MAX: usize = 25;

/// Returns the address of a subject's graph.
pub fn graph_path(subject: &GraphSubject) -> String {
    let (resource, merchant) = match subject {
        GraphSubject::All => (None, None),
        GraphSubject::Resource(key) => (Some(key.short()), None),
        GraphSubject::Merchant(key) => (None, Some(key.short())),
    };
    address("/graph", &[("resource", resource), ("merchant", merchant)])
}

/// Returns the page of a graph.
pub fn page(subject: &GraphSubject, view: &GraphView) -> Markup {
    html! {
        (lead(subject))
        div #graph data-live {
            @if view.left_out > 0 || view.is_cut { p.notice { (left_out_sentence(view)) } }
            @if view.nodes.is_empty() { p { "Nothing here." } } @else {
                (drawing(view))
                (legend())
                h2 { "The same as a list" }
                (list(view))
            }
        }
    }
}

/// Returns a page that says why the parameters are not valid.
pub fn refusal(why: &str) -> Markup {
    html! {
        p.notice.bad role="alert" { (clean(why)) }
        p { a href="/graph" { "The graph of all resources" } }
    }
}

fn lead(subject: &GraphSubject) -> Markup {
    html! {
        p {
            "A line leads from a resource to one that needs it; a need that other lines imply has none. "
            @match subject {
                GraphSubject::All => { "The drawing has all resources, those that are not ready first." }
                GraphSubject::Merchant(key) => {
                    "The drawing has " (key_link(key)) " and its resources. " a href="/graph" { "All resources" }
                }
                GraphSubject::Resource(key) => {
                    "The drawing has " (key_link(key)) ", all that it needs, and all that need it. " a href="/graph" { "All resources" }
                }
            }
        }
    }
}

fn left_out_sentence(view: &GraphView) -> String {
    let least = if view.is_cut { "at least " } else { "" };
    let others = count_verb(view.left_out, "other is", "others are");
    let shown = count_noun(view.nodes.len(), "resource");
    format!("{shown} shown, those that are not ready first; {least}{others} left out.")
}

/// Look of a node: class, symbol and word.
fn look(standing: Option<Standing>) -> (&'static str, &'static str, &'static str) {
    match standing {
        None => ("bad", "✗", "missing"),
        Some(Standing::NeedsAttention) => ("bad", "✗", "needs attention"),
        Some(Standing::Invalid) => ("bad", "✗", "invalid document"),
        Some(Standing::Unhealthy) => ("bad", "✗", "unhealthy"),
        Some(Standing::Changing) => ("open", "•", "to change"),
        Some(Standing::Waiting) => ("open", "•", "waiting"),
        Some(Standing::Suspended) => ("open", "•", "suspended"),
        Some(Standing::Undocumented) => ("open", "•", "without a document"),
        Some(Standing::Ready) => ("good", "✓", "ready"),
    }
}

/// Returns the drawing in a box of its own, which scrolls where the window is narrow.
fn drawing(view: &GraphView) -> Markup {
    let layout = layout(view.nodes.len(), &view.edges);
    let GraphLayout { width, height, places, lines } = &layout;
    let lines = lines.iter().filter_map(|(needed, user)| {
        Some((places.get(*needed)?, places.get(*user)?, view.nodes.get(*needed)?))
    });
    html! {
        div.graph tabindex="0" role="region" aria-label="Drawing of the graph" {
            svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="group" aria-labelledby="graph-title" aria-describedby="graph-about" {
                title #graph-title { "What waits for what" }
                desc #graph-about { (description(view)) }
                @for (needed, user, node) in lines { path class={ "line " (look(node.standing).0) } d=(line(*needed, *user)) {} }
                @for (node, place) in view.nodes.iter().zip(places) { (drawn_node(node, *place)) }
            }
        }
    }
}

fn description(view: &GraphView) -> String {
    let nodes = count_noun(view.nodes.len(), "resource");
    let edges = count_noun(view.edges.len(), "need");
    format!("{nodes} and {edges}, needed resources on the left. The list below has the same.")
}

/// Returns a line from the right edge of a node to the left edge of another.
fn line(from: NodePlace, to: NodePlace) -> String {
    let (x, y) = (from.x.saturating_add(WIDTH), from.y.saturating_add(half(HEIGHT)));
    let (end, low) = (to.x, to.y.saturating_add(half(HEIGHT)));
    let bend = end.abs_diff(x).clamp(BEND_MIN, BEND_MAX);
    let (first, second) = (x.saturating_add(bend), end.saturating_sub(bend));
    format!("M{x} {y}C{first} {y} {second} {low} {end} {low}")
}

/// Distances at which a line begins to bend.
const BEND_MIN: usize = 24;
const BEND_MAX: usize = 48;
/// Places of the texts in a node.
const TEXT_LEFT: usize = 12;
const KIND_DOWN: usize = 19;
const NAME_DOWN: usize = 37;

fn drawn_node(node: &GraphNode, place: NodePlace) -> Markup {
    let (class, symbol, word) = look(node.standing);
    let left = place.x.saturating_add(TEXT_LEFT);
    let inner = html! {
        title { (node.key.short()) ": " (word) ", " (clean(&node.message)) }
        rect class={ "node " (class) } x=(place.x) y=(place.y) width=(WIDTH) height=(HEIGHT) rx="6" {}
        text class={ "kind " (class) } x=(left) y=(place.y.saturating_add(KIND_DOWN)) { (symbol) " " (node.key.kind) " · " (word) }
        text.name x=(left) y=(place.y.saturating_add(NAME_DOWN)) { (short_name(&node.key)) }
    };
    html! {
        @match path_of(node) {
            Some(path) => a href=(path) { (inner) },
            None => g { (inner) },
        }
    }
}

/// Returns the address of a node's page; what has no document has none.
fn path_of(node: &GraphNode) -> Option<String> {
    let key = &node.key;
    let path = || resource_path(key.kind.as_str(), key.namespace.as_str(), key.name.as_str());
    node.standing.map(|_| path())
}

fn short_name(key: &Key) -> String {
    let name = key.short();
    let name = name.split_once('/').map_or(name.as_str(), |(_, name)| name);
    if name.chars().count() <= NAME_MAX {
        return name.to_owned();
    }
    name.chars().take(NAME_MAX.saturating_sub(1)).chain(['…']).collect()
}

fn legend() -> Markup {
    let samples = [Standing::Ready, Standing::Changing, Standing::NeedsAttention];
    let words = ["ready", "waits, or is to change", "needs a person, or is missing"];
    html! {
        ul.index aria-label="Symbols" {
            @for (sample, words) in samples.into_iter().zip(words) {
                @let (class, symbol, _) = look(Some(sample));
                li { span.state.good[class == "good"].bad[class == "bad"] { (symbol) } " " (words) }
            }
        }
    }
}

fn list(view: &GraphView) -> Markup {
    let needs = |user: usize| {
        let edges = view.edges.iter().filter(move |(_, other)| *other == user);
        edges.filter_map(|(needed, _)| view.nodes.get(*needed)).collect::<Vec<_>>()
    };
    html! {
        div.scroll { table {
            thead { tr { th scope="col" { "Resource" } th scope="col" { "State" } th scope="col" { "Needs" } th scope="col" { "Why" } } }
            tbody { @for (place, node) in view.nodes.iter().enumerate() { (list_row(node, &needs(place))) } }
        } }
    }
}

fn list_row(node: &GraphNode, needs: &[&GraphNode]) -> Markup {
    let (class, symbol, word) = look(node.standing);
    html! {
        tr {
            th scope="row" { @if node.standing.is_some() { (key_link(&node.key)) } @else { (node.key.short()) } }
            td { span.state.good[class == "good"].bad[class == "bad"] { (symbol) "\u{a0}" (word) } }
            td {
                @for (place, needed) in needs.iter().enumerate() {
                    @if place > 0 { ", " }
                    @if needed.standing.is_some() { (key_link(&needed.key)) } @else { (needed.key.short()) }
                }
            }
            td { @if class != "good" { strong { (clean(&node.reason)) } ": " (sentence(&node.message)) } }
        }
    }
}
