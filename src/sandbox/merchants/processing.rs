//! Processing accounts: a merchant's accounts for payments in one mode, each with its own keys
//! (partner-api, Account object).
//!
//! A key of an account opens the whole mode of its merchant, as the merchant's own key does. If a
//! request names no account, an account's key selects that account; the merchant's key selects the
//! primary one.

use serde::{Deserialize, Serialize};

use super::merchant::MerchantRecord;
use crate::api::credentials::AccountType;
use crate::api::methods::method::MethodKind;
use crate::api::payments::transaction::Transaction;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::state::ids::{LONG_LENGTH, PUBLIC_KEY_LENGTH, alphanumerics, derive_id};
use crate::sandbox::state::lists::MerchantMode;

/// Default currency of an account.
pub(crate) const CURRENCY_DEFAULT: &str = "USD";

/// A stored account.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AccountRecord {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: AccountType,
    pub(crate) currency: String,
    /// True for the default account of its type.
    pub(crate) primary: bool,
    /// True for an account whose money is held in trust.
    pub(crate) trust: bool,
    pub(crate) public_key: String,
    pub(crate) secret_key: String,
}

impl AccountRecord {
    /// Derives an account and its keys from the seed; `what` distinguishes it from the merchant's
    /// others.
    pub(crate) fn derive(
        seed: &[u8; 32],
        merchant: &str,
        mode: MerchantMode,
        what: &str,
        kind: AccountType,
    ) -> Self {
        let label = |part: &str| format!("merchant/{}/{part}{what}", mode.as_str());
        Self {
            id: derive_id(seed, &label(""), merchant),
            name: what.to_owned(),
            kind,
            currency: CURRENCY_DEFAULT.to_owned(),
            primary: false,
            trust: false,
            public_key: alphanumerics(seed, &label("public/"), merchant, PUBLIC_KEY_LENGTH),
            secret_key: alphanumerics(seed, &label("secret/"), merchant, LONG_LENGTH),
        }
    }

    /// Returns true if the account takes this kind of method.
    pub(crate) fn takes(&self, kind: &MethodKind) -> bool {
        let wanted = if *kind == MethodKind::Bank { AccountType::Check } else { AccountType::Card };
        self.kind == wanted
    }
}

impl MerchantRecord {
    /// Returns an account of one mode.
    pub(crate) fn find_account(&self, mode: MerchantMode, id: &str) -> Option<&AccountRecord> {
        self.keys(mode).accounts.iter().find(|account| account.id == id)
    }

    /// Returns the account for a kind of method: the named one, else the key's own, else the
    /// primary one.
    ///
    /// # Errors
    ///
    /// The account is of another mode, of another type, or unknown (gateway-api, POST /v1/charges,
    /// rule 1).
    pub(crate) fn account(
        &self,
        mode: MerchantMode,
        kind: &MethodKind,
        named: Option<&str>,
        of_key: Option<&str>,
    ) -> Result<&AccountRecord, SandboxRefusal> {
        let none = || {
            SandboxRefusal::rule(
                "no_account_for_payment_method",
                "No account for the payment method",
            )
        };
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

    /// Returns the currency of an account.
    pub(crate) fn currency(&self, mode: MerchantMode, account: &str) -> String {
        let found = self.find_account(mode, account);
        found.map_or(CURRENCY_DEFAULT, |account| &account.currency).to_owned()
    }
}

/// Refuses with 422 a capture or refund in another currency than its charge (service-facts, 33).
pub(crate) fn need_same_currency(
    charge: &Transaction,
    asked: Option<&str>,
) -> Result<(), SandboxRefusal> {
    if asked.is_none_or(|code| code == charge.currency) {
        return Ok(());
    }
    let text = "Specified currency does not match the transaction's currency";
    Err(SandboxRefusal::rule("currency_mismatch", text))
}

/// Refuses with 422 money in another currency than its account's.
pub(crate) fn need_currency(
    account: &AccountRecord,
    asked: Option<&str>,
) -> Result<(), SandboxRefusal> {
    match asked {
        Some(code) if code != account.currency => {
            Err(SandboxRefusal::rule("unsupported_currency", "Currency is not supported"))
        }
        Some(_) | None => Ok(()),
    }
}
