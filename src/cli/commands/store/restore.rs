//! `store restore` and `store release`: puts a backup in the place of a state, and ends the doubt
//! about effects since the backup.

use serde::Serialize;

use super::backup;
use super::backup::SlowProgress;
use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::base::wording::count_noun;
use crate::cli::args::store::{ReleaseArgs, RestoreArgs};
use crate::cli::commands::inspect::get;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::{StateSession, daemon};
use crate::cli::context::state_handle::make_dir;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::control::requests::Release;
use crate::model::action::is_action;
use crate::model::state::lifecycle::{ReleaseRequest, Restored};
use crate::store::backup::kept::ExistingBackup;
use crate::store::backup::restore::{RestoreError, RestoreRequest, RestoreResult, restore};

/// Output of `store restore`.
#[derive(Debug, Serialize)]
struct RestoreOutput {
    #[serde(rename = "restored")]
    began: Restored,
    records: u64,
    moved_aside: Option<String>,
    nothing_since: bool,
}

/// Runs `store restore`.
pub(crate) async fn run(
    setup: &Context,
    args: &RestoreArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if daemon(setup).await?.is_some() {
        let what = format!("a running daemon holds the state {}", setup.state.display());
        return Err(CommandFailure::environment("reckon::state::locked", what)
            .help("stop the daemon first"));
    }
    let kept = ExistingBackup::open(&args.from).map_err(backup::backup_failure)?;
    let wanted = RestoreRequest {
        opening: setup.opening(true)?,
        partner: setup.partner().ok(),
        replace: args.replace,
        nothing_since: args.nothing_since,
        at: SystemClock.now(),
        actor: machine::actor(),
    };
    let key = setup.existing_key()?;
    make_dir(&setup.state)?;
    let mut slow = SlowProgress::new("MiB read or copied");
    let done = restore(&kept, &wanted, &key, &mut |done, of| slow.set(done, of)).await;
    drop(slow);
    let RestoreResult { epoch: began, aside, sequence } = done.map_err(restore_failure)?;
    let report = RestoreOutput {
        began,
        records: sequence,
        moved_aside: aside.map(|path| path.display().to_string()),
        nothing_since: args.nothing_since,
    };
    out.result(&report, || text(&report))?;
    Ok(Exit::Done)
}

/// Returns the failure of a restore.
fn restore_failure(error: RestoreError) -> CommandFailure {
    match error {
        RestoreError::Backup(error) => backup::backup_failure(error),
        RestoreError::Open(error) => error.into(),
        RestoreError::Occupied { .. } => CommandFailure::input("reckon::restore::occupied", error)
            .help("add --replace to move the present state aside; nothing is deleted"),
        RestoreError::Unverified { .. } => {
            CommandFailure::environment("reckon::restore::unproved", error)
                .help("use another backup, or the key that this one was made with")
        }
        RestoreError::Io { .. } => CommandFailure::environment("reckon::restore::failed", error),
    }
}

/// Formats the report for people.
fn text(report: &RestoreOutput) -> String {
    let RestoreOutput { began, records, moved_aside, nothing_since } = report;
    let mut lines = vec![
        format!("restored      epoch {}, from the backup of {}", began.epoch, began.backup_at),
        format!("journal       {}", count_noun(*records, "record")),
    ];
    if let Some(path) = moved_aside {
        lines.push(format!("moved aside   {path}"));
    }
    lines.push(if *nothing_since {
        "since then    nothing was sent, as you declared".to_owned()
    } else {
        "since then    unknown: reckon reads every merchant again, looks for each effect at the \
        service before sending it, and holds effects that cannot be looked for. `reckon plan` \
        lists them; `reckon store release` releases them."
            .to_owned()
    });
    lines.join("\n")
}

/// Parses `KIND/NAME` as `get` does, and `Action/NAME` as `events failed` writes it.
fn parse_key(text: &str) -> Result<Key, CommandFailure> {
    match text.parse::<Key>() {
        Ok(key) if is_action(&key) => Ok(key),
        Ok(_) | Err(_) => get::parse_resource(text),
    }
}

/// Runs `store release`.
pub(crate) async fn release(
    setup: &Context,
    args: &ReleaseArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let keys: Vec<Key> = args.what.iter().map(|text| parse_key(text)).collect::<Result<_, _>>()?;
    if let Some(other) = keys.iter().find(|key| args.done && !is_action(key)) {
        let what = format!("{} is not an action of a hook", other.short());
        let failure = CommandFailure::input("reckon::release::done", what);
        return Err(
            failure.help("list waiting actions (Action/hook-…) with `reckon events failed`")
        );
    }
    let said = ReleaseRequest { keys: keys.clone(), done: args.done };
    let mut session = StateSession::open(setup).await?;
    let done = session.record(Release(said)).await;
    let done = session.end(setup, done).await?;
    if !done {
        let what = "nothing to release: no backup was ever restored into this state";
        return Err(CommandFailure::input("reckon::release::none", what));
    }
    let told = if args.done {
        "recorded: done since the backup; not done again".to_owned()
    } else if keys.is_empty() {
        "recorded: nothing was sent since the backup".to_owned()
    } else {
        let names: Vec<String> = keys.iter().map(Key::short).collect();
        format!("recorded: not made since the backup: {}", names.join(", "))
    };
    out.result(&keys, || told)?;
    Ok(Exit::Done)
}
