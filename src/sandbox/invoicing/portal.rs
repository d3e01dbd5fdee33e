//! The payment portal: the pages behind the links in invoice e-mails (partner-api, POST /invoices).
//!
//! The pages show of an invoice what the documents say that payers see. A payer types the card into
//! hosted fields; the portal receives only a one-time token.

use http::StatusCode;

use super::portal_page::PayerInput;
use super::{contacts, portal_page};
use crate::api::invoice::Invoice;
use crate::api::methods::method_ref::MethodRef;
use crate::sandbox::answer::{SandboxAnswer, SandboxRefusal};
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::accounts::deposits;
use crate::sandbox::methods::{resolve, tokens};
use crate::sandbox::payments::invoice_payments::StoredInvoice;
use crate::sandbox::payments::order::PaymentOrder;
use crate::sandbox::payments::transactions::StoredTransaction;
use crate::sandbox::payments::{charges, invoice_payments};
use crate::sandbox::state::lists::ObjectKind;
use crate::sandbox::state::store::ChangeUnit;

/// Path of an invoice.
pub(crate) const INVOICE: &str = "/invoices/{id}";

/// Path of an invoice's payment.
pub(crate) const PAY: &str = "/invoices/{id}/payments";

/// Path of all invoices of a contact.
pub(crate) const CONTACT: &str = "/contacts/{hash}";

/// GET of an invoice.
pub(crate) fn show(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<SandboxAnswer, SandboxRefusal> {
    match cx.find_any_owner::<Invoice, ()>(ObjectKind::INVOICE, asked.parameter(0))? {
        Some(kept) => portal_page::invoice(cx, &kept, None, &PayerInput::default()),
        None => Ok(portal_page::unknown(cx)),
    }
}

/// GET of a contact's invoices, by contact hash.
pub(crate) fn contact(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let Some(contact) = contacts::contact_of_hash(cx, asked.parameter(0))? else {
        return Ok(portal_page::unknown(cx));
    };
    let mut found = cx.all::<Invoice, ()>(ObjectKind::INVOICE)?;
    found.retain(|kept| kept.object.contact_id == contact);
    portal_page::contact(cx, &found)
}

/// POST of a payment: the whole amount due, with the method of a token.
pub(crate) fn pay(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let Some(kept) = cx.find_any_owner::<Invoice, ()>(ObjectKind::INVOICE, asked.parameter(0))?
    else {
        return Ok(portal_page::unknown(cx));
    };
    let form = asked.form();
    let word = |name: &str| form.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let [name, address1, postal_code] =
        ["name", "address1", "postal_code"].map(|one| word(one).to_owned());
    let typed = PayerInput { name, address1, postal_code };
    if !invoice_payments::is_open(&kept.object)? {
        let text = "This invoice is paid already: nothing was charged.";
        return portal_page::invoice(cx, &kept, Some(text), &typed);
    }
    match charge(cx, &kept, word("token_id")) {
        Ok(transaction) if transaction.object.failure_code.is_none() => {
            invoice_payments::add(cx, kept, &transaction.object)?;
            let invoice = INVOICE.replace("{id}", asked.parameter(0));
            Ok(SandboxAnswer::redirect(StatusCode::SEE_OTHER, &invoice))
        }
        Ok(_) => {
            let text = "The payment was declined. Nothing was charged. Please try another card.";
            portal_page::invoice(cx, &kept, Some(text), &typed)
        }
        Err(refusal) if refusal.status == StatusCode::INTERNAL_SERVER_ERROR => Err(refusal),
        Err(refusal) => portal_page::invoice(cx, &kept, Some(&payer_message(&refusal)), &typed),
    }
}

/// Renders a refusal for a payer.
fn payer_message(refusal: &SandboxRefusal) -> String {
    let texts = refusal.problem.messages.iter().filter_map(|one| one.message.clone());
    let texts: Vec<String> = texts.collect();
    format!("The payment was not accepted: {}. Nothing was charged.", texts.join("; "))
}

/// Charges the amount due. A refusal before the charge does not use the token up.
fn charge(
    cx: &mut ChangeUnit<'_>,
    kept: &StoredInvoice,
    token: &str,
) -> Result<StoredTransaction, SandboxRefusal> {
    let owner = kept.owner.clone();
    let method = MethodRef::Id(token.to_owned());
    let resolved = resolve::method_of(cx, &owner, Some(method), Vec::new())?;
    let resolved = resolved.ok_or_else(SandboxRefusal::server_error)?;
    let merchant = cx.merchant(&owner.merchant)?;
    let trust =
        deposits(&merchant).iter().any(|one| one.id == kept.object.bank_account_id && one.trust);
    let kind = &resolved.method.shown.kind;
    let mut accounts = merchant.keys(owner.mode).accounts.iter();
    let alike =
        accounts.find(|one| one.takes(kind) && one.trust == trust).map(|one| one.id.clone());
    let account = merchant.account(owner.mode, kind, alike.as_deref(), None)?.id.clone();
    if let Some(token) = &resolved.token {
        tokens::end(cx, token)?;
    }
    charges::authorize(
        cx,
        PaymentOrder {
            owner,
            account,
            amount: kept.object.total_amount_due,
            method: resolved.method,
            auto_capture: true,
            reference: kept.object.reference.clone().or(kept.object.invoice_number.clone()),
            surcharge_amount: None,
            data: None,
            recurring: None,
        },
    )
}
