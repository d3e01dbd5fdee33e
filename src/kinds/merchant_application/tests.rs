use serde_json::json;

use super::MerchantApplicationKind;
use crate::api::onboarding::fields::{self, SECOND_OWNER, SECOND_OWNER_FIELDS};
use crate::kinds::schema::kind::{Privacy, SpecSchema};
use crate::kinds::testing::{good, problems};

/// Returns every field that a complete application must have, with the given lines in place of
/// theirs.
fn complete(changes: &[&str]) -> String {
    let lines = "submission: complete
plan: basic
first_name: Mina
last_name: Jensen
email: mina@harbor.example
business_name: Harbor Books
business_address1: 1 Quay
business_city: Chicago
business_state: IL
business_zip_code: '60601'
business_phone: '+1 312 555 0100'
business_country: US
industry_code: 5942
goods_and_services: Books
structure: SO
business_type: R
federal_tax_id: 00-0000001
years_in_business: '7'
owner_first_name: Mina
owner_last_name: Jensen
owner_title: Owner
owner_date_of_birth: {file: mina/born}
owner_social_security_number: 000-12-3456
owner_has_significant_ownership: true
owner_has_significant_responsibility: true
owner_address1: 1 Quay
owner_city: Chicago
owner_state: IL
owner_zip_code: '60601'
owner_phone_number: '+1 312 555 0100'
owner_email: mina@harbor.example
owner_drivers_license_number: {env: LICENSE_MINA}
owner_drivers_license_state: IL
owner_drivers_license_expiration: 2031-05-31
owner_country_of_citizenship: US
operating_account_routing_number: '000000013'
operating_account_bank_name: First Bank of Testing
operating_account_number: '1234567890'
signature: {file: mina/signature}
ip_address_timestamp: 2026-11-20T18:00:00Z";
    let name = |line: &str| line.split(':').next().unwrap_or_default().to_owned();
    let replaced: Vec<String> = changes.iter().map(|line| name(line)).collect();
    let kept = lines.lines().filter(|line| !replaced.contains(&name(line)));
    kept.chain(changes.iter().copied().filter(|line| line.contains(": ")))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_table_names_what_the_service_has_and_hides_what_it_hides() {
    let own = fields::FIELDS.iter().map(|field| (field.name.to_owned(), field.privacy));
    let second = SECOND_OWNER_FIELDS.iter();
    let second = second.map(|field| (format!("{SECOND_OWNER}.{}", field.name), field.privacy));
    for (path, privacy) in own.chain(second).filter(|(path, _)| path != "reference") {
        let field = MerchantApplicationKind::FIELDS.iter().find(|field| field.path == path);
        let expect = match privacy {
            fields::ApplicationPrivacy::Plain => Privacy::Plain,
            fields::ApplicationPrivacy::Personal => Privacy::Personal,
            fields::ApplicationPrivacy::Secret => Privacy::Secret,
        };
        assert_eq!(field.map(|field| field.privacy), Some(expect), "{path}");
    }
    assert!(MerchantApplicationKind::FIELDS.iter().all(|field| field.path != "reference"));
}

#[test]
fn a_complete_application_keeps_its_fields_in_order_and_its_secrets_as_sources() {
    let spec = good(
        "MerchantApplication",
        &complete(&[
            "second_owner: {first_name: Jo, last_name: Roe, home_address1: 2 Quay, home_city: Chicago, home_state: IL, home_zip_code: '60601', job_title: Partner, date_of_birth: {env: BORN_JO}, social_security_number: {env: SSN_JO}, has_significant_ownership: false, has_significant_responsibility: false}",
        ]),
    );
    assert_eq!(spec["federal_tax_id"], json!({"literal": "00-0000001"}));
    assert_eq!(spec["owner_date_of_birth"], json!({"file": "mina/born"}));
    assert_eq!(spec["second_owner"]["date_of_birth"], json!({"env": "BORN_JO"}));
    assert_eq!(spec["industry_code"], json!(5942));
    let names: Vec<&str> = spec.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(&names[..4], ["submission", "second_owner", "plan", "first_name"]);
}

#[test]
fn a_sign_up_needs_three_fields() {
    let spec = "submission: sign_up\nplan: basic\nemail: jo@roe.example\nowner_title: Owner";
    assert_eq!(good("MerchantApplication", spec)["submission"], "sign_up");
    assert_eq!(
        problems("MerchantApplication", "submission: sign_up\nplan: basic\ntest: validate"),
        "reckon::merchant_application::missing @ spec.email (key): Email cannot be blank | add `email`: That person's e-mail address (partner-api, Merchant application).\n\
         reckon::merchant_application::invalid @ spec.test: Test is for complete applications only | correct `test`: `validate` or `fail`: no merchant is created, and the returned code is never exchanged; complete applications only (partner-api, Merchant application)."
    );
}

#[test]
fn every_wrong_field_is_told_at_once_and_no_secret_is_repeated() {
    let told = problems(
        "MerchantApplication",
        &complete(&[
            "plan: gold",
            "owner_title: Vice President",
            "business_state: Illinois",
            "owner_social_security_number: 123-45-6789",
            "owner_date_of_birth: 1970-01-01",
            "has_dba: true",
            "years_in_business",
            "reference: mine",
        ]),
    );
    let paths: Vec<&str> =
        told.lines().filter_map(|line| line.split(" @ ").nth(1)?.split(':').next()).collect();
    assert_eq!(
        paths,
        [
            "spec.reference (key)",
            "spec.plan",
            "spec.owner_date_of_birth",
            "spec.owner_social_security_number",
            "spec.business_state",
            "spec.dba_name (key)",
            "spec.dba_address1 (key)",
            "spec.dba_city (key)",
            "spec.dba_state (key)",
            "spec.dba_zip_code (key)",
            "spec.dba_phone (key)",
            "spec.years_in_business (key)",
            "spec.owner_title",
        ]
    );
    assert!(!told.contains("6789") && !told.contains("1970"), "{told}");
}

#[test]
fn a_trust_plan_needs_its_account_and_who_signs() {
    let told = problems("MerchantApplication", &complete(&["plan: trust"]));
    assert_eq!(told.lines().count(), 4, "{told}");
    assert!(told.contains("spec.trust_account_number") && told.contains("spec.signed_by"));
}

#[test]
fn an_unknown_field_and_a_wrong_type_are_told_with_what_to_write() {
    assert_eq!(
        problems("MerchantApplication", &complete(&["buisness_city: Chicago"])),
        "reckon::spec::unknown_field @ spec.buisness_city (key): there is no field `buisness_city` here | write `business_city`"
    );
    assert_eq!(
        problems("MerchantApplication", &complete(&["industry_code: books"])),
        "reckon::spec::wrong_type @ spec.industry_code: expected a whole number, found the text \"books\" | write a whole number"
    );
    assert_eq!(
        problems("MerchantApplication", "plan: basic"),
        "reckon::spec::missing_field @ spec.submission (key): the field `submission` is missing | add `submission`: `complete`, every field from here, or `sign_up`, finished by the applicant on the service's page (design, Files)"
    );
}

#[test]
fn significant_ownership_is_what_the_percentage_says_and_of_a_sign_up_only_where_there_is_one() {
    let sign_up = "submission: sign_up\nplan: basic\nemail: jo@roe.example\n";
    let told = |rest: &str| problems("MerchantApplication", &format!("{sign_up}{rest}"));
    let ownership =
        |percent: &str, said: bool| format!("{percent}\nowner_has_significant_ownership: {said}");
    assert_eq!(told(&ownership("owner_state: IL", false)), "");
    assert_eq!(told(&ownership("owner_percentage_of_ownership: 26", true)), "");
    assert_eq!(told(&ownership("owner_percentage_of_ownership: 25", false)), "");
    assert_eq!(
        told(&ownership("owner_percentage_of_ownership: 26", false)),
        "reckon::merchant_application::ownership @ spec.owner_has_significant_ownership: the owner owns 26 %, which is more than 25 % | write `owner_has_significant_ownership: true`, or correct `owner_percentage_of_ownership`\n  \
         spec.owner_percentage_of_ownership: the percentage"
    );
}

#[test]
fn an_ip_address_is_one_of_either_version() {
    let spec = "submission: sign_up\nplan: basic\nemail: jo@roe.example\nip_address: ";
    for good in ["203.0.113.7", "'2001:db8::7'"] {
        assert_eq!(problems("MerchantApplication", &format!("{spec}{good}")), "");
    }
    assert_eq!(
        problems("MerchantApplication", &format!("{spec}203.0.113")),
        "reckon::merchant_application::ip_address @ spec.ip_address: the text is not an IP address | write the applicant's address when signing, such as `203.0.113.7`"
    );
}
