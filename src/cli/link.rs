//! `link`: an address to send to a payer, made on request and shown once, on standard output. It
//! leads to the portal page of an invoice, or to the page on which a payer enters the details of a
//! saved method.

use serde_json::json;

use super::args::LinkArgs;
use super::exit::{Exit, Failure};
use super::get::one;
use super::intake;
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::control::Request;
use crate::engine::Reply;
use crate::kinds::Shape;
use crate::kinds::invoice::Invoice;
use crate::kinds::saved_method::SavedMethod;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &LinkArgs, out: Out) -> Result<Exit, Failure> {
    let key = one(&args.what)?;
    let link = match key.kind.as_str() {
        SavedMethod::NAME => payers(setup, &key, args.days, out).await?,
        Invoice::NAME if args.days.is_some() => {
            let what = "the service alone says how long the link of an invoice is good for";
            return Err(Failure::input("reckon::link::days", what).help("leave --days out"));
        }
        Invoice::NAME => portal(setup, &key).await?,
        _ => {
            let what = format!("{} has no link for a payer", key.short());
            let failure = Failure::input("reckon::link::kind", what);
            return Err(failure.help("write Invoice/NAME or SavedMethod/NAME"));
        }
    };
    out.result(&json!({"link": link.expose()}), || link.expose().to_owned())?;
    Ok(Exit::Done)
}

/// Returns the link of a payer's page; notes that its details replace those of a saved method.
async fn payers(setup: &Setup, key: &Key, days: Option<u16>, out: Out) -> Result<Secret, Failure> {
    let (link, replaces) = intake::link(setup, key, days).await?;
    if replaces {
        let name = key.short();
        out.note(&format!(
            "{name} is saved already: what is given under this link takes its place"
        ));
    }
    Ok(link)
}

/// Returns the portal link of an invoice.
async fn portal(setup: &Setup, key: &Key) -> Result<Secret, Failure> {
    let request = Request::Link(key.clone());
    let Reply::Link(link) = Session::open(setup).await?.done(setup, request).await? else {
        return Err(Failure::bug("a link was not answered by one"));
    };
    link.map(|link| link.0).ok_or_else(|| {
        let what = format!("there is no portal link of {} now", key.short());
        Failure::input("reckon::link::none", what).help(
            "there is one of an invoice that exists on the service and is not under way: \
             `reckon get` shows how it stands",
        )
    })
}
