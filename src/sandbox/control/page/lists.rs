//! Pages of the sandbox's lists: all requests, and one merchant with its payments.

use std::collections::BTreeMap;

use http::{HeaderValue, StatusCode, header};
use maud::{Markup, html};

use crate::sandbox::answer::{Result, SandboxAnswer};
use crate::sandbox::control::page::data::{self, LISTED_MAX, MerchantOverview, ModeOverview};
use crate::sandbox::control::page::orders::{ROOT, done_text};
use crate::sandbox::control::page::tables;
use crate::sandbox::pages::SandboxPage;
use crate::sandbox::payments::transactions::StoredTransaction;
use crate::sandbox::state::logs;
use crate::sandbox::state::objects::{MerchantMode, ObjectKind, ObjectOwner};
use crate::sandbox::state::store::ChangeUnit;

/// Parameters of a page, as [`crate::sandbox::request::pairs`] parses them.
pub(crate) type PageParameters = BTreeMap<String, Vec<String>>;

/// Returns the first value of a parameter.
pub(crate) fn parameter<'p>(parameters: &'p PageParameters, name: &str) -> Option<&'p str> {
    parameters.get(name)?.first().map(String::as_str)
}

fn number(parameters: &PageParameters, name: &str) -> Option<u64> {
    parameter(parameters, name)?.parse().ok()
}

fn listed_max() -> u64 {
    u64::try_from(LISTED_MAX).unwrap_or(u64::MAX)
}

/// Returns the page of the requests before the number `before`, or the newest ones.
pub(crate) fn requests(cx: &ChangeUnit, asked: &PageParameters) -> Result<SandboxAnswer> {
    let found = logs::newest_requests(cx, number(asked, "before"), listed_max())?;
    let older = found.last().map(|(number, _)| *number).filter(|number| *number > 1);
    let inner = html! {
        (back_link())
        p.quiet { (logs::requests_total(cx)?) " requests in all, newest first. Queries and bodies are not shown." }
        (tables::requests(&found))
        nav.paging aria-label="Pages" {
            @if asked.contains_key("before") { a.button.plain href="/_sandbox/requests" { "Newest" } }
            @if let Some(number) = older {
                a.button.plain href={ "/_sandbox/requests?before=" (number) } rel="next" { "Older" }
            }
        }
    };
    let varies = HeaderValue::from_static("accept");
    Ok(page(cx, "Requests", inner).with(header::VARY, varies))
}

/// Returns the page of a merchant: its accounts, its money, and its payments from `offset` on.
pub(crate) fn merchant(cx: &ChangeUnit, id: &str, asked: &PageParameters) -> Result<SandboxAnswer> {
    let record = cx.merchant(id)?;
    let merchant = data::merchant(cx, &record)?;
    let inner = html! {
        @if let Some(text) = parameter(asked, "done").and_then(done_text) { p.notice.good role="status" { (text) } }
        (back_link())
        dl {
            dt { "State" } dd { (tables::merchant_state(&merchant)) }
            dt { "Time zone" } dd { (merchant.timezone) }
            @for mode in [MerchantMode::Test, MerchantMode::Live] {
                dt { "Accounts (" (mode.as_str()) ")" }
                dd {
                    @for account in &record.keys(mode).accounts {
                        div { (account.name) ": " (account.kind.as_str()) ", " (account.currency) @if account.primary { ", primary" } }
                    }
                }
            }
        }
        (tables::merchants(std::slice::from_ref(&merchant)))
        h2 { "Ledger" }
        (tables::ledger(std::slice::from_ref(&merchant)))
        @for mode in &merchant.modes { (payments(cx, &merchant, mode, asked)?) }
    };
    Ok(page(cx, &merchant.name, inner))
}

fn payments(
    cx: &ChangeUnit,
    merchant: &MerchantOverview,
    mode: &ModeOverview,
    asked: &PageParameters,
) -> Result<Markup> {
    let offset = number(asked, mode.mode.as_str()).unwrap_or(0);
    let owner = ObjectOwner { merchant: merchant.id.clone(), mode: mode.mode };
    let list = ObjectKind::TRANSACTION.list(&owner.key());
    let total = cx.count(&list)?;
    let ids = cx.ids(&list, offset, listed_max())?.into_iter();
    let read = |id: String| Ok(cx.load::<StoredTransaction>(ObjectKind::TRANSACTION, &id)?.object);
    let found = ids.map(read).collect::<Result<Vec<_>>>()?;
    let end = offset.saturating_add(u64::try_from(found.len()).unwrap_or(u64::MAX));
    let here = tables::merchant_path(&merchant.id);
    let link = |offset: u64| format!("{here}?{}={offset}", mode.mode.as_str());
    Ok(html! {
        h2 { "Payments (" (mode.mode.as_str()) ")" }
        @if total == 0 { p { "No payment yet." } } @else if found.is_empty() { p { "No payment here; " (total) " in all." } } @else {
            p.quiet { (offset.saturating_add(1)) "–" (end) " of " (total) ", newest first." }
            (tables::payments(&found, &here))
        }
        nav.paging aria-label={ "Pages of payments, " (mode.mode.as_str()) } {
            @if offset > 0 { a.button.plain href=(link(offset.saturating_sub(listed_max()))) rel="prev" { "Newer" } }
            @if end < total { a.button.plain href=(link(end)) rel="next" { "Older" } }
        }
    })
}

fn back_link() -> Markup {
    html! { p.back { a href="/" { "Overview of this sandbox" } } }
}

fn page(cx: &ChangeUnit, title: &str, inner: Markup) -> SandboxAnswer {
    let brand = &cx.environment.options.brand;
    SandboxPage::new(brand, title, inner).wide().with_orders().answer_beneath(ROOT, StatusCode::OK)
}
