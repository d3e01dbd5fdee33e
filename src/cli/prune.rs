//! `apply --allow-prune`: a person's word that removals are meant.

use super::args::ApplyArgs;
use super::exit::Failure;
use super::host;
use super::out::Out;
use super::server::Daemon;
use crate::base::id::Key;
use crate::control::Request;
use crate::engine::{Allowing, Engine, Reply};

/// The word for everything that a guard stops.
const ALL: &str = "all";

/// What the arguments say. Errors: a name that is none.
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

/// What the arguments say, if it means anything now. Errors: a resource that no guard could stop.
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

/// Has it written down in this process.
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

/// Has it written down by the process that holds the state.
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

/// What was removed, by what that meant.
pub(super) fn tell(engine: &Engine, out: Out) {
    let removed = engine.planner().removed().iter();
    let parts: Vec<String> =
        removed.map(|(removal, count)| format!("{count} {}", removal.done())).collect();
    if !parts.is_empty() {
        out.note(&format!("Removed: {}", parts.join(", ")));
    }
}
