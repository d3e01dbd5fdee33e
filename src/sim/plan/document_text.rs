//! Text of the documents, as their authors write it. Each application of a document describes
//! another business, since the service would decline a second one of the same business.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use super::documents::{Breakage, Doc, DocBody, FromCharge};

impl Doc {
    /// Returns the text of the document as its author writes it.
    pub fn yaml(&self) -> String {
        let mut text = format!("apiVersion: reckon.dev/v1\nkind: {}\nmetadata:\n", self.kind());
        // Writing into a String cannot fail.
        let _written = self.write(&mut text);
        match self.broken {
            None => text,
            Some(Breakage::Misfit) => text + "  nonsense: 1\n",
            Some(Breakage::Garbage) => text.replace("metadata:", "metadata: [unclosed"),
        }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "  name: {}\n  annotations:", self.name)?;
        writeln!(out, "    reckon.dev/generation: \"{}\"", self.generation)?;
        if self.declares_removal() {
            writeln!(out, "    reckon.dev/deletion: delete")?;
        }
        if matches!(self.body, DocBody::Contact { hold: true, .. }) {
            writeln!(out, "    reckon.dev/on-doubt: hold")?;
        }
        writeln!(out, "spec:")?;
        self.write_spec(out)
    }

    fn write_spec(&self, out: &mut String) -> fmt::Result {
        let name = &self.name;
        match &self.body {
            DocBody::Merchant => writeln!(
                out,
                "  mode: test\n  credentials: {{authorization_code: {{env: {}}}}}",
                variable(name)
            ),
            DocBody::Opened { application } => {
                writeln!(out, "  mode: live\n  credentials: {{application: {application}}}")
            }
            DocBody::Application { sign_up, text } => write_application(self, *sign_up, *text, out),
            DocBody::Contact { merchant, hold: _ } => writeln!(
                out,
                "  merchant: {merchant}\n  first_name: Given\n  last_name: {name}\n  \
                 email_addresses: [{{address: {}}}]",
                self.email()
            ),
            DocBody::Invoice { merchant, contact, lines, mails, letter } => {
                writeln!(
                    out,
                    "  merchant: {merchant}\n  contact: {contact}\n  bank_account: Operating\n  \
                     invoice_date: 2027-03-01\n  reference: {name}\n  line_items:"
                )?;
                for line in lines {
                    let rate = money(*line);
                    writeln!(out, "  - {{description: Work, rate_per_quantity: \"{rate}\"}}")?;
                }
                for mail in 0..*mails {
                    let head = if mail == 0 { "  invoice_messages:\n" } else { "" };
                    writeln!(out, "{head}  - {{email_addresses: [{name}-{mail}@payers.example]}}")?;
                }
                if *letter > 0 {
                    writeln!(out, "  attachments: [{{file: {}}}]", attachment_name(*letter))?;
                }
                Ok(())
            }
            DocBody::Card { merchant, bank, text: _, holder: _, delete: _ } => {
                let (sort, details) = if *bank { BANK } else { CARD };
                writeln!(
                    out,
                    "  merchant: {merchant}\n  type: {sort}\n  source: {{{sort}: {{{details}, \
                     name: {}}}}}\n  description: {}",
                    self.holder().unwrap_or_default(),
                    self.text().unwrap_or_default()
                )
            }
            DocBody::FromCharge(one) => one.write_spec(self.text().as_deref(), out),
            DocBody::Recurring { merchant, card, amount, now, text: _ } => {
                let start = if *now { "" } else { "start: 2027-02-01, " };
                let first = if *now { "\n  first_charge: now" } else { "" };
                writeln!(
                    out,
                    "  merchant: {merchant}\n  method: {card}\n  amount: {}\n  description: {}\n  \
                     schedule: {{{start}interval_unit: MONTH, interval_delay: 1, days: \
                     [\"1\"]}}{first}",
                    money(*amount),
                    self.text().unwrap_or_default()
                )
            }
        }
    }
}

/// Type and details of every card, without the holder.
const CARD: (&str, &str) = ("card", "number: \"4242424242424242\", exp_month: 8, exp_year: 2031");

/// Type and details of every bank account, without the holder.
const BANK: (&str, &str) = (
    "bank",
    "routing_number: \"000000013\", account_number: \"1000000099\", account_type: CHECKING, \
     account_holder_type: business",
);

pub fn variable(merchant: &str) -> String {
    format!("CODE_{}", merchant.to_ascii_uppercase())
}

pub(crate) fn money(minor: i64) -> String {
    let whole = minor.checked_div(100).unwrap_or(0);
    let cents = minor.checked_rem(100).unwrap_or(0);
    format!("{whole}.{cents:02} USD")
}

impl FromCharge {
    pub(crate) fn write_spec(&self, said: Option<&str>, out: &mut String) -> fmt::Result {
        let Self { merchant, nth: _, charge, amount, text: _ } = self;
        if let Some(said) = said {
            writeln!(out, "  description: {said}")?;
        }
        writeln!(
            out,
            "  merchant: {merchant}\n  from_charge: {charge}\n  amount: {}\n  schedule: {{start: \
             2027-02-01, interval_unit: MONTH, interval_delay: 1, days: [\"1\"]}}",
            money(*amount)
        )
    }
}

/// Submissions of one document that the service can distinguish.
const GENERATIONS_MAX: u32 = 10;

/// Secrets of every applicant, by the variables that the documents name.
pub(crate) fn applicant_secrets() -> BTreeMap<String, String> {
    let signature = r#"[{"lx":1,"ly":2,"mx":3,"my":4}]"#;
    [("BORN", "1980-02-29"), ("LICENSE", "C000-0000"), ("SIGNATURE", signature)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Writes the spec of an application. Each submission describes another business, since the service
/// would decline a second one of the same business.
fn write_application(doc: &Doc, sign_up: bool, text: u32, out: &mut String) -> fmt::Result {
    let (name, generation) = (&doc.name, doc.generation);
    if sign_up {
        return writeln!(
            out,
            "  submission: sign_up\n  plan: basic\n  email: {name}@applicants.example\n  \
             goods_and_services: {name} version {text}"
        );
    }
    writeln!(
        out,
        "  submission: complete\n  plan: basic\n  business_name: {name} generation {generation}\n  \
         federal_tax_id: 00-{:07}\n  email: {name}@applicants.example",
        tax_number(name, generation)
    )?;
    out.write_str(include_str!("scripts/application.yaml"))
}

/// Returns a tax number for each submission. All begin with 00, which is never assigned.
fn tax_number(name: &str, generation: u32) -> u32 {
    let mixed = name.bytes().fold(7_u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte)).checked_rem(900_000).unwrap_or(0)
    });
    let own = generation.checked_rem(GENERATIONS_MAX).unwrap_or(0);
    mixed.saturating_add(own.saturating_mul(1_000_000))
}

pub(crate) fn attachment_name(number: u32) -> String {
    format!("letter-{number}.txt")
}
