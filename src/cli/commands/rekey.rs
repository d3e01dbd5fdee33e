//! `store rekey`: exchanges the key of the state for another one, beside the daemon or without one.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::cli::args::store::RekeyArgs;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::context::state_handle::StateHandle;
use crate::cli::exit::{CommandFailure, CommandResult, Exit, local_only};
use crate::cli::print::Printer;
use crate::cli::remote::Daemon;
use crate::control::requests::Rekey;
use crate::model::record::Rekeyed;
use crate::store::state::rekey::{RekeyError, RekeyRequest, Rekeyer};
use crate::store::vault::key::MasterKey;
use crate::store::vault::keys::KEYS_FILE;

/// Code of problems with the file of the new key.
const KEY_FILE: &str = "reckon::rekey::key_file";

#[derive(Debug, Serialize)]
struct RekeyOutput {
    rekeyed: Rekeyed,
    /// The file that holds the key now.
    key_file: PathBuf,
    /// True if the operator has to set `secrets.key` to the content of the file.
    set_secrets_key: bool,
}

pub(crate) async fn run(setup: &Context, args: &RekeyArgs) -> CommandResult {
    if setup.server.is_some() {
        return Err(local_only("`store rekey`", "it changes the key of the state"));
    }
    if !setup.state.join("vault").join(KEYS_FILE).exists() {
        return Err(setup.absent("there is no state"));
    }
    let key_file = new_key_file(setup, args)?;
    if !confirm(args, setup.out)? {
        setup.out.note("nothing was changed");
        return Ok(Exit::Done);
    }
    let rekeyed = match daemon(setup).await? {
        Some(client) => rekey_by_daemon(&client, key_file.clone()).await?,
        None => rekey_here(setup, key_file.clone()).await?,
    };
    let set_secrets_key = key_file.is_some();
    let own = setup.own_key_file().map(|file| file.path().to_owned());
    let key_file = key_file.or(own).unwrap_or_default();
    let report = RekeyOutput { rekeyed, key_file, set_secrets_key };
    setup.out.result(&report, || text(&report))?;
    Ok(Exit::Done)
}

/// Returns the absolute path of the file of the new key; `None` where the command makes the key.
fn new_key_file(setup: &Context, args: &RekeyArgs) -> CommandResult<Option<PathBuf>> {
    let refused = |error: RekeyError| CommandFailure::input(KEY_FILE, error);
    let path = match (&args.new_key_file, setup.own_key_file()) {
        (None, Some(_)) => return Ok(None),
        (None, None) => {
            return Err(refused(RekeyError::NewMissing).help(
                "create a key: `(umask 077; openssl rand -base64 32 > FILE)`, then run `reckon \
                store rekey --new-key-file FILE`",
            ));
        }
        (Some(_), Some(own)) => {
            return Err(refused(RekeyError::NewUnexpected { path: own.path().to_owned() }));
        }
        (Some(path), None) => path,
    };
    let found =
        MasterKey::read_file(path).map_err(|error| CommandFailure::input(KEY_FILE, error))?;
    if found.is_none() {
        return Err(CommandFailure::input(
            KEY_FILE,
            format!("there is no file {}", path.display()),
        ));
    }
    let whole = std::path::absolute(path).map_err(|error| CommandFailure::input(KEY_FILE, error));
    whole.map(Some)
}

/// Asks for agreement, since the old key then opens nothing; without a terminal `--yes` is
/// required.
fn confirm(args: &RekeyArgs, out: Printer) -> CommandResult<bool> {
    if args.yes {
        return Ok(true);
    }
    if !out.interactive {
        let what = "exchange the key: not confirmed, and older backups need the old key";
        let failure = CommandFailure::input("reckon::rekey::unconfirmed", what);
        return Err(failure
            .help("keep the old key with those backups, then run `reckon store rekey --yes`"));
    }
    out.note(
        "The old key will no longer open this state. Older backups need it: keep the key \
        with them.",
    );
    out.confirm("Exchange the key?")
}

async fn rekey_by_daemon(client: &Daemon, new_key_file: Option<PathBuf>) -> CommandResult<Rekeyed> {
    client.send(Rekey(new_key_file)).await?.map_err(rekey_failure)
}

/// Exchanges the key where no daemon runs.
async fn rekey_here(setup: &Context, new_key_file: Option<PathBuf>) -> CommandResult<Rekeyed> {
    let open = setup.open_state(false).await?;
    let wanted = RekeyRequest { new_key_file, at: SystemClock.now(), actor: machine::actor() };
    let done = rekeyer(setup, &open)?.rekey(&wanted).await;
    let closed = open.state.close().await;
    let done = done.map_err(|error| rekey_failure(error.to_string()))?;
    closed?;
    Ok(done)
}

pub(crate) fn rekeyer(setup: &Context, open: &StateHandle) -> CommandResult<Rekeyer> {
    Ok(Rekeyer::new(&open.state, setup.own_key_file(), machine::rng()?))
}

fn rekey_failure(why: String) -> CommandFailure {
    CommandFailure::environment("reckon::store::rekey", why)
}

/// Formats the line of `store check`.
pub(crate) fn rekeyed_line(rekeyed: &Rekeyed) -> String {
    let Rekeyed { generation, at, actor } = rekeyed;
    let times = if *generation == 1 { "once".to_owned() } else { format!("{generation} times") };
    format!("key           exchanged {times}, last at {} by {actor}", timestamp(at))
}

fn text(report: &RekeyOutput) -> String {
    let path: &Path = &report.key_file;
    let next = if report.set_secrets_key {
        format!(
            "next          set secrets.key to the content of {} now; until then no command opens \
            the state",
            path.display()
        )
    } else {
        format!("new key       {}", path.display())
    };
    let lines = [
        rekeyed_line(&report.rekeyed),
        next,
        "backups       older ones need the old key; `reckon store backup` makes one with the new \
        key"
        .to_owned(),
    ];
    lines.join("\n")
}
