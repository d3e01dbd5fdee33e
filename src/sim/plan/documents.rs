//! Documents of a simulated world, the changes that people make to them, and their text.
//!
//! A document is kept as its meaning, which the checkers compare with the service. The engine gets
//! it as YAML text alone.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use derive_more::Display;

use crate::base::hash::{Mark, SourceId};
use crate::base::id::Key;

pub const PARTNER: &str = "acme";

#[derive(Debug, Display, Clone, PartialEq, Eq)]
#[display("{name} {body:?} generation {generation}{}",
    if *removes_object { ", its object is removed with it" } else { "" })]
pub struct Doc {
    /// Name, unique among the documents of all kinds in the world.
    pub name: String,
    pub generation: u32,
    pub body: DocBody,
    /// `reckon.dev/deletion: delete` on a document other than a saved method: its object ends with
    /// it.
    pub removes_object: bool,
    pub broken: Option<Breakage>,
}

/// Content of a document. Amounts are in minor units, and `text` is the version of the description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocBody {
    /// A merchant that is connected by a code.
    Merchant,
    /// An application for another merchant. With `sign_up` its applicant finishes it behind a link,
    /// which never happens.
    Application { sign_up: bool, text: u32 },
    /// A live merchant that an application brings; its document never changes.
    Opened { application: String },
    /// With `reckon.dev/on-doubt: hold`, if `hold` is set.
    Contact { merchant: String, hold: bool },
    /// `mails` is the number of addresses that get the invoice by e-mail, and `letter` the number of
    /// the attached file, 0 for none.
    Invoice { merchant: String, contact: String, lines: Vec<i64>, mails: u32, letter: u32 },
    /// A saved card or bank account, with `reckon.dev/deletion: delete` if `delete` is set. The
    /// version of the holder's name changes only by a fresh token.
    Card { merchant: String, bank: bool, text: u32, holder: u32, delete: bool },
    /// `amount` is that of each occurrence; with `now` the first one is collected at creation.
    Recurring { merchant: String, card: String, amount: i64, now: bool, text: u32 },
    /// A recurring charge from an earlier charge.
    FromCharge(FromCharge),
}

impl DocBody {
    /// Returns the kind, and the first letter of drawn names of this kind.
    pub(crate) fn kind_and_letter(&self) -> (&'static str, char) {
        match self {
            Self::Merchant | Self::Opened { .. } => ("Merchant", 'm'),
            Self::Application { .. } => ("MerchantApplication", 'a'),
            Self::Contact { .. } => ("Contact", 'c'),
            Self::Invoice { .. } => ("Invoice", 'i'),
            Self::Card { .. } => ("SavedMethod", 's'),
            Self::Recurring { .. } | Self::FromCharge(_) => ("RecurringCharge", 'r'),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breakage {
    /// The text is not YAML, so not even the name is readable.
    Garbage,
    /// The text holds a field that the kind does not know.
    Misfit,
}

/// All existing documents, by name.
pub type DocTree = BTreeMap<String, Doc>;

impl Doc {
    /// Returns a valid document of the first generation.
    pub fn new(name: &str, body: DocBody) -> Self {
        Self { name: name.to_owned(), generation: 0, body, removes_object: false, broken: None }
    }

    pub fn kind(&self) -> &'static str {
        self.body.kind_and_letter().0
    }

    /// Returns the merchant's name; a merchant document is its own.
    pub fn merchant(&self) -> &str {
        match &self.body {
            DocBody::Merchant | DocBody::Opened { .. } | DocBody::Application { .. } => &self.name,
            DocBody::Contact { merchant, .. }
            | DocBody::Invoice { merchant, .. }
            | DocBody::Card { merchant, .. }
            | DocBody::Recurring { merchant, .. }
            | DocBody::FromCharge(FromCharge { merchant, .. }) => merchant,
        }
    }

    pub fn references(&self) -> Vec<&str> {
        match &self.body {
            DocBody::Merchant | DocBody::Application { .. } => Vec::new(),
            DocBody::Opened { application } => vec![application],
            DocBody::Contact { merchant, .. }
            | DocBody::Card { merchant, .. }
            | DocBody::FromCharge(FromCharge { merchant, .. }) => vec![merchant],
            DocBody::Invoice { merchant, contact, .. } => vec![merchant, contact],
            DocBody::Recurring { merchant, card, .. } => vec![merchant, card],
        }
    }

    /// Returns kind, namespace and name as text.
    pub fn address(&self) -> String {
        format!("{}/default/{}", self.kind(), self.name)
    }

    /// Returns the name of the document's effect under a generation, or `None` for an invalid name.
    pub fn source_id(&self, generation: u32) -> Option<SourceId> {
        let key: Key = self.address().parse().ok()?;
        Some(SourceId::new(PARTNER, &key, generation))
    }

    pub fn mark(&self, generation: u32) -> Option<Mark> {
        self.source_id(generation).map(|source| source.mark())
    }

    /// Returns the e-mail address of a contact, which no other contact has.
    pub fn email(&self) -> String {
        format!("{}@payers.example", self.name)
    }

    /// Returns the description of a method or a recurring charge in its current version.
    pub fn text(&self) -> Option<String> {
        let version = match self.body {
            DocBody::FromCharge(FromCharge { text, .. }) => text?,
            DocBody::Card { text, .. } | DocBody::Recurring { text, .. } => text,
            DocBody::Merchant
            | DocBody::Opened { .. }
            | DocBody::Application { .. }
            | DocBody::Contact { .. }
            | DocBody::Invoice { .. } => return None,
        };
        Some(format!("{} version {version}", self.name))
    }

    /// Returns the holder of a saved method in its current version.
    pub fn holder(&self) -> Option<String> {
        let DocBody::Card { holder, .. } = self.body else { return None };
        Some(format!("{} holder {holder}", self.name))
    }

    /// Returns the total of an invoice, or the amount of a recurring charge's occurrence.
    pub fn amount(&self) -> Option<i64> {
        if let DocBody::Invoice { lines, .. } = &self.body {
            return lines.iter().try_fold(0_i64, |sum, line| sum.checked_add(*line));
        }
        let (DocBody::Recurring { amount, .. } | DocBody::FromCharge(FromCharge { amount, .. })) =
            &self.body
        else {
            return None;
        };
        Some(*amount)
    }

    pub fn declares_removal(&self) -> bool {
        self.removes_object || matches!(self.body, DocBody::Card { delete: true, .. })
    }
}

#[derive(Debug, Display, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// Writes a document, new or in place of the one of that name.
    #[display("write {_0}")]
    Write(Doc),
    #[display("remove {_0}")]
    Remove(String),
    #[display("break {_0} ({_1:?})")]
    Break(String, Breakage),
    #[display("mend {_0}")]
    Mend(String),
}

impl FileChange {
    /// Applies the change; a change of a missing document has no effect.
    pub fn apply(&self, tree: &mut DocTree) {
        match self {
            Self::Write(doc) => drop(tree.insert(doc.name.clone(), doc.clone())),
            Self::Remove(name) => drop(tree.remove(name)),
            Self::Break(name, how) => {
                tree.entry(name.clone()).and_modify(|doc| doc.broken = Some(*how));
            }
            Self::Mend(name) => {
                tree.entry(name.clone()).and_modify(|doc| doc.broken = None);
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromCharge {
    pub merchant: String,
    /// Index of the charge among the merchant's earlier charges.
    pub nth: usize,
    /// Id of that charge; empty until the run begins.
    pub charge: String,
    pub amount: i64,
    /// Version of the description; without a description nothing ever marks the charge.
    pub text: Option<u32>,
}

impl Doc {
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
pub(crate) const GENERATIONS_MAX: u32 = 10;

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
