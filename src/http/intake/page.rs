//! The payer's page as HTML: one frame, one sheet of styles, and what the link leads to now.
//!
//! Nothing runs or is shown on it but what carries the answer's own nonce, and frames of the service. Its inputs have
//! no names: the one thing that the form sends is the token.

use axum::http::uri::Uri;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use crate::base::id::Mode;
use crate::engine::{Asking, Intake};

/// The service's library, beneath its address (partner-api, Hosted-fields client library).
const LIBRARY: &str = "/hosted-fields/1.5.0/hosted-fields.js";
const STYLES: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Seconds after which a page that waits looks again.
const REFRESH_S: u32 = 3;

/// What a link leads to, as an answer. `nonce` belongs to this answer alone.
pub(super) fn answer(state: &Intake, nonce: &str) -> Response {
    match state {
        Intake::Asks(asking) => asks(asking, nonce).answer(StatusCode::OK),
        Intake::Received => {
            let inner = "<p role=\"status\">We have received your details, and they are being saved. You can close \
                         this page.</p>";
            Page { refresh: true, ..Page::plain("Thank you", inner, nonce) }.answer(StatusCode::OK)
        }
        Intake::Stored => {
            let inner = "<p role=\"status\">Your details are saved. There is nothing more to do, and this link is \
                         not needed any more.</p>";
            Page::plain("Thank you", inner, nonce).answer(StatusCode::GONE)
        }
        Intake::Over => {
            let inner =
                "<p>This link is not valid any more. Please ask whoever sent it for a new one.</p>";
            Page::plain("This link has ended", inner, nonce).answer(StatusCode::GONE)
        }
        Intake::Later => {
            let inner = "<p>This cannot be filled in just now. Please open the link again a little later.</p>";
            Page::plain("Please come back", inner, nonce).answer(StatusCode::SERVICE_UNAVAILABLE)
        }
    }
}

/// A page in the making.
struct Page<'a> {
    title: &'a str,
    inner: String,
    nonce: &'a str,
    /// Who asks, where that is known.
    header: Option<&'a str>,
    footer: Option<&'a str>,
    /// Whether it looks again by itself.
    refresh: bool,
    /// The service whose fields it shows.
    service: Option<&'a str>,
}

impl<'a> Page<'a> {
    fn plain(title: &'a str, inner: &str, nonce: &'a str) -> Self {
        let inner = inner.to_owned();
        Self { title, inner, nonce, header: None, footer: None, refresh: false, service: None }
    }

    fn answer(&self, status: StatusCode) -> Response {
        (status, self.headers(), Html(self.html())).into_response()
    }

    fn headers(&self) -> [(HeaderName, String); 5] {
        [
            (header::CONTENT_SECURITY_POLICY, self.policy()),
            (header::CACHE_CONTROL, "no-store".to_owned()),
            (header::REFERRER_POLICY, "no-referrer".to_owned()),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
            (header::X_FRAME_OPTIONS, "DENY".to_owned()),
        ]
    }

    fn policy(&self) -> String {
        let nonce = self.nonce;
        let service = self.service.and_then(origin).map(|origin| {
            format!("script-src 'nonce-{nonce}'; frame-src {origin}; form-action 'self'; ")
        });
        format!(
            "default-src 'none'; {}style-src 'nonce-{nonce}'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
            service.unwrap_or_default()
        )
    }

    fn html(&self) -> String {
        let Self { title, inner, nonce, header, footer, refresh, service } = self;
        let header = header.map(|name| format!("<header>{}</header>", escape(name)));
        let footer = footer.map(|text| format!("<footer>{}</footer>", escape(text)));
        let refresh = refresh
            .then(|| format!("<meta http-equiv=\"refresh\" content=\"{REFRESH_S}\">"))
            .unwrap_or_default();
        let scripts = service.map(|service| {
            let library = escape(&format!("{}{LIBRARY}", service.trim_end_matches('/')));
            format!(
                "<script nonce=\"{nonce}\" src=\"{library}\"></script><script nonce=\"{nonce}\">{SCRIPT}</script>"
            )
        });
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"robots\" content=\"noindex\">{refresh}<title>{title}</title>\
             <link rel=\"icon\" href=\"data:,\"><style nonce=\"{nonce}\">{STYLES}</style></head>\
             <body>{}<main><h1>{title}</h1>{inner}</main>{}{}</body></html>\n",
            header.unwrap_or_default(),
            footer.unwrap_or_default(),
            scripts.unwrap_or_default()
        )
    }
}

/// The page that asks.
fn asks<'a>(asking: &'a Asking, nonce: &'a str) -> Page<'a> {
    let Asking { sort, public_key, merchant, mode, service, trouble, replaces, tokens } = asking;
    let is_card = *sort == "card";
    let (title, what, fields, button) = if is_card {
        ("Your card", "a card", card(), "Save this card")
    } else {
        ("Your bank account", "a bank account", bank(), "Save this account")
    };
    let who = merchant.as_deref().map_or_else(|| "The sender".to_owned(), escape);
    let trouble = match trouble {
        Some(_) => {
            "<p class=\"notice bad\" id=\"trouble\" role=\"alert\">It could not be saved, and nothing was kept. \
                    Please look at your details and send them once more.</p>"
        }
        None => "<p class=\"notice bad\" id=\"trouble\" role=\"alert\" hidden></p>",
    };
    let replaces = if *replaces { " It takes the place of the one that is kept now." } else { "" };
    let inner = format!(
        "<p class=\"quiet\">{who} asks for {what} to be kept for payments that you agreed to.{replaces} The numbers go \
         straight to the payment service, and nobody here sees them.</p>\
         <form id=\"intake\" method=\"post\" novalidate data-sort=\"{sort}\" data-tokens=\"{tokens}\" \
         data-public-key=\"{}\">\
         <div class=\"fields\">{fields}</div>{trouble}<input type=\"hidden\" id=\"token\" name=\"token_id\">\
         <div class=\"actions\"><button>{button}</button></div>\
         <noscript><p class=\"notice\">The numbers are typed into protected fields, which need scripts.</p></noscript>\
         </form>",
        escape(public_key)
    );
    let footer = (*mode == Mode::Test).then_some("This is a test: no real money moves here.");
    let header = merchant.as_deref();
    Page { title, inner, nonce, header, footer, refresh: false, service: Some(service) }
}

fn card() -> String {
    [
        hosted("number", "Card number", true),
        input("expiry", "Expiry", ("MM/YY", "cc-exp"), "inputmode=\"numeric\" maxlength=\"9\""),
        hosted("cvv", "Security code", false),
        wide(&input("name", "Name on the card", ("", "cc-name"), "maxlength=\"64\"")),
        input(
            "address1",
            "Street address <span class=\"hint\">(optional)</span>",
            ("", "address-line1"),
            "maxlength=\"64\"",
        ),
        input(
            "postal_code",
            "Postal code <span class=\"hint\">(optional)</span>",
            ("", "postal-code"),
            "maxlength=\"10\"",
        ),
    ]
    .concat()
}

fn bank() -> String {
    let holder = [("person", "A person"), ("business", "A business")];
    let types = [("CHECKING", "Checking"), ("SAVINGS", "Savings")];
    let business =
        input("business", "Name of the business", ("", "organization"), "maxlength=\"64\"");
    [
        hosted("routing", "Routing number", false),
        hosted("account", "Account number", false),
        select("account_type", "Type of account", &types),
        select("holder", "Whose account it is", &holder),
        input("given", "Given name", ("", "given-name"), "maxlength=\"64\""),
        input("surname", "Family name", ("", "family-name"), "maxlength=\"64\""),
        wide(&business).replacen("<div ", "<div hidden ", 1),
    ]
    .concat()
}

/// A place for a field of the service.
fn hosted(id: &str, label: &str, is_wide: bool) -> String {
    let class = if is_wide { "field wide" } else { "field" };
    format!(
        "<div class=\"{class}\"><span class=\"label\">{label}</span><div class=\"hosted\" id=\"{id}\"></div>{}</div>",
        error(id)
    )
}

/// An input of this page, which is not sent.
fn input(id: &str, label: &str, (placeholder, complete): (&str, &str), more: &str) -> String {
    format!(
        "<div class=\"field\"><label for=\"{id}\">{label}</label><input id=\"{id}\" placeholder=\"{placeholder}\" \
         autocomplete=\"{complete}\" aria-describedby=\"{id}-error\" {more}>{}</div>",
        error(id)
    )
}

fn select(id: &str, label: &str, choices: &[(&str, &str)]) -> String {
    let choice =
        |(value, text): &(&str, &str)| format!("<option value=\"{value}\">{text}</option>");
    let choices: String = choices.iter().map(choice).collect();
    format!(
        "<div class=\"field\"><label for=\"{id}\">{label}</label><select id=\"{id}\">{choices}</select></div>"
    )
}

/// The same field over the whole width.
fn wide(field: &str) -> String {
    field.replacen("class=\"field\"", "class=\"field wide\"", 1)
}

fn error(id: &str) -> String {
    format!("<span class=\"error\" id=\"{id}-error\" role=\"alert\"></span>")
}

/// The origin of an address, for a policy.
fn origin(address: &str) -> Option<String> {
    let uri: Uri = address.parse().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}

/// A text that is part of a page, whatever it holds.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            one => safe.push(one),
        }
    }
    safe
}
