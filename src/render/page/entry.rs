//! The entrance of the page, and the page for those who are not in a session.

use maud::{Markup, html};

use crate::base::secret::Secret;
use crate::base::wording::count_noun;
use crate::control::page_sessions::{ENTER_PATH, IDLE_MAX, LINK_LIFE, SESSION_LIFE};
use crate::render::page::parts::{command, sentence};
use crate::render::words::clean;

/// The field that holds a link's token.
pub const TOKEN_FIELD: &str = "token";
/// The command that prints a link.
const COMMAND: &str = "reckon page";

pub const INVALID: &str = "The link was used before, is older than five minutes, or the daemon was started again since. Get another one with `reckon page`.";

/// Asks whether to begin a session for this person.
pub fn question(actor: &str, token: &Secret) -> Markup {
    let idle = count(IDLE_MAX.num_minutes(), "minute");
    let life = count(SESSION_LIFE.num_hours(), "hour");
    html! {
        p { "You act on this page as " strong { (clean(actor)) } ", who asked for the link. The journal names this person for all that you do here." }
        p.quiet { "You are out after " (idle) " without use, after " (life) " at the latest, and with the button “Leave”." }
        form method="post" action=(ENTER_PATH) {
            input type="hidden" name=(TOKEN_FIELD) value=(token.expose());
            div.actions {
                button type="submit" { "Enter" }
                a.button.plain href="/" { "Only read" }
            }
        }
    }
}

/// Returns the reason of a refusal, and the way back.
pub fn refused(text: &str) -> Markup {
    html! {
        p role="alert" { (sentence(text)) }
        p { a href="/" { "Back to the overview" } }
    }
}

fn count(number: i64, noun: &str) -> String {
    count_noun(usize::try_from(number).unwrap_or_default(), noun)
}

/// Returns the way into a session.
pub fn way_in() -> Markup {
    let minutes = count(LINK_LIFE.num_minutes(), "minute");
    html! {
        p { "To act here, get a link that is valid once, for " (minutes) ":" }
        (command(COMMAND))
    }
}
