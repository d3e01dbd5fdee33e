//! The portal's pages as HTML.

use http::StatusCode;

use crate::api::invoice::{Invoice, LineItem};
use crate::sandbox::answer::Answer;
use crate::sandbox::mail::escape;
use crate::sandbox::pages::{Page, amount, date};
use crate::sandbox::portal::KeptInvoice;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

/// The scripts of a page with a payment form.
const SCRIPTS: [&str; 2] = ["/hosted-fields/1.5.0/hosted-fields.js", "/assets/portal.js"];

/// An invoice, and what to pay it with; `trouble`: why a payment was not taken.
pub(super) fn invoice(
    cx: &Cx<'_>,
    kept: &KeptInvoice,
    trouble: Option<&str>,
) -> Result<Answer, Refusal> {
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let invoice = &kept.object;
    let is_due = invoice.total_amount_due > 0;
    let key = &merchant.keys(kept.owner.mode).public_key;
    let form = if is_due { form(invoice, key) } else { String::new() };
    let inner = format!(
        "<p class=\"quiet\">from {}</p>{}{}{}{}",
        escape(&merchant.name),
        notice(invoice, trouble),
        facts(invoice),
        lines(invoice),
        form
    );
    let title = format!("Invoice {}", invoice.invoice_number.as_deref().unwrap_or_default());
    let scripts: &[&str] = if is_due { &SCRIPTS } else { &[] };
    let status = trouble.map_or(StatusCode::OK, |_| StatusCode::UNPROCESSABLE_ENTITY);
    let brand = cx.brand(&merchant.id)?;
    Ok(Page { brand: &brand, title: &title, inner: &inner, narrow: false, scripts }.answer(status))
}

fn notice(invoice: &Invoice, trouble: Option<&str>) -> String {
    let hidden = "<p class=\"notice bad\" id=\"trouble\" role=\"alert\" hidden></p>";
    match trouble {
        Some(text) => {
            let text = escape(text);
            format!("<p class=\"notice bad\" id=\"trouble\" role=\"alert\">{text}</p>")
        }
        None if invoice.status == "paid" => {
            "<p class=\"notice good\" role=\"status\">This invoice is paid. Thank you.</p>"
                .to_owned()
        }
        None => hidden.to_owned(),
    }
}

fn facts(invoice: &Invoice) -> String {
    let files = invoice.attachments.iter().filter_map(|file| file.file_name.as_deref());
    let files: Vec<&str> = files.collect();
    let rows = [
        ("Date", invoice.invoice_date.map(date)),
        ("Reference", invoice.reference.clone()),
        ("Billed to", invoice.contact.as_ref().and_then(|contact| contact.name.clone())),
        ("Attached", Some(files.join(", ")).filter(|text| !text.is_empty())),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
    let rows = rows.map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escape(&value)));
    let rows = rows.collect::<Vec<_>>().concat();
    format!("<dl>{rows}</dl>")
}

fn lines(invoice: &Invoice) -> String {
    let currency = invoice.currency.as_deref();
    let line = |line: &LineItem| {
        let text = escape(line.description.as_deref().unwrap_or("Item"));
        format!("<tr><td>{text}</td><td class=\"sum\">{}</td></tr>", amount(line.total, currency))
    };
    let body: String = invoice.line_items.iter().map(line).collect();
    let sum = |class: &str, name: &str, minor: i64| {
        let minor = amount(minor, currency);
        format!("<tr{class}><th scope=\"row\">{name}</th><td class=\"sum\">{minor}</td></tr>")
    };
    let foot = [
        sum("", "Total", invoice.total_amount),
        sum("", "Paid", invoice.amount_paid),
        sum(" class=\"due\"", "Due", invoice.total_amount_due),
    ];
    format!(
        "<table><thead><tr><th scope=\"col\">For</th><th scope=\"col\" class=\"sum\">Amount</th></tr></thead>\
         <tbody>{body}</tbody><tfoot>{}</tfoot></table>",
        foot.concat()
    )
}

/// The payment form. Card number and code are hosted fields: they are no part of what is sent.
fn form(invoice: &Invoice, public_key: &str) -> String {
    let hosted = |id: &str, label: &str| {
        format!(
            "<div class=\"field\"><span class=\"label\">{label}</span><div class=\"hosted\" id=\"{id}\"></div>\
             <span class=\"error\" id=\"{id}-error\" role=\"alert\"></span></div>"
        )
    };
    let input = |id: &str, label: &str, more: &str| {
        format!(
            "<div class=\"field\"><label for=\"{id}\">{label}</label><input id=\"{id}\" name=\"{id}\" {more}></div>"
        )
    };
    let fields = [
        hosted("number", "Card number"),
        hosted("cvv", "Card code"),
        input(
            "expiry",
            "Expiry (MM/YYYY)",
            "required pattern=\"(0?[1-9]|1[0-2])/[0-9]{2,4}\" placeholder=\"10/2030\" autocomplete=\"cc-exp\"",
        ),
        input("name", "Name on the card", "required maxlength=\"64\" autocomplete=\"cc-name\""),
        input("address1", "Street address", "maxlength=\"64\" autocomplete=\"address-line1\""),
        input("postal_code", "Postal code", "maxlength=\"10\" autocomplete=\"postal-code\""),
    ];
    let (id, key) = (escape(&invoice.id), escape(public_key));
    let due = amount(invoice.total_amount_due, invoice.currency.as_deref());
    format!(
        "<form id=\"payment\" method=\"post\" action=\"/invoices/{id}/payments\" data-public-key=\"{key}\">\
         <h2>Pay by card</h2><div class=\"fields\">{}</div><input type=\"hidden\" name=\"token_id\">\
         <div class=\"actions\"><button>Pay {due}</button></div>\
         <noscript><p class=\"notice\">Cards are typed into protected fields, which need scripts.</p></noscript></form>",
        fields.concat()
    )
}

/// All invoices of a contact.
pub(super) fn contact(cx: &Cx<'_>, found: &[KeptInvoice]) -> Result<Answer, Refusal> {
    let Some(first) = found.first() else { return Ok(unknown(cx)) };
    let merchant = cx.merchant(&first.owner.merchant)?;
    let row = |kept: &KeptInvoice| {
        let invoice = &kept.object;
        let number = escape(invoice.invoice_number.as_deref().unwrap_or("Invoice"));
        let due = amount(invoice.total_amount_due, invoice.currency.as_deref());
        format!(
            "<tr><td><a href=\"/invoices/{}\">{number}</a></td><td>{}</td><td class=\"sum\">{due}</td></tr>",
            escape(&invoice.id),
            invoice.status.replace('_', " ")
        )
    };
    let inner = format!(
        "<p class=\"quiet\">from {}</p><table><thead><tr><th scope=\"col\">Invoice</th><th scope=\"col\">Status</th>\
         <th scope=\"col\" class=\"sum\">Due</th></tr></thead><tbody>{}</tbody></table>",
        escape(&merchant.name),
        found.iter().map(row).collect::<String>()
    );
    let brand = cx.brand(&merchant.id)?;
    let title = "Your invoices";
    Ok(Page { brand: &brand, title, inner: &inner, narrow: false, scripts: &[] }
        .answer(StatusCode::OK))
}

/// A link that leads nowhere.
pub(super) fn unknown(cx: &Cx<'_>) -> Answer {
    let inner = "<p>This link leads to nothing. Ask whoever sent it for a new one.</p>";
    let (brand, title) = (&cx.world.options.brand, "Not found");
    Page { brand, title, inner, narrow: true, scripts: &[] }.answer(StatusCode::NOT_FOUND)
}
