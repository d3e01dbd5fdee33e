//! Two applications of one applicant, the merchant that they open, and a world for both.

use reckon::sandbox::options::ServiceSurface;
use serde_json::{Value, json};

use crate::support::world::World;

const START: &str = "2029-12-01T10:00:00Z";
pub(crate) const SIGNATURE: &str = r#"[{"lx":1,"ly":2,"mx":3,"my":4}]"#;
pub(crate) const LICENSE: &str = "D000-license";
pub(crate) const SSN: &str = "000-12-3456";
pub(crate) const BORN: &str = "1970-02-28";

pub(crate) const COMPLETE: &str = "apiVersion: reckon.dev/v1
kind: MerchantApplication
metadata: {name: harbor}
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

pub(crate) const SIGN_UP: &str = "apiVersion: reckon.dev/v1
kind: MerchantApplication
metadata: {name: harbor}
spec: {submission: sign_up, plan: basic, email: mina@harbor.example, business_name: Harbor Books}
";

/// The merchant of the application, and one of its contacts.
pub(crate) const MERCHANT: &str = "---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: harbor}
spec: {mode: test, timezone: America/Chicago, credentials: {application: harbor}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: harbor, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
";

/// Builds a world with the applicant's secrets and this tree.
pub(crate) fn world(text: &str) -> World {
    let mut world = World::new(ServiceSurface::Documented, START);
    for (name, text) in
        [("born", BORN), ("ssn", SSN), ("license", LICENSE), ("signature", SIGNATURE)]
    {
        world.files.insert(name.to_owned(), text.to_owned());
    }
    world.write(text);
    world
}

pub(crate) fn tree() -> String {
    format!("{COMPLETE}{MERCHANT}")
}

/// Returns the applicant's form, with the fields of the complete application.
pub(crate) fn form() -> Value {
    let fields = COMPLETE.lines().skip(6).map(|line| {
        let (name, value) = line.trim().split_once(": ").unwrap();
        let value = match value {
            "{file: born}" => BORN,
            "{file: ssn}" => SSN,
            "{file: license}" => LICENSE,
            "{file: signature}" => SIGNATURE,
            other => other.trim_matches('\''),
        };
        (name.to_owned(), json!(value))
    });
    Value::Object(fields.collect())
}
