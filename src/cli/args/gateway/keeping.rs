//! `gateway`: what is kept for later, a file or a payment method.

use std::path::PathBuf;

use clap::Args;

use super::{AccountType, Common};

/// `gateway upload`.
#[derive(Debug, Args)]
pub struct UploadArgs {
    /// The file: at most 10 MiB.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The contact: the NAME of its document, or its id on the service.
    #[arg(long, value_name = "NAME|ID")]
    pub contact: String,
    /// What payers see it is called; the name of the file by default.
    #[arg(long, value_name = "NAME")]
    pub file_name: Option<String>,
    #[command(flatten)]
    pub common: Common,
}

/// A one-time token.
#[derive(Args)]
pub struct TokenArgs {
    /// A one-time token, which lives for five minutes; `-` reads standard input. It is used up by this, and written
    /// down nowhere.
    #[arg(long, value_name = "TOKEN")]
    pub token: String,
}

impl std::fmt::Debug for TokenArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenArgs(***)")
    }
}

/// `gateway vault`.
#[derive(Debug, Args)]
pub struct VaultArgs {
    /// The contact: the NAME of its document, or its id on the service.
    #[arg(value_name = "CONTACT")]
    pub contact: String,
    /// What the token holds.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: AccountType,
    #[command(flatten)]
    pub token: TokenArgs,
    #[command(flatten)]
    pub common: Common,
}

/// `gateway save`.
#[derive(Debug, Args)]
pub struct SaveArgs {
    /// What the token holds.
    #[arg(value_name = "TYPE")]
    pub kind: AccountType,
    #[command(flatten)]
    pub token: TokenArgs,
    /// A text for it.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    #[command(flatten)]
    pub common: Common,
}
