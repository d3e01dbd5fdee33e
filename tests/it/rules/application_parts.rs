//! Rules of the reference for parts of an application, and for a sign-up (partner-api, Merchant application and
//! `POST …/sign_up`).

use crate::rules::complete::COMPLETE;
use crate::rules::table::check;

/// Fields that another name of business needs.
const DBA: &str = "  has_dba: true
  dba_name: Quay
  dba_address1: 1 Quay
  dba_city: Chicago
  dba_state: IL
  dba_zip_code: '60601'
  dba_phone: '+1 312 555 0100'
";

/// Fields that a trust plan needs.
const TRUST: &str = "  trust_account_routing_number: '000000013'
  trust_account_bank_name: First Bank of Testing
  trust_account_number: '1234567890'
  signed_by: Mina Jensen
";

const SIGN_UP: &str = "apiVersion: reckon.dev/v1
kind: MerchantApplication
metadata: {name: it}
spec:
  submission: sign_up
  plan: basic
  email: mina@harbor.example
  business_state: IL
";

pub(crate) const OF_DBA: &str = "
dba_name | optional when has_dba is false: not when it is true
    - dba_name: Quay
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Dba name cannot be blank | add `dba_name`: The other name; needed when `has_dba` is true (partner-api, Merchant application).
dba_address1 | optional when has_dba is false: not when it is true
    - dba_address1: 1 Quay
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Dba address1 cannot be blank | add `dba_address1`: Street and number under the other name; needed when `has_dba` is true (partner-api, Merchant application).
dba_city | optional when has_dba is false: not when it is true
    - dba_city: Chicago
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Dba city cannot be blank | add `dba_city`: City under the other name; needed when `has_dba` is true (partner-api, Merchant application).
dba_state | optional when has_dba is false: not when it is true
    - dba_state: IL
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Dba state cannot be blank | add `dba_state`: Two-letter code of the state under the other name; needed when `has_dba` is true (partner-api, Merchant application).
dba_zip_code | optional when has_dba is false: not when it is true
    - dba_zip_code: '60601'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Dba zip code cannot be blank | add `dba_zip_code`: Postal code under the other name, in quotes; needed when `has_dba` is true (partner-api, Merchant application).
dba_phone | optional when has_dba is false: not when it is true
    - dba_phone: '+1 312 555 0100'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Dba phone cannot be blank | add `dba_phone`: Phone under the other name; needed when `has_dba` is true (partner-api, Merchant application).
dba_state (2-letter)
    - dba_state: IL
    + dba_state: Illinois
    = specs/it.yaml:49:14 reckon::merchant_application::length: Dba state is not a code of two capital letters | correct `dba_state`: Two-letter code of the state under the other name; needed when `has_dba` is true (partner-api, Merchant application).
dba_zip_code | 3 to 9 letters and digits (service-facts, 31)
    - dba_zip_code: '60601'
    + dba_zip_code: '60601!'
    = specs/it.yaml:50:17 reckon::merchant_application::invalid: Dba zip code is invalid | correct `dba_zip_code`: Postal code under the other name, in quotes; needed when `has_dba` is true (partner-api, Merchant application).
dba_phone | at most 22 characters (service-facts, 31)
    - dba_phone: '+1 312 555 0100'
    + dba_phone: '+1 312 555 0100 extension 7'
    = specs/it.yaml:51:14 reckon::merchant_application::length: Dba phone length is invalid | correct `dba_phone`: Phone under the other name; needed when `has_dba` is true (partner-api, Merchant application).
";

#[test]
fn a_dba_is_whole() {
    check(&format!("{COMPLETE}{DBA}"), OF_DBA);
    crate::support::covers::covers(&["8.9"]);
}

pub(crate) const OF_TRUST: &str = "
trust_account_routing_number | required only when the plan is a trust plan
    - trust_account_routing_number: '000000013'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Trust account routing number cannot be blank | add `trust_account_routing_number`: Routing number of the trust account; needed for a trust plan (partner-api, Merchant application).
    = specs/it.yaml:46:25 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
trust_account_bank_name | required only when the plan is a trust plan
    - trust_account_bank_name: First Bank of Testing
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Trust account bank name cannot be blank | add `trust_account_bank_name`: Bank of the trust account; needed for a trust plan (partner-api, Merchant application).
trust_account_number | required only when the plan is a trust plan
    - trust_account_number: '1234567890'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Trust account number cannot be blank | add `trust_account_number`: Number of the trust account; needed for a trust plan (partner-api, Merchant application).
signed_by | required only for a trust plan
    - signed_by: Mina Jensen
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Signed by cannot be blank | add `signed_by`: The authorized representative's name; needed for a trust plan (partner-api, Merchant application).
trust_account_number | string: shown to nobody
    - trust_account_routing_number: '000000013'
    + trust_account_routing_number: '021000021'
    = specs/it.yaml:47:25 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
";

#[test]
fn a_trust_plan_has_its_account() {
    check(&format!("{}{TRUST}", COMPLETE.replace("plan: basic", "plan: trust")), OF_TRUST);
    crate::support::covers::covers(&["8.9"]);
}

pub(crate) const OF_SIGN_UPS: &str = r#"
POST …/sign_up | required: reference, email, plan: reckon makes the reference
    + reference: mine
    = specs/it.yaml:9:3 reckon::spec::refused_field: reckon writes its mark into `reference`, to recognise the decision of underwriting | leave it out: the webhook of the service names this document by the mark
POST …/sign_up | required: email
    - email: mina@harbor.example
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Email cannot be blank | add `email`: That person's e-mail address (partner-api, Merchant application).
POST …/sign_up | required: plan
    - plan: basic
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Plan cannot be blank | add `plan`: The plan's identifier as issued to the partner, one of `partner.plans` (partner-api, Merchant application).
POST …/sign_up | all other fields except test
    - business_state: IL
    + test: validate
    = specs/it.yaml:8:9 reckon::merchant_application::invalid: Test is for complete applications only | correct `test`: `validate` or `fail`: no merchant is created, and the returned code is never exchanged; complete applications only (partner-api, Merchant application).
POST …/sign_up | other fields pre-populate the flow: as the table says
    - business_state: IL
    + business_state: Illinois
    = specs/it.yaml:8:19 reckon::merchant_application::length: Business state is not a code of two capital letters | correct `business_state`: Two-letter code of the state of the business (partner-api, Merchant application).
POST …/sign_up | other fields pre-populate the flow: no integer is a word
    - business_state: IL
    + industry_code: books
    = specs/it.yaml:8:18 reckon::spec::wrong_type: expected a whole number, found the text "books" | write a whole number
"#;

#[test]
fn what_a_sign_up_may_not_say() {
    check(SIGN_UP, OF_SIGN_UPS);
}
