//! The frame of every page: navigation, landmarks, style sheet and script.

use maud::{DOCTYPE, Markup, html};

use crate::control::page_sessions::SessionView;
use crate::render::page::assets::{PAGE_SCRIPT, STYLE_SHEET};
use crate::render::page::forms::form_token;
use crate::render::page::parts::sentence;
use crate::render::words::clean;

/// A page loads its own style sheet and script, asks its own origin, and nothing else.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
    connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A part of the page that the navigation names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSection {
    Overview,
    Resources,
    Plan,
    Intents,
    Events,
    Audit,
}

pub const SECTIONS: [(PageSection, &str, &str); 6] = [
    (PageSection::Overview, "Overview", "/"),
    (PageSection::Resources, "Resources", "/resources"),
    (PageSection::Plan, "Plan", "/plan"),
    (PageSection::Intents, "Intents", "/intents"),
    (PageSection::Events, "Events", "/events"),
    (PageSection::Audit, "Audit", "/audit"),
];

#[derive(Debug)]
pub struct OperatorPage<'a> {
    pub title: &'a str,
    pub section: Option<PageSection>,
    /// Sentences on what holds changes back.
    pub holds: Vec<String>,
    /// The session in which the page is shown.
    pub session: Option<&'a SessionView>,
    pub inner: Markup,
}

impl OperatorPage<'_> {
    pub fn html(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                (self.head())
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.who {
                        span.brand { "reckon" }
                        (self.navigation())
                        span #live role="status" {}
                        @if let Some(session) = self.session { (visitor(session)) }
                    }
                    div #frozen role="status" data-live {
                        @for hold in &self.holds { div.notice.bad { (sentence(hold)) } }
                    }
                    main.page #content tabindex="-1" { h1 { (self.title) } (self.notice()) (self.inner) }
                    (self.footer())
                }
            }
        }
    }

    /// Returns the result of the write before, which is shown once.
    fn notice(&self) -> Markup {
        let notice = self.session.and_then(|session| session.notice.as_deref());
        html! { @if let Some(notice) = notice { div.notice.good role="status" { (sentence(notice)) } } }
    }

    fn footer(&self) -> Markup {
        let text = match self.session {
            Some(_) => "Commands on this page are for a terminal.",
            None => "Commands on this page are for a terminal. To act here instead: `reckon page`.",
        };
        html! { footer { (sentence(text)) } }
    }

    fn head(&self) -> Markup {
        html! {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (self.title) " · reckon" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href=(STYLE_SHEET.path);
                script src=(PAGE_SCRIPT.path) defer {}
            }
        }
    }

    fn navigation(&self) -> Markup {
        html! {
            nav aria-label="Sections" {
                ul {
                    @for (section, name, path) in SECTIONS {
                        @let here = (self.section == Some(section)).then_some("page");
                        li { a href=(path) aria-current=[here] { (name) } }
                    }
                }
            }
        }
    }
}

/// Returns the person of a session, with the button that ends it.
fn visitor(session: &SessionView) -> Markup {
    html! {
        form.visitor method="post" action="/leave" {
            (form_token(session))
            span { (clean(&session.actor)) }
            button.plain type="submit" { "Leave" }
        }
    }
}
