//! A payment to authorise, and the demands of its account: required fields, accepted brands and
//! countries, CVV and address results, and the merchant's volume in a day and a month (partner-api,
//! `required_payment_fields` and `accepted_card_types`; service-facts, part 2).

use chrono::Datelike;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::method::MethodKind;
use crate::api::rules::FieldProblems;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::auth;
use crate::sandbox::merchants::policy::{MerchantPolicy, PAYMENT_FIELDS, VelocityLimits};
use crate::sandbox::methods::payment_methods::{COUNTRY_DENIED, OutcomeClass, StoredMethod};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::ObjectOwner;
use crate::sandbox::state::store::ChangeUnit;

/// A payment to authorise; its method has been checked.
pub(crate) struct PaymentOrder {
    pub(crate) owner: ObjectOwner,
    pub(crate) account: String,
    pub(crate) amount: i64,
    pub(crate) method: StoredMethod,
    pub(crate) auto_capture: bool,
    pub(crate) reference: Option<String>,
    pub(crate) surcharge_amount: Option<i64>,
    pub(crate) data: Option<Value>,
    /// Ids of the recurring charge and its occurrence.
    pub(crate) recurring: Option<(String, String)>,
}

/// Refuses missing fields with 422. A saved method stores no CVV, so it needs none.
pub(crate) fn need_fields(
    policy: &MerchantPolicy,
    account: &str,
    method: &StoredMethod,
    is_saved: bool,
) -> Result<()> {
    let Some(wanted) = policy.required_fields.get(account).filter(|_| method.is_card()) else {
        return Ok(());
    };
    let mut problems = FieldProblems::default();
    for field in wanted {
        let known = PAYMENT_FIELDS.iter().find(|(own, _, _)| own == field);
        let is_given = match known.map(|(_, _, value)| value(&method.shown)) {
            Some(text) => text.as_deref().is_some_and(|text| !text.trim().is_empty()),
            None => field != "cvv" || method.has_cvv || is_saved,
        };
        let name = known.map_or("Card code", |(_, name, _)| name);
        problems.unless(is_given, field, "not_blank", &format!("{name} cannot be blank"));
    }
    SandboxRefusal::fields("method", &problems.into_list())
}

/// Makes a payment by a brand fail that the account does not accept.
pub(crate) fn deny_by_brand(policy: &MerchantPolicy, account: &str, method: &mut StoredMethod) {
    let Some(taken) = policy.card_types.get(account).filter(|taken| !taken.is_empty()) else {
        return;
    };
    let brand = method.shown.card_type.as_ref().map(|brand| brand.as_str().to_owned());
    if brand.is_some_and(|brand| !taken.contains(&brand)) && method.class.failure.is_none() {
        method.class.failure = Some("card_type_not_accepted".to_owned());
    }
}

/// Makes a payment from a refused country fail: the transaction is kept, with the reason.
pub(crate) fn deny_by_country(
    cx: &ChangeUnit,
    asked: &ParsedRequest,
    account: &str,
    method: &mut StoredMethod,
) {
    if auth::need_country(cx, asked, account).is_err() {
        method.class.failure = Some(COUNTRY_DENIED.to_owned());
    }
}

/// Returns the code with which the account rejects an authorised card payment.
pub(crate) fn rejection(cx: &ChangeUnit, order: &PaymentOrder) -> Result<Option<&'static str>> {
    if order.method.shown.kind != MethodKind::Card {
        return Ok(None);
    }
    let policy = cx.policy(&order.owner.merchant)?;
    let OutcomeClass { failure: _, cvv_result, avs_result } = &order.method.class;
    let cvv = policy.cvv_of(&order.account).accepts(cvv_result.as_deref());
    let waived = policy.avs_waived.contains(&order.account);
    let made_good = waived && cvv_result.as_deref() == Some("MATCHED");
    let avs = made_good || policy.avs_of(&order.account).accepts(avs_result.as_deref());
    Ok(match (cvv, avs) {
        (false, _) => Some("card_cvv_incorrect"),
        (true, false) => Some("card_avs_rejected"),
        (true, true) => None,
    })
}

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

/// Returns the keys of the owner's volume of today and of this month.
fn volume_keys(cx: &ChangeUnit, owner: &ObjectOwner) -> Result<[String; 2]> {
    let today = cx.merchant(&owner.merchant)?.today(cx.now);
    let month = format!("{}-{:02}", today.year(), today.month());
    Ok([today.to_string(), month].map(|period| format!("x/volume/{}/{period}", owner.key())))
}

/// The limits of a day and of a month, in the order in which they count.
const LIMIT_CODES: [&str; 4] = [
    "merchant_trans_daily_count_exceeded",
    "merchant_trans_daily_amount_exceeded",
    "merchant_trans_monthly_count_exceeded",
    "merchant_trans_monthly_amount_exceeded",
];

/// Returns the code of the first limit that a payment would exceed.
pub(crate) fn exceeded_limit(
    cx: &ChangeUnit,
    order: &PaymentOrder,
) -> Result<Option<&'static str>> {
    let policy = cx.policy(&order.owner.merchant)?;
    let limits = &policy.limits;
    if limits.max_amount.is_some_and(|most| order.amount > most) {
        return Ok(Some("merchant_trans_max_amount_exceeded"));
    }
    let then = |key: &str| -> Result<Volume> {
        Ok(cx.get::<Volume>(key)?.unwrap_or_default().with(order.amount))
    };
    let [day, month] = volume_keys(cx, &order.owner)?;
    let daily = then(&day)?.exceeds(limits.daily_count, limits.daily_amount);
    let monthly = then(&month)?.exceeds(limits.monthly_count, limits.monthly_amount);
    let mut codes = daily.into_iter().chain(monthly).zip(LIMIT_CODES);
    Ok(codes.find(|(is_over, _)| *is_over).map(|(_, code)| code))
}

/// Counts an accepted payment. Without limits nothing is counted, since nothing reads the count.
pub(crate) fn count_volume(cx: &mut ChangeUnit, owner: &ObjectOwner, amount: i64) -> Result<()> {
    if cx.policy(&owner.merchant)?.limits == VelocityLimits::default() {
        return Ok(());
    }
    for key in volume_keys(cx, owner)? {
        let volume = cx.get::<Volume>(&key)?.unwrap_or_default().with(amount);
        cx.put(&key, &volume)?;
    }
    Ok(())
}
