//! Forms of the sandbox's page. Each one orders what a control path orders, and needs no script.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use serde_json::Value;

use crate::sandbox::control::page::data::MerchantOverview;
use crate::sandbox::control::triggers::event_types;
use crate::sandbox::onboarding::record::{Application, ApplicationState};
use crate::sandbox::pages::field;
use crate::sandbox::state::faults::{FaultKind, FaultRule};

/// Steps of the clock: ISO 8601 duration, and its words on a button.
const STEPS: [(&str, &str); 5] = [
    ("PT1H", "1 hour forward"),
    ("P1D", "1 day forward"),
    ("P7D", "7 days forward"),
    ("P1M", "1 month forward"),
    ("P1Y", "1 year forward"),
];
const METHODS: [&str; 5] = ["GET", "POST", "PATCH", "PUT", "DELETE"];

pub(super) fn clock(now: DateTime<Utc>) -> Markup {
    let now = now.format("%Y-%m-%dT%H:%M").to_string();
    html! {
        form.choices method="post" action="/_sandbox/clock" {
            @for (step, words) in STEPS { button.plain name="advance" value=(step) { (words) } }
        }
        form method="post" action="/_sandbox/clock" {
            div.fields {
                (field("until", "Forward to (UTC)", &html! {
                    input #until name="until" type="datetime-local" required min=(now) value=(now);
                }, None))
            }
            div.actions { button { "Turn the clock" } }
        }
    }
}

pub(super) fn faults(all: &[FaultRule], total: usize) -> Markup {
    html! {
        @if all.is_empty() { p { "No fault is ordered: every request gets its true answer." } } @else {
            @if total > all.len() { p.quiet { "The newest " (all.len()) " of " (total) " faults." } }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Fault" } th scope="col" { "Requests" } th scope="col" { "Strikes" }
                    th scope="col" { "Order" }
                } }
                tbody { @for one in all { (fault_row(one)) } }
            } }
        }
    }
}

fn fault_row(rule: &FaultRule) -> Markup {
    let shown = rule.show();
    let text = |name: &str| shown.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| shown.get(name).and_then(Value::as_u64);
    let share = text("probability").trim_end_matches('0').trim_end_matches('.');
    let (struck, times) = (number("struck").unwrap_or(0), number("times"));
    html! {
        tr {
            th scope="row" {
                (rule.kind.word())
                @if let Some(status) = rule.status { " " (status) }
                @if let Some(delay) = rule.delay_ms { " " (delay) " ms" }
            }
            td { (if text("method").is_empty() { "any method" } else { text("method") }) " " code { (text("path")) "…" } }
            td {
                (struck) @if let Some(times) = times { " of " (times) }
                @if share != "1" { ", a share of " (share) }
            }
            td {
                form method="post" action={ "/_sandbox/faults/" (rule.id) "/remove" } {
                    button.plain aria-label={ "Remove the fault " (rule.kind.word()) } { "Remove" }
                }
            }
        }
    }
}

pub(super) fn order_fault() -> Markup {
    html! {
        form method="post" action="/_sandbox/faults" {
            div.fields {
                (field("fault", "Fault", &html! {
                    select #fault name="fault" {
                        @for (kind, meaning) in FaultKind::ALL { option value=(kind.word()) { (kind.word()) ": " (meaning) } }
                    }
                }, None))
                (field("method", "Method", &html! {
                    select #method name="method" {
                        option value="" { "any" }
                        @for method in METHODS { option { (method) } }
                    }
                }, None))
                (optional_field("path", "Path begins with", "text", "/v1/charges"))
                (optional_field("times", "Strikes, at most", "number", "every time"))
                (optional_field("status", "Status of the error", "number", "500, or 429"))
                (optional_field("delay_ms", "Delay in ms", "number", "0"))
                (optional_field("probability", "Share of requests, 0 to 1", "text", "1"))
            }
            div.actions { button { "Order the fault" } }
        }
    }
}

fn optional_field(name: &str, label: &str, kind: &str, example: &str) -> Markup {
    let least = (kind == "number").then_some("0");
    let control = html! { input id=(name) name=(name) type=(kind) min=[least] placeholder=(example) autocomplete="off"; };
    field(name, label, &control, None)
}

pub(super) fn event(merchants: &[MerchantOverview]) -> Markup {
    html! {
        form method="post" action="/_sandbox/events" {
            div.fields {
                (field("merchant", "Merchant", &html! {
                    select #merchant name="merchant" { @for one in merchants { option value=(one.key_name) { (one.name) } } }
                }, None))
                (field("mode", "Mode", &html! {
                    select #mode name="mode" { option { "test" } option { "live" } }
                }, None))
                (field("type", "Type of the event", &html! {
                    select #type name="type" { @for kind in event_types() { option { (kind) } } }
                }, None))
            }
            div.actions { button { "Send the event" } }
        }
    }
}

pub(super) fn applications(all: &[Application]) -> Markup {
    html! {
        @if all.is_empty() { p { "No merchant applied yet." } } @else {
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Application" } th scope="col" { "Plan" } th scope="col" { "State" }
                    th scope="col" { "Order" }
                } }
                tbody { @for one in all { (application_row(one)) } }
            } }
        }
    }
}

fn application_row(one: &Application) -> Markup {
    let state = match one.state {
        ApplicationState::Started => "waits for its applicant",
        ApplicationState::Submitted => "waits for a decision",
        ApplicationState::Provisioned => "✓ approved",
        ApplicationState::Declined => "✕ declined",
    };
    html! {
        tr {
            th scope="row" { (one.id) }
            td { (one.plan) }
            td { (state) }
            td {
                @if one.state == ApplicationState::Submitted {
                    form.choices method="post" action={ "/_sandbox/applications/" (one.id) "/decision" } {
                        button.plain name="decision" value="approve" { "Approve" }
                        button.plain name="decision" value="decline" { "Decline" }
                    }
                }
            }
        }
    }
}

/// Returns the form that decides as the bank about a payment; it leads to the page `back`.
pub(super) fn settlement(id: &str, back: &str) -> Markup {
    html! {
        form.choices method="post" action={ "/_sandbox/transactions/" (id) "/settlement" } {
            input type="hidden" name="back" value=(back);
            button.plain name="result" value="settled" { "Settle" }
            button.plain name="result" value="failed" { "Fail" }
        }
    }
}
