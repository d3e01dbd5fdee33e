//! Arguments of `store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `store`.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Verify the whole journal; print head hash and state digest.
    Check,
    /// Make the index again from the journal.
    Rebuild,
    /// Copy the state to a file or a folder, also beside the daemon. The key is not in it.
    Backup(BackupArgs),
    /// Put a backup in the place of a state. What may have been sent since then is held, or looked
    /// for before it is sent.
    Restore(RestoreArgs),
    /// Make the state smaller, also beside the daemon: a sealed snapshot takes the place of the records so far, which are
    /// kept in `archive`, and what nothing needs any more goes.
    Compact(CompactArgs),
    /// Exchange the key of the state for another one, also beside the daemon. The old key then opens nothing of it.
    Rekey(RekeyArgs),
    /// Say, after a restore, that these resources were not made since the backup, or that these actions of hooks were done.
    Release(ReleaseArgs),
}

/// `store backup`.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// Where to, a place where nothing is yet: a name with an extension is one file, any other a
    /// folder.
    #[arg(value_name = "FILE|DIR")]
    pub to: PathBuf,
}

/// `store restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The backup.
    #[arg(value_name = "FILE|DIR")]
    pub from: PathBuf,
    /// Move the state that is there aside; it is never deleted.
    #[arg(long)]
    pub replace: bool,
    /// Write down that nothing was sent since the backup: nothing is held or looked for then.
    #[arg(long)]
    pub nothing_since: bool,
}

/// `store compact`.
#[derive(Debug, Args)]
pub struct CompactArgs {
    /// Delete the records, and those that were put aside before: `why` does not know what is older then.
    #[arg(long)]
    pub drop_history: bool,
}

/// `store rekey`.
#[derive(Debug, Args)]
pub struct RekeyArgs {
    /// The file of the new key, where `secrets.key` gives the key: 32 bytes in base64, readable by you alone. Without it the
    /// command makes a new key and keeps it in the key file beside the state.
    #[arg(long, value_name = "FILE")]
    pub new_key_file: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// `store release`.
#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// Resources that are not on the service, or actions of hooks (`events dead`); look before you say so.
    #[arg(value_name = "KIND/NAME", required_unless_present = "all")]
    pub what: Vec<String>,
    /// Nothing at all was sent since the backup; with --done: all that hooks asked for and that waits was done.
    #[arg(long, conflicts_with = "what")]
    pub all: bool,
    /// These actions of hooks were done since the backup: they are not done again.
    #[arg(long)]
    pub done: bool,
}
