//! HTML pages of the sandbox, with styles and scripts of its own origin only: the frame of every
//! page, the start page, and the hosted fields.
//!
//! Hosted fields are the library that a merchant's page loads, and its frames (partner-api,
//! Hosted-fields client library; service-facts, part 11). The frames are pages of this origin inside
//! a page of another origin, which cannot read their input. They call only this origin.

use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};
use maud::{Markup, html};
use serde_json::json;

use crate::api::method::MethodKind;
use crate::api::wire::Timestamp;
use crate::base::clock::timestamp;
use crate::base::money::{Currency, Money};
use crate::base::page_style::{PageFrame, PageWidth, STYLES, headers};
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::store::ChangeUnit;

/// Content security policy of a page: styles, scripts and frames of this origin, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/// Assets of the pages: path, type, content.
pub(crate) const ASSETS: [(&str, &str, &str); 5] = [
    ("/assets/pages.css", STYLE, STYLES),
    ("/assets/sign.js", SCRIPT, include_str!("pages/sign.js")),
    ("/assets/portal.js", SCRIPT, include_str!("pages/portal.js")),
    ("/assets/mail.js", SCRIPT, include_str!("pages/mail.js")),
    ("/assets/search.js", SCRIPT, include_str!("pages/search.js")),
];

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
pub(crate) const HTML: &str = "text/html; charset=utf-8";
/// The last line of every page and every e-mail.
pub(crate) const FOOTER: &str = "This is a sandbox: no real money moves here.";

#[derive(Debug)]
pub(crate) struct SandboxPage<'a> {
    brand: &'a str,
    title: &'a str,
    inner: Markup,
    width: PageWidth,
    scripts: &'a [&'a str],
    /// A second origin to which its form may lead.
    leads_to: Option<String>,
    /// True if its forms lead to control paths, which need the form's origin.
    sends_origin: bool,
}

impl<'a> SandboxPage<'a> {
    /// Creates a page of a product brand. The title is also the heading; `inner` follows it.
    pub(crate) fn new(brand: &'a str, title: &'a str, inner: Markup) -> Self {
        Self {
            brand,
            title,
            inner,
            width: PageWidth::Text,
            scripts: &[],
            leads_to: None,
            sends_origin: false,
        }
    }

    pub(crate) fn narrow(self) -> Self {
        Self { width: PageWidth::Narrow, ..self }
    }

    pub(crate) fn wide(self) -> Self {
        Self { width: PageWidth::Wide, ..self }
    }

    pub(crate) fn scripts(self, scripts: &'a [&'a str]) -> Self {
        Self { scripts, ..self }
    }

    pub(crate) fn leads_to(self, origin: Option<String>) -> Self {
        Self { leads_to: origin, ..self }
    }

    /// Lets browsers name the page's origin to this origin; without it they send `Origin: null`.
    pub(crate) fn with_orders(self) -> Self {
        Self { sends_origin: true, ..self }
    }

    pub(crate) fn answer(&self, status: StatusCode) -> SandboxAnswer {
        self.answer_beneath("", status)
    }

    pub(crate) fn answer_beneath(&self, root: &str, status: StatusCode) -> SandboxAnswer {
        let body = self.html(root).into_string().into_bytes();
        let answer = SandboxAnswer::of(status, HTML, body);
        let target = self.leads_to.as_ref().map(|origin| format!(" {origin}"));
        let headers = headers(&format!("{POLICY}{}", target.unwrap_or_default()));
        let headers = headers.map(|(name, value)| {
            let is_open = self.sends_origin && name == header::REFERRER_POLICY;
            (name, if is_open { HeaderValue::from_static("same-origin") } else { value })
        });
        headers.into_iter().fold(answer, |answer, (name, value)| answer.with(name, value))
    }

    fn html(&self, root: &str) -> Markup {
        let Self { brand, title, inner, width, scripts, .. } = self;
        let frame = PageFrame {
            title,
            sender: Some(brand),
            inner,
            footer: Some(FOOTER),
            width: *width,
            refresh_s: None,
            styles: html! { link rel="stylesheet" href={ (root) "/assets/pages.css" }; },
            scripts: html! { @for path in *scripts { script src={ (root) (path) } {} } },
        };
        frame.html()
    }
}

/// Returns true for a request that asks for HTML by name, as browsers do; programs get JSON.
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
    cx: &ChangeUnit,
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
        p.back { a href="/" { "First page of this sandbox" } }
    };
    short(cx, StatusCode::NOT_FOUND, "Not found", inner)
}

/// Renders a page of the sandbox's own brand in one narrow column.
pub(crate) fn short(
    cx: &ChangeUnit,
    status: StatusCode,
    title: &str,
    inner: Markup,
) -> SandboxAnswer {
    SandboxPage::new(&cx.environment.options.brand, title, inner).narrow().answer(status)
}

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

pub(crate) fn date(time: Timestamp) -> String {
    time.0.format("%-d %B %Y").to_string()
}

pub(crate) fn moment(time: Timestamp) -> Markup {
    let (exact, shown) = (timestamp(&time.0), time.0.format("%-d %B %Y, %H:%M UTC").to_string());
    html! { time datetime=(exact) { (shown) } }
}

pub(crate) const API_REFERENCE: &str = "/openapi";
pub(crate) const START_PATH: &str = "/";

/// Pages that the first page leads to, beside the mailbox.
pub(crate) const LINKS: [(&str, &str, &str); 2] = [
    (API_REFERENCE, "API reference", "Every request that the service accepts, with examples"),
    (
        "/_sandbox/credentials",
        "Credentials",
        "The partner and its merchants with their keys, for programs (JSON)",
    ),
];

const COMMANDS: [(&str, &str); 2] = [
    (
        "eval \"$(reckon sandbox env)\"",
        "Set the variables with which your configuration reaches this sandbox:",
    ),
    ("reckon plan", "Show what your files would change here:"),
];

/// Returns the page at `/` for other machines, and for links from other pages.
pub(crate) fn start(cx: &ChangeUnit) -> SandboxAnswer {
    let inner = html! {
        p { "A complete emulator of the payment service, on your own machine. Its money, its cards and its e-mails are \
             not real." }
        ul.cards {
            li {
                a href=(START_PATH) { "Overview" }
                span { "Time, merchants, ledger, requests, faults and e-mails, on the sandbox's own machine" }
            }
            @for (path, name, about) in LINKS {
                li { a href=(path) { (name) } span { (about) } }
            }
        }
        (terminal())
    };
    let brand = &cx.environment.options.brand;
    SandboxPage::new(brand, "Payment sandbox", inner).answer(StatusCode::OK)
}

pub(crate) fn terminal() -> Markup {
    html! {
        h2 { "Try it from a terminal" }
        @for (command, about) in COMMANDS {
            p.quiet { (about) }
            pre { (command) }
        }
    }
}

/// Content security policy of a frame: only this origin's script and styles; any page may embed it.
const FRAME_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors *";

/// The library's files: path, type, content.
pub(crate) const FILES: [(&str, &str, &str); 4] = [
    (
        "/hosted-fields/1.5.0/hosted-fields.js",
        SCRIPT,
        include_str!("pages/hosted_fields/hosted-fields.js"),
    ),
    ("/hosted-fields/1.5.0/field.html", HTML, include_str!("pages/hosted_fields/field.html")),
    ("/hosted-fields/1.5.0/field.css", STYLE, include_str!("pages/hosted_fields/field.css")),
    ("/hosted-fields/1.5.0/field.js", SCRIPT, include_str!("pages/hosted_fields/field.js")),
];

/// Path at which a frame asks if cards bear a surcharge.
pub(crate) const SURCHARGEABLE: &str = "/hosted-fields/1.5.0/surchargeable";

pub(crate) fn file(content_type: &'static str, content: &'static str) -> SandboxAnswer {
    let answer = SandboxAnswer::of(StatusCode::OK, content_type, content.as_bytes().to_vec());
    answer
        .with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FRAME_POLICY))
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}

/// GET by public key: answers a frame if the merchant adds a surcharge to cards.
pub(crate) fn surchargeable(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    let policy = cx.policy(&asked.owner()?.merchant)?;
    let card = policy.surcharges.iter().any(|rate| rate.kind == MethodKind::Card);
    SandboxAnswer::json(&json!({ "card": card }))
}
