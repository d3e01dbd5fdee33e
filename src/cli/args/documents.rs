//! Arguments of commands about documents: `validate`, `new`, `explain`, `schema`,
//! `seal`.

use std::path::PathBuf;

use clap::Args;

use crate::base::id::Key;

/// Files and folders to show.
#[derive(Debug, Args, Default)]
pub struct PathArgs {
    /// Show only the resources of these files or folders. The whole tree is always read.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A kind, or a field by its path below `spec`, such as `RecurringCharge.schedule.start`;
    /// `Config` for `reckon.yaml`, such as `Config.policy.limits`; `Events` for the event types.
    /// Without it: the list of kinds. -o markdown for a page.
    #[arg(value_name = "KIND[.FIELD]")]
    pub what: Option<String>,
}

/// Arguments of `new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// The kind, in any case; `reckon explain` lists the kinds.
    #[arg(value_name = "KIND")]
    pub kind: String,
    /// The name of the document: NAME, or NAMESPACE/NAME. `Defaults` has none.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The merchant that it belongs to, where there are several: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// Write the document to this new file; by default it is printed.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Only the schema for documents of this kind; `Defaults` or `Config` for that of `Defaults`
    /// documents or of `reckon.yaml`.
    #[arg(value_name = "KIND")]
    pub kind: Option<String>,
}

/// Arguments of `seal`.
#[derive(Debug, Args)]
pub struct SealArgs {
    /// The document that the secret is for; the sealed text opens in no other.
    #[arg(value_name = "KIND/NAME")]
    pub key: Key,
    /// The field that the secret is for, such as `source.card.number`.
    #[arg(value_name = "FIELD")]
    pub field: String,
}
