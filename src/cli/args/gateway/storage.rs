//! Arguments of `gateway`: files and payment methods that are stored for later.

use std::path::PathBuf;

use clap::Args;

use super::merchant_data::AccountTypeArg;
use super::options::ActionArgs;

/// Arguments of `gateway upload`.
#[derive(Debug, Args)]
pub struct UploadArgs {
    /// The file: at most 10 MiB.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The contact: the NAME of its document, or its id on the service.
    #[arg(long, value_name = "NAME|ID")]
    pub contact: String,
    /// The file's name for payers; the name of the local file by default.
    #[arg(long, value_name = "NAME")]
    pub file_name: Option<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Argument that holds a one-time token.
#[derive(Args)]
pub struct TokenArgs {
    /// A one-time token, which is valid for five minutes; `-` reads standard input. The command
    /// uses the token up and writes it down nowhere.
    #[arg(long, value_name = "TOKEN")]
    pub token: String,
}

impl std::fmt::Debug for TokenArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenArgs(***)")
    }
}

/// Arguments of `gateway vault`.
#[derive(Debug, Args)]
pub struct VaultArgs {
    /// The contact: the NAME of its document, or its id on the service.
    #[arg(value_name = "CONTACT")]
    pub contact: String,
    /// The type of the method behind the token.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: AccountTypeArg,
    #[command(flatten)]
    pub token: TokenArgs,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway save`.
#[derive(Debug, Args)]
pub struct SaveArgs {
    /// The type of the method behind the token.
    #[arg(value_name = "TYPE")]
    pub kind: AccountTypeArg,
    #[command(flatten)]
    pub token: TokenArgs,
    /// A text that describes the saved method.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}
