//! The list of resources with its filters, a part at a time.

use maud::{Markup, html};

use crate::engine::protocol::resources::{ListPart, ResourceList};
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::ResourceView;
use crate::kinds::register::KINDS;
use crate::render::page::parts::{
    address, paging, resource_link, sentence, short_link, state, time,
};
use crate::render::words::{clean, format_amount};

/// The filters as they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenFilter {
    pub kind: Option<String>,
    pub namespace: Option<String>,
    pub merchant: Option<String>,
    pub labels: Option<String>,
    pub search: Option<String>,
    pub not_ready: bool,
    pub attention: bool,
}

impl WrittenFilter {
    fn link(&self, offset: usize) -> String {
        let yes = |is_set: bool| is_set.then(|| "true".to_owned());
        address(
            "/resources",
            &[
                ("kind", self.kind.clone()),
                ("namespace", self.namespace.clone()),
                ("merchant", self.merchant.clone()),
                ("labels", self.labels.clone()),
                ("search", self.search.clone()),
                ("not_ready", yes(self.not_ready)),
                ("attention", yes(self.attention)),
                ("offset", (offset > 0).then(|| offset.to_string())),
            ],
        )
    }
}

/// Returns the list behind its filters.
pub fn list(filter: &WrittenFilter, part: ListPart, list: &ResourceList) -> Markup {
    html! {
        (form(filter))
        section #list data-live aria-labelledby="list-title" {
            h2 #list-title { "Resources" }
            @if !list.items.is_empty() { (table(&list.items)) }
            (paging(part, (list.items.len(), list.total), &|offset| filter.link(offset)))
        }
    }
}

/// Returns the filters with the reason why there is no list.
pub fn refusal(filter: &WrittenFilter, why: &str) -> Markup {
    html! {
        (form(filter))
        div.notice.bad role="alert" { (sentence(why)) }
    }
}

/// Returns the reason why a filter selects nothing: a name that no resource has.
pub fn unknown_text(unknown: &[UnknownName]) -> String {
    let name = |one: &UnknownName| {
        let nearest = one.nearest.as_ref().map(|name| format!("; did you mean {name}?"));
        format!("no such resource: {}{}", one.key.short(), nearest.unwrap_or_default())
    };
    unknown.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn form(filter: &WrittenFilter) -> Markup {
    html! {
        form.filter action="/resources" method="get" role="search" aria-label="Filter of resources" {
            div.fields {
                (input("search", "Name contains", filter.search.as_deref(), ""))
                div.field {
                    label for="kind" { "Kind" }
                    select id="kind" name="kind" {
                        option value="" { "Every kind" }
                        @for row in KINDS {
                            option value=(row.name) selected[filter.kind.as_deref() == Some(row.name)] { (row.name) }
                        }
                    }
                }
                (input("namespace", "Namespace", filter.namespace.as_deref(), "default"))
                (input("merchant", "Merchant", filter.merchant.as_deref(), "acme"))
                (input("labels", "Labels", filter.labels.as_deref(), "team=a,env!=live"))
                div.field {
                    (checkbox("not_ready", "Not ready only", filter.not_ready))
                    (checkbox("attention", "Needs attention only", filter.attention))
                }
            }
            div.actions { button type="submit" { "Filter" } a.button.plain href="/resources" { "Show all" } }
        }
    }
}

fn input(name: &str, label: &str, value: Option<&str>, example: &str) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            input id=(name) name=(name) value=[value.map(clean)] placeholder=(example)
                autocomplete="off" maxlength="200";
        }
    }
}

fn checkbox(name: &str, label: &str, is_checked: bool) -> Markup {
    html! {
        label.check for=(name) {
            input id=(name) type="checkbox" name=(name) value="true" checked[is_checked];
            (label)
        }
    }
}

/// Returns the rows of a list.
pub(super) fn table(items: &[ResourceView]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr {
                    th scope="col" { "Resource" } th scope="col" { "State" } th scope="col" { "Amount" }
                    th scope="col" { "Merchant" } th scope="col" { "Last known" } th scope="col" { "Why" }
                } }
                tbody { @for item in items { (row(item)) } }
            }
        }
    }
}

fn row(item: &ResourceView) -> Markup {
    let word = if item.ready { "Ready" } else { &item.reason };
    let amount = item.amount.zip(item.currency.as_deref());
    html! {
        tr {
            th scope="row" { (resource_link(&item.kind, &item.namespace, &item.name)) }
            td { (state(item.ready, word)) }
            td.sum { @if let Some((amount, currency)) = amount { (format_amount(amount, currency)) } }
            td { @if let Some(merchant) = &item.merchant { (short_link(merchant)) } }
            td { @if let Some(at) = &item.last_known { (time(at)) } }
            td { (sentence(&item.message)) }
        }
    }
}
