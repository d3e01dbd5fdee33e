//! The start page of a sandbox, with links for people.

use http::StatusCode;
use maud::{Markup, html};

use super::site::SandboxPage;
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::openapi;
use crate::sandbox::state::store::ChangeUnit;

/// Path of the page.
pub(crate) const PATH: &str = "/";

/// Pages for people: path, name and description.
const LINKS: [(&str, &str, &str); 3] = [
    (openapi::PAGE, "API reference", "Every request that the service accepts, with examples"),
    ("/_sandbox/mailbox", "Mailbox", "The e-mails that invoices sent; none leaves this machine"),
    (
        "/_sandbox/credentials",
        "Credentials",
        "The partner and its merchants with their keys, for programs (JSON)",
    ),
];

/// First commands of a trial, each with its purpose.
const COMMANDS: [(&str, &str); 2] = [
    (
        "eval \"$(reckon sandbox env)\"",
        "Set the variables with which your configuration reaches this sandbox:",
    ),
    ("reckon plan", "Show what your files would change here:"),
];

/// GET of the page.
#[expect(clippy::unnecessary_wraps, reason = "other pages can fail")]
pub(crate) fn show(
    cx: &mut ChangeUnit<'_>,
    _: &ParsedRequest,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let brand = cx.environment.options.brand.clone();
    Ok(SandboxPage::new(&brand, "Payment sandbox", inner()).answer(StatusCode::OK))
}

fn inner() -> Markup {
    html! {
        p { "A complete emulator of the payment service, on your own machine. Its money, its cards and its e-mails are \
             not real." }
        ul.cards {
            @for (path, name, about) in LINKS {
                li { a href=(path) { (name) } span { (about) } }
            }
        }
        h2 { "Try it from a terminal" }
        @for (command, about) in COMMANDS {
            p.quiet { (about) }
            pre { (command) }
        }
    }
}
