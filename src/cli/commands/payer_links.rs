//! `link` and `attach`: addresses to send to a payer, and the tokens that their pages supply.
//!
//! A link is made on request and shown once, on standard output. It leads to the portal page of an
//! invoice, or to the page on which a payer enters the details of a saved method. The latter is
//! valid for one generation of the document, and for one card or bank account: the first one, or a
//! replacement of the saved one. `attach` gives a token to a saved method in place of that page.

use std::io;
use std::io::Read;

use chrono::TimeDelta;
use serde_json::json;
use zeroize::Zeroizing;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::cli::args::resources::{AttachArgs, LinkArgs};
use crate::cli::commands::get::parse_resource;
use crate::cli::commands::webhook_urls::base;
use crate::cli::context::open::Context;
use crate::cli::context::session::{StateSession, daemon};
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::control::requests::{Attach, IntakeUrl, PortalLink};
use crate::engine::protocol::payers::{AttachToken, IntakeLink, IntakeTerms};
use crate::engine::protocol::query::IntakeLinkQuery;
use crate::kinds::invoice::InvoiceKind;
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;

pub(crate) async fn run(setup: &Context, args: &LinkArgs) -> CommandResult {
    let key = parse_resource(&args.what)?;
    let link = match key.kind.as_str() {
        SavedMethodKind::NAME => intake_link(setup, &key, args.days).await?,
        InvoiceKind::NAME if args.days.is_some() => {
            let what = "--days does not apply: the service decides how long the link of an \
                invoice is valid";
            return Err(CommandFailure::input("reckon::link::days", what).help("leave --days out"));
        }
        InvoiceKind::NAME => portal_link(setup, &key).await?,
        _ => {
            let what = format!("{} has no link for a payer", key.short());
            let failure = CommandFailure::input("reckon::link::kind", what);
            return Err(failure.help("write Invoice/NAME or SavedMethod/NAME"));
        }
    };
    setup.out.result(&json!({"link": link.expose()}), || link.expose().to_owned())?;
    Ok(Exit::Done)
}

/// Returns the link of a payer's page; notes that its details replace those of a saved method.
async fn intake_link(setup: &Context, key: &Key, days: Option<u16>) -> CommandResult<Secret> {
    let (link, replaces) = link(setup, key, days).await?;
    if replaces {
        let name = key.short();
        setup.out.note(&format!(
            "{name} is saved already: the details given under this link replace it"
        ));
    }
    Ok(link)
}

async fn portal_link(setup: &Context, key: &Key) -> CommandResult<Secret> {
    let link = setup.send(PortalLink(key.clone())).await?;
    link.map(|link| link.0).ok_or_else(|| {
        let what = format!("no portal link of {} is available now", key.short());
        CommandFailure::input("reckon::link::none", what).help(
            "check its status with `reckon get`: the invoice must exist at the service, with no \
            effect in flight",
        )
    })
}

// `attach`: gives a one-time token to a saved method, in place of the payer's page.

const STDIN: &str = "-";
/// Bytes that are read of standard input at most; a token is shorter.
const TOKEN_BYTES_MAX: u64 = 4 * 1024;

pub(crate) async fn attach(setup: &Context, args: &AttachArgs) -> CommandResult {
    let key = parse_resource(&args.what)?;
    let (token, more) = tokens(&args.tokens)?;
    let is_running = daemon(setup).await?.is_some();
    let token = AttachToken { key: key.clone(), token, more, replace: args.replace };
    let attached = setup.send(Attach(token)).await?;
    attached.map_err(|why| {
        let help =
            "check its reason with `reckon get`: it accepts a token while that is AwaitsIntake, and with \
            --replace while it is InSync";
        CommandFailure::input("reckon::attach::refused", why).help(help)
    })?;
    let name = key.short();
    setup.out.result(&json!({"attached": name}), || {
        let place = if args.replace { " in place of the saved details" } else { "" };
        if is_running {
            format!("attached to {name}; the daemon saves it{place}")
        } else {
            format!("attached to {name}; `reckon apply` within five minutes saves it{place}")
        }
    })?;
    Ok(Exit::Done)
}

/// Returns the tokens of the arguments, or the words of standard input. The first one is empty
/// where there is none.
fn tokens(arguments: &[String]) -> CommandResult<(Secret, Vec<Secret>)> {
    let mut all = Vec::new();
    for argument in arguments {
        if argument == STDIN {
            all.extend(read()?);
        } else {
            all.push(Secret::from(argument.as_str()));
        }
    }
    let mut all = all.into_iter();
    Ok((all.next().unwrap_or_else(|| Secret::from("")), all.collect()))
}

fn read() -> CommandResult<Vec<Secret>> {
    let mut text = Zeroizing::new(String::new());
    let read = io::stdin().lock().take(TOKEN_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| {
        CommandFailure::environment("reckon::attach::input", format!("read the token: {error}"))
    })?;
    Ok(text.split_whitespace().map(Secret::from).collect())
}

// The link of a payer's page. Its time begins when it is made. It is valid for one generation of
// the document, and for one card or bank account: the first one, or a replacement of the saved
// one.

const DAYS: u16 = 7;

/// Returns the link, and whether its token replaces a saved method.
pub(crate) async fn link(
    setup: &Context,
    key: &Key,
    days: Option<u16>,
) -> CommandResult<(Secret, bool)> {
    let session = StateSession::open(setup).await?;
    let terms = session.ask(IntakeLinkQuery(key.clone())).await;
    let terms = session.end(setup, terms).await?;
    let terms = terms.map_err(|why| {
        let help = "check its reason with `reckon get`: a link is made while that is AwaitsIntake \
            or InSync";
        CommandFailure::input("reckon::link::none", why).help(help)
    })?;
    let days = days.unwrap_or(DAYS);
    let replaces = terms.replaces.is_some();
    let Some(server) = &setup.server else {
        return Ok((make_link(setup, key, terms, days)?, replaces));
    };
    let link = server.send(IntakeUrl(key.clone(), terms, days)).await?;
    Ok((Secret::from(link), replaces))
}

/// Returns the link on these terms, valid for a number of days from now.
pub(crate) fn make_link(
    setup: &Context,
    key: &Key,
    terms: IntakeTerms,
    days: u16,
) -> CommandResult<Secret> {
    let until = SystemClock.now().checked_add_signed(TimeDelta::days(i64::from(days)));
    let until = until.ok_or_else(|| {
        CommandFailure::bug("internal error: the end of the link is out of range")
    })?;
    let link = IntakeLink { key: key.clone(), terms, until };
    Ok(Secret::from(setup.public_routes()?.intake_url(&base(setup)?, &link)))
}
