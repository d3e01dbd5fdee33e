//! The documents that a mixed tree leaves out:
//! - applications, and the merchants that come from them;
//! - bank accounts;
//! - invoices with files;
//! - recurring charges that begin with a payment, or come from an earlier charge.

use super::{DOCUMENTS_PER_MERCHANT, Document, Tree, document, merchant_name, push};
use crate::random::Random;

/// A smaller number of documents does not hold one of every kind and sort.
const LEAST: usize = 40;
/// Files that invoices share.
pub(crate) const FILES: usize = 4;
/// The amount of the first recurring charge from an earlier charge, in cents: more than any other charge. Each further
/// one collects a cent more, since only the amount identifies it.
const CLONE_CENTS: usize = 500_000;

/// The place for the id of an earlier charge of the merchant.
pub(crate) const EARLIER_CHARGE: &str = "@earlier-charge@";
/// Secrets of applicants: each variable with its value.
pub(crate) const SECRETS: [(&str, &str); 4] = [
    ("CODE_BORN", "1970-02-28"),
    ("CODE_SSN", "000-12-3456"),
    ("CODE_LICENSE", "D000-license"),
    ("CODE_SIGNATURE", "[{\"lx\":1,\"ly\":2,\"mx\":3,\"my\":4}]"),
];

/// Returns the documents of a seed: a merchant for every 2,000. Of the rest, 2 % are applications, each with the
/// merchant that comes from it. Invoices are 25 %, saved methods 22 %, and recurring charges 20 %. The others are
/// contacts.
pub(super) fn documents(count: usize, seed: u64) -> Result<Vec<Document>, String> {
    if count < LEAST {
        return Err(format!("{count} documents are too few for this tree: at least {LEAST}"));
    }
    let merchants = count.div_ceil(DOCUMENTS_PER_MERCHANT);
    let rest = count.saturating_sub(merchants);
    let part = |hundredths: usize| rest.saturating_mul(hundredths).div_ceil(100);
    let (applications, [invoices, methods, recurring]) = (part(2), [part(25), part(22), part(20)]);
    let others = [applications, applications, invoices, methods, recurring];
    let contacts = rest.saturating_sub(others.iter().sum());
    let mut tree = Tree { random: Random::new(seed), merchants, documents: Vec::new() };
    tree.all(merchants, Tree::merchant);
    let first_application = tree.all(applications, |_, at| application(at));
    tree.all(applications, |_, at| applicant(at, first_application.saturating_add(at)));
    let first_contact = tree.all(contacts, Tree::contact);
    let first_method = tree.all(methods, |tree, at| match at.checked_rem(3) {
        Some(2) => tree.bank(at),
        _ => tree.method(at),
    });
    tree.all(invoices, |tree, at| {
        let invoice = tree.invoice(at, first_contact, contacts);
        if at.checked_rem(3) == Some(0) { with_file(invoice, at) } else { invoice }
    });
    tree.all(recurring, |tree, at| match at.checked_rem(4) {
        Some(2) => tree.club(at, first_method, methods),
        Some(3) => tree.clone_of(at),
        _ => tree.recurring(at, first_method, methods),
    });
    Ok(tree.documents)
}

impl Tree {
    fn bank(&mut self, at: usize) -> Document {
        let holder = self.word(&super::LAST);
        let spec = format!(
            "  merchant: {}\n  type: bank\n  description: Account of {holder}\n  source:\n    bank:\n      \
             routing_number: \"000000013\"\n      account_number: \"1234567890\"\n      account_type: CHECKING\n      \
             name: {holder} LLC\n      account_holder_type: business\n",
            merchant_name(self.merchant_of(at))
        );
        document("SavedMethod", format!("bank-{at}"), None, &spec)
    }

    /// Returns a recurring charge that collects at once.
    fn club(&mut self, at: usize, first_method: usize, methods: usize) -> Document {
        let method = self.same_merchant(at, first_method, methods);
        let (payer, merchant) = (self.name_at(method), merchant_name(self.merchant_of(at)));
        let amount = self.amount();
        let spec = format!(
            "  merchant: {merchant}\n  method: {payer}\n  amount: {amount}\n  description: Club {at}\n  first_charge: now\n  \
             schedule: {{interval_unit: MONTH, interval_delay: 1, days: [\"15\"]}}\n"
        );
        document("RecurringCharge", format!("club-{at}"), Some(method), &spec)
    }

    /// Returns a recurring charge made from an earlier charge; the amount identifies it.
    fn clone_of(&mut self, at: usize) -> Document {
        let cents = CLONE_CENTS.saturating_add(at);
        let spec = format!(
            "  merchant: {}\n  from_charge: \"{EARLIER_CHARGE}\"\n  amount: \"{}.{:02} USD\"\n  \
             schedule: {{start: 2030-01-05, interval_unit: MONTH, interval_delay: 1}}\n",
            merchant_name(self.merchant_of(at)),
            cents / 100,
            cents % 100
        );
        document("RecurringCharge", format!("clone-{at}"), None, &spec)
    }
}

/// Returns the cents that a recurring charge from an earlier charge collects; `None` for another document.
pub(crate) fn cents_of_clone(document: &Document) -> Option<usize> {
    let at = document.name.strip_prefix("clone-")?;
    at.parse::<usize>().ok().map(|at| CLONE_CENTS.saturating_add(at))
}

/// Returns whether a document collects a payment at once.
pub(crate) fn collects_now(document: &Document) -> bool {
    document.kind == "RecurringCharge" && document.name.starts_with("club-")
}

/// Returns the merchant that a document names.
pub(crate) fn merchant_in(document: &Document) -> Option<&str> {
    document.text.lines().find_map(|line| line.strip_prefix("  merchant: "))
}

/// Returns the name of one of the files.
pub(crate) fn file_name(at: usize) -> String {
    format!("terms-{}.txt", at.checked_rem(FILES).unwrap_or(0))
}

fn with_file(mut invoice: Document, at: usize) -> Document {
    let file = file_name(at);
    push(&mut invoice.text, format_args!("  attachments: [{{file: {file}}}]\n"));
    invoice
}

/// Returns the merchant that comes from an application.
fn applicant(at: usize, application: usize) -> Document {
    let spec = format!(
        "  mode: test\n  timezone: America/Chicago\n  credentials: {{application: harbor-{at}}}\n"
    );
    document("Merchant", format!("harbor-{at}"), Some(application), &spec)
}

fn application(at: usize) -> Document {
    let spec = format!(
        "  submission: complete
  plan: basic
  first_name: Mina
  last_name: Jensen
  email: mina-{at}@harbor.example
  business_name: Harbor Books {at}
  business_address1: {at} Quay
  business_city: Chicago
  business_state: IL
  business_zip_code: '60601'
  business_phone: '+1 312 555 0100'
  business_country: US
  industry_code: 5942
  goods_and_services: Books
  structure: SO
  business_type: R
  federal_tax_id: 00-{:07}
  years_in_business: '7'
  owner_first_name: Mina
  owner_last_name: Jensen
  owner_title: Owner
  owner_date_of_birth: {{env: CODE_BORN}}
  owner_social_security_number: {{env: CODE_SSN}}
  owner_has_significant_ownership: true
  owner_has_significant_responsibility: true
  owner_address1: 1 Quay
  owner_city: Chicago
  owner_state: IL
  owner_zip_code: '60601'
  owner_phone_number: '+1 312 555 0100'
  owner_email: mina-{at}@harbor.example
  owner_drivers_license_number: {{env: CODE_LICENSE}}
  owner_drivers_license_state: IL
  owner_drivers_license_expiration: 2031-05-31
  owner_country_of_citizenship: US
  operating_account_routing_number: '000000013'
  operating_account_bank_name: First Bank of Testing
  operating_account_number: '1234567890'
  signature: {{env: CODE_SIGNATURE}}
  ip_address_timestamp: 2026-11-20T18:00:00Z
",
        at.saturating_add(1)
    );
    document("MerchantApplication", format!("harbor-{at}"), None, &spec)
}
