//! Documents of a simulated world, and the changes that people make to them.
//!
//! A document is kept as its meaning, which the checkers compare with the service. The engine gets
//! it as YAML text alone: [`super::document_text`].

use std::collections::BTreeMap;
use std::fmt;

use crate::base::hash::{Mark, SourceId};
use crate::base::id::Key;

/// Name of the partner in every run.
pub const PARTNER: &str = "acme";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    /// Name, unique among the documents of all kinds in the world.
    pub name: String,
    /// `reckon.dev/generation`.
    pub generation: u32,
    pub body: DocBody,
    /// `reckon.dev/deletion: delete` on a document other than a saved method: its object ends with
    /// it.
    pub removes_object: bool,
    /// Error in the text, if it has one.
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

    /// Returns the kind as the YAML names it.
    pub fn kind(&self) -> &'static str {
        match self.body {
            DocBody::Merchant | DocBody::Opened { .. } => "Merchant",
            DocBody::Application { .. } => "MerchantApplication",
            DocBody::Contact { .. } => "Contact",
            DocBody::Invoice { .. } => "Invoice",
            DocBody::Card { .. } => "SavedMethod",
            DocBody::Recurring { .. } | DocBody::FromCharge(_) => "RecurringCharge",
        }
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

    /// Returns the names of the documents that this one refers to.
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

    /// Returns the mark of the same effect.
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

    /// Returns true if the document declares that its object is removed with it.
    pub fn declares_removal(&self) -> bool {
        self.removes_object || matches!(self.body, DocBody::Card { delete: true, .. })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// Writes a document, new or in place of the one of that name.
    Write(Doc),
    Remove(String),
    Break(String, Breakage),
    Mend(String),
}

impl FileChange {
    /// Applies the change; a change of a missing document has no effect.
    pub fn apply(&self, tree: &mut DocTree) {
        match self {
            Self::Write(doc) => drop(tree.insert(doc.name.clone(), doc.clone())),
            Self::Remove(name) => drop(tree.remove(name)),
            Self::Break(name, how) => set_breakage(tree, name, Some(*how)),
            Self::Mend(name) => set_breakage(tree, name, None),
        }
    }
}

fn set_breakage(tree: &mut DocTree, name: &str, broken: Option<Breakage>) {
    if let Some(doc) = tree.get_mut(name) {
        doc.broken = broken;
    }
}

impl fmt::Display for FileChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(doc) => write!(f, "write {doc}"),
            Self::Remove(name) => write!(f, "remove {name}"),
            Self::Break(name, how) => write!(f, "break {name} ({how:?})"),
            Self::Mend(name) => write!(f, "mend {name}"),
        }
    }
}

impl fmt::Display for Doc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goes = if self.removes_object { ", its object is removed with it" } else { "" };
        write!(f, "{} {:?} generation {}{goes}", self.name, self.body, self.generation)
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
