//! Arguments of `import` and `forget`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::base::id::RemoteId;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The document that takes the object over.
    #[arg(value_name = "KIND/NAME", required_unless_present = "all", requires = "id")]
    pub what: Option<String>,
    /// The object's id at the service.
    #[arg(value_name = "ID")]
    pub id: Option<RemoteId>,
    /// Take the object over although the service does not show it: only you assert that it matches
    /// the document.
    #[arg(long, conflicts_with = "all")]
    pub unverified: bool,
    /// Take over every object of this sort that is not known yet, and write a document for each
    /// that has none.
    #[arg(long, value_name = "SORT", requires = "merchant", conflicts_with_all = ["what", "id"])]
    pub all: Option<ImportList>,
    /// The merchant that owns the objects: the name of its document.
    #[arg(long, value_name = "NAME", requires = "all")]
    pub merchant: Option<String>,
    /// The folder to write the documents to; `imported` beneath the folder of specs by default.
    #[arg(long, value_name = "DIR", requires = "all")]
    pub into: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// Sorts of objects that the service lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportList {
    /// Saved cards.
    Cards,
    /// Saved bank accounts.
    Banks,
    /// Recurring charges.
    Recurring,
}

impl ImportList {
    /// Returns the name of the list, for people.
    pub fn list(self) -> &'static str {
        match self {
            Self::Cards => "cards",
            Self::Banks => "banks",
            Self::Recurring => "recurring charges",
        }
    }
}

/// Arguments of `forget`.
#[derive(Debug, Args)]
pub struct ForgetArgs {
    /// A resource whose document is gone, or the id of an unknown object with your mark that blocks
    /// a step.
    #[arg(value_name = "KIND/NAME|ID")]
    pub what: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}
