//! `apply --allow-prune`: a person allows removals.

use super::args::ApplyArgs;
use super::exit::Failure;
use super::host;
use super::out::Out;
use super::server::Daemon;
use crate::base::id::Key;
use crate::control::Request;
use crate::engine::{Allowing, Engine, Reply};

/// Argument for everything that a guard stops.
const ALL: &str = "all";

/// Parses the arguments.
///
/// # Errors
/// An argument is no name.
fn read(args: &ApplyArgs) -> Result<Allowing, Failure> {
    let mut allowing = Allowing::default();
    for word in &args.allow_prune {
        if word == ALL {
            allowing.all = true;
            continue;
        }
        let key = word.parse::<Key>().map_err(|error| {
            let failure =
                Failure::input("reckon::prune::name", format!("--allow-prune {word}: {error}"));
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
pub(super) fn meant(engine: &Engine, args: &ApplyArgs) -> Result<Allowing, Failure> {
    let allowing = read(args)?;
    match engine.not_meant(&allowing).first() {
        None => Ok(allowing),
        Some(key) => Err(nothing(key)),
    }
}

fn nothing(key: &Key) -> Failure {
    let message = format!("there is nothing to allow about {}", key.short());
    let failure = Failure::input("reckon::prune::nothing_to_allow", message);
    failure.help("its document is there, or it stays on the service as it is: `reckon plan` shows what is guarded")
}

/// Records the allowed removals in this process.
pub(super) async fn allow(
    engine: &mut Engine,
    allowing: &Allowing,
    out: Out,
) -> Result<(), Failure> {
    if !allowing.is_empty() {
        let about = engine.allow_alone(allowing, &host::actor()).await?;
        told(&about, out);
    }
    Ok(())
}

/// Has the process that holds the state record the allowed removals.
pub(super) async fn beside(client: &Daemon, args: &ApplyArgs, out: Out) -> Result<(), Failure> {
    let allowing = read(args)?;
    if allowing.is_empty() {
        return Ok(());
    }
    let Reply::Allowed(about) = client.request(&Request::Allow(allowing.clone())).await? else {
        return Err(Failure::bug("a word was not answered by what it is about"));
    };
    told(&about, out);
    match allowing.keys.iter().find(|key| !about.contains(key)) {
        None => Ok(()),
        Some(key) => Err(nothing(key)),
    }
}

fn told(about: &[Key], out: Out) {
    for key in about {
        out.note(&format!("{}: its removal, or its new name, is meant; written down", key.short()));
    }
}

/// Prints the number of removals, by type.
pub(super) fn tell(engine: &Engine, out: Out) {
    let removed = engine.planner().removed().iter();
    let parts: Vec<String> =
        removed.map(|(removal, count)| format!("{count} {}", removal.done())).collect();
    if !parts.is_empty() {
        out.note(&format!("Removed: {}", parts.join(", ")));
    }
}
