//! A valid complete application.

/// An application with every required field.
pub(crate) const COMPLETE: &str = "apiVersion: reckon.dev/v1
kind: MerchantApplication
metadata: {name: it}
spec:
  submission: complete
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
  owner_date_of_birth: {file: born}
  owner_social_security_number: {file: ssn}
  owner_has_significant_ownership: true
  owner_has_significant_responsibility: true
  owner_address1: 1 Quay
  owner_city: Chicago
  owner_state: IL
  owner_zip_code: '60601'
  owner_phone_number: '+1 312 555 0100'
  owner_email: mina@harbor.example
  owner_drivers_license_number: {file: license}
  owner_drivers_license_state: IL
  owner_drivers_license_expiration: 2031-05-31
  owner_country_of_citizenship: US
  operating_account_routing_number: '000000013'
  operating_account_bank_name: First Bank of Testing
  operating_account_number: '1234567890'
  signature: {file: signature}
  ip_address_timestamp: 2026-11-20T18:00:00Z
";
