//! Checks between the fields of an application, and of single fields, beyond the known rules of the
//! service.
//!
//! Underwriting would find these problems hours later, or never; here they are reported at once.

use std::net::IpAddr;

use serde_json::Value;

use super::spec::MerchantApplicationSpec;
use crate::api::onboarding::application::Submission;
use crate::api::onboarding::fields::OWNERSHIP_DEFAULT;
use crate::model::issue::Issue;

/// Percentage above which ownership is significant (partner-api,
/// `owner_has_significant_ownership`).
const SIGNIFICANT_PERCENT: i64 = 25;

const SIGNIFICANT: &str = "owner_has_significant_ownership";
const PERCENTAGE: &str = "owner_percentage_of_ownership";

/// Returns all issues of these rules.
pub(super) fn issues(spec: &MerchantApplicationSpec) -> Vec<Issue> {
    ownership_issue(spec).into_iter().chain(ip_address_issue(spec)).collect()
}

/// Compares significant ownership with the percentage, which is 100 if a complete application names
/// none.
fn ownership_issue(spec: &MerchantApplicationSpec) -> Option<Issue> {
    let said = spec.fields.get(SIGNIFICANT)?.as_bool()?;
    let given = spec.fields.get(PERCENTAGE).and_then(Value::as_i64);
    let left_out = || (spec.submission == Submission::Complete).then_some(OWNERSHIP_DEFAULT);
    let percent = given.or_else(left_out).filter(|percent| (0..=100).contains(percent))?;
    let is_significant = percent > SIGNIFICANT_PERCENT;
    (said != is_significant).then(|| {
        let not = if is_significant { "" } else { "not " };
        let message =
            format!("the owner owns {percent} %, which is {not}more than {SIGNIFICANT_PERCENT} %");
        let add = if given.is_some() { "correct" } else { "add" };
        let help = format!("write `{SIGNIFICANT}: {is_significant}`, or {add} `{PERCENTAGE}`");
        let path = format!("spec.{SIGNIFICANT}");
        let issue = Issue::error("reckon::merchant_application::ownership", &path, message, help);
        match given {
            Some(_) => issue.with_related(None, &format!("spec.{PERCENTAGE}"), "the percentage"),
            None => issue,
        }
    })
}

/// Checks that the address is an IP address. The message does not repeat it.
fn ip_address_issue(spec: &MerchantApplicationSpec) -> Option<Issue> {
    let address = spec.fields.get("ip_address")?.as_str()?.trim();
    let is_wrong = !address.is_empty() && address.parse::<IpAddr>().is_err();
    is_wrong.then(|| {
        let message = "the text is not an IP address";
        let help = "write the applicant's address when signing, such as `203.0.113.7`";
        let code = "reckon::merchant_application::ip_address";
        Issue::error(code, "spec.ip_address", message, help)
    })
}
