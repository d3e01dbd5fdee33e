//! Bank account that receives an invoice's money (partner-api, Bank account).

use serde_json::Value;

use crate::base::id::{Key, Mode};
use crate::base::money::Money;
use crate::kinds::planning::step::{StepCx, find_account, text};
use crate::model::plans::plan::Reason;
use crate::model::state::observed::Observed;

/// Term for it in messages.
const WHAT: &str = "bank account";

/// Returns the id of the bank account that a spec names by name or id. An account never receives
/// money of another currency or mode than its own (partner-api, test invoice rules).
pub fn id(spec: &Value, owner: &Observed, total: Money, mode: Mode) -> Result<String, Reason> {
    let account = of_mode(spec, owner, mode)?;
    let (currency, name) = (text(account, "currency"), text(account, "name"));
    if !currency.is_empty() && currency != total.currency().code() {
        return Err(Reason::CurrencyMismatch(format!(
            "the total is in {}, and the bank account {name:?} takes {currency}: write {currency}, or \
             name another bank account",
            total.currency()
        )));
    }
    Ok(text(account, "id").to_owned())
}

/// Returns the bank account, which must be of the invoice's mode.
fn of_mode<'a>(spec: &Value, owner: &'a Observed, mode: Mode) -> Result<&'a Value, Reason> {
    let wanted = text(spec, "bank_account");
    let what = format!("the bank account {wanted:?} is");
    let account = find_account(owner.fact("bank_accounts"), wanted, WHAT).map_err(|reason| {
        let other = if mode == Mode::Test { Mode::Live } else { Mode::Test };
        let found = find_account(owner.fact("other_bank_accounts"), wanted, WHAT).is_ok();
        if found { other_mode(&what, other, mode) } else { reason }
    })?;
    match account.get("test_mode").and_then(Value::as_bool).map(mode_word) {
        Some(other) if other != mode => Err(other_mode(&what, other, mode)),
        Some(_) | None => Ok(account),
    }
}

/// Returns the mode of a `test_mode` flag.
pub fn mode_word(test: bool) -> Mode {
    if test { Mode::Test } else { Mode::Live }
}

/// Returns the reason for an object of another mode than the invoice's.
pub fn other_mode(what: &str, other: Mode, mode: Mode) -> Reason {
    Reason::OtherMode(format!("{what} for {other} mode, and the invoice is in {mode} mode"))
}

/// Returns whether that account holds money in trust, as far as known.
pub fn is_trust(cx: &StepCx<'_>, spec: &Value, merchant: &Key) -> bool {
    let owner = cx.view.observed_state(merchant);
    let accounts = owner.as_ref().map(|owner| owner.fact("bank_accounts"));
    let account = accounts.and_then(|all| find_account(all, text(spec, "bank_account"), WHAT).ok());
    account.is_some_and(|account| account.get("trust") == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::money::Currency;

    fn owner() -> Observed {
        let at = chrono::DateTime::UNIX_EPOCH;
        let mut owner = Observed::unknown("Merchant/default/acme".parse().unwrap(), at);
        owner.facts = json!({"bank_accounts": [
            {"id": "bank_o", "name": "Operating", "currency": "USD", "trust": false},
            {"id": "bank_e", "name": "Euro", "currency": "EUR", "trust": false},
            {"id": "bank_x", "name": "Silent", "trust": false},
        ]});
        owner
    }

    #[test]
    fn the_money_of_an_invoice_is_of_its_bank_account_s_currency() {
        let of = |name: &str| {
            id(&json!({"bank_account": name}), &owner(), Money::new(100, Currency::USD), Mode::Test)
        };
        assert_eq!(of("Operating"), Ok("bank_o".to_owned()));
        assert_eq!(of("Silent"), Ok("bank_x".to_owned()), "it does not say what it takes");
        let Err(reason) = of("Euro") else { panic!("euros are no dollars") };
        assert_eq!(
            format!("{}: {reason}", reason.word()),
            "CurrencyMismatch: the total is in USD, and the bank account \"Euro\" takes EUR: write EUR, or name another bank account"
        );
        let Err(reason) = of("Nowhere") else { panic!("there is none") };
        assert_eq!(reason.word(), "AccountUnfit");
    }
}
