//! Application for a new merchant: submitted once, then decided by the service's underwriting. Its
//! fields, and its checks without the service.
//!
//! The names of the fields and their privacy are those of [`crate::api::onboarding::fields::FIELDS`];
//! a test compares the two. No field of an application can change after submission.
//!
//! The field rules are the service's own (`api::application`). A value from a secret source is
//! checked only by the service. An identity number may be in plain text only if no person can own
//! it. Some checks go beyond the known rules: underwriting would find these problems hours later,
//! or never; here they are reported at once.

mod spec;
pub(super) mod step;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::onboarding::application::{Submission, is_test_name};
use crate::api::onboarding::fields::{self as table, OWNERSHIP_DEFAULT, SECOND_OWNER};
use crate::api::onboarding::rules::rules;
use crate::api::rules::FieldProblem;
use crate::base::account_number::is_published_test_routing;
use crate::kinds::merchant_application::spec::MerchantApplicationSpec;
use crate::kinds::schema::kind::{
    CheckCx, Example, Examples, SpecField, SpecSchema, UniqueField, spec_fields,
};
use crate::kinds::secrets::field_of;
use crate::kinds::secrets::secret_source::SecretSource;
use crate::model::issue::Issue;
use crate::model::manifest::Manifest;

#[derive(Debug, Clone, Copy)]
pub struct MerchantApplicationKind;

/// The field that carries the mark.
const REFERENCE: &str = "reference";

impl SpecSchema for MerchantApplicationKind {
    const NAME: &'static str = "MerchantApplication";
    const FIELDS: &'static [SpecField] = spec_fields! {
        Plain Immutable "submission": "`complete`, every field from here, or `sign_up`, finished by the applicant on the service's page (design, Files).";
        Plain Immutable "plan": "The plan's identifier as issued to the partner, one of `partner.plans` (partner-api, Merchant application).";
        Personal Immutable "first_name": "First name of the person associated with the application (partner-api, Merchant application).";
        Personal Immutable "last_name": "Last name of the person associated with the application (partner-api, Merchant application).";
        Personal Immutable "email": "That person's e-mail address (partner-api, Merchant application).";
        Personal Immutable "business_name": "The legal name, as the tax authority's records have it; one that ends in ` - TEST` marks the test of the sign-up, of which there may be only one (partner-api, Merchant application).";
        Personal Immutable "business_address1": "Street and number of the business (partner-api, Merchant application).";
        Personal Immutable "business_address2": "An additional address line; optional (partner-api, Merchant application).";
        Personal Immutable "business_city": "City of the business (partner-api, Merchant application).";
        Personal Immutable "business_state": "Two-letter code of the state of the business (partner-api, Merchant application).";
        Personal Immutable "business_zip_code": "Postal code of the business, in quotes (partner-api, Merchant application).";
        Personal Immutable "business_phone": "Phone of the business (partner-api, Merchant application).";
        Plain Immutable "business_country": "Two-letter ISO 3166 code of the country of the business (partner-api, Merchant application).";
        Plain Immutable "industry_code": "Standard Industrial Classification code, a whole number (partner-api, Merchant application).";
        Plain Immutable "goods_and_services": "Goods or services that the business sells (partner-api, Merchant application).";
        Plain Immutable "has_dba": "True if it does business under another name; optional, `false` if left out (partner-api, Merchant application).";
        Personal Immutable "dba_name": "The other name; needed when `has_dba` is true (partner-api, Merchant application).";
        Personal Immutable "dba_address1": "Street and number under the other name; needed when `has_dba` is true (partner-api, Merchant application).";
        Personal Immutable "dba_address2": "An additional address line; optional (partner-api, Merchant application).";
        Personal Immutable "dba_city": "City under the other name; needed when `has_dba` is true (partner-api, Merchant application).";
        Personal Immutable "dba_state": "Two-letter code of the state under the other name; needed when `has_dba` is true (partner-api, Merchant application).";
        Personal Immutable "dba_zip_code": "Postal code under the other name, in quotes; needed when `has_dba` is true (partner-api, Merchant application).";
        Personal Immutable "dba_phone": "Phone under the other name; needed when `has_dba` is true (partner-api, Merchant application).";
        Plain Immutable "structure": "Structure of the business: SO, AE, G, CP, CU, P, TE, SM, MM, CA, LP or PO (service-facts, 82).";
        Plain Immutable "business_type": "Type of the industry: R, I, M, H or F (service-facts, 82).";
        Secret Immutable "federal_tax_id": "The tax id, or the sole proprietor's national id number (partner-api, Merchant application).";
        Plain Immutable "years_in_business": "Age of the business, a text in quotes (partner-api, Merchant application).";
        Plain Immutable "business_website": "The web site of the business; optional (partner-api, Merchant application).";
        Plain Immutable "past_bankruptcy": "True if there was a bankruptcy; optional (partner-api, Merchant application).";
        Plain Immutable "bankruptcy_date": "Date of the bankruptcy, `yyyy-mm-dd`; optional (partner-api, Merchant application).";
        Personal Immutable "owner_first_name": "The owner's legal first name (partner-api, Merchant application).";
        Personal Immutable "owner_last_name": "The owner's legal last name (partner-api, Merchant application).";
        Plain Immutable "owner_title": "The owner's title without spaces: President, V.President, Owner, Partner, Manager, Treasurer, Secretary or Exec.Director (service-facts, 82).";
        Secret Immutable "owner_date_of_birth": "The owner's date of birth, `yyyy-mm-dd` (partner-api, Merchant application).";
        Secret Immutable "owner_social_security_number": "The owner's social security number, for the credit check (partner-api, Merchant application).";
        Plain Immutable "owner_percentage_of_ownership": "Share of the owner, in percent; optional, 100 if left out (partner-api, Merchant application).";
        Plain Immutable "owner_has_significant_ownership": "True if the owner owns more than 25 % (partner-api, Merchant application).";
        Plain Immutable "owner_has_significant_responsibility": "True if the owner manages the business; true for at least one owner when none owns more than 25 % (partner-api, Merchant application).";
        Personal Immutable "owner_address1": "Street and number of the owner (partner-api, Merchant application).";
        Personal Immutable "owner_address2": "An additional address line; optional (partner-api, Merchant application).";
        Personal Immutable "owner_city": "The owner's city (partner-api, Merchant application).";
        Personal Immutable "owner_state": "Two-letter code of the owner's state (partner-api, Merchant application).";
        Personal Immutable "owner_zip_code": "The owner's postal code, in quotes (partner-api, Merchant application).";
        Personal Immutable "owner_phone_number": "The owner's phone (partner-api, Merchant application).";
        Personal Immutable "owner_email": "The owner's e-mail address (partner-api, Merchant application).";
        Plain Immutable "owner_years_in_residence": "Years that the owner has lived there, a whole number; optional (partner-api, Merchant application).";
        Secret Immutable "owner_drivers_license_number": "The owner's driving licence, to verify the identity (partner-api, Merchant application).";
        Plain Immutable "owner_drivers_license_state": "Two-letter code of the state that issued the licence (partner-api, Merchant application).";
        Plain Immutable "owner_drivers_license_expiration": "Date of expiry of the licence, `yyyy-mm-dd` (partner-api, Merchant application).";
        Plain Immutable "owner_country_of_citizenship": "Two-letter ISO 3166 code of the owner's citizenship (partner-api, Merchant application).";
        Personal Immutable "operating_account_name": "Name of the account that takings go to; optional (partner-api, Merchant application).";
        Personal Immutable "operating_account_routing_number": "Routing number of that account, nine digits in quotes (partner-api, Merchant application).";
        Plain Immutable "operating_account_bank_name": "Bank of that account (partner-api, Merchant application).";
        Secret Immutable "operating_account_number": "Number of that account (partner-api, Merchant application).";
        Personal Immutable "trust_account_name": "Name of the trust account; optional (partner-api, Merchant application).";
        Personal Immutable "trust_account_routing_number": "Routing number of the trust account; needed for a trust plan (partner-api, Merchant application).";
        Plain Immutable "trust_account_bank_name": "Bank of the trust account; needed for a trust plan (partner-api, Merchant application).";
        Secret Immutable "trust_account_number": "Number of the trust account; needed for a trust plan (partner-api, Merchant application).";
        Personal Immutable "signed_by": "The authorized representative's name; needed for a trust plan (partner-api, Merchant application).";
        Secret Immutable "signature": "JSON text in the jSignature format: strokes with whole numbers lx, ly, mx and my (partner-api, Merchant application).";
        Personal Immutable "ip_address": "The applicant's address when signing, for fraud checks; optional (partner-api, Merchant application).";
        Plain Immutable "browser_user_agent": "The applicant's User-Agent when signing; optional (partner-api, Merchant application).";
        Plain Immutable "browser_language": "The applicant's Accept-Language when signing; optional (partner-api, Merchant application).";
        Plain Immutable "ip_address_timestamp": "Time of the signature, ISO 8601 such as `2026-11-30T18:00:00Z` (partner-api, Merchant application).";
        Plain Immutable "test": "`validate` or `fail`: no merchant is created, and the returned code is never exchanged; complete applications only (partner-api, Merchant application).";
        Plain Immutable "number_of_locations": "Number of places of business; optional (service-facts, 83).";
        Plain Immutable "currently_accepting_cards": "True if the business takes cards now; optional (service-facts, 83).";
        Plain Immutable "current_card_processor": "Present processor of card payments; optional (service-facts, 83).";
        Plain Immutable "wants_to_accept_amex": "True if the business wants to take American Express; optional (service-facts, 83).";
        Secret Immutable "current_amex_merchant_number": "Present number of the business at American Express; optional (service-facts, 83).";
        Personal Immutable "second_owner": "The second owner; optional (partner-api, Merchant application).";
        Personal Immutable "second_owner.first_name": "Legal first name (partner-api, Merchant application).";
        Personal Immutable "second_owner.last_name": "Legal last name (partner-api, Merchant application).";
        Personal Immutable "second_owner.home_address1": "Street and number (partner-api, Merchant application).";
        Personal Immutable "second_owner.home_address2": "An additional address line; optional (partner-api, Merchant application).";
        Personal Immutable "second_owner.home_city": "City (partner-api, Merchant application).";
        Personal Immutable "second_owner.home_state": "Two-letter code of the state (partner-api, Merchant application).";
        Personal Immutable "second_owner.home_zip_code": "Postal code, in quotes (partner-api, Merchant application).";
        Plain Immutable "second_owner.job_title": "The title (partner-api, Merchant application).";
        Secret Immutable "second_owner.date_of_birth": "Date of birth, `yyyy-mm-dd` (partner-api, Merchant application).";
        Secret Immutable "second_owner.social_security_number": "Social security number (partner-api, Merchant application).";
        Plain Immutable "second_owner.has_significant_ownership": "True if this owner owns more than 25 % (partner-api, Merchant application).";
        Plain Immutable "second_owner.has_significant_responsibility": "True if this owner manages the business (partner-api, Merchant application).";
    };
    const EXAMPLES: Examples = &[
        ("submission", Example::Yaml("sign_up")),
        ("plan", Example::Plan),
        ("email", Example::Yaml("jo@example.com")),
    ];
    type Spec = MerchantApplicationSpec;

    fn check(spec: &MerchantApplicationSpec, cx: &CheckCx) -> Vec<Issue> {
        let mut issues = Vec::new();
        issues.extend(reference_issue(spec));
        issues.extend(plan_issue(spec, cx));
        let secrets = secrets(&spec.fields);
        issues.extend(secrets.iter().filter_map(|secret| secret_issue(spec, secret)));
        issues.extend(problems(spec, &secrets, cx).iter().map(issue));
        issues.extend(ownership_issue(spec));
        issues.extend(ip_address_issue(spec));
        issues
    }

    fn unique_field(manifest: &Manifest) -> Option<&'static UniqueField> {
        is_sign_up_test(manifest).then_some(&SIGN_UP_TEST)
    }
}

/// The sign-up test, which may be submitted only once (partner-api, the sign-up endpoint).
static SIGN_UP_TEST: UniqueField = UniqueField {
    code: "reckon::merchant_application::second_test",
    path: "spec.business_name",
    message: "a second application has a business name that ends in ` - TEST`, and only one may ever be submitted",
    help: "keep one of the two: that name marks the one test of the sign-up",
    first: "first application with such a name",
};

/// Returns whether a document is the test of the sign-up, by its name. A document with `test`
/// creates nothing, whatever its name.
pub(super) fn is_sign_up_test(manifest: &Manifest) -> bool {
    let name = manifest.spec.get("business_name").and_then(Value::as_str);
    manifest.spec.get("test").is_none() && name.is_some_and(is_test_name)
}

struct SecretField {
    path: String,
    source: SecretSource,
}

/// Returns the secret fields that were written, including those of the second owner.
fn secrets(fields: &Map<String, Value>) -> Vec<SecretField> {
    let second = fields.get(SECOND_OWNER).and_then(Value::as_object).into_iter().flatten();
    let second = second.map(|(name, value)| (format!("{SECOND_OWNER}.{name}"), value));
    let own = fields.iter().map(|(name, value)| (name.clone(), value));
    own.chain(second).filter_map(|(path, value)| secret_field(path, value)).collect()
}

fn secret_field(path: String, value: &Value) -> Option<SecretField> {
    let secret = table::find(&path)?.privacy == table::ApplicationPrivacy::Secret;
    let source = SecretSource::deserialize(value).ok().filter(|_| secret)?;
    Some(SecretField { path, source })
}

/// Returns the problems by the service's own rules, except those of secrets with unknown values.
fn problems(
    spec: &MerchantApplicationSpec,
    secrets: &[SecretField],
    cx: &CheckCx,
) -> Vec<FieldProblem> {
    let trust = cx.plans.get(text(&spec.fields, "plan")).copied().unwrap_or_default();
    let hidden = |path: &str| {
        path == REFERENCE
            || secrets.iter().any(|one| one.path == path && one.source.literal().is_none())
    };
    let open = with_literals(&spec.fields, "");
    let mut problems = rules(spec.submission, &open, trust);
    problems.retain(|problem| !hidden(&problem.context));
    problems
}

/// Replaces the sources of plain texts by those texts.
fn with_literals(fields: &Map<String, Value>, parent: &str) -> Map<String, Value> {
    let open = |(name, value): (&String, &Value)| {
        let path = format!("{parent}{name}");
        let value = match (value, secret_field(path, value)) {
            (_, Some(secret)) => {
                let literal = secret.source.literal().map(|text| text.expose().to_owned());
                literal.map_or(Value::Null, Value::from)
            }
            (Value::Object(second), None) => with_literals(second, &format!("{name}.")).into(),
            (value, None) => value.clone(),
        };
        (name.clone(), value)
    };
    fields.iter().map(open).collect()
}

/// Describes a problem of the rules to people: its help is the meaning of the field.
fn issue(problem: &FieldProblem) -> Issue {
    let FieldProblem { context, sub_code, message } = problem;
    let path = format!("spec.{context}");
    let doc = field_of(MerchantApplicationKind::FIELDS, &path).map_or("", |field| field.doc);
    let name = context.rsplit('.').next().unwrap_or_default();
    let missing = matches!(sub_code.as_str(), "not_blank" | "not_null");
    let code = match sub_code.as_str() {
        _ if missing => "reckon::merchant_application::missing",
        "invalid_length" => "reckon::merchant_application::length",
        "number_out_of_range" => "reckon::merchant_application::range",
        _ => "reckon::merchant_application::invalid",
    };
    let help = format!("{} `{name}`: {doc}", if missing { "add" } else { "correct" });
    let issue = Issue::error(code, &path, message.clone(), help);
    if missing { issue.underline_key() } else { issue }
}

fn reference_issue(spec: &MerchantApplicationSpec) -> Option<Issue> {
    spec.fields.get(REFERENCE).map(|_| {
        let message =
            "reckon writes its mark into `reference`, to recognise the decision of underwriting";
        let help = "leave it out: the webhook of the service names this document by the mark";
        Issue::error("reckon::spec::refused_field", "spec.reference", message, help).underline_key()
    })
}

/// Checks that the operator declared the plan, where plans are declared.
fn plan_issue(spec: &MerchantApplicationSpec, cx: &CheckCx) -> Option<Issue> {
    let plan = text(&spec.fields, "plan");
    if plan.is_empty() || cx.plans.is_empty() || cx.plans.contains_key(plan) {
        return None;
    }
    let known: Vec<String> = cx.plans.keys().map(|plan| format!("`{plan}`")).collect();
    let message = format!("`{plan}` is not one of `partner.plans`");
    let help = format!("write {}, or add it to `partner.plans` in reckon.yaml", known.join(" or "));
    Some(Issue::error("reckon::merchant_application::plan_unknown", "spec.plan", message, help))
}

/// Checks a secret: it may be in plain text only if no person can own its value.
fn secret_issue(spec: &MerchantApplicationSpec, secret: &SecretField) -> Option<Issue> {
    let path = format!("spec.{}", secret.path);
    let literal = secret.source.literal();
    let open = literal.is_none_or(|text| is_reserved(spec, &secret.path, text.expose()));
    if open { secret.source.issue(&path) } else { secret.source.hidden_issue(&path) }
}

/// Returns whether a value is reserved: an identity number that is never issued, or an account at
/// one of the service's test banks (service-facts, part 3).
fn is_reserved(spec: &MerchantApplicationSpec, path: &str, value: &str) -> bool {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let at_test_bank = |routing| is_published_test_routing(text(&spec.fields, routing));
    match path.rsplit('.').next().unwrap_or_default() {
        "owner_social_security_number" | "social_security_number" => is_never_issued(&digits),
        "federal_tax_id" => digits.starts_with("00") && digits.len() == 9,
        "operating_account_number" => at_test_bank("operating_account_routing_number"),
        "trust_account_number" => at_test_bank("trust_account_routing_number"),
        _ => false,
    }
}

/// Returns whether a number is never issued: area 000 or 666, group 00, serial 0000.
fn is_never_issued(digits: &str) -> bool {
    let part = |from, to| digits.get(from..to).unwrap_or_default();
    digits.len() == 9
        && (matches!(part(0, 3), "000" | "666") || part(3, 5) == "00" || part(5, 9) == "0000")
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Ownership above it is significant (partner-api, `owner_has_significant_ownership`).
const SIGNIFICANT_PERCENT: i64 = 25;
const SIGNIFICANT: &str = "owner_has_significant_ownership";
const PERCENTAGE: &str = "owner_percentage_of_ownership";

/// Compares significant ownership with the percentage; 100 if a complete application names none.
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
