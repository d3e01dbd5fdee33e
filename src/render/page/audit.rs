//! The audit trail, newest record first, with its search.

use maud::{Markup, html};

use crate::base::clock::timestamp;
use crate::render::page::parts::{address, key_link, sentence, time, why_link};
use crate::render::words::{clean, short_hash};
use crate::store::audit::{AuditEntry, AuditTrail};
use crate::store::history::HistoryEntry;

/// The search as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenSearch {
    pub resource: Option<String>,
    pub intent: Option<String>,
    pub actor: Option<String>,
}

impl WrittenSearch {
    fn link(&self, before: u64) -> String {
        let parameters = [
            ("resource", self.resource.clone()),
            ("intent", self.intent.clone()),
            ("actor", self.actor.clone()),
            ("before", Some(before.to_string())),
        ];
        address("/audit", &parameters)
    }
}

pub fn page(search: &WrittenSearch, trail: &AuditTrail) -> Markup {
    html! {
        (form(search))
        section #trail data-live aria-labelledby="trail-title" {
            h2 #trail-title { "Records" }
            @if trail.items.is_empty() { p { "No record here has what you look for." } } @else { (table(&trail.items)) }
            @if trail.dropped > 0 { p { (trail.dropped) " older records were dropped by a compaction." } }
            nav.paging aria-label="Pages" {
                p { "The journal has " (trail.position) " records." }
                @if let Some(next) = trail.next { a.button.plain href=(search.link(next)) rel="next" { "Older records" } }
            }
        }
    }
}

/// Returns the search with the reason why it is not answered.
pub fn refusal(search: &WrittenSearch, why: &str) -> Markup {
    html! { (form(search)) div.notice.bad role="alert" { (sentence(why)) } }
}

fn form(search: &WrittenSearch) -> Markup {
    let fields = [
        ("resource", "Resource", &search.resource, "Invoice/jane"),
        ("intent", "Intent", &search.intent, "i-000012"),
        ("actor", "Actor contains", &search.actor, "anna"),
    ];
    html! {
        form.filter action="/audit" method="get" role="search" aria-label="Search of the audit trail" {
            div.fields {
                @for (name, label, value, example) in fields {
                    div.field {
                        label for=(name) { (label) }
                        input id=(name) name=(name) value=[value.as_deref().map(clean)] placeholder=(example)
                            autocomplete="off" maxlength="200";
                    }
                }
            }
            div.actions { button type="submit" { "Search" } a.button.plain href="/audit" { "Show all" } }
        }
    }
}

pub(super) fn table(items: &[AuditEntry]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Record" } th scope="col" { "At" } th scope="col" { "What" }
                th scope="col" { "Resource" } th scope="col" { "Actor" } th scope="col" { "Detail" }
            } }
            tbody { @for item in items { (row(item)) } }
        } }
    }
}

fn row(item: &AuditEntry) -> Markup {
    html! {
        tr {
            th scope="row" title=(item.hash) { (item.record) }
            td { @if let Some(at) = &item.at { (time(&timestamp(at))) } }
            td { (clean(&item.kind)) @if let Some(intent) = &item.intent { " " (why_link(intent)) } }
            td { @if let Some(key) = &item.key { (key_link(key)) } }
            td { @if let Some(actor) = &item.actor { (clean(actor)) } }
            td { @if let Some(detail) = &item.detail { (sentence(detail)) } }
        }
    }
}

/// Returns the entries of a history, newest first.
pub(super) fn progress_rows(entries: &[HistoryEntry]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Record" } th scope="col" { "At" } th scope="col" { "What" }
                th scope="col" { "Detail" }
            } }
            tbody {
                @for one in entries.iter().rev() {
                    tr {
                        th scope="row" { (one.record_ref.record) " " code { (short_hash(&one.record_ref.hash.to_string())) } }
                        td { (time(&timestamp(&one.at))) }
                        td { (clean(&one.what)) @if let Some(id) = &one.remote_id { " " code { (clean(id)) } } }
                        td { @if let Some(detail) = &one.detail { (sentence(detail)) } }
                    }
                }
            }
        } }
    }
}
