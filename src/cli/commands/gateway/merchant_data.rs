//! `gateway merchant`, `gateway account` and `gateway change`: parse the settings, as NAME=VALUE.
//! `gateway purge` and `gateway schedule`: collect the fields of a purge and of a schedule.

use serde_json::{Map, Value, json};

use crate::base::suggestion;
use crate::cli::args::gateway::changes::{ChangeArgs, ScheduleArgs};
use crate::cli::args::gateway::merchant_data::{
    AccountArgs, AccountTypeArg, Deletable, MerchantArgs, PurgeArgs,
};
use crate::cli::output::exit::CommandFailure;
use crate::effects::merchants::settings::{
    BANK_SETTINGS, CARD_SETTINGS, MERCHANT_SETTINGS, METHOD_TEXTS, RECURRING_SETTINGS,
    RemoteSetting,
};

/// Returns the fields to set of a merchant.
pub(crate) fn merchant_set(args: &MerchantArgs) -> Result<Value, CommandFailure> {
    Ok(json!({"set": parse_settings(&args.set, &MERCHANT_SETTINGS)?}))
}

/// Returns an account and the fields to set of it.
pub(crate) fn account(args: &AccountArgs) -> Result<Value, CommandFailure> {
    let settings: &[RemoteSetting] = match args.kind {
        AccountTypeArg::Card => &CARD_SETTINGS,
        AccountTypeArg::Bank => &BANK_SETTINGS,
    };
    let set = parse_settings(&args.set, settings)?;
    Ok(json!({"account": args.account, "type": args.kind.word(), "set": set}))
}

/// Returns an object and the fields to change of it.
pub(crate) fn change(args: &ChangeArgs) -> Result<Value, CommandFailure> {
    let settings: &[RemoteSetting] = match args.kind {
        Deletable::Card | Deletable::Bank => &METHOD_TEXTS,
        Deletable::Recurring => &RECURRING_SETTINGS,
    };
    let set = parse_settings(&args.set, settings)?;
    Ok(json!({"type": args.kind.word(), "id": args.id, "set": set}))
}

/// Returns an earlier charge, and the amount and dates of the recurring charge from it.
pub(crate) fn schedule(args: &ScheduleArgs) -> Value {
    json!({"charge": args.charge, "amount": args.amount, "start": args.start,
        "interval_unit": args.every.unit(), "interval_delay": args.step, "end": args.end,
        "days": args.days})
}

/// Returns the data to purge: everything if nothing is named, which the command shows before a
/// person agrees.
pub(crate) fn purge(args: &PurgeArgs) -> Value {
    let all = !args.transactions && !args.methods;
    json!({"transactions": all || args.transactions, "methods": all || args.methods})
}

/// Parses all settings.
///
/// # Errors
/// One failure lists everything that is wrong.
fn parse_settings(
    given: &[String],
    settings: &[RemoteSetting],
) -> Result<Map<String, Value>, CommandFailure> {
    let (mut set, mut wrong) = (Map::new(), Vec::new());
    for pair in given {
        match parse_setting(pair, settings) {
            Ok((name, _)) if set.contains_key(name) => wrong.push(format!("`{name}` is set twice")),
            Ok((name, value)) => drop(set.insert(name.to_owned(), value)),
            Err(why) => wrong.push(why),
        }
    }
    if wrong.is_empty() {
        return Ok(set);
    }
    let names: Vec<&str> = settings.iter().map(|setting| setting.name).collect();
    let failure =
        CommandFailure::input("reckon::gateway::set", format!("--set: {}", wrong.join("; ")));
    Err(failure.help(format!("write NAME=VALUE with one of these names: {}", names.join(", "))))
}

/// Parses one setting.
///
/// # Errors
/// The message never contains the value.
fn parse_setting<'a>(
    pair: &'a str,
    settings: &[RemoteSetting],
) -> Result<(&'a str, Value), String> {
    let (name, text) = pair.split_once('=').map_or((pair, None), |(name, text)| (name, Some(text)));
    let Some(setting) = settings.iter().find(|setting| setting.name == name) else {
        let meant = suggestion::nearest(name, settings.iter().map(|setting| setting.name));
        let meant = meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
        return Err(format!("there is no `{name}`{meant}"));
    };
    let text = text.ok_or_else(|| format!("`{name}` has no value"))?;
    Ok((name, setting.value(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[&str], settings: &[RemoteSetting]) -> Result<Value, String> {
        let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
        parse_settings(&given, settings).map(Value::Object).map_err(|failure| failure.message)
    }

    #[test]
    fn values_are_texts_but_for_a_flag_and_may_hold_anything() {
        let set = check(&["name=a=b", "primary=true", "accepted_card_types="], &CARD_SETTINGS);
        assert_eq!(set, Ok(json!({"name": "a=b", "primary": true, "accepted_card_types": ""})));
    }

    #[test]
    fn everything_that_is_wrong_is_told_in_one_run_and_no_value_shows() {
        let given = ["citty=Salem", "state", "country=US", "country=CA", "zzz=1234"];
        let told = check(&given, &MERCHANT_SETTINGS).unwrap_err();
        assert_eq!(
            told,
            "--set: there is no `citty` (did you mean `city`?); `state` has no value; `country` is set twice; there is no \
             `zzz`"
        );
        let set = check(&["amount=25.00 USD", "max_occurrences=3"], &RECURRING_SETTINGS);
        let amount = json!({"minor": 2500, "currency": "USD"});
        assert_eq!(set, Ok(json!({"amount": amount, "max_occurrences": 3})));
        let told = check(&["primary=yes", "cvv_policy=DISABLED"], &BANK_SETTINGS).unwrap_err();
        assert_eq!(told, "--set: `primary` is true or false; there is no `cvv_policy`");
    }
}
