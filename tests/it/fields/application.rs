//! Complete applications: reckon submits them once, and then underwriting decides (partner-api, Merchant application).

use serde_json::json;

use crate::fields::case::{Case, Table, never};
use crate::support::applicants::COMPLETE;

/// The cases are tests, so that no two applications of one business collide.
pub(crate) const TABLE: Table = Table {
    kind: "MerchantApplication",
    base: COMPLETE,
    with: &[("test", "validate")],
    beside: &[],
    cases: CASES,
};

/// Returns a sign-up with every field filled in.
pub(crate) fn sign_up(is_edited: bool) -> String {
    let mut spec = json!({"submission": "sign_up"});
    for case in CASES.iter().filter(|case| !["submission", "test"].contains(&case.path)) {
        case.write(&mut spec, is_edited);
    }
    json!({"apiVersion": "reckon.dev/v1", "kind": "MerchantApplication", "metadata": {"name": "harbor"}, "spec": spec})
        .to_string()
}

const SECOND_OWNER: &str = "{first_name: Jo, last_name: Roe, home_address1: 2 Quay, home_city: Chicago, home_state: IL, home_zip_code: '60601', job_title: Partner, date_of_birth: {file: born}, social_security_number: {file: ssn}, has_significant_ownership: false, has_significant_responsibility: false}";

/// Returns a case for a field of the second owner.
const fn second(path: &'static str, first: &'static str, second: &'static str) -> Case {
    never(path, first, second).with(&[("second_owner", SECOND_OWNER)])
}

const CASES: &[Case] = &[
    never("submission", "complete", "sign_up").also(&[("test", "~")]),
    never("plan", "basic", "gold"),
    never("first_name", "Mina", "Mona"),
    never("last_name", "Jensen", "Hansen"),
    never("email", "mina@harbor.example", "mona@harbor.example"),
    never("business_name", "Harbor Books", "Harbor Papers"),
    never("business_address1", "1 Quay", "2 Quay"),
    never("business_address2", "Floor 1", "Floor 2"),
    never("business_city", "Chicago", "Evanston"),
    never("business_state", "IL", "WI"),
    never("business_zip_code", "'60601'", "'60602'"),
    never("business_phone", "'+1 312 555 0100'", "'+1 312 555 0101'"),
    never("business_country", "US", "CA"),
    never("industry_code", "5942", "5943"),
    never("goods_and_services", "Books", "Paper"),
    never("has_dba", "false", "true").with(&[
        ("dba_name", "Quay"),
        ("dba_address1", "1 Quay"),
        ("dba_city", "Chicago"),
        ("dba_state", "IL"),
        ("dba_zip_code", "'60601'"),
        ("dba_phone", "'+1 312 555 0100'"),
    ]),
    never("dba_name", "Quay", "Pier"),
    never("dba_address1", "1 Quay", "2 Quay"),
    never("dba_address2", "Floor 1", "Floor 2"),
    never("dba_city", "Chicago", "Evanston"),
    never("dba_state", "IL", "WI"),
    never("dba_zip_code", "'60601'", "'60602'"),
    never("dba_phone", "'+1 312 555 0100'", "'+1 312 555 0101'"),
    never("structure", "SO", "LP"),
    never("business_type", "R", "I"),
    never("federal_tax_id", "00-0000001", "00-0000002"),
    never("years_in_business", "'7'", "'8'"),
    never("business_website", "https://harbor.example", "https://quay.example"),
    never("past_bankruptcy", "false", "true"),
    never("bankruptcy_date", "2001-02-03", "2001-02-04"),
    never("owner_first_name", "Mina", "Mona"),
    never("owner_last_name", "Jensen", "Hansen"),
    never("owner_title", "Owner", "President"),
    never("owner_date_of_birth", "{file: born}", "{file: born-two}"),
    never("owner_social_security_number", "{file: ssn}", "{file: ssn-two}"),
    never("owner_percentage_of_ownership", "100", "60"),
    never("owner_has_significant_ownership", "true", "false")
        .also(&[("owner_percentage_of_ownership", "20")]),
    never("owner_has_significant_responsibility", "true", "false"),
    never("owner_address1", "1 Quay", "2 Quay"),
    never("owner_address2", "Floor 1", "Floor 2"),
    never("owner_city", "Chicago", "Evanston"),
    never("owner_state", "IL", "WI"),
    never("owner_zip_code", "'60601'", "'60602'"),
    never("owner_phone_number", "'+1 312 555 0100'", "'+1 312 555 0101'"),
    never("owner_email", "mina@harbor.example", "mona@harbor.example"),
    never("owner_years_in_residence", "3", "4"),
    never("owner_drivers_license_number", "{file: license}", "{file: license-two}"),
    never("owner_drivers_license_state", "IL", "WI"),
    never("owner_drivers_license_expiration", "2031-05-31", "2031-06-30"),
    never("owner_country_of_citizenship", "US", "CA"),
    never("operating_account_name", "Takings", "Sales"),
    never("operating_account_routing_number", "'000000013'", "'111000025'"),
    never("operating_account_bank_name", "First Bank of Testing", "Second Bank"),
    never("operating_account_number", "'1234567890'", "'1234567899'"),
    never("trust_account_name", "Trust", "Clients"),
    never("trust_account_routing_number", "'000000013'", "'111000025'"),
    never("trust_account_bank_name", "First Bank of Testing", "Second Bank"),
    never("trust_account_number", "{file: license}", "{file: ssn}"),
    never("signed_by", "Mina Jensen", "Mona Hansen"),
    never("signature", "{file: signature}", "{file: signature-two}"),
    never("ip_address", "203.0.113.7", "203.0.113.8"),
    never("browser_user_agent", "Mozilla/5.0", "Mozilla/6.0"),
    never("browser_language", "en-US", "fr-CA"),
    never("ip_address_timestamp", "'2026-11-20T18:00:00Z'", "'2026-11-20T19:00:00Z'"),
    never("test", "validate", "fail"),
    never("number_of_locations", "1", "2"),
    never("currently_accepting_cards", "false", "true"),
    never("current_card_processor", "Acme Cards", "Best Cards"),
    never("wants_to_accept_amex", "false", "true"),
    never("current_amex_merchant_number", "{file: license}", "{file: ssn}"),
    second("second_owner.first_name", "Jo", "Joe"),
    second("second_owner.last_name", "Roe", "Doe"),
    second("second_owner.home_address1", "2 Quay", "3 Quay"),
    second("second_owner.home_address2", "Floor 1", "Floor 2"),
    second("second_owner.home_city", "Chicago", "Evanston"),
    second("second_owner.home_state", "IL", "WI"),
    second("second_owner.home_zip_code", "'60601'", "'60602'"),
    second("second_owner.job_title", "Partner", "Manager"),
    second("second_owner.date_of_birth", "{file: born}", "{file: born-two}"),
    second("second_owner.social_security_number", "{file: ssn}", "{file: ssn-two}"),
    second("second_owner.has_significant_ownership", "false", "true"),
    second("second_owner.has_significant_responsibility", "false", "true"),
];
