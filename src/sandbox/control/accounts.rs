//! `/_sandbox/accounts`: adds an account to a merchant.

use serde_json::Value;

use crate::api::credentials::AccountType;
use crate::base::money::Currency;
use crate::sandbox::control::partner::account as show;
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::merchants::processing::AccountRecord;
use crate::sandbox::state::lists::MerchantMode;
use crate::sandbox::state::store::ChangeUnit;

/// Makes an account, or replaces the one of this name: `{merchant, mode: test|live, type:
/// MerchantAccount|AchAccount, name, currency, primary, trust_account}`. Makes the merchant if
/// there is none. Answers the account with its keys.
pub(super) fn add(cx: &mut ChangeUnit<'_>, order: &Value) -> Result<SandboxAnswer, SandboxRefusal> {
    let text = |field: &str| {
        order.get(field).and_then(Value::as_str).filter(|text: &&str| !text.is_empty())
    };
    let merchant = text("merchant").ok_or_else(|| SandboxRefusal::invalid("Name a merchant"))?;
    let name = text("name").ok_or_else(|| SandboxRefusal::invalid("Name the account"))?;
    let kind = AccountType::from(text("type").unwrap_or(AccountType::Card.as_str()));
    if matches!(kind, AccountType::Other(_)) {
        return Err(SandboxRefusal::invalid("type is `MerchantAccount` or `AchAccount`"));
    }
    let mode = match text("mode") {
        None | Some("test") => MerchantMode::Test,
        Some("live") => MerchantMode::Live,
        Some(_) => return Err(SandboxRefusal::invalid("mode is `test` or `live`")),
    };
    let currency = text("currency").map(str::parse::<Currency>).transpose();
    let currency = currency.map_err(|_| SandboxRefusal::invalid("Unknown currency"))?;
    let flag = |field: &str| order.get(field).and_then(Value::as_bool).unwrap_or(false);
    let merchant = cx.merchant_named(merchant, None)?;
    let what = format!("{}/{name}", kind.as_str());
    let account = AccountRecord::derive(&cx.environment.seed, &merchant.name, mode, &what, kind);
    let account = AccountRecord {
        name: name.to_owned(),
        currency: currency.unwrap_or(Currency::USD).code().to_owned(),
        primary: flag("primary"),
        trust: flag("trust_account"),
        ..account
    };
    let shown = show(&account);
    cx.add_account(merchant, mode, &account)?;
    SandboxAnswer::json(&shown)
}
