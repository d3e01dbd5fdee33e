//! The pages that people see: one frame and one sheet of styles for all of them, scripts from this origin alone.

use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};

use crate::api::wire::Timestamp;
use crate::base::clock::timestamp;
use crate::base::look::STYLES;
use crate::base::money::{Currency, Money};
use crate::sandbox::answer::Answer;

/// The resources that a page may load: styles, scripts and frames of this origin, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
/// The files that pages load: path, type, content.
pub(crate) const ASSETS: [(&str, &str, &str); 5] = [
    ("/assets/pages.css", "text/css; charset=utf-8", STYLES),
    ("/assets/sign.js", SCRIPT, include_str!("pages/sign.js")),
    ("/assets/portal.js", SCRIPT, include_str!("pages/portal.js")),
    ("/assets/mail.js", SCRIPT, include_str!("pages/mail.js")),
    ("/assets/search.js", SCRIPT, include_str!("pages/search.js")),
];
/// The type of a script.
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";
/// The last line of every page and every e-mail.
pub(crate) const FOOTER: &str = "This is a sandbox: no real money moves here.";

/// A page in the making.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    brand: &'a str,
    title: &'a str,
    inner: Markup,
    narrow: bool,
    scripts: &'a [&'a str],
    /// An origin beside the own one to which its form may lead.
    leads_to: Option<String>,
}

impl<'a> Page<'a> {
    /// A page of a product brand; its title is its heading, and `inner` follows that.
    pub(crate) fn new(brand: &'a str, title: &'a str, inner: Markup) -> Self {
        Self { brand, title, inner, narrow: false, scripts: &[], leads_to: None }
    }

    /// The same page as one narrow column.
    pub(crate) fn narrow(self) -> Self {
        Self { narrow: true, ..self }
    }

    /// The same page with the scripts of these paths.
    pub(crate) fn scripts(self, scripts: &'a [&'a str]) -> Self {
        Self { scripts, ..self }
    }

    /// The same page, whose form may lead to another origin.
    pub(crate) fn leads_to(self, origin: Option<String>) -> Self {
        Self { leads_to: origin, ..self }
    }

    /// The page as an answer.
    pub(crate) fn answer(&self, status: StatusCode) -> Answer {
        self.answer_beneath("", status)
    }

    /// The same where all that it loads lies beneath `root`.
    pub(crate) fn answer_beneath(&self, root: &str, status: StatusCode) -> Answer {
        let body = self.html(root).into_string().into_bytes();
        Answer::of(status, "text/html; charset=utf-8", body)
            .with(header::CONTENT_SECURITY_POLICY, self.policy())
            .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
            .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
    }

    fn policy(&self) -> HeaderValue {
        let own = HeaderValue::from_static(POLICY);
        let Some(origin) = &self.leads_to else { return own };
        HeaderValue::from_str(&format!("{POLICY} {origin}")).unwrap_or(own)
    }

    fn html(&self, root: &str) -> Markup {
        let Self { brand, title, inner, narrow, scripts, leads_to: _ } = self;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    title { (title) " · " (brand) }
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href={ (root) "/assets/pages.css" };
                    @for path in *scripts { script src={ (root) (path) } defer {} }
                }
                body {
                    header.brand { (brand) }
                    main.narrow[*narrow] { h1 { (title) } (inner) }
                    footer { (FOOTER) }
                }
            }
        }
    }
}

/// A labelled input with its error beside it.
pub(crate) fn field(name: &str, label: &str, control: &Markup, error: Option<&str>) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            (control)
            @if let Some(text) = error { span.error id={ (name) "-error" } role="alert" { (text) } }
        }
    }
}

/// An amount as people read it. Without a currency, or with one that is none, it is in US dollars.
pub(crate) fn amount(minor: i64, currency: Option<&str>) -> String {
    let currency = currency.and_then(|code| code.parse::<Currency>().ok());
    Money::new(minor, currency.unwrap_or(Currency::USD)).to_string()
}

/// A date as people read it.
pub(crate) fn date(time: Timestamp) -> String {
    time.0.format("%-d %B %Y").to_string()
}

/// A moment as people read it, and as programs do.
pub(crate) fn moment(time: Timestamp) -> Markup {
    let (exact, shown) = (timestamp(&time.0), time.0.format("%-d %B %Y, %H:%M UTC").to_string());
    html! { time datetime=(exact) { (shown) } }
}
