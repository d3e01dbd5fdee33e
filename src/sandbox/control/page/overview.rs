//! The sandbox's first page.

use http::StatusCode;
use maud::{Markup, html};

use crate::api::wire::Timestamp;
use crate::base::wording::count_noun;
use crate::sandbox::answer::SandboxAnswer;
use crate::sandbox::control::page::data::SandboxOverview;
use crate::sandbox::control::page::orders::{ROOT, done_text};
use crate::sandbox::control::page::tables::second;
use crate::sandbox::control::page::{forms, tables};
use crate::sandbox::pages::{self, SandboxPage};

/// The parts of the page, for its index: id and heading.
const PARTS: [(&str, &str); 7] = [
    ("time", "Time"),
    ("merchants", "Merchants"),
    ("ledger", "Ledger"),
    ("requests", "Requests"),
    ("faults", "Faults"),
    ("events", "Events"),
    ("more", "Mailbox and more"),
];

/// Returns the page; `done` names the order that led here, if one did.
pub(crate) fn page(brand: &str, overview: &SandboxOverview, done: Option<&str>) -> SandboxAnswer {
    let inner = html! {
        @if let Some(text) = done.and_then(done_text) { p.notice.good role="status" { (text) } }
        p { "A complete emulator of the payment service, on your own machine. Its money, its cards and its e-mails are \
             not real." }
        nav aria-label="Parts of this page" {
            ul.index { @for (id, name) in PARTS { li { a href={ "#" (id) } { (name) } } } }
        }
        h2 #time { "Time" }
        p { "It is " strong { (second(Timestamp(overview.now))) } " UTC here. Turning the clock does everything that is due on \
             the way." }
        (forms::clock(overview.now))
        (merchants(overview))
        h2 #ledger { "Ledger" }
        (tables::ledger(&overview.merchants))
        (requests(overview))
        h2 #faults { "Faults" }
        (forms::faults(&overview.faults, overview.faults_total))
        details.part { summary { "Order a fault" } (forms::order_fault()) }
        h2 #events { "Events" }
        p { "An event shows a copy of the newest object of its kind, and goes to the URLs of the merchant." }
        details.part { summary { "Send an event" } (forms::event(&overview.merchants)) }
        (more(overview))
    };
    SandboxPage::new(brand, "Payment sandbox", inner)
        .wide()
        .with_orders()
        .answer_beneath(ROOT, StatusCode::OK)
}

fn merchants(overview: &SandboxOverview) -> Markup {
    html! {
        h2 #merchants { "Merchants" }
        (tables::merchants(&overview.merchants))
        @if let Some(id) = &overview.more_behind {
            nav.paging aria-label="Pages" { a.button.plain href={ "/?after=" (id) "#merchants" } rel="next" { "More merchants" } }
        }
        h3 { "Applications" }
        (forms::applications(&overview.applications))
    }
}

fn requests(overview: &SandboxOverview) -> Markup {
    let (shown, total) = (overview.requests.len(), overview.requests_total);
    html! {
        h2 #requests { "Requests" }
        @if total > 0 { p.quiet { (tables::list_sentence(shown, total, "request")) } }
        (tables::requests(&overview.requests))
        @if total > 0 { p { a href="/_sandbox/requests" { "All requests" } } }
    }
}

fn more(overview: &SandboxOverview) -> Markup {
    html! {
        h2 #more { "Mailbox and more" }
        ul.cards {
            li {
                a href="/_sandbox/mailbox" { "Mailbox" }
                span { (count_noun(overview.mails, "e-mail")) " that invoices sent; none leaves this machine" }
            }
            @for (path, name, about) in pages::LINKS { li { a href=(path) { (name) } span { (about) } } }
        }
        (pages::terminal())
    }
}
