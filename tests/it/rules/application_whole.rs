//! A complete application has every field but the optional ones (partner-api, Merchant application).

use crate::rules::complete::COMPLETE;
use crate::rules::table::check;

pub(crate) const RULES: &str = "
plan | string | plan identifier issued to the partner; the complete-application request carries all fields
    - plan: basic
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Plan cannot be blank | add `plan`: The plan's identifier as issued to the partner, one of `partner.plans` (partner-api, Merchant application).
first_name | string | person associated with the application; the complete-application request carries all fields
    - first_name: Mina
    = specs/it.yaml:4:1 reckon::merchant_application::missing: First name cannot be blank | add `first_name`: First name of the person associated with the application (partner-api, Merchant application).
last_name | string | person associated with the application; the complete-application request carries all fields
    - last_name: Jensen
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Last name cannot be blank | add `last_name`: Last name of the person associated with the application (partner-api, Merchant application).
email | string | that person's e-mail; the complete-application request carries all fields
    - email: mina@harbor.example
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Email cannot be blank | add `email`: That person's e-mail address (partner-api, Merchant application).
business_name | string | legal name, must match tax-authority records; the complete-application request carries all fields
    - business_name: Harbor Books
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Business name cannot be blank | add `business_name`: The legal name, as the tax authority's records have it; one that ends in ` - TEST` marks the test of the sign-up, of which there may be only one (partner-api, Merchant application).
business_address1 | string; the complete-application request carries all fields
    - business_address1: 1 Quay
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Business address1 cannot be blank | add `business_address1`: Street and number of the business (partner-api, Merchant application).
business_city | string; the complete-application request carries all fields
    - business_city: Chicago
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Business city cannot be blank | add `business_city`: City of the business (partner-api, Merchant application).
business_state | string; the complete-application request carries all fields
    - business_state: IL
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Business state cannot be blank | add `business_state`: Two-letter code of the state of the business (partner-api, Merchant application).
business_zip_code | string; the complete-application request carries all fields
    - business_zip_code: '60601'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Business zip code cannot be blank | add `business_zip_code`: Postal code of the business, in quotes (partner-api, Merchant application).
business_phone | string; the complete-application request carries all fields
    - business_phone: '+1 312 555 0100'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Business phone cannot be blank | add `business_phone`: Phone of the business (partner-api, Merchant application).
business_country | string | 2-letter ISO 3166 code; the complete-application request carries all fields
    - business_country: US
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Business country cannot be blank | add `business_country`: Two-letter ISO 3166 code of the country of the business (partner-api, Merchant application).
industry_code | integer | Standard Industrial Classification code; the complete-application request carries all fields
    - industry_code: 5942
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Industry code cannot be blank | add `industry_code`: Standard Industrial Classification code, a whole number (partner-api, Merchant application).
goods_and_services | string | description of goods/services; the complete-application request carries all fields
    - goods_and_services: Books
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Goods and services cannot be blank | add `goods_and_services`: Goods or services that the business sells (partner-api, Merchant application).
structure | string | 1- or 2-letter abbreviation of the business structure; the complete-application request carries all fields
    - structure: SO
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Structure cannot be blank | add `structure`: Structure of the business: SO, AE, G, CP, CU, P, TE, SM, MM, CA, LP or PO (service-facts, 82).
business_type | string | 1-letter abbreviation of the industry type; the complete-application request carries all fields
    - business_type: R
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Business type cannot be blank | add `business_type`: Type of the industry: R, I, M, H or F (service-facts, 82).
federal_tax_id | string | tax ID, or the sole proprietor's national ID number; the complete-application request carries all fields
    - federal_tax_id: 00-0000001
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Federal tax id cannot be blank | add `federal_tax_id`: The tax id, or the sole proprietor's national id number (partner-api, Merchant application).
years_in_business | string; the complete-application request carries all fields
    - years_in_business: '7'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Years in business cannot be blank | add `years_in_business`: Age of the business, a text in quotes (partner-api, Merchant application).
owner_first_name | string | legal names; the complete-application request carries all fields
    - owner_first_name: Mina
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner first name cannot be blank | add `owner_first_name`: The owner's legal first name (partner-api, Merchant application).
owner_last_name | string | legal names; the complete-application request carries all fields
    - owner_last_name: Jensen
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner last name cannot be blank | add `owner_last_name`: The owner's legal last name (partner-api, Merchant application).
owner_title | string | value without spaces; the complete-application request carries all fields
    - owner_title: Owner
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner title cannot be blank | add `owner_title`: The owner's title without spaces: President, V.President, Owner, Partner, Manager, Treasurer, Secretary or Exec.Director (service-facts, 82).
owner_date_of_birth | date; the complete-application request carries all fields
    - owner_date_of_birth: {file: born}
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner date of birth cannot be blank | add `owner_date_of_birth`: The owner's date of birth, `yyyy-mm-dd` (partner-api, Merchant application).
owner_social_security_number | string | used for credit check; the complete-application request carries all fields
    - owner_social_security_number: {file: ssn}
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner social security number cannot be blank | add `owner_social_security_number`: The owner's social security number, for the credit check (partner-api, Merchant application).
owner_has_significant_ownership | boolean | more than 25% ownership; the complete-application request carries all fields
    - owner_has_significant_ownership: true
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner has significant ownership cannot be blank | add `owner_has_significant_ownership`: True if the owner owns more than 25 % (partner-api, Merchant application).
owner_has_significant_responsibility | boolean | significant management responsibility; the complete-application request carries all fields
    - owner_has_significant_responsibility: true
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner has significant responsibility cannot be blank | add `owner_has_significant_responsibility`: True if the owner manages the business; true for at least one owner when none owns more than 25 % (partner-api, Merchant application).
owner_address1 | string; the complete-application request carries all fields
    - owner_address1: 1 Quay
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner address1 cannot be blank | add `owner_address1`: Street and number of the owner (partner-api, Merchant application).
owner_city | string; the complete-application request carries all fields
    - owner_city: Chicago
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner city cannot be blank | add `owner_city`: The owner's city (partner-api, Merchant application).
owner_state | string; the complete-application request carries all fields
    - owner_state: IL
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner state cannot be blank | add `owner_state`: Two-letter code of the owner's state (partner-api, Merchant application).
owner_zip_code | string; the complete-application request carries all fields
    - owner_zip_code: '60601'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner zip code cannot be blank | add `owner_zip_code`: The owner's postal code, in quotes (partner-api, Merchant application).
owner_phone_number | string; the complete-application request carries all fields
    - owner_phone_number: '+1 312 555 0100'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner phone number cannot be blank | add `owner_phone_number`: The owner's phone (partner-api, Merchant application).
owner_email | string; the complete-application request carries all fields
    - owner_email: mina@harbor.example
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner email cannot be blank | add `owner_email`: The owner's e-mail address (partner-api, Merchant application).
owner_drivers_license_number | string | identity verification; the complete-application request carries all fields
    - owner_drivers_license_number: {file: license}
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner drivers license number cannot be blank | add `owner_drivers_license_number`: The owner's driving licence, to verify the identity (partner-api, Merchant application).
owner_drivers_license_state | string | 2-letter code; the complete-application request carries all fields
    - owner_drivers_license_state: IL
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner drivers license state cannot be blank | add `owner_drivers_license_state`: Two-letter code of the state that issued the licence (partner-api, Merchant application).
owner_drivers_license_expiration | date; the complete-application request carries all fields
    - owner_drivers_license_expiration: 2031-05-31
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner drivers license expiration cannot be blank | add `owner_drivers_license_expiration`: Date of expiry of the licence, `yyyy-mm-dd` (partner-api, Merchant application).
owner_country_of_citizenship | string | 2-letter ISO 3166 code; the complete-application request carries all fields
    - owner_country_of_citizenship: US
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Owner country of citizenship cannot be blank | add `owner_country_of_citizenship`: Two-letter ISO 3166 code of the owner's citizenship (partner-api, Merchant application).
operating_account_routing_number | string; the complete-application request carries all fields
    - operating_account_routing_number: '000000013'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Operating account routing number cannot be blank | add `operating_account_routing_number`: Routing number of that account, nine digits in quotes (partner-api, Merchant application).
    = specs/it.yaml:41:29 reckon::secret::in_the_open: the secret is in plain text | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`
operating_account_bank_name | string; the complete-application request carries all fields
    - operating_account_bank_name: First Bank of Testing
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Operating account bank name cannot be blank | add `operating_account_bank_name`: Bank of that account (partner-api, Merchant application).
operating_account_number | string; the complete-application request carries all fields
    - operating_account_number: '1234567890'
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Operating account number cannot be blank | add `operating_account_number`: Number of that account (partner-api, Merchant application).
signature | string | JSON text in the jSignature format; the complete-application request carries all fields
    - signature: {file: signature}
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Signature cannot be blank | add `signature`: JSON text in the jSignature format: strokes with whole numbers lx, ly, mx and my (partner-api, Merchant application).
ip_address_timestamp | timestamp | ISO 8601, time of signature; the complete-application request carries all fields
    - ip_address_timestamp: 2026-11-20T18:00:00Z
    = specs/it.yaml:4:1 reckon::merchant_application::missing: Ip address timestamp cannot be blank | add `ip_address_timestamp`: Time of the signature, ISO 8601 such as `2026-11-30T18:00:00Z` (partner-api, Merchant application).
submission: complete or sign_up
    - submission: complete
    + submission: half
    = specs/it.yaml:5:15 reckon::spec::unknown_value: unknown value `half` | write one of `complete`, `sign_up`
";

#[test]
fn a_complete_application_carries_all_fields() {
    check(COMPLETE, RULES);
}
