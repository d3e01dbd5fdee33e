//! Merchants: their keys, accounts and bank accounts, all derived from the seed and the name.
//!
//! A merchant has the same keys after a reset, and in every sandbox with the same seed.

use std::sync::Arc;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::credentials::{AccountType, MerchantProfile};
use crate::api::merchant::MerchantChange;
use crate::api::method::MethodKind;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::processing::{AccountRecord, CURRENCY_DEFAULT};
use crate::sandbox::state::objects::{
    LONG_LENGTH, MerchantMode, ObjectOwner, PUBLIC_KEY_LENGTH, alphanumerics, derive_id,
};
use crate::sandbox::state::store::ChangeUnit;

/// The merchant that always exists.
pub(crate) const DEMO: &str = "demo";
pub(crate) const TIMEZONE_DEFAULT: &str = "America/Chicago";
pub(crate) const APPLICATION: &str = "sandbox partner";

#[skip_serializing_none]
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct MerchantRecord {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) timezone: String,
    pub(crate) created: Timestamp,
    pub(crate) test: ModeKeys,
    pub(crate) live: ModeKeys,
    pub(crate) profile: Option<MerchantProfile>,
    /// Fields that the merchant changed itself (service-facts, 67).
    #[serde(default)]
    pub(crate) own: MerchantChange,
    pub(crate) modified: Option<Timestamp>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ModeKeys {
    pub(crate) public_key: String,
    pub(crate) secret_key: String,
    pub(crate) operating: String,
    pub(crate) trust: String,
    /// Accounts that take payments; one of each type exists from the beginning.
    pub(crate) accounts: Vec<AccountRecord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyKind {
    Public,
    Secret,
}

#[skip_serializing_none]
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct KeyEntry {
    pub(crate) owner: ObjectOwner,
    pub(crate) kind: KeyKind,
    /// The account that the key belongs to; `None` for a key of the merchant.
    pub(crate) account: Option<String>,
}

impl MerchantRecord {
    pub(crate) fn keys(&self, mode: MerchantMode) -> &ModeKeys {
        mode.pick(&self.test, &self.live)
    }

    /// Returns the visible name: the merchant's own choice, else the name that its keys are of.
    pub(crate) fn shown_name(&self) -> &str {
        self.own.name.as_deref().unwrap_or(&self.name)
    }

    pub(crate) fn zone(&self) -> Tz {
        self.timezone.parse().unwrap_or(Tz::UTC)
    }

    pub(crate) fn today(&self, now: DateTime<Utc>) -> NaiveDate {
        now.with_timezone(&self.zone()).date_naive()
    }

    /// Returns a moment of the merchant's day; the next hour where the clock change skips it.
    pub(crate) fn at(&self, date: NaiveDate, hour: u32) -> DateTime<Utc> {
        let hours = [hour, hour.saturating_add(1)];
        let moments = hours.into_iter().filter_map(|hour| {
            let time = NaiveTime::from_hms_opt(hour, 0, 0)?;
            self.zone().from_local_datetime(&date.and_time(time)).earliest()
        });
        let mut moments = moments.map(|moment| moment.with_timezone(&Utc));
        moments.next().unwrap_or_else(|| date.and_time(NaiveTime::MIN).and_utc())
    }

    /// Returns the next moment after `now` at which the merchant's clock shows this hour.
    pub(crate) fn next_at(&self, now: DateTime<Utc>, hour: u32) -> DateTime<Utc> {
        let today = self.at(self.today(now), hour);
        if today > now {
            return today;
        }
        let tomorrow = self.today(now).checked_add_days(Days::new(1));
        tomorrow.map_or(today, |date| self.at(date, hour))
    }

    pub(crate) fn find_account(&self, mode: MerchantMode, id: &str) -> Option<&AccountRecord> {
        self.keys(mode).accounts.iter().find(|account| account.id == id)
    }

    /// Returns the account for a kind of method: the named one, else the key's, or the primary one.
    /// 422 for another mode or type and an unknown one (gateway-api, POST /v1/charges, rule 1).
    pub(crate) fn account(
        &self,
        mode: MerchantMode,
        kind: &MethodKind,
        named: Option<&str>,
        of_key: Option<&str>,
    ) -> Result<&AccountRecord> {
        let text = "No account for the payment method";
        let none = || SandboxRefusal::rule("no_account_for_payment_method", text);
        let Some(named) = named else {
            let own = of_key.and_then(|id| self.find_account(mode, id));
            let mut accounts = self.keys(mode).accounts.iter();
            let primary = || accounts.find(|account| account.primary && account.takes(kind));
            return own.filter(|own| own.takes(kind)).or_else(primary).ok_or_else(none);
        };
        match self.find_account(mode, named) {
            Some(account) if account.takes(kind) => Ok(account),
            Some(_) => {
                let text = "Payment method type does not fit the account";
                Err(SandboxRefusal::rule("incorrect_payment_type", text))
            }
            None if self.find_account(mode.other(), named).is_some() => {
                let text = "Account is not available in this mode";
                Err(SandboxRefusal::rule("unavailable_for_merchant_mode", text))
            }
            None => Err(none()),
        }
    }

    pub(crate) fn currency(&self, mode: MerchantMode, account: &str) -> String {
        let found = self.find_account(mode, account);
        found.map_or(CURRENCY_DEFAULT, |account| &account.currency).to_owned()
    }
}

fn derive_keys(seed: &[u8; 32], name: &str, mode: MerchantMode) -> ModeKeys {
    let label = |what: &str| format!("merchant/{}/{what}", mode.as_str());
    let id = |what: &str| derive_id(seed, &label(what), name);
    let first = |what: &str, shown: &str, kind: AccountType| AccountRecord {
        name: shown.to_owned(),
        primary: true,
        ..AccountRecord::derive(seed, name, mode, what, kind)
    };
    ModeKeys {
        public_key: alphanumerics(seed, &label("public"), name, PUBLIC_KEY_LENGTH),
        secret_key: alphanumerics(seed, &label("secret"), name, LONG_LENGTH),
        operating: format!("bank_{}", id("operating")),
        trust: format!("bank_{}", id("trust")),
        accounts: vec![
            first("card", "Card", AccountType::Card),
            first("ach", "eCheck", AccountType::Check),
        ],
    }
}

const RECORDS: &str = "o/merchant/";

fn record(id: &str) -> String {
    format!("{RECORDS}{id}")
}

impl ChangeUnit {
    /// Returns the merchant of this name; makes it if there is none, in the given time zone.
    pub(crate) fn merchant_named(
        &mut self,
        name: &str,
        timezone: Option<&str>,
    ) -> Result<MerchantRecord> {
        let seed = self.environment.seed;
        let id = derive_id(&seed, "merchant", name);
        if let Some(found) = self.get(&record(&id))? {
            return Ok(found);
        }
        let merchant = MerchantRecord {
            id,
            name: name.to_owned(),
            timezone: timezone.unwrap_or(TIMEZONE_DEFAULT).to_owned(),
            created: Timestamp(self.now),
            test: derive_keys(&seed, name, MerchantMode::Test),
            live: derive_keys(&seed, name, MerchantMode::Live),
            profile: None,
            own: MerchantChange::default(),
            modified: None,
        };
        self.put(&record(&merchant.id), &merchant)?;
        for mode in [MerchantMode::Test, MerchantMode::Live] {
            let keys = merchant.keys(mode);
            self.open_keys(&merchant, mode, None, [&keys.public_key, &keys.secret_key])?;
            for account in &keys.accounts {
                let own = [&account.public_key, &account.secret_key];
                self.open_keys(&merchant, mode, Some(&account.id), own)?;
            }
        }
        Ok(merchant)
    }

    /// Registers a public and a secret key: an account's if one is named, else the merchant's.
    fn open_keys(
        &mut self,
        merchant: &MerchantRecord,
        mode: MerchantMode,
        account: Option<&String>,
        keys: [&String; 2],
    ) -> Result<()> {
        let owner = ObjectOwner { merchant: merchant.id.clone(), mode };
        for (key, kind) in keys.into_iter().zip([KeyKind::Public, KeyKind::Secret]) {
            let entry = KeyEntry { owner: owner.clone(), kind, account: account.cloned() };
            self.put(&format!("x/key/{key}"), &entry)?;
        }
        Ok(())
    }

    /// Adds an account to a merchant; a new primary one replaces the primary account of its type.
    pub(crate) fn add_account(
        &mut self,
        mut merchant: MerchantRecord,
        mode: MerchantMode,
        account: &AccountRecord,
    ) -> Result<()> {
        let accounts = &mut mode.pick(&mut merchant.test, &mut merchant.live).accounts;
        for other in accounts.iter_mut().filter(|other| other.kind == account.kind) {
            other.primary &= !account.primary;
        }
        accounts.retain(|other| other.id != account.id);
        accounts.push(account.clone());
        self.put(&record(&merchant.id), &merchant)?;
        let own = [&account.public_key, &account.secret_key];
        self.open_keys(&merchant, mode, Some(&account.id), own)
    }

    /// Returns the merchant of an approved application, and makes it if no merchant has its name.
    pub(crate) fn merchant_of_application(
        &mut self,
        name: &str,
        profile: MerchantProfile,
    ) -> Result<MerchantRecord> {
        let known = self.merchants()?.iter().any(|merchant| merchant.name == name);
        let mut merchant = self.merchant_named(name, None)?;
        if !known {
            let timezone = Some(merchant.timezone.clone());
            merchant.profile = Some(MerchantProfile { timezone, ..profile });
            self.store_merchant(&merchant)?;
        }
        Ok(merchant)
    }

    pub(crate) fn store_merchant(&mut self, merchant: &MerchantRecord) -> Result<()> {
        self.put(&record(&merchant.id), merchant)
    }

    pub(crate) fn merchant(&self, id: &str) -> Result<Arc<MerchantRecord>> {
        let found = self.get_cached(&record(id))?;
        found.ok_or_else(|| SandboxRefusal::not_found("Merchant", id))
    }

    /// Returns up to `take` merchants in the order of their ids, behind the id `after`.
    pub(crate) fn merchants_behind(
        &self,
        after: Option<&str>,
        take: usize,
    ) -> Result<Vec<MerchantRecord>> {
        let after = after.map(record);
        let found = self.scan(RECORDS, after.as_deref(), take)?.into_iter();
        found.map(|(_, value)| Ok(serde_json::from_value(value)?)).collect()
    }

    pub(crate) fn merchants(&self) -> Result<Vec<MerchantRecord>> {
        let mut all: Vec<MerchantRecord> = self.values(RECORDS)?;
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }
}
