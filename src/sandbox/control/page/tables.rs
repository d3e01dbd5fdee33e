//! Tables of the sandbox's page: merchants, ledger, requests, payments.

use maud::{Markup, html};

use crate::api::transaction::{Transaction, TransactionStatus};
use crate::api::wire::Timestamp;
use crate::base::clock::timestamp;
use crate::base::wording::count_noun;
use crate::sandbox::control::page::data::{
    COUNTED, MOVEMENTS, MerchantOverview, ModeOverview, outside_text, path_text,
};
use crate::sandbox::control::page::forms::settlement;
use crate::sandbox::pages::amount;
use crate::sandbox::state::logs::LoggedRequest;

pub(super) fn merchant_path(id: &str) -> String {
    format!("/_sandbox/merchants/{id}")
}

/// Returns a time to the second.
pub(super) fn second(time: Timestamp) -> Markup {
    let shown = time.0.format("%-d %b %Y, %H:%M:%S").to_string();
    html! { time datetime=(timestamp(&time.0)) { (shown) } }
}

pub(super) fn merchant_state(merchant: &MerchantOverview) -> Markup {
    html! {
        @if merchant.is_disconnected { span.state.bad { "✕ Disconnected" } }
        @else { span.state.good { "✓ Active" } }
    }
}

pub(super) fn merchants(all: &[MerchantOverview]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Merchant" } th scope="col" { "State" } th scope="col" { "Mode" }
                @for (name, _) in COUNTED { th.sum scope="col" { (name) } }
            } }
            tbody {
                @for (merchant, mode) in all.iter().flat_map(|one| one.modes.iter().map(move |mode| (one, mode))) {
                    tr {
                        th scope="row" { a href=(merchant_path(&merchant.id)) { (merchant.name) } }
                        td { (merchant_state(merchant)) }
                        td { (mode.mode.as_str()) }
                        @for ((name, _), count) in COUNTED.iter().zip(&mode.counts) { td.sum data-name=(name) { (count) } }
                    }
                }
            }
        } }
    }
}

/// Returns the totals of all movements by merchant, mode and currency.
pub(super) fn ledger(all: &[MerchantOverview]) -> Markup {
    let modes = all.iter().flat_map(|one| one.modes.iter().map(move |mode| (one, mode)));
    let rows = modes.flat_map(|(one, mode)| mode.money.iter().map(move |sums| (one, mode, sums)));
    let rows: Vec<_> = rows.collect();
    html! {
        @if rows.is_empty() { p { "No money moved yet." } } @else {
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Merchant" } th scope="col" { "Mode" }
                    @for (name, _) in MOVEMENTS { th.sum scope="col" { (name) } }
                } }
                tbody {
                    @for (merchant, mode, (currency, sums)) in rows { (ledger_row(merchant, mode, currency, sums)) }
                }
            } }
        }
    }
}

fn ledger_row(
    merchant: &MerchantOverview,
    mode: &ModeOverview,
    currency: &str,
    sums: &[i64],
) -> Markup {
    html! {
        tr {
            th scope="row" { a href=(merchant_path(&merchant.id)) { (merchant.name) } }
            td { (mode.mode.as_str()) }
            @for ((name, _), sum) in MOVEMENTS.iter().zip(sums) {
                td.sum data-name=(name) { (amount(*sum, Some(currency))) }
            }
        }
    }
}

pub(super) fn requests(all: &[(u64, LoggedRequest<'_>)]) -> Markup {
    html! {
        @if all.is_empty() { p { "No request yet." } } @else {
            div.scroll { table {
                thead { tr {
                    th.sum scope="col" { "No." } th scope="col" { "Time (UTC)" } th scope="col" { "Request" }
                    th scope="col" { "Status" } th scope="col" { "Fault" }
                } }
                tbody { @for (number, request) in all { (request_row(*number, request)) } }
            } }
        }
    }
}

fn request_row(number: u64, request: &LoggedRequest<'_>) -> Markup {
    let is_good = request.status < 400;
    html! {
        tr {
            td.sum { (number) }
            td { (second(request.time)) }
            td { code.method { (outside_text(&request.method)) } " " code { (path_text(&request.path)) } }
            td { span.state.good[is_good].bad[!is_good] { (request.status) } }
            td { @if let Some(fault) = request.fault { "⚡ " (fault.word()) } }
        }
    }
}

/// Returns the payments of one merchant and mode; `back` is the page that shows them.
pub(super) fn payments(all: &[Transaction], back: &str) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Created (UTC)" } th scope="col" { "Type" } th scope="col" { "Status" }
                th.sum scope="col" { "Amount" } th scope="col" { "Payment" } th scope="col" { "Order" }
            } }
            tbody { @for one in all { (payment_row(one, back)) } }
        } }
    }
}

fn payment_row(one: &Transaction, back: &str) -> Markup {
    let refunded = one.amount_refunded.filter(|refunded| *refunded > 0);
    let is_open = matches!(one.status, TransactionStatus::Pending | TransactionStatus::Authorized);
    html! {
        tr {
            td { @if let Some(created) = one.created { (second(created)) } }
            td { (one.kind.as_str()) }
            td {
                (one.status.as_str())
                @if let Some(code) = &one.failure_code { " (" (outside_text(code)) ")" }
            }
            td.sum {
                (amount(one.amount, Some(&one.currency)))
                @if let Some(refunded) = refunded { span.hint { " refunded " (amount(refunded, Some(&one.currency))) } }
            }
            td { code { (one.id) } @if let Some(text) = &one.reference { " " span.hint { (outside_text(text)) } } }
            td { @if is_open { (settlement(&one.id, back)) } }
        }
    }
}

/// Returns the sentence above a cut list.
pub(super) fn list_sentence(shown: usize, total: u64, noun: &str) -> String {
    let total_text = count_noun(total, noun);
    if u64::try_from(shown).is_ok_and(|shown| shown >= total) {
        return format!("{total_text}, newest first.");
    }
    format!("The newest {shown} of {total_text}, newest first.")
}
