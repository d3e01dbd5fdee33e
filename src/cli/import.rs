//! `import`: takes over an existing object of the service for a document.

use super::args::adopt::ImportArgs;
use super::exit::{Exit, Failure};
use super::get::one;
use super::import_all;
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::control::Request;
use crate::engine::Reply;
use crate::model::adoption::{Adopted, Adopting, Taken};
use crate::render;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &ImportArgs, out: Out) -> Result<Exit, Failure> {
    if let (Some(sort), Some(merchant)) = (args.all, &args.merchant) {
        return import_all::run(setup, args, (sort, merchant), out).await;
    }
    let (Some(what), Some(id)) = (&args.what, &args.id) else {
        return Err(Failure::input("reckon::import::usage", "name a document and an id"));
    };
    let (key, id, unverified) = (one(what)?, id.clone(), args.unverified);
    let asked = Adopting { key, id, unverified, write: args.yes };
    let looked = ask(setup, asked.clone()).await?;
    if looked.stands != Taken::Fits {
        return told(&looked, out);
    }
    out.note(&render::adoption::text(&looked));
    if !out.interactive {
        let failure = Failure::input("reckon::import::unconfirmed", "no terminal to ask at");
        return Err(failure.help("look at what would be taken over, then say it with --yes"));
    }
    if !out.confirm("Take it over?")? {
        out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let taken = ask(setup, Adopting { write: true, ..asked }).await?;
    told(&taken, out)
}

/// Has the process that holds the state check an object, or record it.
pub(super) async fn ask(setup: &Setup, asked: Adopting) -> Result<Adopted, Failure> {
    let session = Session::open(setup).await?;
    let reply = session.done(setup, Request::Import(Box::new(asked))).await?;
    let Reply::Adopted(adopted) = reply else {
        return Err(Failure::bug("an import was not answered by one"));
    };
    Ok(*adopted)
}

/// Prints the outcome.
fn told(adopted: &Adopted, out: Out) -> Result<Exit, Failure> {
    let what = || format!("{}: {}", adopted.key.short(), adopted.message);
    let failure = match adopted.stands {
        Taken::Adopted | Taken::Already | Taken::Fits => {
            out.result(adopted, || render::adoption::text(adopted))?;
            return Ok(Exit::Done);
        }
        Taken::Refused | Taken::Busy => {
            out.result(adopted, || render::adoption::text(adopted))?;
            return Ok(Exit::Stuck);
        }
        Taken::Unknown => Failure::input("reckon::import::unknown", what()),
        Taken::Unverified => Failure::input("reckon::import::unverified", what()).help(
            "look at it in the portal of the service; then say it once more with --unverified, and your word is written \
             down in its place",
        ),
        Taken::Unreachable => Failure::environment("reckon::import::unreachable", what()),
    };
    Err(failure)
}
