//! One resource: conditions, money, payments, facts, needs, and its newest records.

use maud::{Markup, html};

use crate::base::id::Key;
use crate::base::wording::count_noun;
use crate::engine::protocol::graph::GraphSubject;
use crate::engine::protocol::next_steps::NeedView;
use crate::engine::protocol::pages::ResourceContext;
use crate::engine::protocol::payers::{PaymentView, PaymentsView};
use crate::engine::protocol::views::ResourceView;
use crate::kinds::planning::step::MERCHANT;
use crate::model::plan::Standing;
use crate::model::state::health::{Condition, ConditionStatus};
use crate::render::page::audit::table;
use crate::render::page::forms::{CONFIRM, RESUME, SUSPEND, order, order_path};
use crate::render::page::graph::graph_path;
use crate::render::page::parts::{
    address, command, facts, key_link, sentence, short_link, state, time,
};
use crate::render::resource::describe::{action_meaning, flat_facts};
use crate::render::words::{clean, file_place, format_amount, resource_key};
use crate::store::audit::AuditTrail;

/// The reason of a merchant whose accounts, or an application whose submission, a person approves.
const AWAITS_APPROVAL: &str = "AwaitsApproval";

/// Returns the page of a resource, with its newest records.
pub fn page(context: &ResourceContext, trail: &AuditTrail, is_in_session: bool) -> Markup {
    let item = &context.resource;
    html! {
        div #summary data-live {
            p { (state(item.ready, if item.ready { "Ready" } else { &item.reason })) " " (sentence(&item.message)) }
            @if !item.ready { (advice(item)) }
            (approval(item, is_in_session))
            (suspension(item, is_in_session))
            (summary(item))
            (conditions(&item.conditions))
            (payments(item))
            (known_facts(item))
            (needs(context))
        }
        (history(item, trail))
    }
}

/// Returns the commands that help with a resource that is not ready.
pub(super) fn advice(item: &ResourceView) -> Markup {
    let name = resource_key(&item.kind, &item.namespace, &item.name);
    html! {
        @for step in &item.next { p { (clean(&step.purpose)) ": " (command(&step.command)) } }
        @if item.next.is_empty() { (command(&format!("reckon describe {name}"))) }
    }
}

/// Returns the way to approve the live accounts of a merchant that waits for it.
fn approval(item: &ResourceView, is_in_session: bool) -> Markup {
    let awaits = item.reason == AWAITS_APPROVAL && item.kind == MERCHANT && is_in_session;
    let key = resource_key(&item.kind, &item.namespace, &item.name).parse();
    html! {
        @if let (true, Ok(key)) = (awaits, key) {
            (order(true, (&order_path(CONFIRM, &key), "Approve its accounts…"), ""))
        }
    }
}

/// Returns the way to stop or to continue what is done to a resource.
fn suspension(item: &ResourceView, is_in_session: bool) -> Markup {
    let name = resource_key(&item.kind, &item.namespace, &item.name);
    let is_suspended = item.standing == Standing::Suspended;
    let (order_of, label) =
        if is_suspended { (RESUME, "Resume…") } else { (SUSPEND, "Suspend…") };
    if is_suspended && !is_in_session {
        // The commands that lead on name `resume` already.
        return html! {};
    }
    let path = name.parse().map(|key| order_path(order_of, &key)).unwrap_or_default();
    let line = if is_suspended {
        format!("reckon resume {name}")
    } else {
        format!("reckon suspend {name} --reason REASON")
    };
    order(is_in_session && !path.is_empty(), (&path, label), &line)
}

fn summary(item: &ResourceView) -> Markup {
    let place = file_place(item.file.as_deref(), item.line);
    let amount = item.amount.zip(item.currency.as_deref());
    let labels = item.labels.iter().map(|(key, value)| format!("{}={}", clean(key), clean(value)));
    let labels: Vec<String> = labels.collect();
    let doubles = (item.possible_orphans > 0).then(|| {
        let times = count_noun(item.possible_orphans, "time");
        html! { "created again " (times) " without proof that the earlier try had failed" }
    });
    facts(&[
        ("Next", Some(html! { (clean(action_meaning(&item.verdict))) })),
        ("Amount", amount.map(|(amount, currency)| html! { (format_amount(amount, currency)) })),
        ("Merchant", item.merchant.as_deref().map(short_link)),
        ("Document", place.map(|place| html! { code { (place) } })),
        ("Object", item.remote_id.as_ref().map(|id| html! { code { (clean(id)) } })),
        ("Labels", (!labels.is_empty()).then(|| html! { (labels.join(", ")) })),
        ("Last known", item.last_known.as_deref().map(time)),
        ("Verified", item.verified_at.as_deref().map(time)),
        ("Doubles", doubles),
    ])
}

fn conditions(conditions: &[Condition]) -> Markup {
    html! {
        h2 { "Conditions" }
        div.scroll tabindex="0" { table {
            thead { tr {
                th scope="col" { "Condition" } th scope="col" { "Status" } th scope="col" { "Since" }
                th scope="col" { "Why" }
            } }
            tbody {
                @for one in conditions {
                    tr {
                        th scope="row" { (one.kind.word()) }
                        td { (condition_status(one)) }
                        td { @if let Some(since) = &one.since { (time(since)) } }
                        td { strong { (clean(&one.reason)) } ": " (sentence(&one.message)) }
                    }
                }
            }
        } }
    }
}

/// Returns the status; one that is not known is neither good nor bad.
fn condition_status(condition: &Condition) -> Markup {
    let word = condition.status.word();
    match condition.status {
        ConditionStatus::Unknown => html! { span.state { (word) } },
        ConditionStatus::True | ConditionStatus::False => state(condition.is_good(), word),
    }
}

fn payments(item: &ResourceView) -> Markup {
    let Some(PaymentsView { last, failures, next }) = item.payments.as_deref() else {
        return html! {};
    };
    let failed =
        (*failures > 0).then(|| html! { (count_noun(*failures, "payment")) " failed in a row" });
    html! {
        h2 { "Payments" }
        (facts(&[
            ("Last", last.as_ref().map(last_payment)),
            ("Failures", failed),
            ("Next", next.as_ref().map(|next| html! { (clean(next)) })),
        ]))
    }
}

fn last_payment(payment: &PaymentView) -> Markup {
    let PaymentView { id, result, amount, currency, reason, at } = payment;
    let money = amount.zip(currency.as_deref());
    html! {
        @if let Some((amount, currency)) = money { (format_amount(amount, currency)) " " }
        (result.word()) " " (time(at))
        @if let Some(reason) = reason { " (" (clean(reason)) ")" }
        " " code { (clean(id)) }
    }
}

fn known_facts(item: &ResourceView) -> Markup {
    let leaves = flat_facts(item);
    html! {
        @if !leaves.is_empty() {
            h2 { "Facts of the service" }
            dl { @for (path, value) in &leaves { dt { (clean(path)) } dd { (clean(value)) } } }
        }
    }
}

fn needs(context: &ResourceContext) -> Markup {
    let hidden = context.users_total.saturating_sub(context.users.len());
    html! {
        @if !context.resource.needs.is_empty() {
            h2 { "It needs" }
            (need_tree(&context.resource.needs))
        }
        @if !context.users.is_empty() {
            h2 { "Needed by" }
            ul.plain {
                @for user in &context.users { li { (key_link(user)) } }
                @if hidden > 0 { li { "and " (hidden) " more" } }
            }
        }
        @if !context.resource.needs.is_empty() || !context.users.is_empty() { (graph_links(&context.resource)) }
    }
}

/// Returns the links to the drawings of what a resource waits for.
fn graph_links(item: &ResourceView) -> Markup {
    let key = resource_key(&item.kind, &item.namespace, &item.name).parse::<Key>().ok();
    let merchant = key.clone().filter(|_| item.kind == MERCHANT).map(GraphSubject::Merchant);
    html! {
        @if let Some(key) = key { p { a href=(graph_path(&GraphSubject::Resource(key))) { "What waits for what, as a graph" } } }
        @if let Some(subject) = merchant { p { a href=(graph_path(&subject)) { "All resources of this merchant as a graph" } } }
    }
}

fn need_tree(needs: &[NeedView]) -> Markup {
    html! {
        ul.tree {
            @for need in needs {
                li {
                    (key_link(&need.key)) " " (state(need.ready, if need.ready { "Ready" } else { &need.reason }))
                    @if need.is_cut { " needs more, which is not shown here" }
                    @if !need.needs.is_empty() { (need_tree(&need.needs)) }
                }
            }
        }
    }
}

fn history(item: &ResourceView, trail: &AuditTrail) -> Markup {
    let name = resource_key(&item.kind, &item.namespace, &item.name);
    let all = address("/audit", &[("resource", Some(name))]);
    html! {
        section #history data-live {
            h2 { "History" }
            @if trail.items.is_empty() { p { "The journal holds no record about it." } }
            @else { (table(&trail.items)) }
            p { a href=(all) { "Search its records in the audit trail" } }
        }
    }
}
