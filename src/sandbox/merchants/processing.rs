//! Processing accounts: a merchant's accounts for payments in one mode, each with its own keys
//! (partner-api, Account object), and the banking days on which they settle electronic checks:
//! weekdays without holidays of the Federal Reserve.
//!
//! A key of an account opens the whole mode of its merchant, as the merchant's own key does. If a
//! request names no account, an account's key selects that account; the merchant's key selects the
//! primary one.

use chrono::{Datelike, Days, NaiveDate, Weekday};
use serde::{Deserialize, Serialize};

use crate::api::credentials::AccountType;
use crate::api::method::MethodKind;
use crate::api::transaction::Transaction;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::objects::{
    LONG_LENGTH, MerchantMode, PUBLIC_KEY_LENGTH, alphanumerics, derive_id,
};

pub(crate) const CURRENCY_DEFAULT: &str = "USD";

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
    /// Derives an account and its keys; `what` distinguishes it from the merchant's others.
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

    pub(crate) fn takes(&self, kind: &MethodKind) -> bool {
        let wanted = if *kind == MethodKind::Bank { AccountType::Check } else { AccountType::Card };
        self.kind == wanted
    }
}

/// Refuses with 422 a capture or refund in another currency than its charge (service-facts, 33).
pub(crate) fn need_same_currency(charge: &Transaction, asked: Option<&str>) -> Result<()> {
    let text = "Specified currency does not match the transaction's currency";
    let is_same = asked.is_none_or(|code| code == charge.currency);
    SandboxRefusal::unless(is_same, "currency_mismatch", text)
}

/// Refuses with 422 money in another currency than its account's.
pub(crate) fn need_currency(account: &AccountRecord, asked: Option<&str>) -> Result<()> {
    let is_own = asked.is_none_or(|code| code == account.currency);
    SandboxRefusal::unless(is_own, "unsupported_currency", "Currency is not supported")
}

pub(crate) fn add_banking_days(mut date: NaiveDate, days: u32) -> NaiveDate {
    let mut left = days;
    while left > 0 {
        let Some(next) = date.succ_opt() else { return date };
        date = next;
        if !matches!(date.weekday(), Weekday::Sat | Weekday::Sun) && !is_holiday(date) {
            left = left.saturating_sub(1);
        }
    }
    date
}

/// Returns true for a holiday; one on a Sunday moves to Monday, one on a Saturday stays.
fn is_holiday(date: NaiveDate) -> bool {
    let kept = |month: u32, day: u32| {
        let fixed = NaiveDate::from_ymd_opt(date.year(), month, day);
        let moved = fixed.filter(|one| one.weekday() == Weekday::Sun);
        fixed == Some(date) || moved.and_then(|one| one.succ_opt()) == Some(date)
    };
    let fixed = [(1, 1), (6, 19), (7, 4), (11, 11), (12, 25)];
    if fixed.into_iter().any(|(month, day)| kept(month, day)) {
        return true;
    }
    let nth = date.day0().checked_div(7).unwrap_or_default().saturating_add(1);
    let is_last =
        date.checked_add_days(Days::new(7)).is_none_or(|next| next.month() != date.month());
    match (date.month(), date.weekday()) {
        (1 | 2, Weekday::Mon) => nth == 3,
        (5, Weekday::Mon) => is_last,
        (9, Weekday::Mon) => nth == 1,
        (10, Weekday::Mon) => nth == 2,
        (11, Weekday::Thu) => nth == 4,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn weekends_and_holidays_are_no_banking_days() {
        for (from, days, to) in [
            ("2026-11-20", 1, "2026-11-23"),
            ("2026-11-25", 1, "2026-11-27"),
            ("2026-12-24", 1, "2026-12-28"),
            ("2027-07-02", 1, "2027-07-06"),
            ("2026-07-02", 1, "2026-07-03"),
            ("2027-01-15", 1, "2027-01-19"),
            ("2027-05-28", 1, "2027-06-01"),
            ("2026-11-21", 0, "2026-11-21"),
            ("2026-11-21", 3, "2026-11-25"),
        ] {
            assert_eq!(add_banking_days(date(from), days), date(to), "{from} and {days}");
        }
    }

    #[test]
    fn a_year_has_eleven_holidays_less_those_on_a_saturday() {
        let days = date("2026-01-01").iter_days().take_while(|one| one.year() == 2026);
        let kept: Vec<String> = days
            .filter(|one| is_holiday(*one) && one.weekday() != Weekday::Sat)
            .map(|one| one.to_string())
            .collect();
        assert_eq!(
            kept,
            [
                "2026-01-01",
                "2026-01-19",
                "2026-02-16",
                "2026-05-25",
                "2026-06-19",
                "2026-09-07",
                "2026-10-12",
                "2026-11-11",
                "2026-11-26",
                "2026-12-25"
            ]
        );
    }
}
