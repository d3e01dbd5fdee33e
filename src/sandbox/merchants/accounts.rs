//! Read endpoints of a merchant: credentials, bank accounts, surcharges and its own record
//! (partner-api, Gateway credentials and Bank account; gateway-api; service-facts, 67).

use serde::Serialize;

use crate::api::credentials::{Account, AccountType, GatewayCredentials, MerchantProfile, User};
use crate::api::merchant::{BankAccount, Merchant, MerchantAccount, ProcessingAccount};
use crate::api::rules::AMOUNT_MAX;
use crate::api::transaction::SurchargeEntry;
use crate::base::secret::Secret;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::merchant::{APPLICATION, MerchantRecord, ModeKeys};
use crate::sandbox::merchants::policy::{MerchantPolicy, SurchargeRate, join_words};
use crate::sandbox::merchants::processing::{AccountRecord, CURRENCY_DEFAULT};
use crate::sandbox::request::{ParsedRequest, number};
use crate::sandbox::state::objects::MerchantMode;
use crate::sandbox::state::store::ChangeUnit;

const ABILITIES: [&str; 6] =
    ["admin", "charge", "schedule_charge", "refund", "tag_transactions", "view_reports"];

pub(crate) fn credentials(cx: &ChangeUnit, asked: &ParsedRequest) -> Result<GatewayCredentials> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let policy = cx.policy(&merchant.id)?;
    Ok(GatewayCredentials {
        application: APPLICATION.to_owned(),
        user: User {
            first_name: Some("Olive".to_owned()),
            last_name: Some("Owner".to_owned()),
            email: Some(owner_email(&merchant)),
            owner: Some(true),
            abilities: ABILITIES.map(str::to_owned).to_vec(),
        },
        test_accounts: accounts(&merchant.test, &policy),
        live_accounts: accounts(&merchant.live, &policy),
        merchant: profile(&merchant, &policy),
    })
}

pub(crate) fn owner_email(merchant: &MerchantRecord) -> String {
    format!("owner@{}.example", label(merchant))
}

fn label(merchant: &MerchantRecord) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    merchant.name.chars().map(fits).collect()
}

fn profile(merchant: &MerchantRecord, policy: &MerchantPolicy) -> MerchantProfile {
    if let Some(profile) = &merchant.profile {
        let reference_required = Some(policy.reference_required);
        let name = merchant.shown_name().to_owned();
        return MerchantProfile { name, reference_required, ..profile.clone() };
    }
    let text = |text: &str| Some(text.to_owned());
    MerchantProfile {
        name: merchant.shown_name().to_owned(),
        address: text("1 Main Street"),
        additional_address: text("Suite 100"),
        city: text("Springfield"),
        state: text("IL"),
        postal_code: text("62701"),
        country: text("US"),
        phone: text("2175550100"),
        timezone: Some(merchant.timezone.clone()),
        website: Some(format!("https://{}.example", label(merchant))),
        support_email: Some(format!("support@{}.example", label(merchant))),
        support_phone: text("2175550101"),
        email_success_to: Some(owner_email(merchant)),
        email_failure_to: Some(owner_email(merchant)),
        reference_required: Some(policy.reference_required),
        reference_label: text("Reference"),
    }
}

fn accounts(keys: &ModeKeys, policy: &MerchantPolicy) -> Vec<Account> {
    let shown = keys.accounts.iter().map(|account| Account {
        name: account.name.clone(),
        kind: account.kind.clone(),
        currency: account.currency.clone(),
        recurring_charges_enabled: Some(policy.allows_recurring(&account.id)),
        id: account.id.clone(),
        public_key: account.public_key.clone(),
        secret_key: Some(Secret::from(account.secret_key.clone())),
        trust_account: account.trust,
    });
    shown.collect()
}

/// The bank of the deposit accounts, and the masked number of the account without trust money.
const BANK: &str = "FIRST BANK OF TESTING";
const ACCOUNT_NUMBER_MASKED: &str = "*****1234";

/// A deposit account, as `GET /bank-accounts` and the control path `credentials` show it.
#[derive(Serialize)]
pub(crate) struct Deposit {
    pub(crate) id: String,
    pub(crate) name: &'static str,
    pub(crate) mode: MerchantMode,
    pub(crate) trust: bool,
}

/// Returns the bank accounts of a merchant: `Operating` and `Trust` in both modes.
pub(crate) fn deposits(merchant: &MerchantRecord) -> Vec<Deposit> {
    let of = |mode: MerchantMode| {
        let keys = merchant.keys(mode);
        [
            Deposit { id: keys.operating.clone(), name: "Operating", mode, trust: false },
            Deposit { id: keys.trust.clone(), name: "Trust", mode, trust: true },
        ]
    };
    of(MerchantMode::Test).into_iter().chain(of(MerchantMode::Live)).collect()
}

pub(crate) fn bank_accounts(cx: &ChangeUnit, asked: &ParsedRequest) -> Result<Vec<BankAccount>> {
    let merchant = cx.merchant(asked.merchant()?)?;
    let policy = cx.policy(&merchant.id)?;
    let masked = |trust: bool| if trust { "*****6789" } else { ACCOUNT_NUMBER_MASKED };
    let shown = deposits(&merchant).into_iter().map(|deposit| BankAccount {
        account_id: Some(masked(deposit.trust).to_owned()),
        bank_name: Some(BANK.to_owned()),
        currency: Some(CURRENCY_DEFAULT.to_owned()),
        processing_accounts: card_accounts(merchant.keys(deposit.mode), &policy, deposit.trust),
        id: deposit.id,
        name: deposit.name.to_owned(),
        trust: deposit.trust,
    });
    Ok(shown.collect())
}

/// Brands that an account accepts where its policy names none.
const BRANDS: &str = "VISA,MASTERCARD,AMERICAN_EXPRESS,DISCOVER,DINERS_CLUB,JCB";

/// Returns the card accounts that pay into a bank account: of the same `trust`, else the first.
fn card_accounts(keys: &ModeKeys, policy: &MerchantPolicy, trust: bool) -> Vec<ProcessingAccount> {
    let processing = |account: &AccountRecord| processing(account, policy);
    let cards = || keys.accounts.iter().filter(|account| account.kind == AccountType::Card);
    let alike: Vec<_> = cards().filter(|account| account.trust == trust).map(processing).collect();
    if alike.is_empty() { cards().take(1).map(processing).collect() } else { alike }
}

fn processing(account: &AccountRecord, policy: &MerchantPolicy) -> ProcessingAccount {
    let swipe = policy.swipe_of(&account.id);
    ProcessingAccount {
        id: account.id.clone(),
        name: account.name.clone(),
        required_payment_fields: Some(policy.required_of(&account.id)),
        accepted_card_types: policy.brands_of(&account.id).or_else(|| Some(BRANDS.to_owned())),
        cvv_policy: policy_word(&policy.cvv_of(&account.id)),
        avs_policy: policy_word(&policy.avs_of(&account.id)),
        swipe_cvv_policy: policy_word(&swipe.cvv),
        swipe_avs_policy: policy_word(&swipe.avs),
        swipe_required_payment_fields: Some(swipe.required_list()),
        kind: "card".to_owned(),
    }
}

fn policy_word<T: Serialize>(policy: &T) -> Option<String> {
    serde_json::to_value(policy).ok()?.as_str().map(str::to_owned)
}

/// GET /v1/merchant (service-facts, 67): the record with the accounts of the key's mode.
pub(crate) fn merchant(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Merchant> {
    let owner = asked.owner()?;
    let record = cx.merchant(&owner.merchant)?;
    let keys = record.keys(owner.mode);
    let policy = cx.policy(&record.id)?;
    let of = |kind: AccountType| {
        let accounts = keys.accounts.iter().filter(move |account| account.kind == kind);
        accounts.map(|account| render_merchant_account(account, &record, &policy)).collect()
    };
    let own = record.own.clone();
    let set = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(Merchant {
        id: record.id.clone(),
        created: Some(record.created),
        modified: Some(record.modified.unwrap_or(record.created)),
        name: record.shown_name().to_owned(),
        public_key: Some(keys.public_key.clone()),
        contact_name: own.contact_name,
        contact_email: own.contact_email.or_else(|| Some(owner_email(&record))),
        contact_phone: own.contact_phone,
        address1: own.address1,
        address2: own.address2,
        city: own.city,
        state: own.state,
        postal_code: own.postal_code,
        country: own.country,
        timezone: Some(record.timezone.clone()),
        api_allowed_ip_address_ranges: set(policy.allowed_addresses.join(",")),
        live_events_urls: set(policy.events_urls.live.clone()),
        test_events_urls: set(policy.events_urls.test.clone()),
        merchant_accounts: of(AccountType::Card),
        ach_accounts: of(AccountType::Check),
    })
}

/// Renders an account as the merchant's own record lists it (service-facts, 69).
pub(crate) fn render_merchant_account(
    account: &AccountRecord,
    owner: &MerchantRecord,
    policy: &MerchantPolicy,
) -> MerchantAccount {
    let common = MerchantAccount {
        id: account.id.clone(),
        created: Some(owner.created),
        modified: Some(owner.created),
        status: Some("ACTIVE".to_owned()),
        name: account.name.clone(),
        primary: Some(account.primary),
        currency: Some(account.currency.clone()),
        trust_account: Some(account.trust),
        transaction_allowed_countries: join_words(policy.allowed_countries.get(&account.id)),
        ..MerchantAccount::default()
    };
    if account.kind == AccountType::Card { card(common, policy) } else { check(common) }
}

fn card(common: MerchantAccount, policy: &MerchantPolicy) -> MerchantAccount {
    let (id, swipe) = (common.id.as_str(), policy.swipe_of(&common.id));
    MerchantAccount {
        cvv_policy: policy_word(&policy.cvv_of(id)),
        avs_policy: policy_word(&policy.avs_of(id)),
        ignore_avs_failure_if_cvv_match: Some(policy.avs_waived.contains(id)),
        required_payment_fields: Some(policy.required_of(id)),
        swipe_cvv_policy: policy_word(&swipe.cvv),
        swipe_avs_policy: policy_word(&swipe.avs),
        swipe_ignore_avs_failure_if_cvv_match: Some(swipe.avs_waived),
        swipe_required_payment_fields: Some(swipe.required_list()),
        accepted_card_types: policy.brands_of(id).or_else(|| Some("*".to_owned())),
        ..common
    }
}

/// Adds the fields of an account for electronic checks: its bank account, masked.
fn check(common: MerchantAccount) -> MerchantAccount {
    let text = |text: &str| Some(text.to_owned());
    MerchantAccount {
        routing_number: text("******013"),
        account_number: text(ACCOUNT_NUMBER_MASKED),
        account_type: text("CHECKING"),
        bank_name: text(BANK),
        ..common
    }
}

/// Rate of the whole amount: rates are hundredths of a percent.
const WHOLE_RATE: i64 = 10_000;

/// Returns the first surcharge of each type, and that on an `amount`; null without surcharges.
pub(crate) fn surcharge(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
) -> Result<Option<Vec<SurchargeEntry>>> {
    let owner = asked.owner()?;
    let merchant = cx.merchant(&owner.merchant)?;
    let id = asked.parameter(0);
    let own = |deposit: &Deposit| deposit.id == id && deposit.mode == owner.mode;
    if !deposits(&merchant).iter().any(own) {
        return Err(SandboxRefusal::not_found("BankAccount", id));
    }
    let amount = number(asked, "amount", 1, AMOUNT_MAX.cast_unsigned())?;
    let amount = amount.and_then(|amount| i64::try_from(amount).ok());
    let mut entries: Vec<SurchargeEntry> = Vec::new();
    for rate in &cx.policy(&owner.merchant)?.surcharges {
        if entries.iter().all(|entry| entry.kind != rate.kind) {
            entries.push(surcharge_entry(rate, amount)?);
        }
    }
    Ok(Some(entries).filter(|entries| !entries.is_empty()))
}

fn surcharge_entry(rate: &SurchargeRate, amount: Option<i64>) -> Result<SurchargeEntry> {
    let on = |amount| surcharge_on(rate, amount).ok_or_else(SandboxRefusal::server_error);
    let surcharge = amount.map(on).transpose()?;
    let total = amount.zip(surcharge).map(|(amount, more)| amount.saturating_add(more));
    Ok(SurchargeEntry {
        kind: rate.kind.clone(),
        surcharge_rate: rate.part,
        surcharge_fee: rate.fee,
        amount,
        surcharge_amount: surcharge,
        total_amount: total,
    })
}

/// Returns the surcharge on an amount: its part, rounded to the nearest minor unit, and the fee.
fn surcharge_on(rate: &SurchargeRate, amount: i64) -> Option<i64> {
    let part = amount.checked_mul(rate.part)?.checked_add(WHOLE_RATE.checked_div(2)?)?;
    part.checked_div(WHOLE_RATE)?.checked_add(rate.fee)
}
