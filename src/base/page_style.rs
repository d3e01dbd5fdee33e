//! Shared look of every page of the sandbox and of the daemon: one frame, and one style sheet,
//! light and dark. The headers of a page isolate it from other pages.

#[cfg(test)]
pub(crate) mod tests;

use http::{HeaderName, HeaderValue, header};
use maud::{DOCTYPE, Markup, html};

pub const STYLES: &str = include_str!("page_style/pages.css");

/// A policy under which a page loads and sends nothing.
const DENY_ALL_POLICY: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Width of a page's column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PageWidth {
    /// For a form.
    Narrow,
    #[default]
    Text,
    /// For tables.
    Wide,
}

impl PageWidth {
    fn class(self) -> Option<&'static str> {
        match self {
            Self::Narrow => Some("narrow"),
            Self::Text => None,
            Self::Wide => Some("page"),
        }
    }
}

#[derive(Debug)]
pub struct PageFrame<'a> {
    /// The heading, and the first part of the title.
    pub title: &'a str,
    /// The brand or the merchant that shows the page, if known; the second part of the title.
    pub sender: Option<&'a str>,
    pub inner: &'a Markup,
    pub footer: Option<&'a str>,
    pub width: PageWidth,
    /// Seconds after which a browser loads the page again.
    pub refresh_s: Option<u32>,
    /// The style sheet, in place or as a link.
    pub styles: Markup,
    pub scripts: Markup,
}

impl PageFrame<'_> {
    pub fn html(&self) -> Markup {
        let Self { title, sender, inner, footer, width, .. } = self;
        html! {
            (DOCTYPE)
            html lang="en" {
                (self.head())
                body {
                    @if let Some(name) = sender { header.who { (name) } }
                    main class=[width.class()] { h1 { (title) } (inner) }
                    @if let Some(text) = footer { footer { (text) } }
                    (self.scripts)
                }
            }
        }
    }

    fn head(&self) -> Markup {
        html! {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                @if let Some(seconds) = self.refresh_s { meta http-equiv="refresh" content=(seconds); }
                title { (self.title) @if let Some(name) = self.sender { " · " (name) } }
                link rel="icon" href="data:,";
                (self.styles)
            }
        }
    }
}

/// Returns the headers of every page. An invalid policy becomes one that allows nothing.
pub fn headers(policy: &str) -> [(HeaderName, HeaderValue); 5] {
    let policy =
        HeaderValue::from_str(policy).unwrap_or_else(|_| HeaderValue::from_static(DENY_ALL_POLICY));
    [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    ]
}
