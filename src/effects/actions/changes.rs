//! Actions on saved methods and recurring charges that no document manages: create one from an
//! earlier charge, change an existing one.

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::base::schedule::{Day, IntervalUnit, Schedule};
use crate::effects::actions::fields::{
    ActionEffect, Changeable, action, decode, money_move, positive, without_money,
};
use crate::effects::core::context::{EffectContext, set_field};
use crate::effects::merchants::settings::{CARD_DATE, METHOD_TEXTS, RECURRING_SETTINGS, check};
use crate::effects::methods::change::set_method;
use crate::effects::methods::method::PaymentMethodType;
use crate::effects::recurring::change::set_recurring;
use crate::effects::recurring::create::schedule_charge;
use crate::model::effect::MoneyMove;

/// Meaning of a recurring charge's payment in the plan and in limits.
const PER_OCCURRENCE: &str = "collected_per_occurrence";

action! {
    fn schedule(new, ScheduleFields {
        charge: RemoteId,
        amount: Money,
        start: NaiveDate,
        interval_unit: IntervalUnit,
        interval_delay: u32,
        end: Option<NaiveDate>,
        #[serde(default)]
        days: Vec<Day>,
    }) {
        let money = money_move(positive(amount)?, new.mode, PER_OCCURRENCE);
        let schedule = Schedule { start, interval_unit, interval_delay, end, days };
        let wrong = schedule.problems();
        if !wrong.is_empty() {
            let told = wrong.iter().map(|one| format!("{}: {}; {}", one.field, one.message, one.help));
            return Err(told.collect::<Vec<_>>().join("; "));
        }
        let body = json!({"amount": amount.minor(), "schedule": schedule});
        let effect = schedule_charge(new, &charge, body, amount.currency().code());
        Ok(ActionEffect { effect, money })
    }
}

action! {
    fn change(new, ChangeFields {
        #[serde(rename = "type")]
        kind: Changeable,
        id: RemoteId,
        set: Map<String, Value>,
    }) {
        let sort = match kind {
            Changeable::Card => PaymentMethodType::Card,
            Changeable::Bank => PaymentMethodType::Bank,
            Changeable::Recurring => return change_recurring_charge(new, &id, &set),
        };
        check(&METHOD_TEXTS, &set)?;
        Ok(without_money(set_method(new, sort, &id, set)))
    }
}

/// Changes a recurring charge, which has one currency: every amount must be in it.
fn change_recurring_charge(
    new: EffectContext,
    id: &RemoteId,
    set: &Map<String, Value>,
) -> Result<ActionEffect, String> {
    check(&RECURRING_SETTINGS, set)?;
    let (mut body, mut currency, mut money) = (json!({}), None, Vec::<MoneyMove>::new());
    for (name, value) in set.iter().filter(|(name, _)| !CARD_DATE.contains(&name.as_str())) {
        let Ok(amount) = decode::<Money>(value) else {
            set_field(&mut body, name, value.clone());
            continue;
        };
        let amount = positive(amount)?;
        if currency.replace(amount.currency()).is_some_and(|one| one != amount.currency()) {
            return Err("`amount` and `max_amount` are in two currencies".to_owned());
        }
        if name == "amount" {
            money = money_move(amount, new.mode, PER_OCCURRENCE);
        }
        set_field(&mut body, name, amount.minor());
    }
    if let Some(card) = card_with_date(set)? {
        set_field(&mut body, "method", card);
    }
    let currency = currency.map(|currency| currency.code().to_owned());
    Ok(ActionEffect { effect: set_recurring(new, id, body, currency.as_deref()), money })
}

/// Returns the card with its new date, if one is named; half of a date is an error.
fn card_with_date(set: &Map<String, Value>) -> Result<Option<Value>, String> {
    let named = CARD_DATE.iter().filter(|name| set.contains_key(**name)).count();
    if named == 0 {
        return Ok(None);
    }
    if named < CARD_DATE.len() {
        return Err("a card's date is `exp_month` and `exp_year` together".to_owned());
    }
    let mut card = json!({"type": "card"});
    for name in CARD_DATE {
        set_field(&mut card, name, set.get(name).cloned().unwrap_or_default());
    }
    Ok(Some(card))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::obligation;
    use super::*;

    fn usd(minor: i64) -> Value {
        json!({"minor": minor, "currency": "USD"})
    }

    #[test]
    fn a_recurring_charge_is_made_of_a_charge_and_its_money_counts() {
        let fields = json!({"charge": "ch1", "amount": usd(700), "start": "2031-01-31",
            "interval_unit": "MONTH", "interval_delay": 1});
        let ActionEffect { effect, money } = schedule(obligation(), &fields).unwrap();
        assert_eq!(effect.request.path, "/v1/charges/ch1/schedule");
        let schedule =
            json!({"start": "2031-01-31", "interval_unit": "MONTH", "interval_delay": 1});
        assert_eq!(effect.request.body, json!({"amount": 700, "schedule": schedule}));
        assert_eq!(effect.expect["currency"], "USD");
        assert_eq!((money.len(), money[0].meaning), (1, PER_OCCURRENCE));
    }

    #[test]
    fn everything_wrong_with_a_schedule_is_told_with_what_to_write() {
        let fields = json!({"charge": "ch1", "amount": usd(700), "start": "2031-01-31",
            "interval_unit": "MONTH", "interval_delay": 0, "end": "2030-01-01"});
        let told = schedule(obligation(), &fields).unwrap_err();
        assert!(told.contains("interval_delay: ") && told.contains("end: "), "{told}");
        let nothing = json!({"charge": "ch1", "amount": usd(0), "start": "2031-01-31",
            "interval_unit": "MONTH", "interval_delay": 1});
        assert!(schedule(obligation(), &nothing).unwrap_err().contains("not more than nothing"));
    }

    #[test]
    fn what_is_changed_is_what_is_named_and_nothing_else() {
        let make = |kind: &str, set: Value| {
            let deed = change(obligation(), &json!({"type": kind, "id": "x1", "set": set}))?;
            let request = &deed.effect.request;
            Ok::<_, String>((format!("{} {}", request.path, request.body), deed.money.len()))
        };
        let card = make("card", json!({"description": "Visa"})).unwrap();
        assert_eq!(card, (r#"/v1/cards/x1 {"description":"Visa"}"#.to_owned(), 0));
        let bank = make("bank", json!({"reference": ""})).unwrap();
        assert_eq!(bank.0, r#"/v1/banks/x1 {"reference":""}"#);
        let more = json!({"amount": usd(700), "max_occurrences": 3});
        let rent = make("recurring", more).unwrap();
        let body = r#"/v1/recurring/charges/x1 {"amount":700,"max_occurrences":3}"#;
        assert_eq!(rent, (body.to_owned(), 1));
        let two = json!({"amount": usd(7), "max_amount": {"minor": 7, "currency": "CAD"}});
        assert!(make("recurring", two).unwrap_err().contains("two currencies"));
        let date = make("recurring", json!({"exp_month": 7, "exp_year": 2034})).unwrap();
        let card = r#"{"method":{"type":"card","exp_month":7,"exp_year":2034}}"#;
        assert_eq!(date, (format!("/v1/recurring/charges/x1 {card}"), 0));
        assert!(make("recurring", json!({"exp_year": 2034})).unwrap_err().contains("together"));
        assert!(make("recurring", json!({"exp_month": 13, "exp_year": 2034})).is_err());
        assert!(make("card", json!({"amount": usd(7)})).unwrap_err().contains("no `amount`"));
        assert!(make("card", json!({})).is_err());
        assert!(make("invoice", json!({"description": "x"})).is_err());
    }
}
