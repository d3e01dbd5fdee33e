//! `import` and `forget`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::base::id::RemoteId;

/// `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The document that the object is taken over for.
    #[arg(value_name = "KIND/NAME", required_unless_present = "all", requires = "id")]
    pub what: Option<String>,
    /// The object's id at the service.
    #[arg(value_name = "ID")]
    pub id: Option<RemoteId>,
    /// Take it over although the service shows nothing of it: your word alone says that it is what the document says.
    #[arg(long, conflicts_with = "all")]
    pub unverified: bool,
    /// Take over every object of a sort that is not known yet, and write a document for each that has none.
    #[arg(long, value_name = "SORT", requires = "merchant", conflicts_with_all = ["what", "id"])]
    pub all: Option<Sort>,
    /// Whose objects: the name of the merchant's document.
    #[arg(long, value_name = "NAME", requires = "all")]
    pub merchant: Option<String>,
    /// Where the documents are written; `imported` beneath the folder of specs by default.
    #[arg(long, value_name = "DIR", requires = "all")]
    pub into: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// Objects that the service lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Saved cards.
    Cards,
    /// Saved bank accounts.
    Banks,
    /// Recurring charges.
    Recurring,
}

impl Sort {
    /// What the list is called.
    pub fn list(self) -> &'static str {
        match self {
            Self::Cards => "cards",
            Self::Banks => "banks",
            Self::Recurring => "recurring charges",
        }
    }
}

/// `forget`.
#[derive(Debug, Args)]
pub struct ForgetArgs {
    /// A resource whose document is gone, or the id of an object with a mark of ours that stands in the way.
    #[arg(value_name = "KIND/NAME|ID")]
    pub what: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}
