//! Host functions for money and for the retry rules.

use chrono::TimeDelta;
use rhai::{Dynamic, Map};

use super::{Call, amount_in, money_in};
use crate::base::id::{Key, KeyError};
use crate::base::money::{Money, MoneyError};
use crate::hooks::session::Refused;
use crate::hooks::values::Moment;
use crate::model::retry::{WhyNot, paid_by, wait};
use crate::policy::Power;

type Answer = Result<Dynamic, Refused>;

pub(in crate::hooks) fn money(call: &Call<'_>) -> Answer {
    Ok(Dynamic::from(money_in(&call.argument(0))?))
}

pub(in crate::hooks) fn money_of(call: &Call<'_>) -> Answer {
    let currency = call.text(1).parse().map_err(|error: MoneyError| error.to_string())?;
    Ok(Dynamic::from(Money::new(call.whole(0), currency)))
}

pub(in crate::hooks) fn amount_of(call: &Call<'_>) -> Answer {
    let record = call.argument(0).try_cast::<Map>().unwrap_or_default();
    Ok(Dynamic::from(amount_in(&record)?))
}

/// Returns the time that a payment waits before its next attempt.
fn waits(call: &Call<'_>) -> Result<TimeDelta, WhyNot> {
    let code = call.text(0);
    let tries = u32::try_from(call.whole(1).max(1)).unwrap_or(u32::MAX);
    let paid = paid_by(&code).ok_or(WhyNot::Unknown)?;
    wait(paid, &code, tries)
}

pub(in crate::hooks) fn retry_at(call: &Call<'_>) -> Answer {
    let Moment(last) = call.moment(2)?;
    let next = waits(call).ok().and_then(|wait| last.checked_add_signed(wait));
    Ok(next.map_or(Dynamic::UNIT, |next| Dynamic::from(Moment(next))))
}

#[expect(clippy::unnecessary_wraps, reason = "every row of the register answers alike")]
pub(in crate::hooks) fn why_no_retry(call: &Call<'_>) -> Answer {
    Ok(waits(call).map_or_else(|why| Dynamic::from(why.to_string()), |_| Dynamic::UNIT))
}

/// Returns a marker for a link until the text is sent: the link itself is a secret that no script
/// sees.
pub(in crate::hooks) fn intake_link(call: &Call<'_>) -> Answer {
    let key: Key = call.text(0).parse().map_err(|error: KeyError| error.to_string())?;
    if call.session.is_live() {
        call.session.need(Power::CardLink, call.session.merchant())?;
    }
    Ok(Dynamic::from(format!("{{{{intake:{key}}}}}")))
}
