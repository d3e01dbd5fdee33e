//! `link`: the portal link of an invoice, made when it is asked for and shown once, on standard output.

use serde_json::json;

use super::args::OneArgs;
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::control::Request;
use crate::engine::Reply;
use crate::kinds::Shape;
use crate::kinds::invoice::Invoice;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &OneArgs, out: Out) -> Result<Exit, Failure> {
    if args.key.kind.as_str() != Invoice::NAME {
        let what = format!("{} has no portal link", args.key.short());
        return Err(Failure::input("reckon::link::kind", what).help("write Invoice/NAME"));
    }
    let request = Request::Link(args.key.clone());
    let Reply::Link(link) = Session::open(setup).await?.done(setup, request).await? else {
        return Err(Failure::bug("a link was not answered by one"));
    };
    let link = link.map(|link| link.0);
    let Some(link) = link else {
        let what = format!("there is no portal link of {} now", args.key.short());
        return Err(Failure::input("reckon::link::none", what).help(
            "there is one of an invoice that exists on the service and is not under way: \
             `reckon get` shows how it stands",
        ));
    };
    out.result(&json!({"link": link.expose()}), || link.expose().to_owned())?;
    Ok(Exit::Done)
}
