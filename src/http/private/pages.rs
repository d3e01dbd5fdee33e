//! The daemon's own pages. Their styles and scripts carry the answer's own nonce; nothing else runs
//! or loads.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use data_encoding::BASE64_NOPAD;
use maud::{Markup, PreEscaped, html};

use crate::base::page_style::{PageFrame, STYLES, headers};

/// Random bytes of a nonce.
const NONCE_BYTES: usize = 18;
/// Seconds after which a waiting page reloads.
const REFRESH_S: u32 = 3;

/// Returns a random nonce for one answer; `None` if the operating system gives none.
pub(crate) fn nonce() -> Option<String> {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(BASE64_NOPAD.encode(&bytes))
}

/// A page before it is rendered.
#[derive(Debug)]
pub(crate) struct HtmlPage<'a> {
    pub(crate) title: &'a str,
    pub(crate) inner: Markup,
    pub(crate) nonce: &'a str,
    /// The sender of the link, where that is known.
    pub(crate) header: Option<&'a str>,
    pub(crate) footer: Option<&'a str>,
    /// True for a page that reloads by itself.
    pub(crate) refresh: bool,
    /// Policy directives beside those of every page.
    pub(crate) policy_extra: String,
    /// The page's own scripts, at its end.
    pub(crate) scripts: Markup,
}

impl<'a> HtmlPage<'a> {
    /// Creates a page of a few words, without scripts.
    pub(crate) fn plain(title: &'a str, inner: Markup, nonce: &'a str) -> Self {
        let (more, scripts) = (String::new(), html! {});
        Self {
            title,
            inner,
            nonce,
            header: None,
            footer: None,
            refresh: false,
            policy_extra: more,
            scripts,
        }
    }

    /// Responds with the page.
    pub(crate) fn answer(self, status: StatusCode) -> Response {
        (status, headers(&self.policy()), Html(self.html().into_string())).into_response()
    }

    fn policy(&self) -> String {
        let Self { nonce, policy_extra: more, .. } = self;
        let forms = if more.contains("form-action") { "" } else { "form-action 'self'; " };
        format!(
            "default-src 'none'; {more}{forms}style-src 'nonce-{nonce}'; img-src data:; base-uri 'none'; \
             frame-ancestors 'none'"
        )
    }

    fn html(self) -> Markup {
        let Self { title, inner, nonce, header, footer, refresh, policy_extra: _, scripts } = self;
        let frame = PageFrame {
            title,
            sender: header,
            inner: &inner,
            footer,
            is_narrow: true,
            refresh_s: refresh.then_some(REFRESH_S),
            styles: html! { style nonce=(nonce) { (PreEscaped(STYLES)) } },
            scripts,
        };
        frame.html()
    }
}

/// Responds to a link that leads nowhere: forged, mistyped, or of another daemon. The page never
/// says which.
pub(crate) fn dead_link_page() -> Response {
    let inner = html! { p { "This link is not valid. Please ask the sender for a new one." } };
    message_page("Not found", inner, StatusCode::NOT_FOUND)
}

/// Responds where the daemon does not know the present status.
pub(crate) fn unavailable_page() -> Response {
    let inner = html! { p { "This page is not available at the moment. Please open the link again \
    a little later." } };
    message_page("Please come back", inner, StatusCode::SERVICE_UNAVAILABLE)
}

/// Responds to a link that leads nowhere, or nowhere just now.
pub(crate) fn page_for_status(status: StatusCode) -> Response {
    if status == StatusCode::NOT_FOUND { dead_link_page() } else { unavailable_page() }
}

/// Responds with a page of a few words.
pub(crate) fn message_page(title: &str, inner: Markup, status: StatusCode) -> Response {
    match nonce() {
        Some(nonce) => HtmlPage::plain(title, inner, &nonce).answer(status),
        None => status.into_response(),
    }
}
