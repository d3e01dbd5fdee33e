//! E-mails that the service would send: kept as sent, in a mailbox that a control path shows.
//!
//! The e-mail of an invoice holds what the documents name (partner-api, POST /invoices: message,
//! brand, portal link), and repeats the portal's view of the invoice, as HTML for mail programs and
//! as plain text. Its style follows the pages (`base/page_style.rs`). Styles are attributes, nothing
//! is loaded, nothing runs, and all text from outside is escaped.

use maud::{DOCTYPE, Markup, html};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::invoice::Invoice;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::Result;
use crate::sandbox::pages::{FOOTER, amount, date};
use crate::sandbox::state::store::{ChangeUnit, sortable_key};

const PREFIX: &str = "mail/";
const COUNT: &str = "meta/mails";

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredEmail {
    /// Id of the invoice's message: the same for each of its addresses.
    pub(crate) id: String,
    pub(crate) time: Timestamp,
    pub(crate) merchant: String,
    pub(crate) to: String,
    pub(crate) subject: String,
    /// The message's text, as the invoice shows it (partner-api, `invoice_messages`).
    pub(crate) body: String,
    pub(crate) invoice_id: String,
    pub(crate) link: String,
    #[serde(default)]
    pub(crate) from_name: String,
    #[serde(default)]
    pub(crate) from: String,
    #[serde(default)]
    pub(crate) html: String,
    #[serde(default)]
    pub(crate) text: String,
}

pub(crate) fn send(cx: &mut ChangeUnit, mail: &StoredEmail) -> Result<()> {
    let count = count(cx)?.saturating_add(1);
    cx.put(COUNT, &count)?;
    let number = cx.next();
    cx.put(&key(number), mail)
}

/// Returns the number of e-mails. A state without the number is from an older version: it is counted.
pub(crate) fn count(cx: &ChangeUnit) -> Result<u64> {
    match cx.get(COUNT)? {
        Some(count) => Ok(count),
        None => Ok(u64::try_from(cx.entries(PREFIX)?.len()).unwrap_or(u64::MAX)),
    }
}

/// Returns every e-mail with its number in the mailbox, oldest first.
pub(crate) fn all(cx: &ChangeUnit) -> Result<Vec<(u64, Value)>> {
    let kept = cx.entries(PREFIX)?.into_iter();
    let numbered = kept.filter_map(|(key, mail)| {
        let number = u64::from_str_radix(key.strip_prefix(PREFIX)?, 16).ok()?;
        Some((number, mail))
    });
    Ok(numbered.collect())
}

pub(crate) fn key(number: u64) -> String {
    format!("{PREFIX}{}", sortable_key(number))
}

const SENDER: &str = "invoices@sandbox.example";
const BODY: &str = "margin:0;padding:24px 12px;background:#f3f4f6;color:#1f2937;\
    font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif";
const COLUMN: &str = "max-width:600px;margin:0 auto;overflow-wrap:anywhere;word-break:break-word";
const BRAND: &str = "margin:0 0 12px;font-weight:600";
const PAPER: &str = "padding:24px 20px;background:#fff;border:1px solid #d1d5db;border-radius:10px";
const HEADING: &str = "margin:0 0 12px;font-size:24px;line-height:1.25";
const MESSAGE: &str = "margin:0 0 20px";
const SUMMARY: &str = "margin:0 0 20px;padding:16px;background:#f3f4f6;border:1px solid #d1d5db;\
    border-radius:6px";
const DUE: &str = "margin:0 0 8px;font-size:24px;font-weight:700;line-height:1.25";
/// A name and its value side by side; stacked in mail programs without flex layout.
const ROW: &str = "display:flex";
const NAME: &str = "flex:0 0 96px;color:#4b5563";
const VALUE: &str = "margin:0";
const BUTTON: &str = "display:inline-block;padding:12px 24px;border-radius:6px;background:#1d4ed8;\
    color:#fff;font-weight:600;text-align:center;text-decoration:none";
const QUIET: &str = "margin:16px 0 0;color:#4b5563;font-size:14px";

/// An e-mail, before it is addressed.
#[derive(Debug)]
pub(crate) struct InvoiceEmail<'a> {
    /// The product brand, as on the merchant's pages.
    pub(crate) brand: &'a str,
    pub(crate) merchant: &'a str,
    /// Subject, and heading of the text.
    pub(crate) subject: String,
    /// The merchant's message, or the default text.
    pub(crate) message: String,
    pub(crate) invoice: &'a Invoice,
    pub(crate) link: &'a str,
}

impl InvoiceEmail<'_> {
    /// Addresses the e-mail; `id` is its message's.
    pub(crate) fn addressed_to(&self, address: &str, id: &str, time: Timestamp) -> StoredEmail {
        StoredEmail {
            id: id.to_owned(),
            time,
            merchant: self.merchant.to_owned(),
            to: address.to_owned(),
            subject: self.subject.clone(),
            body: self.body(),
            invoice_id: self.invoice.id.clone(),
            link: self.link.to_owned(),
            from_name: format!("{} via {}", self.merchant, self.brand),
            from: SENDER.to_owned(),
            html: self.html(),
            text: self.text(),
        }
    }

    /// Returns message and link, as the invoice shows them.
    pub(crate) fn body(&self) -> String {
        let body = html! {
            p { (with_line_breaks(&self.message)) }
            p { a href=(self.link) { (self.link) } }
        };
        body.into_string()
    }

    fn html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light";
                    title { (self.subject) }
                }
                body style=(BODY) {
                    div style=(COLUMN) {
                        p style=(BRAND) { (self.brand) }
                        div style=(PAPER) {
                            h1 style=(HEADING) { (self.subject) }
                            p style=(MESSAGE) { (with_line_breaks(&normalise_line_ends(&self.message))) }
                            (self.summary())
                            (self.button())
                        }
                        p style=(QUIET) { (self.footer()) }
                    }
                }
            }
        };
        page.into_string()
    }

    fn text(&self) -> String {
        let rows = self.rows().into_iter().chain([("Amount due", self.due())]);
        let rows = rows.map(|(name, value)| {
            let name = format!("{name}:");
            format!("{name:<12}{value}\n")
        });
        format!(
            "{}\n\n{}\n{}:\n{}\n\n{}\n",
            normalise_line_ends(&self.message),
            rows.collect::<String>(),
            self.link_label(),
            self.link,
            self.footer()
        )
    }

    fn summary(&self) -> Markup {
        html! {
            div style=(SUMMARY) {
                p style="margin:0;color:#4b5563" { "Amount due" }
                p style=(DUE) { (self.due()) }
                dl style="margin:0" {
                    @for (name, value) in self.rows() {
                        div style=(ROW) { dt style=(NAME) { (name) } dd style=(VALUE) { (value) } }
                    }
                }
            }
        }
    }

    fn button(&self) -> Markup {
        html! {
            p style="margin:0" {
                a href=(self.link) style=(BUTTON) target="_blank" rel="noopener noreferrer" { (self.link_label()) }
            }
            p style=(QUIET) { "Or open this address:" br; (self.link) }
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let Invoice { invoice_number, reference, invoice_date, .. } = self.invoice;
        let rows = [
            ("Billed by", Some(self.merchant.to_owned())),
            ("Invoice", invoice_number.clone()),
            ("Reference", reference.clone()),
            ("Date", invoice_date.map(date)),
        ];
        let said = |(name, value): (_, Option<String>)| Some((name, value?));
        rows.into_iter().filter_map(said).filter(|(_, value)| !value.is_empty()).collect()
    }

    fn due(&self) -> String {
        amount(self.invoice.total_amount_due, self.invoice.currency.as_deref())
    }

    fn link_label(&self) -> &'static str {
        let is_due = self.invoice.total_amount_due > 0;
        if is_due { "View and pay" } else { "View the invoice" }
    }

    fn footer(&self) -> String {
        format!("{} sent you this invoice through {}. {FOOTER}", self.merchant, self.brand)
    }
}

fn with_line_breaks(text: &str) -> Markup {
    html! {
        @for (at, line) in text.split('\n').enumerate() {
            @if at > 0 { br; }
            (line)
        }
    }
}

fn normalise_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
