//! Host functions for money and for the retry rules.

use chrono::TimeDelta;
use rhai::{Dynamic, Map};

use super::{HostCall, parse_money, record_amount};
use crate::base::id::{Key, KeyError};
use crate::base::money::{Money, MoneyError};
use crate::model::intents::retry::{RetryDenied, method_of_code, next_wait};
use crate::policy::ScriptPower;
use crate::scripting::run::session::HostError;
use crate::scripting::run::values::ScriptMoment;

type HelperCallResult = Result<Dynamic, HostError>;

pub(crate) fn money(call: &HostCall<'_>) -> HelperCallResult {
    Ok(Dynamic::from(parse_money(&call.argument(0))?))
}

pub(crate) fn money_of(call: &HostCall<'_>) -> HelperCallResult {
    let currency = call.text(1).parse().map_err(|error: MoneyError| error.to_string())?;
    Ok(Dynamic::from(Money::new(call.integer(0), currency)))
}

pub(crate) fn amount_of(call: &HostCall<'_>) -> HelperCallResult {
    let record = call.argument(0).try_cast::<Map>().unwrap_or_default();
    Ok(Dynamic::from(record_amount(&record)?))
}

/// Returns the time that a payment waits before its next attempt.
fn retry_wait(call: &HostCall<'_>) -> Result<TimeDelta, RetryDenied> {
    let code = call.text(0);
    let tries = u32::try_from(call.integer(1).max(1)).unwrap_or(u32::MAX);
    let paid = method_of_code(&code).ok_or(RetryDenied::Unknown)?;
    next_wait(paid, &code, tries)
}

pub(crate) fn retry_at(call: &HostCall<'_>) -> HelperCallResult {
    let ScriptMoment(last) = call.moment(2)?;
    let next = retry_wait(call).ok().and_then(|wait| last.checked_add_signed(wait));
    Ok(next.map_or(Dynamic::UNIT, |next| Dynamic::from(ScriptMoment(next))))
}

#[expect(clippy::unnecessary_wraps, reason = "every row of the register answers alike")]
pub(crate) fn why_no_retry(call: &HostCall<'_>) -> HelperCallResult {
    Ok(retry_wait(call).map_or_else(|why| Dynamic::from(why.to_string()), |_| Dynamic::UNIT))
}

/// Returns a marker for a link until the text is sent: the link itself is a secret that no script
/// sees.
pub(crate) fn new_card_link(call: &HostCall<'_>) -> HelperCallResult {
    let key: Key = call.text(0).parse().map_err(|error: KeyError| error.to_string())?;
    if call.session.is_live() {
        call.session.require_right(ScriptPower::CardLink, call.session.merchant())?;
    }
    Ok(Dynamic::from(format!("{{{{intake:{key}}}}}")))
}
