//! The payment portal: the pages behind the links in invoice e-mails (partner-api, POST
//! /invoices).
//!
//! The pages show of an invoice what the documents say that payers see. A payer types the card
//! into hosted fields; the portal receives only a one-time token.

use http::StatusCode;
use maud::{Markup, html};

use crate::api::invoice::Invoice;
use crate::api::method_token::MethodRef;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::invoicing::contacts;
use crate::sandbox::merchants::accounts::deposits;
use crate::sandbox::methods::saved_methods::resolve_checked;
use crate::sandbox::pages::{SandboxPage, amount, date, short};
use crate::sandbox::payments::invoice_payments::StoredInvoice;
use crate::sandbox::payments::order::PaymentOrder;
use crate::sandbox::payments::transactions::StoredTransaction;
use crate::sandbox::payments::{charges, invoice_payments};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::ObjectKind;
use crate::sandbox::state::store::ChangeUnit;

pub(crate) const INVOICE: &str = "/invoices/{id}";
pub(crate) const PAY: &str = "/invoices/{id}/payments";
pub(crate) const CONTACT: &str = "/contacts/{hash}";

pub(crate) fn show(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    match cx.look_up(ObjectKind::INVOICE, asked.parameter(0))? {
        Some(kept) => invoice_page(cx, &kept, None, &PayerInput::default()),
        None => Ok(unknown_page(cx)),
    }
}

/// GET of a contact's invoices, by contact hash.
pub(crate) fn show_contact(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    let contact: Option<String> = cx.get(&contacts::hash_key(cx, asked.parameter(0)))?;
    let Some(contact) = contact else { return Ok(unknown_page(cx)) };
    let mut found = cx.all::<Invoice, ()>(ObjectKind::INVOICE)?;
    found.retain(|kept| kept.object.contact_id == contact);
    contact_page(cx, &found)
}

/// POST of a payment: the whole amount due, with the method of a token.
pub(crate) fn pay(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    let kept: Option<StoredInvoice> = cx.look_up(ObjectKind::INVOICE, asked.parameter(0))?;
    let Some(kept) = kept else { return Ok(unknown_page(cx)) };
    let form = asked.form();
    let word = |name: &str| form.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let typed = ["name", "address1", "postal_code"].map(|one| word(one).to_owned());
    let [name, address1, postal_code] = typed;
    let typed = PayerInput { name, address1, postal_code };
    if !invoice_payments::is_open(&kept.object)? {
        let text = "This invoice is paid already: nothing was charged.";
        return invoice_page(cx, &kept, Some(text), &typed);
    }
    match charge(cx, &kept, word("token_id")) {
        Ok(transaction) if transaction.object.failure_code.is_none() => {
            invoice_payments::add(cx, kept, &transaction.object)?;
            let invoice = INVOICE.replace("{id}", asked.parameter(0));
            Ok(SandboxAnswer::redirect(StatusCode::SEE_OTHER, &invoice))
        }
        Ok(_) => {
            let text = "The payment was declined. Nothing was charged. Please try another card.";
            invoice_page(cx, &kept, Some(text), &typed)
        }
        Err(refusal) if refusal.status == StatusCode::INTERNAL_SERVER_ERROR => Err(refusal),
        Err(refusal) => invoice_page(cx, &kept, Some(&payer_message(&refusal)), &typed),
    }
}

fn payer_message(refusal: &SandboxRefusal) -> String {
    let texts = refusal.problem.messages.iter().filter_map(|one| one.message.clone());
    let texts: Vec<String> = texts.collect();
    format!("The payment was not accepted: {}. Nothing was charged.", texts.join("; "))
}

/// Charges the amount due. A refusal before the charge does not use the token up.
fn charge(cx: &mut ChangeUnit, kept: &StoredInvoice, token: &str) -> Result<StoredTransaction> {
    let owner = kept.owner.clone();
    let method = MethodRef::Id(token.to_owned());
    let resolved = resolve_checked(cx, &owner, Some(method), Vec::new())?;
    let resolved = resolved.ok_or_else(SandboxRefusal::server_error)?;
    let merchant = cx.merchant(&owner.merchant)?;
    let trust =
        deposits(&merchant).iter().any(|one| one.id == kept.object.bank_account_id && one.trust);
    let kind = &resolved.method.shown.kind;
    let mut accounts = merchant.keys(owner.mode).accounts.iter();
    let alike = accounts.find(|one| one.takes(kind) && one.trust == trust);
    let alike = alike.map(|one| one.id.as_str());
    let account = merchant.account(owner.mode, kind, alike, None)?.id.clone();
    let order = PaymentOrder {
        owner,
        account,
        amount: kept.object.total_amount_due,
        method: resolved.take(cx)?,
        auto_capture: true,
        reference: kept.object.reference.clone().or(kept.object.invoice_number.clone()),
        surcharge_amount: None,
        data: None,
        recurring: None,
    };
    charges::authorize(cx, order)
}

const SCRIPTS: [&str; 2] = ["/hosted-fields/1.5.0/hosted-fields.js", "/assets/portal.js"];

/// The payer's input apart from card data; the form shows it again after a failed payment.
#[derive(Debug, Default)]
pub(crate) struct PayerInput {
    pub(super) name: String,
    pub(super) address1: String,
    pub(super) postal_code: String,
}

/// Renders an invoice with its payment form; `trouble` is the reason of a failed payment.
fn invoice_page(
    cx: &ChangeUnit,
    kept: &StoredInvoice,
    trouble: Option<&str>,
    typed: &PayerInput,
) -> Result<SandboxAnswer> {
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let invoice = &kept.object;
    let is_due = invoice.total_amount_due > 0;
    let key = &merchant.keys(kept.owner.mode).public_key;
    let inner = html! {
        p.quiet { "from " (merchant.shown_name()) }
        (notice(invoice, trouble))
        (invoice_summary(invoice))
        (line_table(invoice))
        @if is_due { (payment_form(invoice, key, typed)) }
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

fn line_table(invoice: &Invoice) -> Markup {
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

/// Renders the payment form, which a script reveals. Hosted fields are not submitted.
fn payment_form(invoice: &Invoice, public_key: &str, typed: &PayerInput) -> Markup {
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
    frame(id, &html! { span.label { (label) } div.hosted id=(id) {} })
}

/// Renders the input of the card's expiry, which is not submitted.
fn expiry() -> Markup {
    let input = html! {
        label for="expiry" { "Expiry" }
        input #expiry required placeholder="MM/YY" maxlength="9" inputmode="numeric" autocomplete="cc-exp"
            aria-describedby="expiry-error";
    };
    frame("expiry", &input)
}

fn input(
    id: &str,
    label: &str,
    value: &str,
    complete: &str,
    (most, required): (u32, bool),
) -> Markup {
    let input = html! {
        label for=(id) {
            (label)
            @if !required { " " span.hint { "optional" } }
        }
        input id=(id) name=(id) value=(value) maxlength=(most) required[required] autocomplete=(complete)
            aria-describedby={ (id) "-error" };
    };
    frame(id, &input)
}

/// Renders an input with the placeholder of its error.
fn frame(id: &str, input: &Markup) -> Markup {
    html! { div.field { (input) span.error id={ (id) "-error" } role="alert" {} } }
}

fn contact_page(cx: &ChangeUnit, found: &[StoredInvoice]) -> Result<SandboxAnswer> {
    let Some(first) = found.first() else { return Ok(unknown_page(cx)) };
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
                        td { (payer_status(object)) }
                        td.sum { (due(object)) }
                    }
                }
            }
        }
    };
    let brand = cx.brand(&merchant.id)?;
    Ok(SandboxPage::new(&brand, "Your invoices", inner).answer(StatusCode::OK))
}

fn payer_status(invoice: &Invoice) -> String {
    match invoice.status.as_str() {
        "pending" => "to be paid".to_owned(),
        "partially_paid" => "partly paid".to_owned(),
        other => other.replace('_', " "),
    }
}

fn unknown_page(cx: &ChangeUnit) -> SandboxAnswer {
    let inner = html! { p { "This link is not valid. Ask the sender for a new one." } };
    short(cx, StatusCode::NOT_FOUND, "Not found", inner)
}
