//! POST /v1/credits: pays out money without a charge (gateway-api). Disabled until the tenant
//! enables it for an account.

use super::charges;
use crate::api::payments::actions::{NewCredit, credit_rules};
use crate::api::payments::transaction::{Transaction, TransactionType};
use crate::api::rules::{FieldProblems, TRANSACTION_REFERENCE_LENGTH_MAX};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::processing::need_currency;
use crate::sandbox::merchants::{geo_rules, payouts};
use crate::sandbox::methods::tokens;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::state::store::ChangeUnit;

/// Makes a credit; its account is chosen as for a charge. The documents know no `reference` of a
/// credit, so the documented surface ignores it.
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    mut new: NewCredit,
) -> Result<Transaction, SandboxRefusal> {
    let owner = asked.owner()?;
    let reference =
        new.reference.take().filter(|_| cx.environment.options.surface == ServiceSurface::Public);
    let mut problems = FieldProblems::default();
    let text = reference.as_deref();
    problems.length_max("reference", "Reference", text, TRANSACTION_REFERENCE_LENGTH_MAX);
    let problems = credit_rules(&new).into_iter().chain(problems.into_list()).collect();
    let resolved = payouts::method_of(cx, &owner, new.method.take(), problems)?;
    let mut resolved = resolved.ok_or_else(SandboxRefusal::server_error)?;
    let merchant = cx.merchant(&owner.merchant)?;
    let kind = &resolved.method.shown.kind;
    let (named, of_key) = (new.account_id.as_deref(), asked.account_of_key());
    let account = merchant.account(owner.mode, kind, named, of_key)?;
    cx.policy(&owner.merchant)?.need_credits(&account.id)?;
    need_currency(account, new.currency.as_deref())?;
    if let Some(token) = &resolved.token {
        tokens::end(cx, token)?;
    }
    geo_rules::deny_by_country(cx, asked, &owner, &account.id, &mut resolved.method);
    let credit = Transaction {
        kind: TransactionType::Credit,
        account_id: account.id.clone(),
        amount: new.amount.unwrap_or(0),
        currency: account.currency.clone(),
        reference,
        ..Transaction::default()
    };
    let mut kept = payouts::make(cx, owner, credit, resolved.method)?;
    payouts::authorize(cx, &mut kept)?;
    charges::into_answer(kept)
}
