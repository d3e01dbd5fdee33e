//! Volume of a merchant's payments in a day and a month, and its limits (service-facts, part 2:
//! `merchant_trans_…`).

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::payments::charges::PaymentOrder;
use crate::sandbox::state::lists::ObjectOwner;
use crate::sandbox::state::store::ChangeUnit;

/// Volume of a span of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Volume {
    count: u64,
    /// In minor units, over all currencies.
    amount: i64,
}

impl Volume {
    fn with(self, amount: i64) -> Self {
        let (count, amount) = (self.count.saturating_add(1), self.amount.saturating_add(amount));
        Self { count, amount }
    }

    fn exceeds(self, count: Option<u64>, amount: Option<i64>) -> [bool; 2] {
        [count.is_some_and(|most| self.count > most), amount.is_some_and(|most| self.amount > most)]
    }
}

fn day(owner: &ObjectOwner, date: NaiveDate) -> String {
    format!("x/volume/{}/{date}", owner.key())
}

fn month(owner: &ObjectOwner, date: NaiveDate) -> String {
    format!("x/volume/{}/{}-{:02}", owner.key(), date.year(), date.month())
}

/// Returns the code of the first limit that a payment would exceed.
pub(crate) fn exceeded_limit(
    cx: &ChangeUnit<'_>,
    order: &PaymentOrder,
) -> Result<Option<&'static str>, SandboxRefusal> {
    let policy = cx.policy(&order.owner.merchant)?;
    let limits = &policy.limits;
    if limits.max_amount.is_some_and(|most| order.amount > most) {
        return Ok(Some("merchant_trans_max_amount_exceeded"));
    }
    let today = cx.merchant(&order.owner.merchant)?.today(cx.now);
    let then = |key: String| -> Result<Volume, SandboxRefusal> {
        Ok(cx.get::<Volume>(&key)?.unwrap_or_default().with(order.amount))
    };
    let daily = then(day(&order.owner, today))?.exceeds(limits.daily_count, limits.daily_amount);
    let monthly =
        then(month(&order.owner, today))?.exceeds(limits.monthly_count, limits.monthly_amount);
    let [day_count, day_amount] = daily;
    let [month_count, month_amount] = monthly;
    let codes = [
        (day_count, "merchant_trans_daily_count_exceeded"),
        (day_amount, "merchant_trans_daily_amount_exceeded"),
        (month_count, "merchant_trans_monthly_count_exceeded"),
        (month_amount, "merchant_trans_monthly_amount_exceeded"),
    ];
    Ok(codes.into_iter().find(|(is_over, _)| *is_over).map(|(_, code)| code))
}

/// Counts an accepted payment. Without limits nothing is counted, since nothing reads the count.
pub(crate) fn count(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    amount: i64,
) -> Result<(), SandboxRefusal> {
    if cx.policy(&owner.merchant)?.limits == super::policy::VelocityLimits::default() {
        return Ok(());
    }
    let today = cx.merchant(&owner.merchant)?.today(cx.now);
    for key in [day(owner, today), month(owner, today)] {
        let volume = cx.get::<Volume>(&key)?.unwrap_or_default().with(amount);
        cx.put(&key, &volume)?;
    }
    Ok(())
}
