//! Rules of the reference for the fields of a complete application (partner-api, Merchant application).

use crate::rules::complete::COMPLETE;
use crate::rules::table::check;

pub(crate) const RULES: &str = r#"
plan | plan identifier issued to the partner
    - plan: basic
    + plan: gold
    = specs/it.yaml:6:9 reckon::merchant_application::plan_unknown: `gold` is not one of `partner.plans` | write `basic` or `trust`, or add it to `partner.plans` in reckon.yaml
email | that person's e-mail
    - email: mina@harbor.example
    + email: mina at harbor
    = specs/it.yaml:9:10 reckon::merchant_application::invalid: Email is invalid | correct `email`: That person's e-mail address (partner-api, Merchant application).
business_state | a 2-letter code
    - business_state: IL
    + business_state: Illinois
    = specs/it.yaml:13:19 reckon::merchant_application::length: Business state is not a code of two capital letters | correct `business_state`: Two-letter code of the state of the business (partner-api, Merchant application).
business_zip_code | 3 to 9 letters and digits (service-facts, 31)
    - business_zip_code: '60601'
    + business_zip_code: '6'
    = specs/it.yaml:14:22 reckon::merchant_application::length: Business zip code length is invalid | correct `business_zip_code`: Postal code of the business, in quotes (partner-api, Merchant application).
business_phone | at most 22 characters (service-facts, 31)
    - business_phone: '+1 312 555 0100'
    + business_phone: '+1 312 555 0100 extension 7'
    = specs/it.yaml:15:19 reckon::merchant_application::length: Business phone length is invalid | correct `business_phone`: Phone of the business (partner-api, Merchant application).
business_country | 2-letter ISO 3166 code
    - business_country: US
    + business_country: USA
    = specs/it.yaml:16:21 reckon::merchant_application::length: Business country is not an ISO 3166 code of two letters | correct `business_country`: Two-letter ISO 3166 code of the country of the business (partner-api, Merchant application).
business_country | 2-letter ISO 3166 code: of a country
    - business_country: US
    + business_country: XX
    = specs/it.yaml:16:21 reckon::merchant_application::invalid: Business country is not an ISO 3166 code of two letters | correct `business_country`: Two-letter ISO 3166 code of the country of the business (partner-api, Merchant application).
industry_code | Standard Industrial Classification code: four digits at most
    - industry_code: 5942
    + industry_code: 59420
    = specs/it.yaml:17:18 reckon::merchant_application::range: Industry code is not between 1 and 9999 | correct `industry_code`: Standard Industrial Classification code, a whole number (partner-api, Merchant application).
structure | 1- or 2-letter abbreviation of the business structure
    - structure: SO
    + structure: LLC
    = specs/it.yaml:19:14 reckon::merchant_application::invalid: Structure is not one of SO, AE, G, CP, CU, P, TE, SM, MM, CA, LP, PO | correct `structure`: Structure of the business: SO, AE, G, CP, CU, P, TE, SM, MM, CA, LP or PO (service-facts, 82).
business_type | 1-letter abbreviation of the industry type
    - business_type: R
    + business_type: Retail
    = specs/it.yaml:20:18 reckon::merchant_application::invalid: Business type is not one of R, I, M, H, F | correct `business_type`: Type of the industry: R, I, M, H or F (service-facts, 82).
federal_tax_id | shown to nobody
    - federal_tax_id: 00-0000001
    + federal_tax_id: 12-3456789
    = specs/it.yaml:21:19 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
bankruptcy_date | date
    + bankruptcy_date: 3rd of May
    = specs/it.yaml:45:20 reckon::merchant_application::invalid: Bankruptcy date is not a date such as 2026-11-30 | correct `bankruptcy_date`: Date of the bankruptcy, `yyyy-mm-dd`; optional (partner-api, Merchant application).
bankruptcy_date | date: a day that exists
    + bankruptcy_date: 2001-02-30
    = specs/it.yaml:45:20 reckon::merchant_application::invalid: Bankruptcy date is not a date such as 2026-11-30 | correct `bankruptcy_date`: Date of the bankruptcy, `yyyy-mm-dd`; optional (partner-api, Merchant application).
owner_title | value without spaces
    - owner_title: Owner
    + owner_title: Vice President
    = specs/it.yaml:25:16 reckon::merchant_application::invalid: Owner title is not one of President, V.President, Owner, Partner, Manager, Treasurer, Secretary, Exec.Director | correct `owner_title`: The owner's title without spaces: President, V.President, Owner, Partner, Manager, Treasurer, Secretary or Exec.Director (service-facts, 82).
owner_title | one of the titles (service-facts, 82)
    - owner_title: Owner
    + owner_title: Boss
    = specs/it.yaml:25:16 reckon::merchant_application::invalid: Owner title is not one of President, V.President, Owner, Partner, Manager, Treasurer, Secretary, Exec.Director | correct `owner_title`: The owner's title without spaces: President, V.President, Owner, Partner, Manager, Treasurer, Secretary or Exec.Director (service-facts, 82).
owner_date_of_birth | date: shown to nobody
    - owner_date_of_birth: {file: born}
    + owner_date_of_birth: 1970-02-28
    = specs/it.yaml:26:24 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
owner_social_security_number | used for credit check: shown to nobody
    - owner_social_security_number: {file: ssn}
    + owner_social_security_number: 123-45-6789
    = specs/it.yaml:27:33 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
owner_percentage_of_ownership | integer: a part of the whole
    + owner_percentage_of_ownership: 101
    = specs/it.yaml:45:34 reckon::merchant_application::range: Owner percentage of ownership is not between 0 and 100 | correct `owner_percentage_of_ownership`: Share of the owner, in percent; optional, 100 if left out (partner-api, Merchant application).
owner_percentage_of_ownership | integer: no fraction
    + owner_percentage_of_ownership: 33.3
    = specs/it.yaml:45:34 reckon::spec::wrong_type: expected a whole number, found the number 33.3 | write a whole number
owner_has_significant_ownership | more than 25% ownership: so says the percentage
    + owner_percentage_of_ownership: 25
    = specs/it.yaml:28:36 reckon::merchant_application::ownership: the owner owns 25 %, which is not more than 25 % | write `owner_has_significant_ownership: false`, or correct `owner_percentage_of_ownership`
owner_has_significant_ownership | more than 25% ownership: of 100% where no percentage is given
    - owner_has_significant_ownership: true
    + owner_has_significant_ownership: false
    = specs/it.yaml:28:36 reckon::merchant_application::ownership: the owner owns 100 %, which is more than 25 % | write `owner_has_significant_ownership: true`, or add `owner_percentage_of_ownership`
owner_has_significant_responsibility | must be true for at least one owner when no one owns more than 25%
    - owner_has_significant_ownership: true\n  owner_has_significant_responsibility: true
    + owner_percentage_of_ownership: 20\n  owner_has_significant_ownership: false\n  owner_has_significant_responsibility: false
    = specs/it.yaml:30:41 reckon::merchant_application::invalid: Significant responsibility must be true for one owner when none owns over 25% | correct `owner_has_significant_responsibility`: True if the owner manages the business; true for at least one owner when none owns more than 25 % (partner-api, Merchant application).
owner_state | a 2-letter code
    - owner_state: IL
    + owner_state: il
    = specs/it.yaml:32:16 reckon::merchant_application::invalid: Owner state is not a code of two capital letters | correct `owner_state`: Two-letter code of the owner's state (partner-api, Merchant application).
owner_zip_code | 3 to 9 letters and digits (service-facts, 31)
    - owner_zip_code: '60601'
    + owner_zip_code: '60601-1234-56'
    = specs/it.yaml:33:19 reckon::merchant_application::length: Owner zip code length is invalid | correct `owner_zip_code`: The owner's postal code, in quotes (partner-api, Merchant application).
owner_phone_number | at most 22 characters (service-facts, 31)
    - owner_phone_number: '+1 312 555 0100'
    + owner_phone_number: '+1 312 555 0100 extension 7'
    = specs/it.yaml:34:23 reckon::merchant_application::length: Owner phone number length is invalid | correct `owner_phone_number`: The owner's phone (partner-api, Merchant application).
owner_email | an e-mail
    - owner_email: mina@harbor.example
    + owner_email: mina
    = specs/it.yaml:35:16 reckon::merchant_application::invalid: Owner email is invalid | correct `owner_email`: The owner's e-mail address (partner-api, Merchant application).
owner_years_in_residence | integer: of years
    + owner_years_in_residence: -1
    = specs/it.yaml:45:29 reckon::merchant_application::range: Owner years in residence is not between 0 and 200 | correct `owner_years_in_residence`: Years that the owner has lived there, a whole number; optional (partner-api, Merchant application).
owner_drivers_license_number | identity verification: shown to nobody
    - owner_drivers_license_number: {file: license}
    + owner_drivers_license_number: D123
    = specs/it.yaml:36:33 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
owner_drivers_license_state | 2-letter code
    - owner_drivers_license_state: IL
    + owner_drivers_license_state: ILL
    = specs/it.yaml:37:32 reckon::merchant_application::length: Owner drivers license state is not a code of two capital letters | correct `owner_drivers_license_state`: Two-letter code of the state that issued the licence (partner-api, Merchant application).
owner_drivers_license_expiration | date
    - owner_drivers_license_expiration: 2031-05-31
    + owner_drivers_license_expiration: 05/2031
    = specs/it.yaml:38:37 reckon::merchant_application::invalid: Owner drivers license expiration is not a date such as 2026-11-30 | correct `owner_drivers_license_expiration`: Date of expiry of the licence, `yyyy-mm-dd` (partner-api, Merchant application).
owner_country_of_citizenship | 2-letter ISO 3166 code
    - owner_country_of_citizenship: US
    + owner_country_of_citizenship: U
    = specs/it.yaml:39:33 reckon::merchant_application::length: Owner country of citizenship is not an ISO 3166 code of two letters | correct `owner_country_of_citizenship`: Two-letter ISO 3166 code of the owner's citizenship (partner-api, Merchant application).
operating_account_number | string: shown to nobody
    - operating_account_routing_number: '000000013'
    + operating_account_routing_number: '021000021'
    = specs/it.yaml:42:29 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
signature | shown to nobody; JSON text in the jSignature format
    - signature: {file: signature}
    + signature: scrawl
    = specs/it.yaml:43:14 reckon::merchant_application::invalid: Signature is not JSON text of an array of strokes | correct `signature`: JSON text in the jSignature format: strokes with whole numbers lx, ly, mx and my (partner-api, Merchant application).
    = specs/it.yaml:43:14 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
signature | an array of stroke objects each having integer properties lx, ly, mx, my
    - signature: {file: signature}
    + signature: '[{"lx":1,"ly":2,"mx":3}]'
    = specs/it.yaml:43:14 reckon::merchant_application::invalid: Signature stroke 1 has no integer my | correct `signature`: JSON text in the jSignature format: strokes with whole numbers lx, ly, mx and my (partner-api, Merchant application).
    = specs/it.yaml:43:14 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
ip_address | applicant's IP at signature time
    + ip_address: localhost
    = specs/it.yaml:45:15 reckon::merchant_application::ip_address: the text is not an IP address | write the applicant's address when signing, such as `203.0.113.7`
ip_address_timestamp | ISO 8601
    - ip_address_timestamp: 2026-11-20T18:00:00Z
    + ip_address_timestamp: 20 Nov 2026
    = specs/it.yaml:44:25 reckon::merchant_application::invalid: Ip address timestamp is not a time such as 2026-11-30T18:00:00Z | correct `ip_address_timestamp`: Time of the signature, ISO 8601 such as `2026-11-30T18:00:00Z` (partner-api, Merchant application).
ip_address_timestamp | ISO 8601: with its zone
    - ip_address_timestamp: 2026-11-20T18:00:00Z
    + ip_address_timestamp: 2026-11-20T18:00:00
    = specs/it.yaml:44:25 reckon::merchant_application::invalid: Ip address timestamp is not a time such as 2026-11-30T18:00:00Z | correct `ip_address_timestamp`: Time of the signature, ISO 8601 such as `2026-11-30T18:00:00Z` (partner-api, Merchant application).
test | `validate` or `fail`
    + test: maybe
    = specs/it.yaml:45:9 reckon::merchant_application::invalid: Test is not one of validate, fail | correct `test`: `validate` or `fail`: no merchant is created, and the returned code is never exchanged; complete applications only (partner-api, Merchant application).
All values must be plain text: not percent-encoded
    - business_name: Harbor Books
    + business_name: Harbor%20Books
    = specs/it.yaml:10:18 reckon::merchant_application::invalid: Business name is percent-encoded: plain text is needed | correct `business_name`: The legal name, as the tax authority's records have it; one that ends in ` - TEST` marks the test of the sign-up, of which there may be only one (partner-api, Merchant application).
All values must be plain text: not HTML-encoded
    - goods_and_services: Books
    + goods_and_services: Books &amp; Paper
    = specs/it.yaml:18:23 reckon::merchant_application::invalid: Goods and services is HTML-encoded: plain text is needed | correct `goods_and_services`: Goods or services that the business sells (partner-api, Merchant application).
All values must be plain text: not base64-encoded
    - owner_city: Chicago
    + owner_city: Q2hpY2Fnbw==
    = specs/it.yaml:31:15 reckon::merchant_application::invalid: Owner city is base64-encoded: plain text is needed | correct `owner_city`: The owner's city (partner-api, Merchant application).
All other fields are of the table
    + business_nmae: Harbor
    = specs/it.yaml:45:3 reckon::spec::unknown_field: there is no field `business_nmae` here | write `business_name`
"#;

#[test]
fn what_a_field_of_an_application_may_not_hold() {
    check(COMPLETE, RULES);
    crate::support::covers::covers(&["8.9"]);
}
