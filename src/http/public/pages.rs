//! The daemon's own pages: messages, and the payer's form. A page runs and shows only what carries
//! the answer's own nonce, and frames of the service. The form's inputs have no names: it sends
//! only the token.

use axum::http::StatusCode;
use axum::http::uri::Uri;
use axum::response::{Html, IntoResponse, Response};
use data_encoding::BASE64_NOPAD;
use maud::{Markup, PreEscaped, html};

use crate::base::id::Mode;
use crate::base::page_style::{PageFrame, PageWidth, STYLES, headers};
use crate::engine::protocol::payers::{Intake, IntakePage};

const NONCE_BYTES: usize = 18;
/// Seconds after which a waiting page reloads.
const REFRESH_S: u32 = 3;

/// Returns a random nonce for one answer; `None` if the operating system gives none.
pub(crate) fn nonce() -> Option<String> {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(BASE64_NOPAD.encode(&bytes))
}

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
        let (policy_extra, scripts) = (String::new(), html! {});
        let (header, footer, refresh) = (None, None, false);
        Self { title, inner, nonce, header, footer, refresh, policy_extra, scripts }
    }

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
            width: PageWidth::Narrow,
            refresh_s: refresh.then_some(REFRESH_S),
            styles: html! { style nonce=(nonce) { (PreEscaped(STYLES)) } },
            scripts,
        };
        frame.html()
    }
}

/// Responds to a forged or mistyped link, or another daemon's; the page never says which.
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

pub(crate) fn message_page(title: &str, inner: Markup, status: StatusCode) -> Response {
    match nonce() {
        Some(nonce) => HtmlPage::plain(title, inner, &nonce).answer(status),
        None => status.into_response(),
    }
}

/// The service's library, beneath its address (partner-api, Hosted-fields client library).
const LIBRARY: &str = "/hosted-fields/1.5.0/hosted-fields.js";
const SCRIPT: &str = include_str!("page.js");

/// Responds with the page of a link's state. `nonce` belongs to this answer alone.
pub(crate) fn intake_page(state: &Intake, nonce: &str) -> Response {
    let plain = |title: &'static str, status: StatusCode, text: &str| {
        HtmlPage::plain(title, html! { p role="status" { (text) } }, nonce).answer(status)
    };
    match state {
        Intake::Requested(asking) => form_page(asking, nonce).answer(StatusCode::OK),
        Intake::Received => {
            let text =
                "We have received your details, and they are being saved. You can close this page.";
            let inner = html! { p role="status" { (text) } };
            HtmlPage { refresh: true, ..HtmlPage::plain("Thank you", inner, nonce) }
                .answer(StatusCode::OK)
        }
        Intake::Stored => {
            let text = "Your details are saved. There is nothing more to do, and this link is not needed any more.";
            plain("Thank you", StatusCode::GONE, text)
        }
        Intake::Expired => {
            let text = "This link is not valid any more. Please ask the sender for a new one.";
            plain("This link has ended", StatusCode::GONE, text)
        }
        Intake::NotYet => {
            let text = "This form is not available at the moment. Please open the link again a little \
                later.";
            plain("Please come back", StatusCode::SERVICE_UNAVAILABLE, text)
        }
    }
}

fn form_page<'a>(asking: &'a IntakePage, nonce: &'a str) -> HtmlPage<'a> {
    let IntakePage { sort, public_key, merchant, mode, service, trouble, replaces, tokens } =
        asking;
    let (title, what, fields, button) = if *sort == "card" {
        ("Your card", "a card", card(), "Save this card")
    } else {
        ("Your bank account", "a bank account", bank(), "Save this account")
    };
    let inner = html! {
        p.quiet {
            (merchant.as_deref().unwrap_or("The sender")) " asks for " (what) " to save for \
                payments that you agreed to."
            @if *replaces { " It takes the place of the one that is kept now." }
            " The numbers go directly to the payment service; the sender never sees them."
        }
        noscript {
            p.notice {
                "The numbers are typed into protected fields, which need scripts. Please turn scripts on, or ask the sender \
                 for another way."
            }
        }
        form #intake method="post" novalidate hidden data-sort=(sort) data-tokens=(tokens) data-public-key=(public_key) {
            div.fields { (fields) }
            p.notice.bad #trouble role="alert" tabindex="-1" hidden[trouble.is_none()] autofocus[trouble.is_some()] {
                @if trouble.is_some() {
                    "It could not be saved, and nothing was kept. Please look at your details and send them once more."
                }
            }
            input type="hidden" id="token" name="token_id";
            div.actions { button { (button) } }
        }
    };
    let footer = (*mode == Mode::Test).then_some("This is a test: no real money moves here.");
    HtmlPage {
        header: merchant.as_deref(),
        footer,
        policy_extra: frame_policy(service, nonce),
        scripts: intake_scripts(service, nonce),
        ..HtmlPage::plain(title, inner, nonce)
    }
}

/// Returns the policy for the frames of the service, and this page's own scripts.
fn frame_policy(service: &str, nonce: &str) -> String {
    let frames = origin(service).map(|origin| {
        format!("script-src 'nonce-{nonce}'; frame-src {origin}; form-action 'self'; ")
    });
    frames.unwrap_or_default()
}

fn intake_scripts(service: &str, nonce: &str) -> Markup {
    let library = format!("{}{LIBRARY}", service.trim_end_matches('/'));
    html! {
        script nonce=(nonce) src=(library) {}
        script nonce=(nonce) { (PreEscaped(SCRIPT)) }
    }
}

fn card() -> Markup {
    html! {
        (hosted_field("number", "Card number", true))
        (PLAIN.input("expiry", "Expiry", ("MM/YY", "cc-exp"), (9, false)))
        (hosted_field("cvv", "Security code", false))
        (InputLayout { is_wide: true, ..PLAIN }.input("name", "Name on the card", ("", "cc-name"), (64, false)))
        (PLAIN.input("address1", "Street address", ("", "address-line1"), (64, true)))
        (PLAIN.input("postal_code", "Postal code", ("", "postal-code"), (10, true)))
    }
}

fn bank() -> Markup {
    let holder = [("person", "A person"), ("business", "A business")];
    let types = [("CHECKING", "Checking"), ("SAVINGS", "Savings")];
    let business = InputLayout { is_wide: true, is_hidden: true };
    html! {
        (hosted_field("routing", "Routing number", false))
        (hosted_field("account", "Account number", false))
        (select("account_type", "Type of account", &types))
        (select("holder", "Whose account it is", &holder))
        (PLAIN.input("given", "Given name", ("", "given-name"), (64, false)))
        (PLAIN.input("surname", "Family name", ("", "family-name"), (64, false)))
        (business.input("business", "Name of the business", ("", "organization"), (64, false)))
    }
}

fn hosted_field(id: &str, label: &str, is_wide: bool) -> Markup {
    html! {
        div.field.wide[is_wide] {
            span.label { (label) }
            div.hosted id=(id) {}
            (field_error(id))
        }
    }
}

#[derive(Clone, Copy)]
struct InputLayout {
    is_wide: bool,
    is_hidden: bool,
}

const PLAIN: InputLayout = InputLayout { is_wide: false, is_hidden: false };

impl InputLayout {
    /// Returns an input of this page, which the form does not send.
    fn input(
        self,
        id: &str,
        label: &str,
        (placeholder, complete): (&str, &str),
        (most, is_optional): (u32, bool),
    ) -> Markup {
        html! {
            div.field.wide[self.is_wide] hidden[self.is_hidden] {
                label for=(id) {
                    (label)
                    @if is_optional { " " span.hint { "optional" } }
                }
                input id=(id) placeholder=(placeholder) autocomplete=(complete) maxlength=(most)
                    inputmode=[(id == "expiry").then_some("numeric")] aria-describedby={ (id) "-error" };
                (field_error(id))
            }
        }
    }
}

fn select(id: &str, label: &str, choices: &[(&str, &str)]) -> Markup {
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) { @for (value, text) in choices { option value=(value) { (text) } } }
        }
    }
}

fn field_error(id: &str) -> Markup {
    html! { span.error id={ (id) "-error" } role="alert" {} }
}

/// Returns the origin of an address, for a policy.
fn origin(address: &str) -> Option<String> {
    let uri: Uri = address.parse().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}
