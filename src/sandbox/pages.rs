//! The pages that people see: one frame and one sheet of styles for all of them, scripts from this origin alone.

use http::{HeaderValue, StatusCode, header};

use crate::api::wire::Timestamp;
use crate::base::clock::timestamp;
use crate::base::money::{Currency, Money};
use crate::sandbox::answer::Answer;
use crate::sandbox::mail::escape;

/// What a page may load: styles, scripts and frames of this origin, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";
/// The files that pages load: path, type, content.
pub(crate) const ASSETS: [(&str, &str, &str); 4] = [
    ("/assets/pages.css", "text/css; charset=utf-8", include_str!("pages/pages.css")),
    ("/assets/sign.js", SCRIPT, include_str!("pages/sign.js")),
    ("/assets/portal.js", SCRIPT, include_str!("pages/portal.js")),
    ("/assets/mail.js", SCRIPT, include_str!("pages/mail.js")),
];
/// The type of a script.
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";
/// What every page and every e-mail ends with.
pub(crate) const FOOTER: &str = "This is a sandbox: no real money moves here.";

/// A page in the making.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    /// The product brand above it.
    pub(crate) brand: &'a str,
    /// Its title, and its heading.
    pub(crate) title: &'a str,
    /// What stands below the heading, as HTML.
    pub(crate) inner: &'a str,
    /// Whether it is a column of one narrow form.
    pub(crate) narrow: bool,
    /// Paths of its scripts.
    pub(crate) scripts: &'a [&'a str],
}

impl Page<'_> {
    /// The page as an answer.
    pub(crate) fn answer(&self, status: StatusCode) -> Answer {
        self.answer_beneath("", status)
    }

    /// The same where all that it loads lies beneath `root`.
    pub(crate) fn answer_beneath(&self, root: &str, status: StatusCode) -> Answer {
        let answer = Answer::of(status, "text/html; charset=utf-8", self.html(root).into_bytes());
        answer
            .with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
            .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
    }

    fn html(&self, root: &str) -> String {
        let (brand, title, inner) = (escape(self.brand), escape(self.title), self.inner);
        let class = if self.narrow { " class=\"narrow\"" } else { "" };
        let script = |path: &&str| format!("<script src=\"{root}{path}\" defer></script>");
        let scripts: String = self.scripts.iter().map(script).collect();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"robots\" content=\"noindex\"><title>{title} · {brand}</title>\
             <link rel=\"icon\" href=\"data:,\">\
             <link rel=\"stylesheet\" href=\"{root}/assets/pages.css\">{scripts}</head>\
             <body><header class=\"brand\">{brand}</header><main{class}><h1>{title}</h1>{inner}</main>\
             <footer>{FOOTER}</footer></body></html>\n"
        )
    }
}

/// A labelled input with what is wrong with it beside it.
pub(crate) fn field(name: &str, label: &str, control: &str, error: Option<&str>) -> String {
    let (name, label) = (escape(name), escape(label));
    let error = error.map(|text| {
        format!("<span class=\"error\" id=\"{name}-error\" role=\"alert\">{}</span>", escape(text))
    });
    format!(
        "<div class=\"field\"><label for=\"{name}\">{label}</label>{control}{}</div>",
        error.unwrap_or_default()
    )
}

/// What marks an input as wrong for those who do not see its colour.
pub(crate) fn marks(name: &str, is_wrong: bool) -> String {
    if is_wrong {
        format!(" aria-invalid=\"true\" aria-describedby=\"{}-error\"", escape(name))
    } else {
        String::new()
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
pub(crate) fn moment(time: Timestamp) -> String {
    let (exact, shown) = (timestamp(&time.0), time.0.format("%-d %B %Y, %H:%M UTC"));
    format!("<time datetime=\"{exact}\">{shown}</time>")
}
