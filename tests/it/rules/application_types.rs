//! Types of an application's fields (partner-api, Merchant application).

use crate::rules::complete::COMPLETE;
use crate::rules::table::check;

pub(crate) const RULES: &str = r#"
reference | string | partner-generated ID of the application or user: reckon keeps its mark there
    + reference: mine
    = specs/it.yaml:45:3 reckon::spec::refused_field: reckon writes its mark into `reference`, to recognise the decision of underwriting | leave it out: the webhook of the service names this document by the mark
plan | string | plan identifier issued to the partner: a list is no string
    - plan: basic
    + plan: [wrong]
    = specs/it.yaml:6:9 reckon::spec::wrong_type: expected a text, found a list | write a text
first_name | string | person associated with the application: a list is no string
    - first_name: Mina
    + first_name: [wrong]
    = specs/it.yaml:7:15 reckon::spec::wrong_type: expected a text, found a list | write a text
last_name | string | person associated with the application: a list is no string
    - last_name: Jensen
    + last_name: [wrong]
    = specs/it.yaml:8:14 reckon::spec::wrong_type: expected a text, found a list | write a text
email | string | that person's e-mail: a list is no string
    - email: mina@harbor.example
    + email: [wrong]
    = specs/it.yaml:9:10 reckon::spec::wrong_type: expected a text, found a list | write a text
business_name | string | legal name, must match tax-authority records: a list is no string
    - business_name: Harbor Books
    + business_name: [wrong]
    = specs/it.yaml:10:18 reckon::spec::wrong_type: expected a text, found a list | write a text
business_address1 | string: a list is no string
    - business_address1: 1 Quay
    + business_address1: [wrong]
    = specs/it.yaml:11:22 reckon::spec::wrong_type: expected a text, found a list | write a text
business_address2 | string | address2 is an additional address line: a list is no string
    + business_address2: [wrong]
    = specs/it.yaml:45:22 reckon::spec::wrong_type: expected a text, found a list | write a text
business_city | string: a list is no string
    - business_city: Chicago
    + business_city: [wrong]
    = specs/it.yaml:12:18 reckon::spec::wrong_type: expected a text, found a list | write a text
business_state | string: a list is no string
    - business_state: IL
    + business_state: [wrong]
    = specs/it.yaml:13:19 reckon::spec::wrong_type: expected a text, found a list | write a text
business_zip_code | string: a list is no string
    - business_zip_code: '60601'
    + business_zip_code: [wrong]
    = specs/it.yaml:14:22 reckon::spec::wrong_type: expected a text, found a list | write a text
business_phone | string: a list is no string
    - business_phone: '+1 312 555 0100'
    + business_phone: [wrong]
    = specs/it.yaml:15:19 reckon::spec::wrong_type: expected a text, found a list | write a text
business_country | string | 2-letter ISO 3166 code: a list is no string
    - business_country: US
    + business_country: [wrong]
    = specs/it.yaml:16:21 reckon::spec::wrong_type: expected a text, found a list | write a text
industry_code | integer | Standard Industrial Classification code: a word is no integer
    - industry_code: 5942
    + industry_code: many
    = specs/it.yaml:17:18 reckon::spec::wrong_type: expected a whole number, found the text "many" | write a whole number
goods_and_services | string | description of goods/services: a list is no string
    - goods_and_services: Books
    + goods_and_services: [wrong]
    = specs/it.yaml:18:23 reckon::spec::wrong_type: expected a text, found a list | write a text
has_dba | boolean | optional; default false: a word is no boolean
    + has_dba: 'maybe'
    = specs/it.yaml:45:12 reckon::spec::wrong_type: expected `true` or `false`, found the text "maybe" | write `true` or `false`
dba_name | string: a list is no string
    + dba_name: [wrong]
    = specs/it.yaml:45:13 reckon::spec::wrong_type: expected a text, found a list | write a text
dba_address1 | string: a list is no string
    + dba_address1: [wrong]
    = specs/it.yaml:45:17 reckon::spec::wrong_type: expected a text, found a list | write a text
dba_address2 | string: a list is no string
    + dba_address2: [wrong]
    = specs/it.yaml:45:17 reckon::spec::wrong_type: expected a text, found a list | write a text
dba_city | string: a list is no string
    + dba_city: [wrong]
    = specs/it.yaml:45:13 reckon::spec::wrong_type: expected a text, found a list | write a text
dba_state | string: a list is no string
    + dba_state: [wrong]
    = specs/it.yaml:45:14 reckon::spec::wrong_type: expected a text, found a list | write a text
dba_zip_code | string: a list is no string
    + dba_zip_code: [wrong]
    = specs/it.yaml:45:17 reckon::spec::wrong_type: expected a text, found a list | write a text
dba_phone | string: a list is no string
    + dba_phone: [wrong]
    = specs/it.yaml:45:14 reckon::spec::wrong_type: expected a text, found a list | write a text
structure | string | 1- or 2-letter abbreviation of the business structure: a list is no string
    - structure: SO
    + structure: [wrong]
    = specs/it.yaml:19:14 reckon::spec::wrong_type: expected a text, found a list | write a text
business_type | string | 1-letter abbreviation of the industry type: a list is no string
    - business_type: R
    + business_type: [wrong]
    = specs/it.yaml:20:18 reckon::spec::wrong_type: expected a text, found a list | write a text
federal_tax_id | string | tax ID, or the sole proprietor's national ID number: a list is no string
    - federal_tax_id: 00-0000001
    + federal_tax_id: [wrong]
    = specs/it.yaml:21:19 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
years_in_business | string: a list is no string
    - years_in_business: '7'
    + years_in_business: [wrong]
    = specs/it.yaml:22:22 reckon::spec::wrong_type: expected a text, found a list | write a text
business_website | string | optional: a list is no string
    + business_website: [wrong]
    = specs/it.yaml:45:21 reckon::spec::wrong_type: expected a text, found a list | write a text
past_bankruptcy | boolean | optional: a word is no boolean
    + past_bankruptcy: 'maybe'
    = specs/it.yaml:45:20 reckon::spec::wrong_type: expected `true` or `false`, found the text "maybe" | write `true` or `false`
bankruptcy_date | date | optional: a list is no date
    + bankruptcy_date: [2030]
    = specs/it.yaml:45:20 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_first_name | string | legal names: a list is no string
    - owner_first_name: Mina
    + owner_first_name: [wrong]
    = specs/it.yaml:23:21 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_last_name | string | legal names: a list is no string
    - owner_last_name: Jensen
    + owner_last_name: [wrong]
    = specs/it.yaml:24:20 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_title | string | value without spaces: a list is no string
    - owner_title: Owner
    + owner_title: [wrong]
    = specs/it.yaml:25:16 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_date_of_birth | date: a list is no date
    - owner_date_of_birth: {file: born}
    + owner_date_of_birth: [2030]
    = specs/it.yaml:26:24 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
owner_social_security_number | string | used for credit check: a list is no string
    - owner_social_security_number: {file: ssn}
    + owner_social_security_number: [wrong]
    = specs/it.yaml:27:33 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
owner_percentage_of_ownership | integer | optional; default 100: a word is no integer
    + owner_percentage_of_ownership: many
    = specs/it.yaml:45:34 reckon::spec::wrong_type: expected a whole number, found the text "many" | write a whole number
owner_has_significant_ownership | boolean | more than 25% ownership: a word is no boolean
    - owner_has_significant_ownership: true
    + owner_has_significant_ownership: 'maybe'
    = specs/it.yaml:28:36 reckon::spec::wrong_type: expected `true` or `false`, found the text "maybe" | write `true` or `false`
owner_has_significant_responsibility | boolean | significant management responsibility: a word is no boolean
    - owner_has_significant_responsibility: true
    + owner_has_significant_responsibility: 'maybe'
    = specs/it.yaml:29:41 reckon::spec::wrong_type: expected `true` or `false`, found the text "maybe" | write `true` or `false`
owner_address1 | string: a list is no string
    - owner_address1: 1 Quay
    + owner_address1: [wrong]
    = specs/it.yaml:30:19 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_address2 | string: a list is no string
    + owner_address2: [wrong]
    = specs/it.yaml:45:19 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_city | string: a list is no string
    - owner_city: Chicago
    + owner_city: [wrong]
    = specs/it.yaml:31:15 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_state | string: a list is no string
    - owner_state: IL
    + owner_state: [wrong]
    = specs/it.yaml:32:16 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_zip_code | string: a list is no string
    - owner_zip_code: '60601'
    + owner_zip_code: [wrong]
    = specs/it.yaml:33:19 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_phone_number | string: a list is no string
    - owner_phone_number: '+1 312 555 0100'
    + owner_phone_number: [wrong]
    = specs/it.yaml:34:23 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_email | string: a list is no string
    - owner_email: mina@harbor.example
    + owner_email: [wrong]
    = specs/it.yaml:35:16 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_years_in_residence | integer | optional: a word is no integer
    + owner_years_in_residence: many
    = specs/it.yaml:45:29 reckon::spec::wrong_type: expected a whole number, found the text "many" | write a whole number
owner_drivers_license_number | string | identity verification: a list is no string
    - owner_drivers_license_number: {file: license}
    + owner_drivers_license_number: [wrong]
    = specs/it.yaml:36:33 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
owner_drivers_license_state | string | 2-letter code: a list is no string
    - owner_drivers_license_state: IL
    + owner_drivers_license_state: [wrong]
    = specs/it.yaml:37:32 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_drivers_license_expiration | date: a list is no date
    - owner_drivers_license_expiration: 2031-05-31
    + owner_drivers_license_expiration: [2030]
    = specs/it.yaml:38:37 reckon::spec::wrong_type: expected a text, found a list | write a text
owner_country_of_citizenship | string | 2-letter ISO 3166 code: a list is no string
    - owner_country_of_citizenship: US
    + owner_country_of_citizenship: [wrong]
    = specs/it.yaml:39:33 reckon::spec::wrong_type: expected a text, found a list | write a text
operating_account_name | string | optional: a list is no string
    + operating_account_name: [wrong]
    = specs/it.yaml:45:27 reckon::spec::wrong_type: expected a text, found a list | write a text
operating_account_routing_number | string: a list is no string
    - operating_account_routing_number: '000000013'
    + operating_account_routing_number: [wrong]
    = specs/it.yaml:40:37 reckon::spec::wrong_type: expected a text, found a list | write a text
operating_account_bank_name | string: a list is no string
    - operating_account_bank_name: First Bank of Testing
    + operating_account_bank_name: [wrong]
    = specs/it.yaml:41:32 reckon::spec::wrong_type: expected a text, found a list | write a text
operating_account_number | string: a list is no string
    - operating_account_number: '1234567890'
    + operating_account_number: [wrong]
    = specs/it.yaml:42:29 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
trust_account_name | string | optional: a list is no string
    + trust_account_name: [wrong]
    = specs/it.yaml:45:23 reckon::spec::wrong_type: expected a text, found a list | write a text
trust_account_routing_number | string: a list is no string
    + trust_account_routing_number: [wrong]
    = specs/it.yaml:45:33 reckon::spec::wrong_type: expected a text, found a list | write a text
trust_account_bank_name | string: a list is no string
    + trust_account_bank_name: [wrong]
    = specs/it.yaml:45:28 reckon::spec::wrong_type: expected a text, found a list | write a text
trust_account_number | string: a list is no string
    + trust_account_number: [wrong]
    = specs/it.yaml:45:25 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
signed_by | string | authorized representative's name: a list is no string
    + signed_by: [wrong]
    = specs/it.yaml:45:14 reckon::spec::wrong_type: expected a text, found a list | write a text
signature | string | JSON text in the jSignature format: a list is no string
    - signature: {file: signature}
    + signature: [wrong]
    = specs/it.yaml:43:14 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
ip_address | string | optional; applicant's IP at signature time: a list is no string
    + ip_address: [wrong]
    = specs/it.yaml:45:15 reckon::spec::wrong_type: expected a text, found a list | write a text
browser_user_agent | string | optional; applicant's User-Agent at signature time: a list is no string
    + browser_user_agent: [wrong]
    = specs/it.yaml:45:23 reckon::spec::wrong_type: expected a text, found a list | write a text
browser_language | string | optional; applicant's Accept-Language at signature time: a list is no string
    + browser_language: [wrong]
    = specs/it.yaml:45:21 reckon::spec::wrong_type: expected a text, found a list | write a text
ip_address_timestamp | timestamp | ISO 8601, time of signature: a list is no timestamp
    - ip_address_timestamp: 2026-11-20T18:00:00Z
    + ip_address_timestamp: [2030]
    = specs/it.yaml:44:25 reckon::spec::wrong_type: expected a text, found a list | write a text
test | string | optional; `validate` or `fail`: a list is no string
    + test: [wrong]
    = specs/it.yaml:45:9 reckon::spec::wrong_type: expected a text, found a list | write a text
number_of_locations | integer | optional (service-facts, 83): a word is no integer
    + number_of_locations: many
    = specs/it.yaml:45:24 reckon::spec::wrong_type: expected a whole number, found the text "many" | write a whole number
currently_accepting_cards | boolean | optional (service-facts, 83): a word is no boolean
    + currently_accepting_cards: 'maybe'
    = specs/it.yaml:45:30 reckon::spec::wrong_type: expected `true` or `false`, found the text "maybe" | write `true` or `false`
current_card_processor | string | optional (service-facts, 83): a list is no string
    + current_card_processor: [wrong]
    = specs/it.yaml:45:27 reckon::spec::wrong_type: expected a text, found a list | write a text
wants_to_accept_amex | boolean | optional (service-facts, 83): a word is no boolean
    + wants_to_accept_amex: 'maybe'
    = specs/it.yaml:45:25 reckon::spec::wrong_type: expected `true` or `false`, found the text "maybe" | write `true` or `false`
current_amex_merchant_number | string | optional (service-facts, 83): a list is no string
    + current_amex_merchant_number: [wrong]
    = specs/it.yaml:45:33 reckon::spec::wrong_type: expected `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, found a list | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
"#;

#[test]
fn every_field_of_an_application_has_its_type() {
    check(COMPLETE, RULES);
}
