//! `apply --allow-prune`: a person allows removals.

use super::args::ApplyArgs;
use super::exit::CommandFailure;
use super::host;
use super::out::Printer;
use super::server::Daemon;
use crate::base::id::Key;
use crate::control::ControlRequest;
use crate::engine::{AllowPrune, Engine, Reply};

/// Argument for everything that a guard stops.
const ALL: &str = "all";

/// Parses the arguments.
///
/// # Errors
/// An argument is no name.
fn read(args: &ApplyArgs) -> Result<AllowPrune, CommandFailure> {
    let mut allowing = AllowPrune::default();
    for word in &args.allow_prune {
        if word == ALL {
            allowing.all = true;
            continue;
        }
        let key = word.parse::<Key>().map_err(|error| {
            let failure = CommandFailure::input(
                "reckon::prune::name",
                format!("--allow-prune {word}: {error}"),
            );
            failure
                .help("write KIND/NAME or KIND/NAMESPACE/NAME of what is to be removed, or `all`")
        })?;
        allowing.keys.push(key);
    }
    Ok(allowing)
}

/// Returns the allowed removals, if each of them is guarded now.
///
/// # Errors
/// No guard could stop one of these resources.
pub(super) fn allowed_removals(
    engine: &Engine,
    args: &ApplyArgs,
) -> Result<AllowPrune, CommandFailure> {
    let allowing = read(args)?;
    match engine.not_allowable(&allowing).first() {
        None => Ok(allowing),
        Some(key) => Err(nothing_to_allow(key)),
    }
}

fn nothing_to_allow(key: &Key) -> CommandFailure {
    let message = format!("there is nothing to allow about {}", key.short());
    let failure = CommandFailure::input("reckon::prune::nothing_to_allow", message);
    failure.help("its document is there, or it stays on the service as it is: `reckon plan` shows what is guarded")
}

/// Records the allowed removals in this process.
pub(super) async fn record_here(
    engine: &mut Engine,
    allowing: &AllowPrune,
    out: Printer,
) -> Result<(), CommandFailure> {
    if !allowing.is_empty() {
        let about = engine.allow_offline(allowing, &host::actor()).await?;
        print_recorded(&about, out);
    }
    Ok(())
}

/// Has the process that holds the state record the allowed removals.
pub(super) async fn record_by_daemon(
    client: &Daemon,
    args: &ApplyArgs,
    out: Printer,
) -> Result<(), CommandFailure> {
    let allowing = read(args)?;
    if allowing.is_empty() {
        return Ok(());
    }
    let Reply::Allowed(about) = client.request(&ControlRequest::Allow(allowing.clone())).await?
    else {
        return Err(CommandFailure::bug("a word was not answered by what it is about"));
    };
    print_recorded(&about, out);
    match allowing.keys.iter().find(|key| !about.contains(key)) {
        None => Ok(()),
        Some(key) => Err(nothing_to_allow(key)),
    }
}

fn print_recorded(about: &[Key], out: Printer) {
    for key in about {
        out.note(&format!("{}: its removal, or its new name, is meant; written down", key.short()));
    }
}

/// Prints the number of removals, by type.
pub(super) fn print_removals(engine: &Engine, out: Printer) {
    let removed = engine.planner().removal_counts().iter();
    let parts: Vec<String> =
        removed.map(|(removal, count)| format!("{count} {}", removal.past_participle())).collect();
    if !parts.is_empty() {
        out.note(&format!("Removed: {}", parts.join(", ")));
    }
}
