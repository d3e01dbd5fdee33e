//! Data of the sandbox's page: counts and totals that the state holds, and parts of its lists.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::base::outside_text::ServiceText;
use crate::base::outside_text::known::KnownValues;
use crate::sandbox::answer::Result;
use crate::sandbox::invoicing::mail;
use crate::sandbox::merchants::auth;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::onboarding::record::{self, Application};
use crate::sandbox::state::faults::FaultRule;
use crate::sandbox::state::logs::{self, LoggedRequest, MoneyMovement};
use crate::sandbox::state::objects::{MerchantMode, ObjectKind, ObjectOwner};
use crate::sandbox::state::store::ChangeUnit;

/// Entries of a list on a page, at most.
pub(crate) const LISTED_MAX: usize = 50;
/// Newest requests and applications on the first page.
const NEWEST: u64 = 10;

/// The kinds of objects that the table of merchants counts.
pub(super) const COUNTED: [(&str, ObjectKind); 6] = [
    ("Contacts", ObjectKind::CONTACT),
    ("Invoices", ObjectKind::INVOICE),
    ("Cards", ObjectKind::CARD),
    ("Banks", ObjectKind::BANK),
    ("Recurring", ObjectKind::RECURRING_CHARGE),
    ("Payments", ObjectKind::TRANSACTION),
];

/// The movements of money that the ledger shows, with their headings.
pub(super) const MOVEMENTS: [(&str, MoneyMovement); 6] = [
    ("Charged", MoneyMovement::Charge),
    ("Captured", MoneyMovement::Capture),
    ("Refunded", MoneyMovement::Refund),
    ("Paid out", MoneyMovement::Credit),
    ("Voided", MoneyMovement::Void),
    ("Returned", MoneyMovement::Return),
];

pub(crate) struct SandboxOverview {
    pub(super) now: DateTime<Utc>,
    pub(super) merchants: Vec<MerchantOverview>,
    /// Id behind which the list of merchants goes on.
    pub(super) more_behind: Option<String>,
    pub(super) applications: Vec<Application>,
    pub(super) requests: Vec<(u64, LoggedRequest<'static>)>,
    pub(super) requests_total: u64,
    pub(super) mails: u64,
    pub(super) faults: Vec<FaultRule>,
    pub(super) faults_total: usize,
}

pub(super) struct MerchantOverview {
    pub(super) id: String,
    /// The name that the merchant chose, else the one of its keys.
    pub(super) name: String,
    /// The name that orders use.
    pub(super) key_name: String,
    pub(super) timezone: String,
    /// True after the partner's access ended.
    pub(super) is_disconnected: bool,
    /// The test mode, and the live mode if it holds anything.
    pub(super) modes: Vec<ModeOverview>,
}

pub(super) struct ModeOverview {
    pub(super) mode: MerchantMode,
    /// Numbers of objects, in the order of [`COUNTED`].
    pub(super) counts: Vec<u64>,
    /// Minor units by currency, in the order of [`MOVEMENTS`].
    pub(super) money: BTreeMap<String, Vec<i64>>,
}

/// Reads the first page; its merchants begin behind the id `after`.
pub(crate) fn overview(
    cx: &ChangeUnit,
    faults: &[FaultRule],
    after: Option<&str>,
) -> Result<SandboxOverview> {
    let mut found = cx.merchants_behind(after, LISTED_MAX.saturating_add(1))?;
    let is_cut = found.len() > LISTED_MAX;
    found.truncate(LISTED_MAX);
    let more_behind = found.last().filter(|_| is_cut).map(|last| last.id.clone());
    let merchants = found.iter().map(|record| merchant(cx, record));
    let mut merchants = merchants.collect::<Result<Vec<_>>>()?;
    merchants.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(SandboxOverview {
        now: cx.now,
        merchants,
        more_behind,
        applications: record::newest(cx, NEWEST)?,
        requests: logs::newest_requests(cx, None, NEWEST)?,
        requests_total: logs::requests_total(cx)?,
        mails: mail::count(cx)?,
        faults: faults.iter().rev().take(LISTED_MAX).cloned().collect(),
        faults_total: faults.len(),
    })
}

pub(super) fn merchant(cx: &ChangeUnit, record: &MerchantRecord) -> Result<MerchantOverview> {
    let test = mode_overview(cx, record, MerchantMode::Test)?;
    let live = mode_overview(cx, record, MerchantMode::Live)?;
    let live = Some(live).filter(|live| live.counts.iter().any(|count| *count > 0));
    Ok(MerchantOverview {
        id: record.id.clone(),
        name: record.shown_name().to_owned(),
        key_name: record.name.clone(),
        timezone: record.timezone.clone(),
        is_disconnected: auth::is_deauthorised(cx, &record.id)?,
        modes: [test].into_iter().chain(live).collect(),
    })
}

fn mode_overview(
    cx: &ChangeUnit,
    record: &MerchantRecord,
    mode: MerchantMode,
) -> Result<ModeOverview> {
    let owner = ObjectOwner { merchant: record.id.clone(), mode }.key();
    let counts = COUNTED.iter().map(|(_, kind)| cx.count(&kind.list(&owner)));
    let mut money: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for account in &record.keys(mode).accounts {
        for (currency, kind, amount) in logs::totals_of(cx, &account.id)? {
            let sums = money.entry(currency).or_insert_with(|| vec![0; MOVEMENTS.len()]);
            let sum = sums.iter_mut().zip(MOVEMENTS).find(|(_, (_, own))| *own == kind);
            if let Some((sum, _)) = sum {
                *sum = sum.saturating_add(amount);
            }
        }
    }
    Ok(ModeOverview { mode, counts: counts.collect::<Result<_>>()?, money })
}

/// Path parts whose next part is a token or a key.
const BEFORE_SECRETS: [&str; 4] = ["tokens", "merchants", "sign_up", "contacts"];
/// Prefix of a contact's id, which is no secret: the other addresses of contacts hold one.
const CONTACT_ID: &str = "p_";
const HIDDEN: &str = "…";

/// Returns a path as people may see it: without keys, tokens and long numbers.
pub(super) fn path_text(path: &str) -> String {
    let mut before = "";
    let parts = path.split('/').map(|part| {
        let is_secret = BEFORE_SECRETS.contains(&before) && !part.starts_with(CONTACT_ID);
        before = part;
        if is_secret && !part.is_empty() { HIDDEN.to_owned() } else { outside_text(part) }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns a text from outside without long numbers and long codes.
pub(super) fn outside_text(text: &str) -> String {
    ServiceText::clean(text, &KnownValues::default()).to_string()
}

#[cfg(test)]
mod tests {
    use super::path_text;

    #[test]
    fn a_path_shows_no_secret_and_no_card() {
        let long = "aB3".repeat(20);
        for (path, shown) in [
            ("/v1/charges/kQ1_-xyz/refund", "/v1/charges/kQ1_-xyz/refund"),
            (
                "/v1/recurring/charges/kQ1_-xyzkQ1_-xyzkQ1_-xyz/occurrences/kQ1_-xyz/pay",
                "/v1/recurring/charges/kQ1_-xyzkQ1_-xyzkQ1_-xyz/occurrences/kQ1_-xyz/pay",
            ),
            ("/v1/tokens", "/v1/tokens"),
            ("/v1/tokens/kQ1_-xyz", "/v1/tokens/…"),
            (
                "/api/v1/merchants/m_key/deauthorize_application",
                "/api/v1/merchants/…/deauthorize_application",
            ),
            ("/api/v1/merchant_applications/sign_up", "/api/v1/merchant_applications/sign_up"),
            ("/merchant_applications/sign_up/short", "/merchant_applications/sign_up/…"),
            ("/contacts/p_abc/hash", "/contacts/p_abc/hash"),
            ("/contacts/word", "/contacts/…"),
        ] {
            assert_eq!(path_text(path), shown);
        }
        for secret in ["4242424242424242", long.as_str()] {
            let shown = path_text(&format!("/v1/cards/{secret}"));
            assert!(shown.starts_with("/v1/cards/") && !shown.contains(secret), "{shown}");
        }
    }
}
