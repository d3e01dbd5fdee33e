//! Arguments of `store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Subcommands of `store`.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Verify the complete journal; print head hash and state digest.
    Check,
    /// Rebuild the index from the journal.
    Rebuild,
    /// Copy the state to a file or a folder, also beside the daemon. The copy does not contain the
    /// key.
    Backup(BackupArgs),
    /// Replace a state by a backup. Effects that may have been sent since the backup are put on
    /// hold, or looked for before they are sent.
    Restore(RestoreArgs),
    /// Make the state smaller, also beside the daemon. A sealed snapshot replaces the records so
    /// far, which are kept in `archive`; unused sealed values are deleted.
    Compact(CompactArgs),
    /// Exchange the key of the state for another one, also beside the daemon. The old key then
    /// opens nothing of it.
    Rekey(RekeyArgs),
    /// Declare, after a restore, that these resources were not created since the backup, or that
    /// these actions of hooks were done.
    Release(ReleaseArgs),
}

/// Arguments of `store backup`.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The target, which must not exist yet: a name with an extension is one file, any other a
    /// folder.
    #[arg(value_name = "FILE|DIR")]
    pub to: PathBuf,
}

/// Arguments of `store restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The backup.
    #[arg(value_name = "FILE|DIR")]
    pub from: PathBuf,
    /// Move the existing state aside; it is never deleted.
    #[arg(long)]
    pub replace: bool,
    /// Declare that nothing was sent since the backup: nothing is then put on hold or looked for.
    #[arg(long)]
    pub nothing_since: bool,
}

/// Arguments of `store compact`.
#[derive(Debug, Args)]
pub struct CompactArgs {
    /// Delete the records, and those that were put aside before: `why` then knows nothing older.
    #[arg(long)]
    pub drop_history: bool,
}

/// Arguments of `store rekey`.
#[derive(Debug, Args)]
pub struct RekeyArgs {
    /// The file of the new key, where `secrets.key` gives the key: 32 bytes in base64, readable by
    /// you alone. Without this option the command makes a new key and writes it to the key file
    /// beside the state.
    #[arg(long, value_name = "FILE")]
    pub new_key_file: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// Arguments of `store release`.
#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// Resources that are not on the service, or actions of hooks (`events failed`); check the
    /// service first.
    #[arg(value_name = "KIND/NAME", required_unless_present = "all")]
    pub what: Vec<String>,
    /// Declare that nothing at all was sent since the backup; with --done: all waiting actions of
    /// hooks were done.
    #[arg(long, conflicts_with = "what")]
    pub all: bool,
    /// These actions of hooks were done since the backup: they are not done again.
    #[arg(long)]
    pub done: bool,
}
