//! HTML pages of the sandbox, with styles and scripts of its own origin only.

use http::request::Parts;
use http::{Method, StatusCode, header};
use maud::{Markup, html};

use crate::api::wire::Timestamp;
use crate::base::clock::timestamp;
use crate::base::money::{Currency, Money};
use crate::base::page_style::{PageFrame, STYLES, headers};
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;

/// Content security policy of a page: styles, scripts and frames of this origin, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
/// Assets of the pages: path, type, content.
pub(crate) const ASSETS: [(&str, &str, &str); 5] = [
    ("/assets/pages.css", "text/css; charset=utf-8", STYLES),
    ("/assets/sign.js", SCRIPT, include_str!("sign.js")),
    ("/assets/portal.js", SCRIPT, include_str!("portal.js")),
    ("/assets/mail.js", SCRIPT, include_str!("mail.js")),
    ("/assets/search.js", SCRIPT, include_str!("search.js")),
];
/// Content type of a script.
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";
/// The last line of every page and every e-mail.
pub(crate) const FOOTER: &str = "This is a sandbox: no real money moves here.";

/// A page to render.
#[derive(Debug)]
pub(crate) struct SandboxPage<'a> {
    brand: &'a str,
    title: &'a str,
    inner: Markup,
    narrow: bool,
    scripts: &'a [&'a str],
    /// A second origin to which its form may lead.
    leads_to: Option<String>,
}

impl<'a> SandboxPage<'a> {
    /// Creates a page of a product brand. The title is also the heading; `inner` follows it.
    pub(crate) fn new(brand: &'a str, title: &'a str, inner: Markup) -> Self {
        Self { brand, title, inner, narrow: false, scripts: &[], leads_to: None }
    }

    /// Renders the page as one narrow column.
    pub(crate) fn narrow(self) -> Self {
        Self { narrow: true, ..self }
    }

    /// Adds the scripts at these paths.
    pub(crate) fn scripts(self, scripts: &'a [&'a str]) -> Self {
        Self { scripts, ..self }
    }

    /// Lets the form lead to another origin.
    pub(crate) fn leads_to(self, origin: Option<String>) -> Self {
        Self { leads_to: origin, ..self }
    }

    /// Renders the page as an answer.
    pub(crate) fn answer(&self, status: StatusCode) -> SandboxAnswer {
        self.answer_beneath("", status)
    }

    /// Renders the page with its assets beneath `root`.
    pub(crate) fn answer_beneath(&self, root: &str, status: StatusCode) -> SandboxAnswer {
        let body = self.html(root).into_string().into_bytes();
        let answer = SandboxAnswer::of(status, "text/html; charset=utf-8", body);
        let headers = headers(&self.policy());
        headers.into_iter().fold(answer, |answer, (name, value)| answer.with(name, value))
    }

    fn policy(&self) -> String {
        match &self.leads_to {
            Some(origin) => format!("{POLICY} {origin}"),
            None => POLICY.to_owned(),
        }
    }

    fn html(&self, root: &str) -> Markup {
        let Self { brand, title, inner, narrow, scripts, leads_to: _ } = self;
        let frame = PageFrame {
            title,
            sender: Some(brand),
            inner,
            footer: Some(FOOTER),
            is_narrow: *narrow,
            refresh_s: None,
            styles: html! { link rel="stylesheet" href={ (root) "/assets/pages.css" }; },
            scripts: html! { @for path in *scripts { script src={ (root) (path) } {} } },
        };
        frame.html()
    }
}

/// Returns true for a request that asks for HTML by name, as browsers do. Programs accept anything,
/// and get JSON.
pub(crate) fn wants_page(parts: &Parts) -> bool {
    let lines = parts.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let mut ranges = lines.flat_map(|line| line.split(','));
    ranges.any(|range| {
        let kind = range.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("text/html")
    })
}

/// Renders a refusal: a page for a browser at an unknown address, else JSON.
pub(crate) fn render_refusal(
    brand: &str,
    parts: &Parts,
    refusal: &SandboxRefusal,
) -> SandboxAnswer {
    let is_page =
        refusal.status == StatusCode::NOT_FOUND && parts.method == Method::GET && wants_page(parts);
    if !is_page {
        return SandboxAnswer::from_refusal(refusal);
    }
    let inner = html! {
        p { "There is no page at this address." }
        p.back { a href="/" { "Start page of this sandbox" } }
    };
    SandboxPage::new(brand, "Not found", inner).narrow().answer(StatusCode::NOT_FOUND)
}

/// Renders a labelled input with its error.
pub(crate) fn field(name: &str, label: &str, control: &Markup, error: Option<&str>) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            (control)
            @if let Some(text) = error { span.error id={ (name) "-error" } role="alert" { (text) } }
        }
    }
}

/// Formats an amount for people; an absent or unknown currency counts as US dollars.
pub(crate) fn amount(minor: i64, currency: Option<&str>) -> String {
    let currency = currency.and_then(|code| code.parse::<Currency>().ok());
    Money::new(minor, currency.unwrap_or(Currency::USD)).to_string()
}

/// Formats a date for people.
pub(crate) fn date(time: Timestamp) -> String {
    time.0.format("%-d %B %Y").to_string()
}

/// Renders a moment for people, with the exact time for programs.
pub(crate) fn moment(time: Timestamp) -> Markup {
    let (exact, shown) = (timestamp(&time.0), time.0.format("%-d %B %Y, %H:%M UTC").to_string());
    html! { time datetime=(exact) { (shown) } }
}
