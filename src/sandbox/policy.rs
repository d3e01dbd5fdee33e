//! What the tenant set for a merchant: which accounts may have recurring charges, captures by request, credits
//! and refunds to another method, where calls may come from, whether a reference is required, the surcharges, and the
//! product brand. Set by `/_sandbox/policy` alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api::method::MethodKind;
use crate::sandbox::lists::Mode;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::verification::{AvsPolicy, CvvPolicy};

/// The hour of the daily run, unless the tenant set another one.
const CAPTURE_HOUR: u32 = 22;

/// The settings of one merchant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Policy {
    /// Must every payment carry a reference (partner-api, `reference_required`)?
    pub(crate) reference_required: bool,
    /// Accounts that may not carry recurring charges (partner-api, `recurring_charges_enabled`).
    pub(crate) recurring_disabled: BTreeSet<String>,
    /// Accounts whose holds no request may capture (gateway-api, capture: enabled per account).
    pub(crate) capture_disabled: BTreeSet<String>,
    /// Accounts that may give credits (gateway-api, POST /v1/credits: disabled by default).
    pub(crate) credits_enabled: BTreeSet<String>,
    /// Accounts that may refund to another method of the same type (gateway-api, refund: not by default).
    pub(crate) other_method_enabled: BTreeSet<String>,
    /// The addresses that may call with a secret key (gateway-api, `api_allowed_ip_address_ranges`); none: all.
    pub(crate) allowed_addresses: Vec<String>,
    /// The countries that an account takes operations from (gateway-api, `transaction_allowed_countries`).
    pub(crate) allowed_countries: BTreeMap<String, BTreeSet<String>>,
    /// What an account wants of a CVV, where it wants anything.
    pub(crate) cvv: BTreeMap<String, CvvPolicy>,
    /// What an account wants of an address, where it wants anything.
    pub(crate) avs: BTreeMap<String, AvsPolicy>,
    /// Accounts for which a CVV that matches makes good an address that does not (service-facts, 69).
    pub(crate) avs_waived: BTreeSet<String>,
    /// What an account wants of cards that are swiped; nothing here swipes one.
    pub(crate) swipe: BTreeMap<String, Swipe>,
    /// The country of the addresses of a range.
    pub(crate) ip_countries: BTreeMap<String, String>,
    /// The product brand that the merchant uses; none: the sandbox's own.
    pub(crate) brand: Option<String>,
    /// Surcharges in order; of each type the first one counts.
    pub(crate) surcharges: Vec<Rate>,
    /// Where events go (gateway-api, Webhook rules, 1).
    pub(crate) events_urls: EventsUrls,
    /// What a payment by an account must carry (partner-api, `required_payment_fields`).
    pub(crate) required_fields: BTreeMap<String, BTreeSet<String>>,
    /// The cards that an account takes; none: all (partner-api, `accepted_card_types`).
    pub(crate) card_types: BTreeMap<String, BTreeSet<String>>,
    /// What one transaction, a day and a month may come to.
    pub(crate) limits: Limits,
    /// Banking days after the daily run on which an electronic check is settled.
    pub(crate) settlement_days: u32,
    /// The hour of the merchant's day of the daily run, where the tenant set another one.
    pub(crate) capture_hour: Option<u32>,
}

/// What an account wants of a card that is swiped (service-facts, 69).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Swipe {
    pub(crate) cvv: CvvPolicy,
    pub(crate) avs: AvsPolicy,
    pub(crate) avs_waived: bool,
    pub(crate) required_fields: BTreeSet<String>,
}

impl Swipe {
    /// The fields that it demands, separated by commas.
    pub(crate) fn required(&self) -> String {
        joined(Some(&self.required_fields)).unwrap_or_default()
    }
}

/// Where a merchant wants its events: URLs, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EventsUrls {
    pub(crate) test: String,
    pub(crate) live: String,
}

impl EventsUrls {
    pub(crate) fn of(&self, mode: Mode) -> &str {
        match mode {
            Mode::Test => &self.test,
            Mode::Live => &self.live,
        }
    }
}

/// The most that a merchant may take in one mode; none: no limit (service-facts, part 2: transaction rules).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    /// Of one transaction, minor units.
    pub(crate) max_amount: Option<i64>,
    pub(crate) daily_count: Option<u64>,
    pub(crate) daily_amount: Option<i64>,
    pub(crate) monthly_count: Option<u64>,
    pub(crate) monthly_amount: Option<i64>,
}

/// What is added to payments of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rate {
    /// `card` or `bank`.
    #[serde(rename = "type")]
    pub(crate) kind: MethodKind,
    /// Hundredths of a percent of the amount: this sandbox's own choice of unit.
    #[serde(default, rename = "surcharge_rate")]
    pub(crate) part: i64,
    /// Minor units.
    #[serde(default, rename = "surcharge_fee")]
    pub(crate) fee: i64,
}

impl Policy {
    /// 422 where a payment has to carry a reference and this one has none.
    pub(crate) fn need_reference(&self, reference: Option<&str>) -> Result<(), Refusal> {
        if self.reference_required && reference.is_none_or(|text| text.trim().is_empty()) {
            return Err(Refusal::field("reference", "not_blank", "Reference cannot be blank"));
        }
        Ok(())
    }

    /// What an account wants of a CVV.
    pub(crate) fn cvv_of(&self, account: &str) -> CvvPolicy {
        self.cvv.get(account).copied().unwrap_or_default()
    }

    /// What an account wants of an address.
    pub(crate) fn avs_of(&self, account: &str) -> AvsPolicy {
        self.avs.get(account).copied().unwrap_or_default()
    }

    /// What an account wants of a card that is swiped.
    pub(crate) fn swipe_of(&self, account: &str) -> Swipe {
        self.swipe.get(account).cloned().unwrap_or_default()
    }

    /// The hour of the merchant's day at which charges are captured (gateway-api, POST /v1/charges, rule 2).
    pub(crate) fn capture_hour(&self) -> u32 {
        self.capture_hour.unwrap_or(CAPTURE_HOUR)
    }

    /// The fields that an account demands, separated by commas.
    pub(crate) fn required_of(&self, account: &str) -> String {
        joined(self.required_fields.get(account)).unwrap_or_default()
    }

    /// The brands that an account takes, separated by commas; `None`: all.
    pub(crate) fn brands_of(&self, account: &str) -> Option<String> {
        joined(self.card_types.get(account))
    }

    /// The countries that an account takes operations from, separated by commas; `None`: all.
    pub(crate) fn countries_of(&self, account: &str) -> Option<String> {
        joined(self.allowed_countries.get(account))
    }

    /// Whether an account may carry recurring charges.
    pub(crate) fn allows_recurring(&self, account: &str) -> bool {
        !self.recurring_disabled.contains(account)
    }

    /// 422 where an account may not carry recurring charges.
    pub(crate) fn need_recurring(&self, account: &str) -> Result<(), Refusal> {
        if self.allows_recurring(account) {
            return Ok(());
        }
        Err(unavailable("Recurring charges are not enabled for the account"))
    }

    /// 422 where an account may not capture by request.
    pub(crate) fn need_capture(&self, account: &str) -> Result<(), Refusal> {
        if self.capture_disabled.contains(account) {
            return Err(unavailable("Captures are not enabled for the account"));
        }
        Ok(())
    }

    /// 422 where an account may give no credits.
    pub(crate) fn need_credits(&self, account: &str) -> Result<(), Refusal> {
        if self.credits_enabled.contains(account) {
            return Ok(());
        }
        Err(unavailable("Credits are not enabled for the account"))
    }

    /// 422 where an account may refund to the original method alone.
    pub(crate) fn need_other_method(&self, account: &str) -> Result<(), Refusal> {
        if self.other_method_enabled.contains(account) {
            return Ok(());
        }
        Err(unavailable("Refunds to another payment method are not enabled for the account"))
    }
}

fn joined(words: Option<&BTreeSet<String>>) -> Option<String> {
    let words = words.filter(|words| !words.is_empty())?;
    Some(words.iter().map(String::as_str).collect::<Vec<_>>().join(","))
}

fn unavailable(text: &str) -> Refusal {
    Refusal::rule("unavailable_for_merchant_policy", text)
}

/// Where all policies are kept.
pub(crate) const POLICIES: &str = "x/policy/";

fn key(merchant: &str) -> String {
    format!("{POLICIES}{merchant}")
}

impl Cx<'_> {
    /// The settings of a merchant.
    pub(crate) fn policy(&self, merchant: &str) -> Result<Arc<Policy>, Refusal> {
        Ok(self.often(&self.world.shelves.policies, &key(merchant))?.unwrap_or_default())
    }

    /// The same, to be changed and set.
    pub(crate) fn own_policy(&self, merchant: &str) -> Result<Policy, Refusal> {
        Ok(Arc::unwrap_or_clone(self.policy(merchant)?))
    }

    /// The product brand that a merchant's customers see.
    pub(crate) fn brand(&self, merchant: &str) -> Result<String, Refusal> {
        Ok(self.policy(merchant)?.brand.clone().unwrap_or_else(|| self.world.options.brand.clone()))
    }

    /// Sets them.
    pub(crate) fn set_policy(&mut self, merchant: &str, policy: &Policy) -> Result<(), Refusal> {
        self.put(&key(merchant), policy)
    }
}
