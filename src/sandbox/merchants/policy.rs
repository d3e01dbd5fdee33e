//! The tenant's settings for a merchant: recurring charges, captures by request, credits and
//! refunds to another method, each by account. Also the allowed origins of calls, whether a
//! reference is required, the surcharges, the product brand, and which CVV and address results an
//! account accepts (gateway-api, States and transitions; service-facts, 30 and 69).
//! `/_sandbox/policy` sets them; `PATCH` and `PUT` of the merchant and its accounts change some of
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api::method::{MethodKind, PaymentMethod};
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::objects::MerchantMode;
use crate::sandbox::state::store::ChangeUnit;

const CAPTURE_HOUR: u32 = 22;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MerchantPolicy {
    /// Requires a reference of every payment (partner-api, `reference_required`).
    pub(crate) reference_required: bool,
    /// Accounts that may not carry recurring charges (partner-api, `recurring_charges_enabled`).
    pub(crate) recurring_disabled: BTreeSet<String>,
    /// Accounts whose holds no request may capture (gateway-api, capture: enabled per account).
    pub(crate) capture_disabled: BTreeSet<String>,
    /// Accounts that may pay out credits (gateway-api, POST /v1/credits: disabled by default).
    pub(crate) credits_enabled: BTreeSet<String>,
    /// Accounts that may refund to another method of the same type (gateway-api, refund: not
    /// by default).
    pub(crate) other_method_enabled: BTreeSet<String>,
    /// Addresses that may call with a secret key (gateway-api, `api_allowed_ip_address_ranges`);
    /// empty allows all.
    pub(crate) allowed_addresses: Vec<String>,
    /// Countries from which an account accepts operations (gateway-api,
    /// `transaction_allowed_countries`).
    pub(crate) allowed_countries: BTreeMap<String, BTreeSet<String>>,
    pub(crate) cvv: BTreeMap<String, CvvPolicy>,
    pub(crate) avs: BTreeMap<String, AvsPolicy>,
    /// Accounts for which a matching CVV excuses a mismatched address (service-facts, 69).
    pub(crate) avs_waived: BTreeSet<String>,
    /// Policy for swiped cards by account; the sandbox swipes none.
    pub(crate) swipe: BTreeMap<String, SwipePolicy>,
    pub(crate) ip_countries: BTreeMap<String, String>,
    /// The merchant's product brand; `None` uses the sandbox's own.
    pub(crate) brand: Option<String>,
    /// Surcharges in order; the first of each type counts.
    pub(crate) surcharges: Vec<SurchargeRate>,
    /// Targets of events (gateway-api, Webhook rules, 1).
    pub(crate) events_urls: EventsUrls,
    /// Fields that a payment must carry, by account (partner-api, `required_payment_fields`).
    pub(crate) required_fields: BTreeMap<String, BTreeSet<String>>,
    /// Card brands that an account accepts (partner-api, `accepted_card_types`); none means all.
    pub(crate) card_types: BTreeMap<String, BTreeSet<String>>,
    pub(crate) limits: VelocityLimits,
    /// Banking days between the daily run and the settlement of an electronic check.
    pub(crate) settlement_days: u32,
    /// Hour of the daily run in the merchant's day, if the tenant set one.
    pub(crate) capture_hour: Option<u32>,
}

/// Policy of an account for swiped cards (service-facts, 69).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SwipePolicy {
    pub(crate) cvv: CvvPolicy,
    pub(crate) avs: AvsPolicy,
    pub(crate) avs_waived: bool,
    pub(crate) required_fields: BTreeSet<String>,
}

impl SwipePolicy {
    pub(crate) fn required_list(&self) -> String {
        join_words(Some(&self.required_fields)).unwrap_or_default()
    }
}

/// Targets of a merchant's events by mode: URLs, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EventsUrls {
    pub(crate) test: String,
    pub(crate) live: String,
}

impl EventsUrls {
    pub(crate) fn of(&self, mode: MerchantMode) -> &str {
        mode.pick(&self.test, &self.live)
    }
}

/// Limits of a merchant in one mode; `None` means no limit (service-facts, part 2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct VelocityLimits {
    /// For one transaction, in minor units.
    pub(crate) max_amount: Option<i64>,
    pub(crate) daily_count: Option<u64>,
    pub(crate) daily_amount: Option<i64>,
    pub(crate) monthly_count: Option<u64>,
    pub(crate) monthly_amount: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SurchargeRate {
    /// `card` or `bank`.
    #[serde(rename = "type")]
    pub(crate) kind: MethodKind,
    /// In hundredths of a percent of the amount: this sandbox's own choice of unit.
    #[serde(default, rename = "surcharge_rate")]
    pub(crate) part: i64,
    #[serde(default, rename = "surcharge_fee")]
    pub(crate) fee: i64,
}

impl MerchantPolicy {
    pub(crate) fn need_reference(&self, reference: Option<&str>) -> Result<()> {
        let is_given = reference.is_some_and(|text| !text.trim().is_empty());
        let blank = || SandboxRefusal::field("reference", "not_blank", "Reference cannot be blank");
        SandboxRefusal::ensure(is_given || !self.reference_required, blank)
    }

    pub(crate) fn cvv_of(&self, account: &str) -> CvvPolicy {
        self.cvv.get(account).copied().unwrap_or_default()
    }

    pub(crate) fn avs_of(&self, account: &str) -> AvsPolicy {
        self.avs.get(account).copied().unwrap_or_default()
    }

    pub(crate) fn swipe_of(&self, account: &str) -> SwipePolicy {
        self.swipe.get(account).cloned().unwrap_or_default()
    }

    /// Returns the hour of the merchant's day at which charges are captured (gateway-api, POST
    /// /v1/charges, 2).
    pub(crate) fn capture_hour(&self) -> u32 {
        self.capture_hour.unwrap_or(CAPTURE_HOUR)
    }

    pub(crate) fn required_of(&self, account: &str) -> String {
        join_words(self.required_fields.get(account)).unwrap_or_default()
    }

    /// Returns the brands that an account accepts, separated by commas; `None` means all.
    pub(crate) fn brands_of(&self, account: &str) -> Option<String> {
        join_words(self.card_types.get(account))
    }

    pub(crate) fn allows_recurring(&self, account: &str) -> bool {
        !self.recurring_disabled.contains(account)
    }

    pub(crate) fn need_recurring(&self, account: &str) -> Result<()> {
        need_enabled(self.allows_recurring(account), "Recurring charges")
    }
}

/// Refuses operations that are not enabled for an account; `what` begins the message.
pub(crate) fn need_enabled(is_enabled: bool, what: &str) -> Result<()> {
    let text = format!("{what} are not enabled for the account");
    SandboxRefusal::unless(is_enabled, UNAVAILABLE, &text)
}

/// A payment field of an account: its name, its name in messages, and its value.
pub(crate) type PaymentField = (&'static str, &'static str, fn(&PaymentMethod) -> &Option<String>);

/// Fields that an account may require besides the CVV (service-facts, part 2).
pub(crate) const PAYMENT_FIELDS: [PaymentField; 7] = [
    ("name", "Name", |method| &method.name),
    ("address1", "Street number", |method| &method.address1),
    ("city", "City", |method| &method.city),
    ("state", "State or province", |method| &method.state),
    ("postal_code", "Postal code", |method| &method.postal_code),
    ("email", "Email", |method| &method.email),
    ("phone", "Phone", |method| &method.phone),
];

/// Returns true for a field that an account may require.
pub(crate) fn is_payment_field(name: &str) -> bool {
    name == "cvv" || PAYMENT_FIELDS.iter().any(|(field, _, _)| *field == name)
}

/// Joins words by commas; `None` for no words.
pub(crate) fn join_words(words: Option<&BTreeSet<String>>) -> Option<String> {
    let words = words.filter(|words| !words.is_empty())?;
    Some(words.iter().map(String::as_str).collect::<Vec<_>>().join(","))
}

/// Error code of an operation that the tenant's settings do not allow.
pub(crate) const UNAVAILABLE: &str = "unavailable_for_merchant_policy";

fn key(merchant: &str) -> String {
    format!("x/policy/{merchant}")
}

impl ChangeUnit {
    pub(crate) fn policy(&self, merchant: &str) -> Result<Arc<MerchantPolicy>> {
        self.get_cached_or_default(&key(merchant))
    }

    pub(crate) fn policy_to_edit(&self, merchant: &str) -> Result<MerchantPolicy> {
        Ok(Arc::unwrap_or_clone(self.policy(merchant)?))
    }

    pub(crate) fn brand(&self, merchant: &str) -> Result<String> {
        let own = self.policy(merchant)?.brand.clone();
        Ok(own.unwrap_or_else(|| self.environment.options.brand.clone()))
    }

    pub(crate) fn set_policy(&mut self, merchant: &str, policy: &MerchantPolicy) -> Result<()> {
        self.put(&key(merchant), policy)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum CvvPolicy {
    Disabled,
    #[default]
    Optional,
    /// Rejects a CVV that is known not to match.
    RequireMatchLenient,
    /// Rejects a CVV that is not known to match.
    RequireMatchStrict,
}

impl CvvPolicy {
    pub(crate) fn accepts(self, result: Option<&str>) -> bool {
        match self {
            Self::Disabled | Self::Optional => true,
            Self::RequireMatchLenient => result != Some("NOT_MATCHED"),
            Self::RequireMatchStrict => result == Some("MATCHED"),
        }
    }
}

/// An account's policy for an address. Lenient ones accept a result that the issuer leaves open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum AvsPolicy {
    Disabled,
    #[default]
    SubmitIgnoreResult,
    AddrOrPostalCodeLenient,
    AddrOrPostalCodeStrict,
    AddrStrict,
    PostalCodeStrict,
    ExactAddrAndPostalCodeLenient,
    ExactAddrAndPostalCodeStrict,
}

impl AvsPolicy {
    pub(crate) fn accepts(self, result: Option<&str>) -> bool {
        // The matches of address and postal code.
        let known = match result {
            Some("ADDRESS_AND_POSTAL_CODE" | "ADDRESS_AND_ZIP5" | "ADDRESS_AND_ZIP9") => {
                Some((true, true))
            }
            Some("ADDRESS") => Some((true, false)),
            Some("POSTAL_CODE" | "ZIP5" | "ZIP9") => Some((false, true)),
            Some("NO_MATCH") => Some((false, false)),
            Some(_) | None => None,
        };
        let (address, postal) = known.unwrap_or_default();
        match self {
            Self::Disabled | Self::SubmitIgnoreResult => true,
            Self::AddrOrPostalCodeLenient => known.is_none() || address || postal,
            Self::AddrOrPostalCodeStrict => address || postal,
            Self::AddrStrict => address,
            Self::PostalCodeStrict => postal,
            Self::ExactAddrAndPostalCodeLenient => known.is_none() || (address && postal),
            Self::ExactAddrAndPostalCodeStrict => address && postal,
        }
    }
}
