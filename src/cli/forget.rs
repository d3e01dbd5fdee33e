//! `forget`: stops managing a resource, or disowns an object with a mark of ours. The service is
//! not asked.

use super::args::adopt::ForgetArgs;
use super::exit::{Exit, Failure};
use super::get::one;
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::base::id::RemoteId;
use crate::control::Request;
use crate::engine::Reply;
use crate::model::adoption::{Forgetting, Forgot};
use crate::render;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &ForgetArgs, out: Out) -> Result<Exit, Failure> {
    let what = what(&args.what)?;
    if !agreed(&what, args.yes, out)? {
        out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let session = Session::open(setup).await?;
    let Reply::Forgot(forgot) = session.done(setup, Request::Forget(what)).await? else {
        return Err(Failure::bug("a word to forget was not answered by one"));
    };
    match &*forgot {
        Forgot::Resource(..) | Forgot::Object(..) => {
            out.result(&forgot, || render::adoption::forgot(&forgot))?;
            Ok(Exit::Done)
        }
        Forgot::Refused(why, help) => {
            let failure = Failure::input("reckon::forget::refused", why).help(help);
            Err(Failure { exit: Exit::Stuck, ..failure })
        }
        Forgot::Unknown(nearest) => Err(unknown(&args.what, nearest.as_deref())),
    }
}

/// Parses the name of a resource, or an id.
fn what(text: &str) -> Result<Forgetting, Failure> {
    if text.contains('/') {
        return Ok(Forgetting::Resource(one(text)?));
    }
    let id = RemoteId::new(text);
    let id = id.map_err(|error| Failure::input("reckon::forget::name", error).help(NAMES))?;
    Ok(Forgetting::Object(id))
}

const NAMES: &str = "write KIND/NAME, or the id of an object that `reckon intents` shows";

fn unknown(text: &str, nearest: Option<&str>) -> Failure {
    let what = if text.contains('/') {
        format!("nothing is known of {text}")
    } else {
        format!("no object {text} stands in the way of anything")
    };
    let failure = Failure::input("reckon::forget::unknown", what);
    match nearest {
        Some(name) => failure.help(format!("did you mean {name}?")),
        None if text.contains('/') => failure.help("`reckon get` lists every resource"),
        None => failure.help(NAMES),
    }
}

/// Asks for agreement, unless `--yes` is set. Without a terminal `--yes` is required.
fn agreed(what: &Forgetting, yes: bool, out: Out) -> Result<bool, Failure> {
    if yes {
        return Ok(true);
    }
    out.note(&render::adoption::forgetting(what));
    if !out.interactive {
        let failure = Failure::input("reckon::forget::unconfirmed", "no terminal to ask at");
        return Err(failure.help("look at what would be forgotten, then say it with --yes"));
    }
    out.confirm("Forget it?")
}
