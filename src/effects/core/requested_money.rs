//! Computes the money of an effect from its own request: a planner that omits an amount does not
//! get it past the meter.

use serde_json::Value;

use crate::base::money::{Currency, Money};
use crate::model::intents::effect::Effect;
use crate::model::intents::exposure::MoneyMove;

/// Meaning of an amount that is in a request but that its effect does not name.
const UNDECLARED: &str = "undeclared";

/// Returns the money that an effect names, and the highest amount of its request, or of the
/// expected answer, if that exceeds every named one.
pub fn requested_money(effect: &Effect) -> Vec<MoneyMove> {
    let named = effect.moves.iter().map(|money| money.amount.minor().saturating_abs()).max();
    let body = &effect.request.body;
    let asked =
        [body.get("amount"), body.pointer("/recur/amount"), effect.expect.get("total_amount")];
    let most = asked.into_iter().flatten().filter_map(Value::as_i64).max();
    let hidden = most.filter(|most| *most > named.unwrap_or(0));
    let hidden = hidden.map(|minor| MoneyMove {
        amount: Money::new(minor, currency(effect)),
        mode: effect.mode,
        meaning: UNDECLARED,
    });
    effect.moves.iter().cloned().chain(hidden).collect()
}

/// Returns the currency of a request: its own, else its effect's, else the service's default.
fn currency(effect: &Effect) -> Currency {
    let said = effect.request.body.get("currency").and_then(Value::as_str);
    let said = said.and_then(|code| code.parse().ok());
    let named = || effect.moves.first().map(|money| money.amount.currency());
    said.or_else(named).unwrap_or(Currency::USD)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::effects::invoicing::invoice_create::create_invoice;
    use crate::effects::recurring::create::create_recurring;
    use crate::effects::testing::obligation;

    fn shown(effect: &Effect) -> Vec<String> {
        let moves = requested_money(effect).into_iter();
        moves.map(|money| format!("{} {}", money.amount, money.meaning)).collect()
    }

    #[test]
    fn an_amount_that_nobody_names_is_found_in_the_request() {
        let body = json!({"amount": 500, "currency": "EUR"});
        let mut effect = create_recurring(obligation(), body, "rent");
        assert_eq!(shown(&effect), ["5.00 EUR undeclared"]);
        let money = |minor| MoneyMove {
            amount: Money::new(minor, "EUR".parse().unwrap()),
            mode: effect.mode,
            meaning: "collected_per_occurrence",
        };
        let (low, right) = (money(100), money(500));
        effect.moves = vec![low];
        assert_eq!(shown(&effect), ["1.00 EUR collected_per_occurrence", "5.00 EUR undeclared"]);
        effect.moves = vec![right];
        assert_eq!(shown(&effect), ["5.00 EUR collected_per_occurrence"]);
        let invoice = create_invoice(obligation(), json!({"currency": "USD"}), &[], 700);
        assert_eq!(shown(&invoice), ["7.00 USD undeclared"]);
    }
}
