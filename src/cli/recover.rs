//! `events recover`: reads the merchants' lists of events again from some moment on.

use super::args::RecoverArgs;
use super::exit::{Exit, Failure};
use super::gateway;
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use super::since;
use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::control::Request;
use crate::engine::{Recovering, Reply};
use crate::render;

/// Runs the command. A list that could not be read is a failure of the environment (exit 4).
pub(super) async fn run(setup: &Setup, args: &RecoverArgs, out: Out) -> Result<Exit, Failure> {
    let merchant = args.merchant.as_deref().map(gateway::merchant).transpose()?;
    let since = since::read(&args.since, SystemClock.now())?;
    let asked = Recovering { merchant, since, without_hooks: args.without_hooks };
    let session = Session::open(setup).await?;
    let Reply::Recovered(read) = session.done(setup, Request::Recover(asked)).await? else {
        return Err(Failure::bug("lists that are read again were not answered by them"));
    };
    let read = read.map_err(|why| Failure::input("reckon::events::recover", why))?;
    let told = serde_json::json!({ "since": timestamp(&since), "merchants": read });
    out.result(&told, || render::events::recovered(&read, &timestamp(&since)))?;
    let whole = read.iter().all(|one| one.trouble.is_none());
    Ok(if whole { Exit::Done } else { Exit::Environment })
}
