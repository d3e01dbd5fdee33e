//! `apply --allow-prune`: a person allows removals.

use crate::base::id::Key;
use crate::cli::args::options::ApplyArgs;
use crate::cli::context::machine;
use crate::cli::exit::CommandFailure;
use crate::cli::print::Printer;
use crate::cli::remote::daemon::Daemon;
use crate::control::requests;
use crate::control::requests::Allow;
use crate::engine::core::coordinator::Engine;
use crate::engine::protocol::commands::bookkeeping::AllowPrune;
use crate::engine::protocol::commands::command::EngineCommand;

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
            failure.help("write KIND/NAME or KIND/NAMESPACE/NAME of the removal, or `all`")
        })?;
        allowing.keys.push(key);
    }
    Ok(allowing)
}

/// Returns the allowed removals, if each of them is guarded now.
///
/// # Errors
/// No guard could stop one of these resources.
pub(crate) fn allowed_removals(
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
    let message = format!("no guarded removal of {}", key.short());
    let failure = CommandFailure::input("reckon::prune::nothing_to_allow", message);
    failure.help(
        "list guarded removals with `reckon plan`; this resource has its document, or \
        stays at the service",
    )
}

/// Records the allowed removals in this process.
pub(crate) async fn record_here(
    engine: &mut Engine,
    allowing: &AllowPrune,
    out: Printer,
) -> Result<(), CommandFailure> {
    if !allowing.is_empty() {
        let command = EngineCommand::AllowPrune(allowing.clone(), machine::actor());
        let about = requests::typed::<Allow>(engine.command(command).await?)?;
        print_recorded(&about, out);
    }
    Ok(())
}

/// Has the process that holds the state record the allowed removals.
pub(crate) async fn record_by_daemon(
    client: &Daemon,
    args: &ApplyArgs,
    out: Printer,
) -> Result<(), CommandFailure> {
    let allowing = read(args)?;
    if allowing.is_empty() {
        return Ok(());
    }
    let about = client.send(Allow(allowing.clone())).await?;
    print_recorded(&about, out);
    match allowing.keys.iter().find(|key| !about.contains(key)) {
        None => Ok(()),
        Some(key) => Err(nothing_to_allow(key)),
    }
}

fn print_recorded(about: &[Key], out: Printer) {
    for key in about {
        out.note(&format!("{}: removal or new name allowed; recorded", key.short()));
    }
}

/// Prints the number of removals, by type.
pub(crate) fn print_removals(engine: &Engine, out: Printer) {
    let removed = engine.planner().removal_counts().iter();
    let parts: Vec<String> =
        removed.map(|(removal, count)| format!("{count} {}", removal.past_participle())).collect();
    if !parts.is_empty() {
        out.note(&format!("Removed: {}", parts.join(", ")));
    }
}
