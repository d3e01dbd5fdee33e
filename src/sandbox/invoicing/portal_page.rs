//! The portal's pages as HTML.

use http::StatusCode;
use maud::{Markup, html};

use crate::api::invoice::Invoice;
use crate::sandbox::answer::{SandboxAnswer, SandboxRefusal};
use crate::sandbox::pages::{SandboxPage, amount, date};
use crate::sandbox::payments::invoice_payments::StoredInvoice;
use crate::sandbox::state::store::ChangeUnit;

/// Scripts of a page with a payment form.
const SCRIPTS: [&str; 2] = ["/hosted-fields/1.5.0/hosted-fields.js", "/assets/portal.js"];

/// The payer's input apart from card data; the form shows it again after a failed payment.
#[derive(Debug, Default)]
pub(crate) struct PayerInput {
    pub(super) name: String,
    pub(super) address1: String,
    pub(super) postal_code: String,
}

/// Renders an invoice with its payment form; `trouble` is the reason of a failed payment.
pub(super) fn invoice(
    cx: &ChangeUnit<'_>,
    kept: &StoredInvoice,
    trouble: Option<&str>,
    typed: &PayerInput,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let invoice = &kept.object;
    let is_due = invoice.total_amount_due > 0;
    let key = &merchant.keys(kept.owner.mode).public_key;
    let inner = html! {
        p.quiet { "from " (merchant.shown_name()) }
        (notice(invoice, trouble))
        (invoice_summary(invoice))
        (lines(invoice))
        @if is_due { (form(invoice, key, typed)) }
    };
    let title = format!("Invoice {}", invoice.invoice_number.as_deref().unwrap_or_default());
    let scripts: &[&str] = if is_due { &SCRIPTS } else { &[] };
    let status = trouble.map_or(StatusCode::OK, |_| StatusCode::UNPROCESSABLE_ENTITY);
    let brand = cx.brand(&merchant.id)?;
    Ok(SandboxPage::new(&brand, &title, inner).scripts(scripts).answer(status))
}

fn notice(invoice: &Invoice, trouble: Option<&str>) -> Markup {
    match trouble {
        Some(text) => html! {
            p.notice.bad #trouble role="alert" tabindex="-1" autofocus { (text) }
        },
        None if invoice.status == "paid" => html! {
            p.notice.good role="status" { "This invoice is paid. Thank you." }
        },
        None => html! { p.notice.bad #trouble role="alert" tabindex="-1" hidden {} },
    }
}

fn invoice_summary(invoice: &Invoice) -> Markup {
    let files = invoice.attachments.iter().filter_map(|file| file.file_name.as_deref());
    let files: Vec<&str> = files.collect();
    let rows = [
        ("Date", invoice.invoice_date.map(date)),
        ("Reference", invoice.reference.clone()),
        ("Billed to", invoice.contact.as_ref().and_then(|contact| contact.name.clone())),
        ("Attached", Some(files.join(", ")).filter(|text| !text.is_empty())),
    ];
    html! {
        dl {
            @for (name, value) in rows {
                @if let Some(value) = value { dt { (name) } dd { (value) } }
            }
        }
    }
}

fn lines(invoice: &Invoice) -> Markup {
    let money = |minor: i64| amount(minor, invoice.currency.as_deref());
    let sums = [("Total", invoice.total_amount, false), ("Paid", invoice.amount_paid, false)];
    let sums = sums.into_iter().chain([("Due", invoice.total_amount_due, true)]);
    html! {
        table {
            thead { tr { th scope="col" { "For" } th.sum scope="col" { "Amount" } } }
            tbody {
                @for line in &invoice.line_items {
                    tr {
                        td { (line.description.as_deref().unwrap_or("Item")) }
                        td.sum { (money(line.total)) }
                    }
                }
            }
            tfoot {
                @for (name, minor, is_due) in sums {
                    tr.due[is_due] { th scope="row" { (name) } td.sum { (money(minor)) } }
                }
            }
        }
    }
}

/// Renders the payment form, which a script reveals. Card number and code are hosted fields, so
/// they are not submitted.
fn form(invoice: &Invoice, public_key: &str, typed: &PayerInput) -> Markup {
    let due = amount(invoice.total_amount_due, invoice.currency.as_deref());
    html! {
        h2 { "Pay by card" }
        noscript {
            p.notice { "Cards are typed into protected fields, which need scripts. Please turn scripts on, or ask the \
                        sender for another way to pay." }
        }
        form #payment method="post" action={ "/invoices/" (invoice.id) "/payments" } data-public-key=(public_key)
            novalidate hidden {
            div.fields {
                (hosted_field("number", "Card number"))
                (hosted_field("cvv", "Security code"))
                (expiry())
                (input("name", "Name on the card", &typed.name, "cc-name", (64, true)))
                (input("address1", "Street address", &typed.address1, "address-line1", (64, false)))
                (input("postal_code", "Postal code", &typed.postal_code, "postal-code", (10, false)))
            }
            input type="hidden" name="token_id";
            div.actions { button { "Pay " (due) } }
        }
    }
}

fn hosted_field(id: &str, label: &str) -> Markup {
    html! {
        div.field {
            span.label { (label) }
            div.hosted id=(id) {}
            (error(id))
        }
    }
}

/// Renders the input of the card's expiry, which is not submitted.
fn expiry() -> Markup {
    html! {
        div.field {
            label for="expiry" { "Expiry" }
            input #expiry required placeholder="MM/YY" maxlength="9" inputmode="numeric" autocomplete="cc-exp"
                aria-describedby="expiry-error";
            (error("expiry"))
        }
    }
}

fn input(
    id: &str,
    label: &str,
    value: &str,
    complete: &str,
    (most, required): (u32, bool),
) -> Markup {
    html! {
        div.field {
            label for=(id) {
                (label)
                @if !required { " " span.hint { "optional" } }
            }
            input id=(id) name=(id) value=(value) maxlength=(most) required[required] autocomplete=(complete)
                aria-describedby={ (id) "-error" };
            (error(id))
        }
    }
}

/// Renders the placeholder of a field's error.
fn error(id: &str) -> Markup {
    html! { span.error id={ (id) "-error" } role="alert" {} }
}

/// Renders all invoices of a contact.
pub(super) fn contact(
    cx: &ChangeUnit<'_>,
    found: &[StoredInvoice],
) -> Result<SandboxAnswer, SandboxRefusal> {
    let Some(first) = found.first() else { return Ok(unknown(cx)) };
    let merchant = cx.merchant(&first.owner.merchant)?;
    let due = |invoice: &Invoice| amount(invoice.total_amount_due, invoice.currency.as_deref());
    let inner = html! {
        p.quiet { "from " (merchant.shown_name()) }
        table {
            thead { tr { th scope="col" { "Invoice" } th scope="col" { "Status" } th.sum scope="col" { "Due" } } }
            tbody {
                @for StoredInvoice { object, .. } in found {
                    tr {
                        td {
                            a href={ "/invoices/" (object.id) } {
                                (object.invoice_number.as_deref().unwrap_or("Invoice"))
                            }
                        }
                        td { (status(object)) }
                        td.sum { (due(object)) }
                    }
                }
            }
        }
    };
    let brand = cx.brand(&merchant.id)?;
    Ok(SandboxPage::new(&brand, "Your invoices", inner).answer(StatusCode::OK))
}

/// Returns the status of an invoice in a payer's words.
fn status(invoice: &Invoice) -> String {
    match invoice.status.as_str() {
        "pending" => "to be paid".to_owned(),
        "partially_paid" => "partly paid".to_owned(),
        other => other.replace('_', " "),
    }
}

/// Renders the page of an unknown link.
pub(super) fn unknown(cx: &ChangeUnit<'_>) -> SandboxAnswer {
    let inner = html! { p { "This link is not valid. Ask the sender for a new one." } };
    SandboxPage::new(&cx.environment.options.brand, "Not found", inner)
        .narrow()
        .answer(StatusCode::NOT_FOUND)
}
