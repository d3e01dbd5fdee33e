//! GET /bank-accounts/{id}/surcharge: the surcharge on a payment (gateway-api).

use crate::api::payments::surcharge::SurchargeEntry;
use crate::api::rules::AMOUNT_MAX;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::accounts::deposits;
use crate::sandbox::merchants::policy::SurchargeRate;
use crate::sandbox::state::lists::number;
use crate::sandbox::state::store::ChangeUnit;

/// Rate of the whole amount: rates are hundredths of a percent.
const WHOLE_RATE: i64 = 10_000;

/// Returns the first surcharge of each type; with `amount`, also the surcharge on it. A merchant
/// without surcharges gets null.
pub(crate) fn show(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Option<Vec<SurchargeEntry>>, SandboxRefusal> {
    let owner = asked.owner()?;
    let merchant = cx.merchant(&owner.merchant)?;
    let id = asked.parameter(0);
    let own = |deposit: &crate::sandbox::merchants::accounts::Deposit| {
        deposit.id == id && deposit.mode == owner.mode
    };
    if !deposits(&merchant).iter().any(own) {
        return Err(SandboxRefusal::not_found("BankAccount", id));
    }
    let most = u64::try_from(AMOUNT_MAX).unwrap_or(u64::MAX);
    let amount = number(asked, "amount", 1, most)?;
    let amount = amount.and_then(|amount| i64::try_from(amount).ok());
    let mut entries: Vec<SurchargeEntry> = Vec::new();
    for rate in &cx.policy(&owner.merchant)?.surcharges {
        if entries.iter().all(|entry| entry.kind != rate.kind) {
            entries.push(entry(rate, amount)?);
        }
    }
    Ok(Some(entries).filter(|entries| !entries.is_empty()))
}

fn entry(rate: &SurchargeRate, amount: Option<i64>) -> Result<SurchargeEntry, SandboxRefusal> {
    let surcharge =
        amount.map(|amount| surcharge_on(rate, amount).ok_or_else(SandboxRefusal::server_error));
    let surcharge = surcharge.transpose()?;
    let total = amount.zip(surcharge).map(|(amount, more)| amount.saturating_add(more));
    Ok(SurchargeEntry {
        kind: rate.kind.clone(),
        surcharge_rate: rate.part,
        surcharge_fee: rate.fee,
        amount,
        surcharge_amount: surcharge,
        total_amount: total,
    })
}

/// Returns the surcharge on an amount: its part, rounded to the nearest minor unit, and the fee.
fn surcharge_on(rate: &SurchargeRate, amount: i64) -> Option<i64> {
    let part = amount.checked_mul(rate.part)?.checked_add(WHOLE_RATE.checked_div(2)?)?;
    part.checked_div(WHOLE_RATE)?.checked_add(rate.fee)
}
